"""The tree of groups over the nodes of one graph."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from netloupe.explorer.costs import count_nodes
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import MOST_NODES, Ingredient, Recognition

from .member_differences import Difference, find_differences
from .member_nodes import list_member_nodes, list_nodes_inside
from .member_numbers import MemberNumber, list_numbers
from .recognised import Recogniser
from .shared_weights import MOST_BESIDE, are_loop, may_share_weights, share_weights
from .shared_weights import MOST_NODES as MOST_OF_LOOP

#: what an exporter puts behind the name of a module that is called again
_CALL = re.compile(r"_\d+$")

GroupKind = Literal[
    "graph",
    "scope",
    "block",
    "repeat",
    "operation",
    "shape",
    "part",
    "preparation",
    "postprocessing",
]


class Group:
    """Nodes that belong together, and the groups among them.

    Parameters
    ----------
    kind
        ``graph`` for the root of a graph's tree; ``scope`` for exporter scopes and modules;
        ``block`` for what was found by structure alone; ``repeat`` for a run of like blocks,
        which are its children; ``operation`` for one node that computes and those around it that
        only arrange what it takes and gives; ``shape`` for arithmetic on shapes; ``part`` for a
        piece of a group that would have too many children; ``preparation`` and
        ``postprocessing`` for what comes before the first node with a weight, and behind the
        last one.
    path
        ``main/encoder/layer.0/``: the trailing slash tells groups from nodes.
    label
        What is shown: ``layer.0``, or ``model / layers`` where single-child chains collapsed.
    type_name
        The module's class where the exporter gives it (``GPT2Block``), else "".
    """

    __slots__ = (
        "_children",
        "_differences",
        "_has_twin",
        "_inner",
        "_is_loop",
        "_numbers",
        "_recognised",
        "_recogniser",
        "_share",
        "_shares_weights",
        "exemplar",
        "facts",
        "graph",
        "high",
        "kind",
        "label",
        "low",
        "main",
        "names_operator",
        "node_count",
        "parent",
        "path",
        "stand_in",
        "type_name",
    )

    def __init__(
        self,
        kind: GroupKind,
        graph: Graph,
        path: str,
        label: str,
        type_name: str = "",
        parent: Group | None = None,
    ) -> None:
        self.kind = kind
        self.graph = graph
        self.path = path
        self.label = label
        self.type_name = type_name
        self.parent = parent
        self._children: list[Group | Node] = []
        self._inner: list[Group] | None = []
        #: what it was recognised as, in a list where that was asked for
        self._recognised: list[Recognition | None] = []
        #: whether its repetitions are a loop, where that was asked for
        self._is_loop: bool | None = None
        #: and whether they use the same weights
        self._shares_weights: bool | None = None
        #: whether another module beside it uses its weights, where that was asked for
        self._has_twin: bool | None = None
        #: which share of its model it is, where that was asked for
        self._share: float | None = None
        #: and in what its repetitions differ from one of them
        self._differences: dict[int, list[Difference]] = {}
        self._numbers: list[MemberNumber] | None = None
        #: of a tree's root
        self._recogniser: Recogniser | None = None
        #: of a repeat: which child stands for all of them
        self.exemplar = 0
        #: of an operation: the node that computes
        self.main: Node | None = None
        #: of a scope: whether it is that of one operator of an exporter, and no module
        self.names_operator = False
        #: of preparation and postprocessing: what is certain of it, such as ``causal``
        self.facts: tuple[str, ...] = ()
        #: the largest group inside of one that was dissolved, which is drawn instead of it
        self.stand_in: Group | None = None
        #: the group's nodes are those whose position p in the tree has low <= p < high
        self.low = 0
        self.high = 0
        #: nodes inside at any depth, constants left out
        self.node_count = 0

    @property
    def children(self) -> list[Group | Node]:
        """Groups and nodes in order. Another list may be set, groups are added by ``add``."""
        return self._children

    @children.setter
    def children(self, children: list[Group | Node]) -> None:
        self._children = children
        self._inner = None

    def add(self, group: Group) -> None:
        """Append a group to the children."""
        self._children.append(group)
        if self._inner is not None:
            self._inner.append(group)

    def replace(self, children: list[Group | Node], inner: list[Group]) -> None:
        """Set the children, and tell which of them are groups; become the parent of these."""
        self._children = children
        self._inner = inner
        for group in inner:
            group.parent = self

    def inner_groups(self) -> list[Group]:
        """Return those children that are groups; found once, since most groups have none."""
        if self._inner is None:
            children = self._children  # mostly nodes: a million
            has_groups = any(issubclass(kind, Group) for kind in {*map(type, children)})
            self._inner = [c for c in children if isinstance(c, Group)] if has_groups else []
        return self._inner

    def nodes_alone(self) -> list[Node]:
        """Return the children where all of them are nodes, else nothing."""
        inner = self._inner if self._inner is not None else self.inner_groups()
        return [] if inner else self._children  # type: ignore[return-value] # no group is in it

    @property
    def is_recognised_cheaply(self) -> bool:
        """Whether what the group is was asked for before, or is plain without looking."""
        return bool(self._recognised) or self.node_count > MOST_NODES or self.is_beside

    @property
    def is_beside(self) -> bool:
        """Whether it is beside the model's body: preparation or postprocessing."""
        return self.kind in ("preparation", "postprocessing")

    @property
    def recognised(self) -> Recognition | None:
        """What the group is, as far as its nodes tell; of a repeat, what all its blocks are.

        It is found when it is first asked for, so only groups that are shown cost anything.
        """
        if not self._recognised:
            root = self
            while root.parent is not None:
                root = root.parent
            self._recognised.append(root.recogniser.recognise(self))
        return self._recognised[0]

    @property
    def contents(self) -> list[Ingredient]:
        """What the group is made of, in order; of a repeat, its exemplar.

        It is found when it is first asked for.
        """
        root = self
        while root.parent is not None:
            root = root.parent
        return root.recogniser.list_contents(self)

    @property
    def u(self) -> Ingredient | None:
        """What a group is that makes maps smaller and larger again; None for others."""
        root = self
        while root.parent is not None:
            root = root.parent
        return root.recogniser.find_inner_u(self)

    @property
    def is_loop(self) -> bool:
        """Whether it is a repeat of one body that runs again and again with the same weights.

        Each repetition takes what the one before has made; a stack of layers has weights of its
        own in each, and is none.
        """
        if self._is_loop is None:
            self._is_loop = self.shares_weights and are_loop(self._list_repetitions())
        return self._is_loop

    @property
    def shares_weights(self) -> bool:
        """Whether it is a repeat whose repetitions use the same weights: a loop, or towers."""
        if self._shares_weights is None:
            self._shares_weights = (
                self.kind == "repeat"
                and self.node_count <= MOST_OF_LOOP
                and self._may_share_weights()
                and share_weights(self._list_repetitions())
            )
        return self._shares_weights

    def _may_share_weights(self) -> bool:
        """Return whether two of many repetitions may use the same weights."""
        children = self._children
        if len(children) < 2:
            return False
        return may_share_weights(
            _list_nodes(children[len(children) // 2]), _list_nodes(children[-1])
        )

    @property
    def has_twin(self) -> bool:
        """Whether it is a module that is called again beside itself, on something else.

        As the one network that two images go through (J. Bromley and others, Signature Verification
        using a "Siamese" Time Delay Neural Network, 1993, section 4).
        """
        if self._has_twin is None:
            beside = self.parent.inner_groups() if self.parent is not None else []
            self._has_twin = (
                self.kind == "scope"
                and self.parent is not None
                and self.parent.kind != "repeat"
                and any(self._shares_all_with(one) for one in beside[:MOST_BESIDE])
            )
        return self._has_twin

    def _shares_all_with(self, other: Group) -> bool:
        if other is self or other.kind != "scope" or other.type_name != self.type_name:
            return False
        if _CALL.sub("", other.label) != _CALL.sub("", self.label):
            return False  # an exporter stores tensors once that are equal, as all zeros
        counts = sorted((self.node_count, other.node_count))
        if counts[1] > MOST_OF_LOOP or 2 * counts[0] < counts[1]:
            return False
        members = [_list_nodes(self), _list_nodes(other)]
        return share_weights(members) and share_weights(members[::-1])

    @property
    def share(self) -> float:
        """Which share of its model it is: of the nodes and of the parameters, both alike."""
        if self._share is None:
            model, nodes = self.graph.model, list_nodes_inside([self])
            of_nodes = len(nodes) / max(len(model.graph.nodes), 1)
            parameters = count_nodes(model, nodes).parameters
            self._share = (of_nodes + parameters / max(model.totals.parameters, 1)) / 2
        return self._share

    def list_differences(self, shown: int) -> list[Difference]:
        """Return in what the repetitions of a repeat differ from one of them; found once."""
        if shown not in self._differences:
            self._differences[shown] = find_differences(self._list_repetitions(), shown)
        return self._differences[shown]

    def list_numbers(self) -> list[MemberNumber]:
        """Return the numbers that differ over the repetitions of a repeat; found once."""
        if self._numbers is None:
            self._numbers = [*list_numbers(self._list_repetitions())]
        return self._numbers

    def _list_repetitions(self) -> list[list[Node]]:
        return [_list_nodes(child) for child in self._children]

    @property
    def recogniser(self) -> Recogniser:
        """What tells of a tree's root what the groups of the tree are; another may be set."""
        if self._recogniser is None:
            self._recogniser = Recogniser(self.graph)
        return self._recogniser

    @recogniser.setter
    def recogniser(self, recogniser: Recogniser) -> None:
        self._recogniser = recogniser

    def forget_recognition(self) -> None:
        """Ask anew what the group is when that is wanted next."""
        self._recognised.clear()

    def forget_recognitions(
        self, groups: Iterable[Group], unnamed: frozenset[Group], names: frozenset[str]
    ) -> None:
        """Ask anew what groups are when that is wanted next; of a tree's root.

        Parameters
        ----------
        groups
            The groups of the tree.
        unnamed
            Those that are not told what they are.
        names
            What none is called any more.
        """
        recogniser = self.recogniser
        recogniser.unnamed, recogniser.names_left_out = unnamed, names
        for group in groups:
            group.forget_recognition()

    @property
    def names_met(self) -> frozenset[str]:
        """Names that groups were not given because they are left out; of a tree's root."""
        return frozenset(self._recogniser.names_met) if self._recogniser else frozenset()

    def __repr__(self) -> str:
        return f"<Group {self.path!r}, {write_count(self.node_count, 'node')}>"


def _list_nodes(child: Group | Node) -> list[Node]:
    return list_member_nodes(child, MOST_OF_LOOP) if isinstance(child, Group) else [child]


def adopt(parent: Group) -> None:
    """Make a group the parent of the groups among its children."""
    for group in parent.inner_groups():
        group.parent = parent
