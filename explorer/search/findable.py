"""What can be found in a model, one entry after the other, and the texts by which it is found.

Entries are made while somebody walks over them, and say only what is asked of them: attributes
and types are read where a search gets so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from netloupe.explorer.grouping import Group, GroupTree, list_classes
from netloupe.explorer.model import Attribute, Graph, Model, Node, Tensor, Value
from netloupe.explorer.notation import write_count, write_float
from netloupe.explorer.progress import step

from .query import LONGEST

_MOST_ENTRIES = 16
#: so many graphs are grouped at most; the groups of others are not found
_MOST_GROUPED = 1000
#: groups of so many nodes together are recognised for one search, beside those that are already
_MOST_TOLD = 6_000
#: so many elements are looked at in one step
_STEP = 10_000

FindTree = Callable[[Graph], GroupTree]


class Findable:
    """Something that can be found: by its own texts, together with those around it."""

    __slots__ = ("own",)

    #: ``group``, ``node``, ``value``, ``initializer`` or ``graph``
    kind: str
    #: where in the path of a group its own part begins, by which it is found too; else -1
    begin = -1

    def __init__(self, own: Sequence[str]) -> None:
        #: the texts that are its own, without :meth:`list_further`
        self.own = own

    @property
    def path(self) -> str:
        """Its path."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """The name; of a node without one the end of its path, of a group its label."""
        raise NotImplementedError

    @property
    def detail(self) -> str:
        """What it is: ``Conv``, ``ViTAttention · 12 nodes``."""
        raise NotImplementedError

    def list_further(self) -> list[str]:
        """Return more texts of its own, which are told where it is found by them."""
        return []

    def list_beside(self) -> list[str]:
        """Return texts around it that are not those of groups."""
        return []

    def find_group(self) -> Group | None:
        """Return the innermost group whose texts, and those of all around it, are around it."""
        return None


class _FindableGraph(Findable):
    """A graph that has a name."""

    __slots__ = ("_graph",)
    kind = "graph"

    def __init__(self, graph: Graph) -> None:
        super().__init__((graph.name,))
        self._graph = graph

    @property
    def path(self) -> str:
        return self._graph.path

    @property
    def title(self) -> str:
        return self._graph.name

    @property
    def detail(self) -> str:
        return self._graph.kind


class _FindableGroup(Findable):
    """A group, with what it was recognised as.

    The beginning of its path is that of the groups around, all of which it would find too.
    """

    __slots__ = ("_group", "_told", "begin")
    kind = "group"

    def __init__(self, group: Group, told: str) -> None:
        own = [group.label, told, *group.facts]
        if group.kind != "operation":  # whose type is that of its main node, found itself
            own.append(group.type_name)
        super().__init__(own)
        self._group = group
        self._told = told
        self.begin = group.path.rstrip("/").rfind("/") + 1

    @property
    def path(self) -> str:
        return self._group.path

    @property
    def title(self) -> str:
        group = self._group
        return group.path[len(group.graph.path) + 1 :].rstrip("/") or group.label

    @property
    def detail(self) -> str:
        group = self._group
        what = self._told or group.type_name or ", ".join(group.facts)
        detail = " · ".join(filter(None, (what, write_count(group.node_count, "node"))))
        return f"×{len(group.children):,} · {detail}" if group.kind == "repeat" else detail

    def list_beside(self) -> list[str]:
        return [self._told]

    def find_group(self) -> Group:
        return self._group


@dataclass(frozen=True, slots=True)
class _Place:
    """The groups of a graph, and which classes are theirs: None where nodes name no classes."""

    tree: GroupTree | None
    classes: set[str] | None

    def holds(self, node: Node | None) -> bool:
        return node is not None and self.tree is not None and node.graph is self.tree.graph

    def find_group(self, node: Node | None) -> Group | None:
        if node is None or self.tree is None or node.graph is not self.tree.graph:
            return None
        return self.tree.group_of(node)


class _FindableNode(Findable):
    """A node; where its box is called something else, that is told too."""

    __slots__ = ("_label", "_node", "_place")
    kind = "node"

    def __init__(self, node: Node, label: str, place: _Place) -> None:
        self.own = (node.op_type, node.name, label)
        self._label = label
        self._node = node
        self._place = place

    @property
    def path(self) -> str:
        return self._node.path

    @property
    def title(self) -> str:
        node = self._node
        return node.name or node.path[len(node.graph.path) + 1 :]

    @property
    def detail(self) -> str:
        op_type, label = self._node.op_type, self._label
        if not label or label == op_type or self.title.endswith(label):
            return op_type
        return f"{label} · {op_type}"

    def list_further(self) -> list[str]:
        """Return domain and attributes, and its modules that are no groups themselves."""
        node, classes = self._node, self._place.classes
        texts = [
            f"{attribute.name} = {_describe_value(attribute)}"
            for attribute in node.attributes.values()
        ]
        if node.domain != node.graph.dialect.domain:
            texts.insert(0, f"{node.domain}::{node.op_type}")
        if classes is not None:
            texts += [name for name in list_classes(node) if name not in classes]
        return texts

    def list_beside(self) -> list[str]:
        return [self._node.op_type]

    def find_group(self) -> Group | None:
        return self._place.find_group(self._node)


class _FindableValue(Findable):
    """A value, around it where it is produced, or where a constant is used first."""

    __slots__ = ("_place", "_value")

    def __init__(self, value: Value, place: _Place) -> None:
        # only what stands at the border shows its denotation; types of others need not be read
        if (value.is_input or value.is_output) and value.type is not None:
            self.own = (value.name, value.type.denotation)
        else:
            self.own = (value.name,)
        self._value = value
        self._place = place

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "value" if self._value.initializer is None else "initializer"

    @property
    def path(self) -> str:
        return self._value.path

    @property
    def title(self) -> str:
        return self._value.name

    @property
    def detail(self) -> str:
        value = self._value
        if value.initializer is None:
            return str(value.type or "value")
        kind = "" if isinstance(value.initializer, Tensor) else "sparse "
        return f"{kind}{value.type or ''}".strip()

    def list_beside(self) -> list[str]:
        texts, node = [str(self._value.type or "")], self._find_node()
        if node is not None and self._place.holds(node):
            texts.append(node.op_type)
        return texts

    def find_group(self) -> Group | None:
        return self._place.find_group(self._find_node())

    def _find_node(self) -> Node | None:
        value = self._value
        return value.producer or (value.users[0] if value.users else None)


def list_findable(model: Model, find_tree: FindTree) -> Iterator[tuple[Graph, Findable]]:
    """Yield what can be found, and the graph that it is in: graph by graph.

    Of each graph first itself, then groups, then nodes in file order, then values. Of a large
    model not all groups are recognised.

    Parameters
    ----------
    model
        Where to look.
    find_tree
        Gives the groups of a graph.
    """
    for number, graph in enumerate(model.graphs):
        is_grouped = number < _MOST_GROUPED and len(graph.nodes) > 1
        tree = find_tree(graph) if is_grouped else None
        if graph.name:
            yield graph, _FindableGraph(graph)
        groups = dict.fromkeys(tree.groups.values()) if tree is not None else {}
        told = 0
        for group in groups:
            if group.kind in ("graph", "shape"):
                continue
            if not group.is_recognised_cheaply:
                told += group.node_count
            recognition = group.recognised if told <= _MOST_TOLD else None
            yield graph, _FindableGroup(group, recognition.text if recognition is not None else "")
        sample = graph.nodes[:: max(1, len(graph.nodes) // 64)]
        has_classes = any(map(list_classes, sample))
        place = _Place(tree, {group.type_name for group in groups} if has_classes else None)
        labels = tree.node_labels if tree is not None else {}
        for index, node in enumerate(graph.nodes):
            if not index % _STEP:
                step()
            yield graph, _FindableNode(node, labels.get(node.index, ""), place)
        for index, value in enumerate(graph.values.values()):
            if not index % _STEP:
                step()
            yield graph, _FindableValue(value, place)


def list_group_texts(group: Group) -> list[str]:
    """Return the texts of a group that are around all that is in it."""
    return [group.path, group.label, group.type_name, *group.facts]


def _describe_value(attribute: Attribute) -> str:
    value = attribute.value
    if attribute.reference:
        return f"@{attribute.reference}"
    if isinstance(value, tuple):
        shown = ", ".join(_write_entry(entry) for entry in value[:_MOST_ENTRIES])
        return f"[{shown}{', …' if len(value) > _MOST_ENTRIES else ''}]"
    return _write_entry(value) if isinstance(value, (str, bytes, int, float)) else attribute.kind


def _write_entry(entry: object) -> str:
    return write_float(entry) if isinstance(entry, float) else str(entry)[:LONGEST]
