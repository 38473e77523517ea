"""What a picture shows: items, the boxes-to-be, and how they hang together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Literal

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Node, SparseTensor, Tensor, Value

ItemKind = Literal["root", "node", "group", "branch", "input", "output", "constant", "stub"]
LinkKind = Literal["data", "captured", "control"]


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
        The item of the node whose call or subgraph this is; None for the view's root.
    """

    __slots__ = ("bindings", "caller", "graph", "prefix", "results")

    def __init__(self, graph: Graph, prefix: str, caller: Item | None) -> None:
        self.graph = graph
        self.prefix = prefix
        self.caller = caller
        #: formal input of the graph -> the caller's operand (None: not given)
        self.bindings: dict[Value, Value | None] = {}
        #: output of the graph -> the caller's results that it becomes
        self.results: dict[Value, tuple[Value, ...]] = {}

    def path_of(self, path: str) -> str:
        """Turn the path of an element of the graph into the path of this occurrence."""
        return self.prefix + path[len(self.graph.path) :]


@dataclass(frozen=True, slots=True)
class ConstantRow:
    """A constant operand, shown as a row on its consumer's face.

    Parameters
    ----------
    index
        Which input of the node it is.
    tensor
        The elements; None for a Constant node that gives no tensor.
    text
        The value in words where there is no tensor (``[0, -1]``, ``"abc"``), else "".
    path
        The path of the value: what a click on the row selects.
    """

    index: int
    tensor: Tensor | SparseTensor | None
    text: str
    path: str


class Item:
    """Something that is drawn as a box: a node, a closed or open group, an input and so on.

    Parameters
    ----------
    kind
        ``node`` (also calls and control flow, which can be opened), ``group`` (a scope),
        ``branch`` (one of several subgraphs of an open node), ``input``, ``output``,
        ``constant`` (an initializer that is itself an output), ``stub`` (stands for a value
        of many consumers beside one of them), ``root``.
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
        "body",
        "constants",
        "element",
        "inputs",
        "instance",
        "is_open",
        "key",
        "kind",
        "label",
        "openable",
        "outputs",
        "parent",
        "path",
        "revision",
        "stubs",
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
        #: values that cross the border, in the terms of ``instance.graph``
        self.inputs: tuple[Value, ...] = ()
        self.outputs: tuple[Value, ...] = ()
        #: of an open item: which child is the stub for (key of the consumer, value)
        self.stubs: dict[tuple[str, Value], int] = {}
        #: operands that are rows on the face instead of edges
        self.constants: tuple[ConstantRow, ...] = ()

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
        value outside that passes through the border's port.
    kind
        ``data``; ``captured`` by a subgraph without being an operand; ``control``.
    """

    source: int
    target: int
    value: Value
    source_value: Value
    target_value: Value
    kind: LinkKind = "data"
