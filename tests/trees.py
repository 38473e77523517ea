"""Groups made by hand: repeats and shape arithmetic put into the tree of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from unittest import mock

from hypothesis import strategies as st

from netloupe.explorer.errors import ViewError
from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.group import GroupKind
from netloupe.explorer.model import Graph, Model, Node
from netloupe.explorer.view import View

Change = Callable[[GroupTree], None]


def make_view(model: Model, change: Change, grouping: str = "names") -> View:
    """Return a view whose trees are changed before anything is shown."""

    def build(graph: Graph, grouping: str, only: frozenset[int] | None = None) -> GroupTree:
        tree = build_group_tree(graph, grouping, only)
        change(tree)
        number(tree)
        return tree

    patched = mock.patch("netloupe.explorer.view.borders_by_graph.build_group_tree", build)
    patched.start()
    try:
        view = View(model, None, grouping)
        for graph in [*model.graphs, *(f for f in model.functions)]:
            view.borders(graph)
    finally:
        patched.stop()
    return view


def wrap(
    parent: Group, kind: GroupKind, start: int, end: int, name: str, type_name: str = ""
) -> Group:
    """Put some children of a group into a new group among its children; return that."""
    group = Group(kind, parent.graph, f"{parent.path}{name}/", name, type_name, parent)
    group.children = parent.children[start:end]
    parent.children = [*parent.children[:start], group, *parent.children[end:]]
    for child in group.children:
        if isinstance(child, Group):
            child.parent = group
    return group


def wrap_repeat(parent: Group, start: int, size: int, count: int, name: str = "Block A") -> Group:
    """Make a repeat of ``count`` blocks of ``size`` children each; blocks of one stay as such."""
    repeat = wrap(parent, "repeat", start, start + size * count, name)
    if size > 1:
        for index in range(count):
            wrap(repeat, "block", index, index + size, str(index))
    return repeat


def wrap_shape(parent: Group, nodes: Sequence[Node], name: str = "shape") -> Group:
    """Put some nodes among a group's children into a group of shape arithmetic."""
    first = parent.children.index(nodes[0])
    rest = [child for child in parent.children if child not in nodes]
    parent.children = [*rest[:first], *nodes, *rest[first:]]
    start = parent.children.index(nodes[0])
    return wrap(parent, "shape", start, start + len(nodes), name)


def number(tree: GroupTree) -> None:
    """Give the nodes and groups of a tree their positions anew."""
    tree.groups = {path: group for path, group in tree.groups.items() if group.path != path}
    position = 0
    tree.order = []
    after: list[Group] = []
    pending: list[Group | Node | None] = [tree.root]
    while pending:
        child = pending.pop()
        if child is None:
            done = after.pop()
            done.high = position
            done.node_count = done.high - done.low
        elif isinstance(child, Group):
            tree.groups[child.path] = child
            child.low = position
            after.append(child)
            pending.append(None)
            for inner in child.children:
                if isinstance(inner, Group):
                    inner.parent = child
            pending.extend(reversed(child.children))
        else:
            tree.positions[child.index] = position
            tree.order.append(child)
            position += 1


@st.composite
def random_changes(draw: st.DrawFn) -> Change:
    """Return a change that makes repeats and shape groups wherever there is room for them."""
    seed = draw(st.integers(0, 2**20))

    def change(tree: GroupTree) -> None:
        groups = [tree.root]
        for group in groups:
            groups += [child for child in group.children if isinstance(child, Group)]
        choice = seed
        for group in groups:
            choice = (choice * 1103515245 + 12345) % 2**31
            _fold_shape(group, choice >> 8)
            size, count = 1 + (choice >> 10) % 3, 2 + (choice >> 13) % 3
            room = len(group.children) - size * count
            shapes = [isinstance(c, Group) and c.kind == "shape" for c in group.children]
            if room >= 0 and (choice >> 16) % 4:
                start = (choice >> 18) % (room + 1)
                if not any(shapes[start : start + size * count]):
                    repeat = wrap_repeat(group, start, size, count, "Block")
                    repeat.exemplar = (choice >> 20) % count

    return change


def _fold_shape(group: Group, choice: int) -> None:
    plain = [c for c in group.children if isinstance(c, Node) and not c.subgraphs]
    plain = [c for c in plain if c.function is None]
    chosen = [node for index, node in enumerate(plain) if choice >> index & 1][:3]
    if chosen and choice % 3 == 0 and len(chosen) < len(group.children):
        wrap_shape(group, chosen)


def take_random_step(view: View, data: st.DataObject) -> None:
    """Open, close, unroll, fold, show or reveal something."""
    elements = [*view.graph.nodes, *view.graph.values.values()]
    items = [item for item in view.items.values() if item.openable and item is not view.root]
    items.sort(key=lambda item: item.key)
    repeats = [item for item in items if item.repeat is not None]
    action = data.draw(st.sampled_from(["open", "unroll", "show", "reveal", "shapes"]))
    if action == "open" and items:
        item = data.draw(st.sampled_from(items))
        (view.close if item.is_open else view.open)(item.key)
    elif action == "unroll" and repeats:
        item = data.draw(st.sampled_from(repeats))
        (view.fold if item.is_unrolled else view.unroll)(item.key)
    elif action == "show" and repeats:
        item = data.draw(st.sampled_from(repeats))
        assert item.repeat is not None
        index = data.draw(st.integers(0, len(item.repeat.children) - 1))
        assert view.show_repetition(item.key, index).shown == index
    elif action == "reveal" and elements:
        path = data.draw(st.sampled_from(elements)).path
        before = view.shown(path)
        try:
            item = view.reveal(path)
        except ViewError:
            assert before is None or before is view.root, path
        else:
            assert view.shown(path) is item
    elif action == "shapes":
        view.show_shapes()
