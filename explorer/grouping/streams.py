"""How wide the stream is that blocks give, and how much larger they make it.

A file need not state the shape of any value, but it states those of the weights. So inside of a
block each value has as many features as the last weight on its way gave it, and is as many times
larger as strides, pools and resizing tell. What comes from outside has one share of whatever comes
in. Repetitions of one stack give streams of one width; and none of them but the first, with which a
stage begins, changes the resolution (K. He and others, Deep Residual Learning for Image
Recognition, 2016, table 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import log2
from typing import NamedTuple

from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.roles import find_weight

from .node_kinds import CHANGING, UNKNOWN, has_width, is_part_of, read_shapes, read_strides

#: of so many blocks it is first seen whether all are alike
_MANY_BLOCKS = 48
#: blocks that have more of their weights in common are one that is used again
_MOST_SHARED = 0.5
#: share of the weights of a block that give as many features as those of another one of its stack
_LEAST_SAME = 0.5
_MOST_USERS = 1_000


class Stream(NamedTuple):
    """What is known of a value inside of a block.

    Parameters
    ----------
    shares
        How many times the features of what comes in are among its own.
    features
        How many features weights gave it beside these.
    scale
        How many times more places it has than what comes in: 0.5 behind a stride of 2; 0 where it
        has none of its own, such as a mean over all; negative where that is unknown.
    is_joined
        Whether branches that stand side by side were put together last.
    is_cut
        Whether only a part of its features may be left.
    """

    shares: int = 1
    features: int = 0
    scale: float = 1.0
    is_joined: bool = False
    is_cut: bool = False

    @property
    def width(self) -> tuple[int, int]:
        """What is equal for streams of one width."""
        return self.shares, self.features

    def may_be(self, other: Stream) -> bool:
        """Return whether it may be as wide as another, with what comes in, of unknown width."""
        if self.width == (0, 0):
            return True
        return self.shares > 0 == other.shares and self.features < other.features


_INCOMING = Stream()
#: what comes from elsewhere than from the block before: how large that is tells nothing
_BESIDE = Stream(1, 0, 0.0)
_STORED = Stream(0, 0, 0.0)


class _Block(NamedTuple):
    """What is known of a block.

    Parameters
    ----------
    counts
        How many nodes each operator has.
    streams
        What each node gives, by which of those with its operator it is.
    leaving
        Which of these are taken outside, by their order.
    weights
        Those of its nodes, but for norms.
    factors
        How many times larger its nodes make what they take, where they do, in order.
    widths
        How many features its weights give, in order.
    """

    counts: Counter[str]
    streams: dict[tuple[str, int], Stream]
    leaving: list[int]
    weights: frozenset[Value]
    factors: tuple[float, ...]
    widths: tuple[int, ...]

    def has_widths_of(self, other: _Block) -> bool:
        """Return whether its last weight, or most, give as many features as another block's."""
        ours, theirs = self.widths, other.widths
        if not ours or not theirs or ours[-1] == theirs[-1]:
            return True
        shared = (Counter(ours) & Counter(theirs)).total()
        return _LEAST_SAME * max(len(ours), len(theirs)) <= shared

    def pair(self, other: _Block) -> list[tuple[tuple[str, int], Stream]]:
        """Return what leaves this block, each with the key of the same node of another block.

        Where they are not alike, it is what leaves each of them last. What leaves the last block of
        a stack may be another result than leaves those before.
        """
        keys, other_keys = [*self.streams], [*other.streams]
        if self.counts != other.counts:
            return [(other_keys[other.leaving[-1]], self.streams[keys[self.leaving[-1]]])]
        return [(keys[place], self.streams[keys[place]]) for place in self.leaving]

    def is_again(self, earlier: _Block) -> bool:
        """Return whether it is an earlier block that is used again."""
        least = min(len(self.weights), len(earlier.weights))
        return len(self.weights & earlier.weights) > _MOST_SHARED * least


class StreamReader:
    """Tells what streams blocks give; each weight is looked at once."""

    def __init__(self) -> None:
        #: the weight of each node but norms, and how many features it gives
        self._weights: dict[Node, tuple[Value | None, int | None]] = {}

    def read(self, nodes: Sequence[Node]) -> Stream:
        """Return what is known of the last result that is taken outside of a block.

        Parameters
        ----------
        nodes
            Those of the block, each behind those that give to it.
        """
        streams = self._read_each(nodes, ())
        return streams[_find_leaving(nodes)[-1]]

    def find_even(
        self, blocks: Sequence[Sequence[Node]], *, with_joined: bool = True
    ) -> list[tuple[int, int]]:
        """Return the longest ranges of blocks whose streams have one width and one resolution.

        The first of each may change the resolution, and what it takes may have another width. Of
        blocks that stand side by side, which take nothing from one another, only the width counts.
        Blocks with the same weights are one block that is used again, whatever is taken of it.

        Parameters
        ----------
        with_joined
            Whether streams of which branches are put together have to be of one width, too.
        """
        if len(blocks) >= _MANY_BLOCKS and self._are_of_equal_weights(blocks):
            return [(0, len(blocks))]
        is_serial = any(_takes_from(later, earlier) for earlier, later in pairwise(blocks))
        read = [
            self._read_block(nodes, earlier)
            for earlier, nodes in zip(((), *blocks), blocks, strict=False)
        ]
        ranges: list[tuple[int, int]] = []
        low = 0
        for place, (earlier, ours) in enumerate(pairwise(read), 1):
            agreeing = 0
            pairs = earlier.pair(ours)
            for key, before in pairs:
                stream = ours.streams[key]
                if stream.width == _INCOMING.width:  # it is as wide as what comes in
                    stream = stream._replace(shares=before.shares, features=before.features)
                    ours.streams[key] = stream
                is_as_wide = (
                    stream.width == before.width
                    or (not with_joined and stream.is_joined and before.is_joined)
                    or (place == low + 1 and before.may_be(stream))
                )
                agreeing += is_as_wide and (stream.scale in (0, 1) or not is_serial)
            is_alike = ours.factors == earlier.factors or (place == low + 1 and not ours.factors)
            is_even = 2 * agreeing > len(pairs) and (is_alike or not is_serial)
            streams = [stream for key, one in pairs for stream in (one, ours.streams[key])]
            is_joined = any(one.is_joined or (one.shares and one.features) for one in streams)
            if is_serial and is_even and not is_joined:
                is_even = ours.has_widths_of(earlier)
            if not is_even and place - low > 1 and place == len(blocks) - 1:
                # what leaves a last block that breaks off is not what the others hand on
                nodes, others = blocks[place], blocks[place - 1]
                is_even = len(nodes) < len(others) and is_part_of(nodes, others)
            if not is_even and not ours.is_again(earlier):
                ranges.append((low, place))
                low = place
        return [*ranges, (low, len(blocks))]

    def _are_of_equal_weights(self, blocks: Sequence[Sequence[Node]]) -> bool:
        """Return whether blocks have the same operators, weights of one shape and no strides.

        What they give then has one width and one resolution, whatever way it takes in them.
        """
        op_types = [node.op_type for node in blocks[0]]
        weighted = [place for place, node in enumerate(blocks[0]) if has_width(node)]
        changing = [place for place, node in enumerate(blocks[0]) if node.operator.has(*CHANGING)]
        if any(read_strides(blocks[0][place]) != 1 for place in changing):
            return False  # each would halve what the one before gives
        shapes = [read_shapes(blocks[0][place]) for place in weighted]
        return all(
            [node.op_type for node in nodes] == op_types
            and all(read_strides(nodes[place]) == 1 for place in changing)
            and [read_shapes(nodes[place]) for place in weighted] == shapes
            for nodes in blocks[1:]
        )

    def _read_block(self, nodes: Sequence[Node], earlier: Sequence[Node]) -> _Block:
        return _Block(
            Counter(node.op_type for node in nodes),
            dict(zip(_number_each(nodes), self._read_each(nodes, earlier), strict=True)),
            _find_leaving(nodes),
            frozenset(value for value, _ in map(self._read_weight, nodes) if value is not None),
            tuple(sorted(factor for factor in map(read_strides, nodes) if factor != 1)),
            tuple(width for _, width in map(self._read_weight, nodes) if width is not None),
        )

    def _read_each(self, nodes: Sequence[Node], earlier: Sequence[Node]) -> list[Stream]:
        """Return what each node of a block gives that may take from one before it."""
        stream = {value for node in earlier for value in node.outputs if value is not None}
        taken = {value for node in nodes for value in node.inputs if value is not None}
        beside = _INCOMING if stream.isdisjoint(taken) else _BESIDE
        known = dict.fromkeys(stream & taken, _INCOMING)
        streams = []
        for node in nodes:
            streams.append(self._follow(node, known, beside))
            known.update((value, streams[-1]) for value in node.outputs if value is not None)
        return streams

    def _follow(self, node: Node, known: dict[Value, Stream], beside: Stream) -> Stream:
        """Return what a node gives."""
        operator = node.operator
        taken = [*_list_taken(node, known, beside)]
        if not taken:
            return _STORED
        first = taken[0]
        _, features = self._read_weight(node)
        if features is not None:
            return Stream(0, features, _multiply(first.scale, node))
        if operator.has("joins") and len(taken) > 1:
            features = sum(stream.features for stream in taken)
            scale = max(taken, key=_tell_change).scale
            shares = sum(stream.shares for stream in taken)
            return Stream(shares, features, scale, shares == 0)
        is_sum = operator.has("elementwise", "adds", "multiplies_elements")
        if len(taken) > 1 and (is_sum or operator.operands.list_of("addend")):
            return _sum_up(taken)
        if operator.has("averages", "pools_all", "reduces"):
            return first._replace(scale=0.0)
        if operator.has("convolves", "moves_pixels", "pools", "resamples"):
            return first._replace(scale=_multiply(first.scale, node))
        if operator.has("repeats") and first.scale != 1:  # as what was pooled is for all it is of
            return first._replace(scale=UNKNOWN)
        return first._replace(is_cut=True) if operator.has("picks") else first

    def _read_weight(self, node: Node) -> tuple[Value | None, int | None]:
        """Return the weight of a node, and how many features it gives; None for that of a norm."""
        if not has_width(node):
            return None, None
        if node not in self._weights:
            weight = find_weight(node)
            given = weight.features if weight is not None else None
            self._weights[node] = (
                weight.value if weight is not None else None,
                given[1] if given is not None else None,
            )
        return self._weights[node]


def _find_leaving(nodes: Sequence[Node]) -> list[int]:
    """Return the places of nodes whose results are taken outside of a block; else the last one."""
    inside = {*nodes}
    found = []
    for place, node in enumerate(nodes):
        users = (user for value in node.outputs if value for user in value.users[:_MOST_USERS])
        if any(user not in inside for user in users):
            found.append(place)
    return found or [len(nodes) - 1]


def _number_each(nodes: Sequence[Node]) -> list[tuple[str, int]]:
    """Return which of those with its operator each node is."""
    seen: Counter[str] = Counter()
    positions = []
    for node in nodes:
        positions.append((node.op_type, seen[node.op_type]))
        seen[node.op_type] += 1
    return positions


def _list_taken(node: Node, known: dict[Value, Stream], beside: Stream) -> Iterator[Stream]:
    """Yield what a node takes that is not stored."""
    for value in node.inputs:
        if value is not None:
            stream = known.get(value)
            if stream is not None and stream is not _STORED:
                yield stream
            elif stream is None and not is_constant(value):
                yield beside


def _takes_from(nodes: Iterable[Node], others: Iterable[Node]) -> bool:
    """Return whether any of some nodes takes what others give."""
    given = {*others}
    return any(
        value is not None and value.producer in given for node in nodes for value in node.inputs
    )


def _tell_change(stream: Stream) -> float:
    """Return a number that is larger the more the resolution changed, as far as that is known.

    Of a sum and the like the operand that says most of the stream has the largest: a mean over all
    says nothing, and what comes in from outside may be anything.
    """
    if stream.scale > 0:
        return abs(log2(stream.scale))
    return -1 if stream.scale < 0 else -2


def _rank(stream: Stream) -> tuple[float, bool, bool]:
    """Return what is largest of the operand that tells most of a sum and the like."""
    return _tell_change(stream), not stream.is_cut, not stream.shares


def _sum_up(taken: Sequence[Stream]) -> Stream:
    """Return what is known of a sum and the like: what most of its operands' changes tell.

    All have the same places. Where what comes in has several resolutions, as between modules whose
    lanes exchange what they have (J. Wang and others, 2020, section 3), an operand that was made
    smaller is so compared with another lane; one that is as it came in tells of its own.
    """
    most = max(taken, key=_rank)
    scales = {stream.scale for stream in taken if stream.scale > 0}
    is_of_lanes = len(scales) > 1 and _INCOMING.scale in scales
    return most._replace(scale=_INCOMING.scale) if is_of_lanes else most


def _multiply(scale: float, node: Node) -> float:
    """Return how many times more places there are behind a node."""
    factor = read_strides(node)
    return UNKNOWN if min(scale, factor) < 0 else scale * factor
