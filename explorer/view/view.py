"""The view of one graph: what is open, and what each open item holds.

A group is closed or open. A repeat has a third state: open it shows one repetition, unrolled
all of them. Shape arithmetic is hidden (nothing of it is drawn) or open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netloupe.explorer.errors import ViewError
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.options import Grouping, check_option

from .borders_by_graph import BordersByGraph
from .child_on_path import find_child_on_path
from .children import ChildMaker
from .group_borders import GroupBorders
from .item import NOTHING_CARRIED, Instance, Item, Link
from .links import NO_OPERAND_KINDS, OperandKinds, list_links
from .open_state import OpenState, list_open, read_repetition_open_state
from .repeat_states import RepeatStates
from .stubs import add_stubs, list_carried
from .value_names import name_passing_values


class View:
    """A graph with some of its groups open.

    Parameters
    ----------
    graph
        The graph that is the outermost level; the main graph where None.
    grouping
        Where groups come from: ``auto``, ``names``, ``modules``, ``repeats`` or ``none``.
    only
        Indexes of the graph's nodes that are shown; all where None.
    unnamed
        Groups, and kinds of block, that are not told what they are: see :meth:`leave_unnamed`.
    like
        Another view of the same with all the options, whose groups this one shares; shape
        arithmetic that is shown in one is so in the other.
    operand_kinds
        How some nodes take some values, where that does not follow from the model: what only one
        of two compared models has. Those of ``like`` where there is one.

    Raises
    ------
    ViewError
        For an unknown grouping.
    """

    def __init__(
        self,
        model: Model,
        graph: Graph | None = None,
        grouping: str = "auto",
        only: frozenset[int] | None = None,
        unnamed: tuple[str, ...] = (),
        like: View | None = None,
        operand_kinds: OperandKinds = NO_OPERAND_KINDS,
    ) -> None:
        self.model = model
        self.graph = graph or model.graph
        self.grouping: Grouping = check_option("grouping", grouping)
        self.only = only
        self.unnamed = unnamed
        self.operand_kinds: OperandKinds = operand_kinds if like is None else like.operand_kinds
        known = None if like is None else like.borders_by_graph
        #: the groups of each graph that was shown
        self.borders_by_graph: BordersByGraph = BordersByGraph(
            model, self.graph, self.grouping, only, unnamed, known
        )
        self._repeats = RepeatStates(self.open_item, self._open_keys)
        self._maker = ChildMaker(self.borders_by_graph.of, is_partial=only is not None)
        instance = Instance(self.graph, self.graph.path, None)
        self.root = Item("root", self.graph.path, self.graph, instance, None, openable=True)
        self.root.body = instance
        self.items: dict[str, Item] = {}
        #: by the identity of an open item its links, where some of its children are left out
        self.rewired: dict[int, list[Link]] = {}
        self._open(self.root)

    # what is open

    def open(self, path: str) -> Item:
        """Open what is at a path and everything that hides it; return the item.

        Of a repetition the repeat is opened, showing this one. Of shape arithmetic, or a node
        in it, the group is shown in place.

        Raises
        ------
        ViewError
            Where there is no such item, or it has no inside.
        """
        item = self.reveal(path)
        group = item.element
        if isinstance(group, Node) and not item.openable:
            around = self.borders(group.graph).tree.group_of(group)
            parent = item.parent
            if around is not None and around.kind == "shape" and parent is not None:
                return parent
        if not item.openable:
            raise ViewError(
                f"{self.model.source}: {path!r} cannot be opened. Groups, calls of functions "
                "and nodes with subgraphs can."
            )
        self.open_item(item)
        return item

    def close(self, path: str) -> Item:
        """Close the open item at a path; return it, or where shape arithmetic is hidden, its place.

        The path of the repetition that is shown counts as that of its repeat.

        Raises
        ------
        ViewError
            Where nothing open is at that path.
        """
        item = self.items.get(path) or self._showing_repetition(path)
        if item is None or not item.is_open or item is self.root:
            raise ViewError(f"{self.model.source}: {path!r} is not an open group.")
        group, parent = item.element, item.parent
        if isinstance(group, Group) and group.kind == "shape" and parent is not None:
            self.borders(group.graph).set_hidden([group], True)
            self.rebuild()
            return self.items.get(parent.key, self.root)
        self.close_item(item)
        return item

    def unroll(self, path: str) -> Item:
        """Show all repetitions of a repeat beside each other; return its item.

        Raises
        ------
        ViewError
            Where there is no repeat at that path.
        """
        return self.show_repeat(self._find_repeat(path), is_unrolled=True)

    def fold(self, path: str) -> Item:
        """Show one repetition of a repeat that is unrolled; return its item.

        Raises
        ------
        ViewError
            Where there is no repeat at that path.
        """
        return self.show_repeat(self._find_repeat(path), is_unrolled=False)

    def show_repetition(self, path: str, index: int) -> Item:
        """Open a repeat with another of its repetitions; return its item.

        Raises
        ------
        ViewError
            Where there is no repeat at that path, or none of its repetitions has that index.
        """
        item = self._find_repeat(path)
        repeat = item.repeat
        assert repeat is not None  # noqa: S101 - found as one
        if not 0 <= index < len(repeat.children):
            raise ViewError(
                f"{self.model.source}: {path!r} has repetitions 0 to {len(repeat.children) - 1}, "
                f"but no {index}."
            )
        return self.show_repeat(item, is_unrolled=False, shown=index)

    def show_shapes(self) -> None:
        """Open all shape arithmetic, also of graphs that are shown later."""
        self.borders_by_graph.show_shapes()
        self.rebuild()

    def open_item(self, item: Item) -> None:
        """Open an item of this view that can be opened."""
        if not item.is_open:
            self._open(item)

    def close_item(self, item: Item) -> None:
        """Close an open item of this view, and forget what was open in it."""
        for inner in list_open([item]):
            self._repeats.forget(inner.key)
        self._empty(item)

    def close_all(self) -> None:
        """Close everything, and forget how it was left: this is as a new view is."""
        for child in self.root.children:
            group = child.element
            if child.is_open and not (isinstance(group, Group) and group.kind == "shape"):
                self._empty(child)
            if child.repeat is not None:
                child.is_unrolled, child.shown = False, child.repeat.exemplar
        self._repeats.restore({}, (), {})

    def open_state(self) -> OpenState:
        """Return what is open, so that :meth:`reopen` can open it again."""
        return OpenState(
            tuple(item.key for item in list_open(self.root.children)),
            frozenset(self._repeats.unrolled),
            dict(self._repeats.shown),
            self.borders_by_graph.list_shown_shapes(),
            self.borders_by_graph.shows_shapes,
            {key: dict(kept) for key, kept in self._repeats.repetitions.items() if kept},
        )

    def reopen(self, state: OpenState) -> None:
        """Open what was open in this view, or in one like it, and close all else."""
        if self.borders_by_graph.show_as(state):
            self.items.clear()
            self.root.stubs = {}
            self.root.is_open = False
        else:
            self._close_others(state)
        self._repeats.restore(state.shown, state.unrolled, state.repetitions)
        self.open_item(self.root)
        self._open_keys(state.keys)

    def reveal(self, path: str) -> Item:
        """Open whatever hides the element at a path; return the item that shows it.

        For a constant this is its first consumer, since constants are rows there; for a value
        it is its producer, or the input itself. A repeat changes to the repetition that holds
        the element; shape arithmetic is shown for its nodes, but not for what it gives to
        others, which is a row on their faces.

        Raises
        ------
        ViewError
            Where the element is not part of this view's graph.
        """
        item = self.items.get(path) or self.root
        found = item.key == path
        while not found:
            child, found = find_child_on_path(self, item, path, is_shown=False)
            if child is None:
                raise ViewError(
                    f"{self.model.source}: there is nothing at {path!r} in the view of "
                    f"{self.graph.path!r}."
                )
            if not found and not child.openable:
                return child
            if not found:
                self.open_item(child)
            item = child
        return item

    def shown(self, path: str) -> Item | None:
        """Return the item drawn now that is or hides the element at a path; None if elsewhere."""
        item: Item = self.items.get(path) or self.root
        found = item.key == path
        while not found:
            child, found = find_child_on_path(self, item, path, is_shown=True)
            if child is None:
                # in a repetition that is not shown
                return item if item.repetition is not None else None
            if not child.is_open:
                return child
            item = child
        return item

    def find(self, text: str) -> str | None:
        """Return the path of the group or group of one that a person means; None for none.

        Groups of this view's own graph are found by the ends of their paths, as in ``h.3``.
        """
        found = self.borders(self.graph).tree.find(text)
        return self.root.instance.path_of(found.path) if found is not None else None

    def group_at(self, path: str) -> Group | None:
        """Return the group at a path of a graph that is shown, whether it is drawn or not."""
        item = self.items.get(path)
        if item is not None and isinstance(item.element, Group):
            return item.element
        bodies = {item.body.occurrence for item in self.open_items() if item.body is not None}
        for body in bodies:
            if path.startswith(body.prefix):
                local = body.graph.path + path[len(body.prefix) :]
                group = self.borders(body.graph).tree.groups.get(local)
                if group is not None:
                    return group
        return self.borders_by_graph.find_group(path)

    def open_items(self) -> Iterator[Item]:
        """Yield the root and every open item, outer ones before inner ones."""
        pending = [self.root]
        while pending:
            item = pending.pop()
            yield item
            pending.extend(child for child in reversed(item.children) if child.is_open)

    def borders(self, graph: Graph) -> GroupBorders:
        """Return the groups and borders of a graph."""
        return self.borders_by_graph.of(graph)

    def leave_unnamed(self, unnamed: tuple[str, ...]) -> None:
        """Tell of some groups, and no others, nothing of what they were recognised as.

        Parameters
        ----------
        unnamed
            Paths of groups or the ends of them, and names of kinds of block such as
            ``Self-attention``; see :func:`netloupe.explorer.grouping.leave_unnamed`. Faces made
            before are no longer right.
        """
        self.unnamed = unnamed
        if self.borders_by_graph.leave_unnamed(unnamed):
            self.rebuild()

    def list_unmet(self) -> list[str]:
        """Return what is to be left unnamed, but is no group, nor what one would be called."""
        return self.borders_by_graph.list_unmet()

    def links(self, item: Item) -> list[Link]:
        """Return the connections between the children of an open item, and to its border."""
        rewired = self.rewired.get(id(item))
        if rewired is not None:
            return rewired
        return list_links(item, is_root=item is self.root, operand_kinds=self.operand_kinds)

    def _find_repeat(self, path: str) -> Item:
        item = self.reveal(path)
        if item.repeat is None:
            raise ViewError(f"{self.model.source}: {path!r} is no repeat.")
        return item

    def _showing_repetition(self, path: str) -> Item | None:
        """Return the open repeat that shows the repetition at a path."""
        for item in self.open_items():
            shown = item.repetition
            if isinstance(shown, Group) and item.instance.path_of(shown.path) == path:
                return item
        return None

    # opening

    def _open(self, item: Item) -> None:
        item.is_open = True
        repeat = item.repeat
        if repeat is not None:
            item.is_unrolled = item.key in self._repeats.unrolled
            shown = self._repeats.shown.get(item.key, repeat.exemplar)
            item.shown = shown if shown < len(repeat.children) else repeat.exemplar
        try:
            item.children = self._maker.make_children(item)
            add_stubs(item, is_root=item is self.root)
            self._name_stubs(item)
            for child in item.children:
                self.items[child.key] = child
            if item is self.root:
                self.items[item.key] = item
            for child in item.children:
                if isinstance(child.element, Group) and child.element.kind == "shape":
                    self._open(child)  # it has no closed form but the rows
        except BaseException:  # whoever watches may end it, as may an interrupt of the kernel
            self._empty(item)
            raise

    def _name_stubs(self, item: Item) -> None:
        """Say of the stubs in an item what they stand for."""
        carried, known = list_carried(item), dict[Value, str]()
        for child in item.children:
            value = child.element
            if child.kind == "stub" and isinstance(value, Value):
                tree = self.borders(value.graph).tree
                values = child.merged.get(value, (value,))
                child.label = carried.get(value) or name_passing_values(values, tree, known)

    def show_repeat(self, item: Item, *, is_unrolled: bool, shown: int | None = None) -> Item:
        """Open a repeat in another state; what is open in its repetitions stays open."""
        was_open, was_unrolled = item.is_open, item.is_unrolled
        is_as_wanted = was_unrolled == is_unrolled and shown in (None, item.shown)
        if was_open and is_as_wanted:
            return item
        before, last = item.children, item.shown
        if was_open:
            self._repeats.remember(item)
            self._empty(item)
        self._repeats.change(item, is_unrolled=is_unrolled, shown=shown)
        self._open(item)
        if was_open and is_unrolled:
            self._repeats.open_repetition(item, last, read_repetition_open_state(before))
        elif was_open:
            self._repeats.open_as_before(item, [] if was_unrolled else before)
        return item

    def _open_keys(self, keys: Iterable[str]) -> None:
        """Open the items of some keys, as far as they exist; outer ones come first."""
        for key in keys:
            item = self.items.get(key)
            if item is not None and item.openable:
                self.open_item(item)

    def _close_others(self, state: OpenState) -> None:
        """Close what was closed, and repeats that showed another of their repetitions."""
        keys = set(state.keys)
        for item in list(list_open(self.root.children)):
            if self.items.get(item.key) is not item:
                continue  # gone with what held it
            repeat = item.repeat
            now = (item.is_unrolled, item.shown)
            if item.key not in keys or (
                repeat is not None
                and now != (item.key in state.unrolled, state.shown.get(item.key, repeat.exemplar))
            ):
                self._empty(item)

    def rebuild(self) -> None:
        """Make all items anew, the same ones open, since what crosses borders has changed."""
        keys = [item.key for item in self.open_items()]
        self.items.clear()
        self.root.stubs = {}
        self._open(self.root)
        self._open_keys(keys)

    def _empty(self, item: Item) -> None:
        """Close an item; what was open in it is not forgotten."""
        pending = [item]
        while pending:
            for child in pending.pop().children:
                self.items.pop(child.key, None)
                pending.append(child)
        item.children = []
        item.stubs = {}
        item.carried = NOTHING_CARRIED
        item.is_open = False
