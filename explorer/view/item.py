"""What a picture shows: items, the boxes-to-be, and how they hang together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Literal

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Node, SparseTensor, Tensor, Value

ItemKind = Literal["root", "node", "group", "branch", "input", "output", "constant", "stub"]
LinkKind = Literal["data", "captured", "control", "former", "newer"]
#: ports, the families among them, and of each value the port by which it crosses a border
_PortsByValue = tuple[tuple[Value, ...], dict[Value, tuple[Value, ...]], dict[Value, Value]]


#: of more values than this together the box or edge is selected, not each of them
MOST_SELECTED = 2_000

_revisions = count(1)


class Instance:
    """One occurrence of a graph in a view.

    A function's body occurs once for each open call, so what is shown of it needs the call:
    its paths begin with the call's path, and its formal inputs stand for the call's operands.

    Parameters
    ----------
    graph
        The graph that occurs.
    prefix
        What paths begin with, in place of ``graph.path``.
    caller
        The item of the node whose call or subgraph this is, or of the repeat of which one
        repetition is shown; None for the view's root.
    occurrence
        Where this is a repetition: the occurrence of the graph that it belongs to.
    """

    __slots__ = ("bindings", "caller", "graph", "occurrence", "prefix", "results")

    def __init__(
        self, graph: Graph, prefix: str, caller: Item | None, occurrence: Instance | None = None
    ) -> None:
        self.graph = graph
        self.prefix = prefix
        self.caller = caller
        #: the occurrence of the graph: this itself, but for a repetition of a repeat
        self.occurrence: Instance = occurrence or self
        #: formal input of the graph -> the caller's operand (None: not given); in a repetition,
        #: what enters it -> what enters the repeat in its place
        self.bindings: dict[Value, Value | None] = {}
        #: output of the graph (or of a repetition) -> the caller's results that it becomes
        self.results: dict[Value, tuple[Value, ...]] = {}

    def path_of(self, path: str) -> str:
        """Turn the path of an element of the graph into the path of this occurrence."""
        return self.prefix + path[len(self.graph.path) :]


@dataclass(frozen=True, slots=True)
class ConstantRow:
    """An operand without an edge: a constant or a hidden shape, a row on its consumer's face.

    Parameters
    ----------
    index
        Which input of the node it is.
    tensor
        The elements; None for a Constant node that gives no tensor.
    text
        The value in words where there is no tensor (``[0, -1]``, ``"abc"``), else "".
    is_shape
        Whether hidden shape arithmetic gives the value.
    path
        The path of the value: what a click on the row selects.
    """

    index: int
    tensor: Tensor | SparseTensor | None
    text: str
    path: str
    is_shape: bool = False


@dataclass(frozen=True, slots=True)
class Carried:
    """What an open repeat carries from each repetition to the next.

    Parameters
    ----------
    entering, leaving
        Values of the repetition without a counterpart outside of the repeat, that come from the
        one before or go to the next one, each with the port by which it does so.
    names
        What such values are, in words; of values with a counterpart, too, in a loop.
    loop
        Of a loop what is handed on, in words, the main stream first; else nothing.
    starts
        What enters the first repetition in place of what is handed on, outside of the repeat.
    start, end
        Of a loop the ports at which the first of it comes in and leaves: of the repeat, or as in
        ``entering`` and ``leaving``; None where there is none.
    ends
        Of a loop what leaves the repeat of what is handed on, too.
    """

    entering: Mapping[Value, Value] = field(default_factory=dict)
    leaving: Mapping[Value, Value] = field(default_factory=dict)
    names: Mapping[Value, str] = field(default_factory=dict)
    loop: tuple[str, ...] = ()
    start: Value | None = None
    end: Value | None = None
    starts: frozenset[Value] = frozenset()
    ends: frozenset[Value] = frozenset()


NOTHING_CARRIED = Carried()


class Item:
    """Something that is drawn as a box: a node, a closed or open group, an input and so on.

    Parameters
    ----------
    kind
        ``node`` (also calls and control flow, which can be opened), ``group`` (of any kind),
        ``branch`` (one of several subgraphs of an open node), ``input``, ``output``,
        ``constant`` (an initializer that is itself an output), ``stub`` (stands for a value
        of many consumers beside one of them), ``root``. Inputs, outputs and constants may be
        several in one box, which can be opened.
    key
        Unique in the view; equals ``path`` but for outputs, constants and stubs.
    path
        What is selected when the box is clicked.
    element
        The part of the model that is shown.
    instance
        The occurrence of the graph that holds the element.
    parent
        The enclosing open item; None for the root.
    """

    __slots__ = (
        "_children",
        "_ports",
        "body",
        "carried",
        "constants",
        "element",
        "inputs",
        "instance",
        "is_open",
        "is_unrolled",
        "key",
        "kind",
        "label",
        "merged",
        "names",
        "of_one",
        "openable",
        "outputs",
        "parent",
        "path",
        "revision",
        "shown",
        "stub_takers",
        "stubs",
        "unmatched",
    )

    def __init__(
        self,
        kind: ItemKind,
        path: str,
        element: Node | Group | Graph | Value,
        instance: Instance,
        parent: Item | None,
        *,
        key: str = "",
        label: str = "",
        openable: bool = False,
    ) -> None:
        self.kind = kind
        self.path = path
        self.key = key or path
        self.element = element
        self.instance = instance
        self.parent = parent
        self.label = label
        self.openable = openable
        self.is_open = False
        #: the occurrence of the graph that is shown inside, for open calls and branches
        self.body: Instance | None = None
        #: grows whenever something inside opens, closes or is otherwise made anew
        self.revision = 0
        self._children: list[Item] = []
        #: values that cross the border, in the terms of ``instance.graph``; one of each family
        self.inputs: tuple[Value, ...] = ()
        self.outputs: tuple[Value, ...] = ()
        #: the values of each family among them, which cross together, by the one listed
        self.merged: dict[Value, tuple[Value, ...]] = {}
        #: ports whose values are one thing to a reader, so that nobody asks how many they are
        self.of_one: frozenset[Value] = frozenset()
        self._ports: list[_PortsByValue] = []
        #: of a repeat: which repetition is shown when it is open, or whether all are
        self.shown = 0
        self.is_unrolled = False
        #: of an open repeat: how many inputs and outputs the shown repetition has no part in
        self.unmatched = (0, 0)
        #: of an open repeat: what the shown repetition takes from others and gives to them
        self.carried = NOTHING_CARRIED
        #: of an open item: which child is the stub for (key of the consumer, value)
        self.stubs: dict[tuple[str, Value], int] = {}
        #: of an input, and of a stub behind what gives a value: the numbers of the boxes that have
        #: stubs for it
        self.stub_takers: frozenset[int] = frozenset()
        #: of an input or output that stands for many: their first and last name
        self.names = ""
        #: operands that are rows on the face instead of edges
        self.constants: Sequence[ConstantRow] = ()

    @property
    def is_selected_whole(self) -> bool:
        """Whether it stands for so many values that its own path is selected, not theirs."""
        return sum(map(len, self.merged.values())) > MOST_SELECTED

    @property
    def is_terminal(self) -> bool:
        """Whether the item stands for inputs, outputs or constants of a graph."""
        return self.kind in ("input", "output", "constant")

    @property
    def repeat(self) -> Group | None:
        """The group of repetitions that the item shows; None where it is something else."""
        element = self.element
        return element if isinstance(element, Group) and element.kind == "repeat" else None

    @property
    def repetition(self) -> Group | Node | None:
        """The one repetition that an open repeat shows; None for all else."""
        repeat = self.repeat
        if repeat is None or not self.is_open or self.is_unrolled:
            return None
        return repeat.children[self.shown]

    @property
    def repetition_path(self) -> str:
        """The path of the one repetition that an open repeat stands for; "" for none.

        A repetition that is a single node or a repeat itself has a box of its own inside.
        """
        shown = self.repetition
        if not isinstance(shown, Group) or shown.kind == "repeat":
            return ""
        return self.instance.path_of(shown.path)

    def value_paths(self, most: int | None = None) -> list[str]:
        """Return the paths of the values that a stub, an input or an output stands for.

        At most so many of them; all where None.
        """
        values = next(iter(self.merged.values()), ())[:most]
        body = self.instance
        return [
            f"{body.prefix}/%{value.key}" if value.graph is body.graph else value.path
            for value in values
        ] or [self.path]

    def stands_for(self, path: str) -> bool:
        """Return whether what is at a path is this, or a value of an input or output box."""
        if path in (self.key, self.path):
            return self.kind != "stub" or path == self.key
        if not self.is_terminal or not self.merged:
            return False
        (values,) = self.merged.values()
        body = self.instance
        if path.startswith(f"{body.prefix}/%"):
            value = body.graph.values.get(path[len(body.prefix) + 2 :])
            if value is not None:
                return value in values
        return any(value.graph is not body.graph and value.path == path for value in values)

    def members(self, port: Value) -> tuple[Value, ...]:
        """Return the values that cross the border together with one that is listed."""
        return self.merged.get(port) or (port,)

    def ports_by_value(self, ports: tuple[Value, ...]) -> Mapping[Value, Value]:
        """Return the port by which each value crosses the border, of the inputs or the outputs.

        It is kept while these stay the same: of a repeat whose repetitions are shown one after the
        other it is asked for each, and each has a value in it.
        """
        for known, merged, found in self._ports:
            if known is ports and merged is self.merged:
                return found
        found = {value: port for port in ports for value in self.members(port)}
        self._ports = [*self._ports[-1:], (ports, self.merged, found)]
        return found

    def values_at(self, ports: Sequence[Value]) -> Iterable[Value]:
        """Return all values that cross the border at some of its ports."""
        return chain.from_iterable(map(self.members, ports)) if self.merged else ports

    @property
    def children(self) -> list[Item]:
        """What is inside an open item."""
        return self._children

    @children.setter
    def children(self, children: list[Item]) -> None:
        self._children = children
        revision = next(_revisions)
        item: Item | None = self
        while item is not None:
            item.revision = revision
            item = item.parent

    @property
    def depth(self) -> int:
        """Number of open items around this one; 0 for the root."""
        depth, item = 0, self.parent
        while item is not None:
            depth, item = depth + 1, item.parent
        return depth

    def __repr__(self) -> str:
        return f"<Item {self.kind} {self.key!r}{' open' if self.is_open else ''}>"


BORDER = -1


@dataclass(frozen=True, slots=True)
class Link:
    """A connection inside one open item.

    Parameters
    ----------
    source, target
        Index of the child, or ``BORDER`` where the value comes in or leaves.
    value
        What flows, in the terms of the graph inside.
    source_value, target_value
        The value under which the two ends know it: a child's own operand or result, or the
        value outside that passes through the border's port; of a family the one that is listed.
    kind
        ``data``; ``captured`` by a subgraph without being an operand; ``control``; ``former``:
        taken in an older model alone, where the model was made of two; ``newer``: taken in the
        newer one alone.
    bundle
        All values that flow here where there are several, ``value`` being the first; else empty.
    """

    source: int
    target: int
    value: Value
    source_value: Value
    target_value: Value
    kind: LinkKind = "data"
    bundle: tuple[Value, ...] = ()

    @property
    def count(self) -> int:
        """How many values flow here."""
        return len(self.bundle) or 1
