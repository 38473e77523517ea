"""Levels of more boxes than a figure has: calls, sequences that come again and rows of layers.

Where an author writes a network without modules in modules, dozens of layers stand beside each
other. What they are is told by what comes again: the same weights for another input, the same
sequence of layers with other widths, the same layer in a row. Each becomes one box; no two whose
widths differ become one stack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.patterns import find_graph_context, name_block
from netloupe.explorer.roles import find_weight

from .branches import are_beside
from .crowded import is_round
from .group import Group
from .member_nodes import is_layer, list_nodes_inside
from .repeat_names import name_span
from .role_groups import FreePath
from .shared_tensors import find_shared_tensors
from .small_blocks import wrap
from .spilled_arithmetic import Box, find_edges, list_searched

#: a figure has at most so many boxes; a level of more than so many children is not looked at
_MOST_BOXES, _MOST_CHILDREN = 30, 300
#: so many may be read where all else is alike, as the levels of a grid are: what becomes no stack
#: is closed where there are more
_MOST_READ = 44
#: calls of fewer boxes are seen as they stand, and there are so many calls at most
_LEAST_OF_CALL, _MOST_CALLS = 4, 8
#: a block that comes again has so many boxes at least; a shorter one is part of a row
_LEAST_OF_BLOCK = 3
#: and a row so many layers
_LEAST_OF_ROW = 3
#: so much of a level is a sequence at least that becomes blocks
_LEAST_BOXES = 6
#: a last block that misses its end has so much of a block
_LEAST_OF_LAST = 0.75
#: a longer block is one where so much more becomes boxes
_MUCH_MORE = 1.2
#: so many sequences are looked for in a level
_MOST_SEQUENCES = 4
_TWO = 2
#: what a block is called that nothing names
_BLOCK = "Layers"

Child = Group | Node
#: makes a stack of blocks among the children of a group, one of which stands for all
MakeRepeat = Callable[[Group, Sequence[Sequence[Child]], int], Group]


class _Sequence(NamedTuple):
    """A stretch of boxes that says the same again and again, the last time perhaps less."""

    low: int
    period: int
    times: int
    end: int

    @property
    def high(self) -> int:
        """Where the whole blocks end."""
        return self.low + self.period * self.times

    @property
    def saved(self) -> int:
        """How many boxes fewer there are where each block is one."""
        return self.end - self.low - self.times - (self.end > self.high)


def close_crowded_rows(
    root: Group, labels: Mapping[int, str], free_path: FreePath, make_repeat: MakeRepeat
) -> None:
    """Close what comes again on levels that have more boxes than a figure.

    First like branches from one box to another, then calls of the same weights beside each other,
    then sequences of layers that come again, then rows of one kind of layer; each only where the
    level is still crowded. Quadratic in the boxes of such a level, of which there are few.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    labels
        The labels of nodes that stand for a group of one, by index.
    free_path
        Gives an unused path for a child of a group.
    make_repeat
        Makes a stack.
    """
    for group in list_searched(root, _MOST_BOXES, _MOST_CHILDREN):
        level = _Level(group, labels, free_path, make_repeat)
        level.close_branches()
        level.close_calls()
        level.close_sequences()
        level.close_rows()


class _Level:
    """The children of one group."""

    def __init__(
        self,
        group: Group,
        labels: Mapping[int, str],
        free_path: FreePath,
        make_repeat: MakeRepeat,
    ) -> None:
        self._group, self._labels = group, labels
        self._free_path, self._make_repeat = free_path, make_repeat

    def _has_more(self, boxes: int) -> bool:
        """Return whether there are more boxes; circles of sums and products are none."""
        return sum(not is_round(child) for child in self._group.children) > boxes

    def _look(self) -> list[Box]:
        """Return the boxes, those that give before those that take, and what takes from which."""
        group = self._group
        boxes = [Box(child, list_nodes_inside([child]), False) for child in group.children]
        find_edges(boxes, group.graph)
        order = _sort(boxes)
        if order != [*range(len(boxes))]:
            group.children = [boxes[place].child for place in order]
            boxes = [Box(child, list_nodes_inside([child]), False) for child in group.children]
            find_edges(boxes, group.graph)
        return boxes

    def close_branches(self) -> None:
        """Put like branches into one stack that all take the same, and the same takes from."""
        if not self._has_more(_MOST_BOXES):
            return
        boxes = self._look()
        for places in [*_list_branches(boxes)]:
            self._fold([[boxes[place].child] for place in places])

    def close_calls(self) -> None:
        """Put boxes that use the same weights for other inputs into one block for each call."""
        if not self._has_more(_MOST_BOXES):
            return
        boxes = self._look()
        calls = _find_calls(boxes, find_shared_tensors(self._group.graph))
        if calls:
            self._fold([[boxes[place].child for place in sorted(call)] for call in calls])

    def close_sequences(self) -> None:
        """Close sequences of boxes that come again, those that save most first."""
        for _ in range(_MOST_SEQUENCES):
            boxes = self._look()
            found = _find_sequence(boxes) if self._has_more(_MOST_BOXES) else None
            if found is None:
                return
            children = [box.child for box in boxes]
            cuts = [*range(found.low, found.high, found.period), found.end]
            blocks = [children[low:high] for low, high in pairwise(cuts) if low < high]
            is_readable = len(blocks) == _TWO and not self._has_more(_MOST_READ)
            if is_readable and are_beside([*map(list_nodes_inside, blocks)]):
                return  # the two sides of a tree say that they are alike by how they look
            if _are_alike(blocks):
                self._fold(blocks)
            elif len(blocks) > _TWO and _are_alike(blocks[:-1]):
                self._fold(blocks[:-1])
                self._wrap(blocks[-1])
            elif self._has_more(_MOST_READ):
                for block in blocks:
                    self._wrap(block)
            else:
                return

    def close_rows(self) -> None:
        """Close rows of one kind of layer, of which each gives to the next."""
        if not self._has_more(_MOST_READ):
            return
        boxes = self._look()
        for row in [*_list_rows(boxes)]:
            self._wrap([boxes[place].child for place in row])

    def _fold(self, blocks: Sequence[Sequence[Child]]) -> None:
        """Put one stack in the place of blocks that are alike."""
        group = self._group
        repeat = self._make_repeat(group, blocks, 0)
        taken = {id(child) for block in blocks for child in block}
        last = blocks[-1][-1]
        group.children = [
            repeat if child is last else child
            for child in group.children
            if child is last or id(child) not in taken
        ]

    def _wrap(self, block: Sequence[Child]) -> None:
        group = self._group
        named = [label for label in map(self._tell, block) if label]
        name = name_block(list_nodes_inside(block), find_graph_context(group.graph)) or _BLOCK
        label, path = name_span(named) if named else (name, name)
        wrap(group, [*block], label, path, name, self._free_path)

    def _tell(self, child: Child) -> str:
        """Return what an author calls a layer; "" for what is none, or has no name."""
        if isinstance(child, Node):
            return self._labels.get(child.index, "") if is_layer(child) else ""
        is_module = child.kind == "scope" or child.label != child.type_name
        return child.label if is_module and child.kind in ("scope", "operation", "repeat") else ""


def _sort(boxes: Sequence[Box]) -> list[int]:
    """Return the places of boxes, those that give before those that take, else as they stand."""
    missing = [len(box.givers) for box in boxes]
    ready = [place for place, count in enumerate(missing) if not count]
    order: list[int] = []
    while ready:
        place = min(ready)
        ready.remove(place)
        order.append(place)
        for taker in boxes[place].takers:
            missing[taker] -= 1
            if not missing[taker]:
                ready.append(taker)
    return order if len(order) == len(boxes) else [*range(len(boxes))]


def _list_branches(boxes: Sequence[Box]) -> Iterator[list[int]]:
    """Yield the places of boxes of the same layers and sizes that take and give the same."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for place, box in enumerate(boxes):
        if box.leaves or not box.takers or not any(map(is_layer, box.nodes)):
            continue
        made_of = tuple(map(_write_size, box.nodes))
        key = made_of, _list_taken(box.nodes), frozenset(box.takers)
        alike.setdefault(key, []).append(place)
    for places in alike.values():
        if len(places) >= _LEAST_OF_ROW and max(places) < min(boxes[places[0]].takers):
            yield places


def _list_taken(nodes: Sequence[Node]) -> frozenset[Value]:
    """Return the values that some nodes take from others, or of the graph's inputs."""
    own = {*nodes}
    return frozenset(
        value
        for node in nodes
        for value in node.inputs
        if value is not None and value.producer not in own and not is_constant(value)
    )


def _find_calls(boxes: Sequence[Box], tensors: Mapping[Node, object]) -> list[set[int]]:
    """Return the places of the boxes of each call of the same weights; nothing for no such.

    No call takes from another: those of a loop are found elsewhere.
    """
    uses: dict[tuple[int, ...], list[int]] = {}
    for place, box in enumerate(boxes):
        own = tuple(id(tensors[node]) for node in box.nodes if node in tensors)
        if own and all(node in tensors for node in box.nodes if is_layer(node)):
            uses.setdefault(own, []).append(place)
    counts = Counter(len(places) for places in uses.values() if len(places) > 1)
    if not counts:
        return []
    count = max(counts, key=lambda times: (counts[times], times))
    if count > _MOST_CALLS or counts[count] < _LEAST_OF_CALL:
        return []
    called = [places for places in uses.values() if len(places) == count]
    calls = [{places[number] for places in called} for number in range(count)]
    for call in calls:
        _take_between(boxes, call)
    if len({len(call) for call in calls}) > 1 or not all(_is_joined(boxes, c) for c in calls):
        return []
    for number, call in enumerate(calls):
        behind = _find_behind(boxes, call)
        if any(behind & other for place, other in enumerate(calls) if place != number):
            return []
    return calls


def _take_between(boxes: Sequence[Box], call: set[int]) -> None:
    """Add what stands between the boxes of a call alone."""
    for place, box in enumerate(boxes):
        is_between = box.givers and box.takers and not box.leaves
        if is_between and box.givers <= call and box.takers <= call:
            call.add(place)


def _is_joined(boxes: Sequence[Box], places: set[int]) -> bool:
    """Return whether boxes are one piece."""
    pending = [min(places)]
    seen = {*pending}
    while pending:
        box = boxes[pending.pop()]
        found = ((box.takers | box.givers) & places) - seen
        seen |= found
        pending += found
    return seen == places


def _find_behind(boxes: Sequence[Box], places: set[int]) -> set[int]:
    """Return the places of all that takes from some boxes, directly or not."""
    pending, seen = [*places], set[int]()
    while pending:
        found = boxes[pending.pop()].takers - seen
        seen |= found
        pending += found
    return seen


def _find_sequence(boxes: Sequence[Box]) -> _Sequence | None:
    """Return the sequence that leaves fewest boxes where each block of it is one."""
    kinds = [_tell_kind(box.child) for box in boxes]
    count = len(kinds)
    best: _Sequence | None = None
    least = _LEAST_BOXES
    for period in range(_LEAST_OF_BLOCK, count // 2 + 1):
        low = 0
        while low + 2 * period <= count:
            high = low + period
            while high < count and kinds[high] == kinds[high - period]:
                high += 1
            if high - low >= 2 * period:
                found = _cut(boxes, low, high, period)
                if found is not None and found.saved >= least:
                    best, least = found, round(_MUCH_MORE * found.saved)
            low = max(high - period + 1, low + 1)
    return best


def _cut(boxes: Sequence[Box], low: int, high: int, period: int) -> _Sequence | None:
    """Return where a stretch is cut into blocks: where fewest boxes give to later blocks.

    A last block may miss its end, as where its sum goes nowhere else.
    """
    count = (high - low) // period
    first = [box.child for box in boxes[low : low + period]]
    layers = sum(map(is_layer, list_nodes_inside(first)))
    if layers < 2 or len({_tell_kind(child) for child in first}) < 2:
        return None

    def count_crossing(start: int) -> int:
        cuts = range(start, start + count * period + 1, period)
        return sum(
            any(taker >= cut for taker in boxes[place].takers)
            for cut in cuts
            for place in range(max(cut - period, 0), min(cut, len(boxes)))
        )

    left = high - low - count * period
    start = min(range(low, low + left + 1), key=count_crossing)
    rest = high - start - count * period
    end = high if rest >= _LEAST_OF_LAST * period else high - rest
    return _Sequence(start, period, count, end)


def _list_rows(boxes: Sequence[Box]) -> Iterator[list[int]]:
    """Yield the places of layers of one kind that follow each other, each giving to the next."""
    kinds = [_tell_kind(box.child) for box in boxes]
    for _, run in groupby(range(len(boxes)), key=kinds.__getitem__):
        row: list[int] = []
        for place in run:
            if row and place not in boxes[row[-1]].takers:
                if len(row) >= _LEAST_OF_ROW:
                    yield row
                row = []
            if any(map(is_layer, boxes[place].nodes)):
                row.append(place)
        if len(row) >= _LEAST_OF_ROW:
            yield row


def _tell_kind(child: Child) -> str:
    """Return what a box is, whatever its sizes are."""
    if isinstance(child, Node):
        return child.op_type
    if child.recognised is not None:
        return child.recognised.name
    if child.kind == "operation" and child.main is not None:
        return child.main.op_type
    return f"{child.kind} {', '.join(one.name for one in child.contents)}"


def _are_alike(blocks: Sequence[Sequence[Child]]) -> bool:
    """Return whether blocks are of the same operators with weights of the same sizes.

    The last one may miss its end.
    """
    sizes = [[*map(_write_size, list_nodes_inside(block))] for block in blocks]
    last = sizes[-1]
    return all(one == sizes[0] for one in sizes[:-1]) and last == sizes[0][: len(last)]


def _write_size(node: Node) -> tuple[object, ...]:
    weight = find_weight(node)
    tensor = weight.tensor if weight is not None else None
    return node.op_type, tensor.dims if tensor is not None else ()
