"""How wide and how large values are where they enter a group, and where they leave it.

What layers inside take and give need not be what the group does: half of what a convolution gives
may be a gate, and what a block joins is wider than its last layer. So the numbers that are written
on a box are those of its ports, where the sizes of these are known.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from itertools import groupby, pairwise
from math import prod
from typing import NamedTuple

from netloupe.explorer.costs.facts import Dims
from netloupe.explorer.costs.value_facts import ValueFacts, find_value_facts
from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.patterns.linear import ARROW, write_widths
from netloupe.explorer.patterns.readings import read_ints

from .group import Group
from .member_nodes import list_member_nodes

#: of larger groups ports are not looked for
_MOST_NODES = 4_000
#: nor of those with more values at their border
_MOST_PORTS = 16
#: so many steps are looked at between what takes channels apart and what permutes them
_MOST_BEHIND = 4
#: batch and channels, which places follow
_BEFORE = 2
#: how much smaller or larger a picture becomes
_SCALE = r"[/×]\d+(×\d+)*"
#: what works on maps
_OF_MAPS = ("convolves", "moves_pixels", "pools", "resamples")
#: what makes them larger or smaller without a stride
_RESIZING = (
    *("moves_pixels", "resamples", "samples", "slices", "splits", "reshapes", "picks"),
    *("gathers", "multiplies", "control_flow", "broadcasts", "repeats"),
)
_COURSE = re.compile(r"\d{1,9}( → \d{1,9})+")


class Ports(NamedTuple):
    """The sizes at the border of a group.

    Parameters
    ----------
    taken, given
        Of what enters and of what leaves. Empty where they are not known of every value.
    has_maps
        Whether it works on maps whose channels stand behind the batch: it convolves, pools or
        resamples, and does not change the order of axes. Elsewhere four axes need not be those of
        an image.
    is_layer
        Whether its only work on maps is one convolution without a stride: without padding it loses
        places at the border, so that a few rows may become one.
    joins_entering
        Whether what leaves is what enters and what layers give, side by side: its width is that of
        no layer.
    strides
        Those of its convolutions and pools, if nothing else in it makes maps larger or smaller but
        what kernels lose at borders; None where something else may.
    """

    taken: tuple[tuple[int, ...], ...] = ()
    given: tuple[tuple[int, ...], ...] = ()
    has_maps: bool = True
    is_layer: bool = False
    joins_entering: bool = False
    strides: tuple[tuple[int, ...], ...] | None = None

    def correct(self, widths: Sequence[int]) -> tuple[int, ...]:
        """Return the widths that layers go through, with the last one as the group gives it.

        Parameters
        ----------
        widths
            What the first layer takes, and what each gives.

        Returns
        -------
        tuple of int
            The same, unless one value of as many axes leaves as enters, and has another width:
            then the first one and that width. Nothing where layers do not take the map that
            enters, as those of a style, or where the width of what leaves is none of theirs.
        """
        if len(widths) < 2 or self.joins_entering:
            return (*widths,)
        if any(self._reshapes(widths, dims) for dims in self.given):
            return (*widths,)
        if len(self.given) > 1 and not any(widths[-1] in dims[1:] for dims in self.given):
            if not _are_forms(self.given):
                return (*widths,)
            common = set.intersection(*({*dims[1:]} - {1} for dims in self.given))
            return (widths[0], common.pop()) if len(common) == 1 else (*widths,)
        if len(self.given) != 1:
            return (*widths,)
        given = self.given[0]
        axes = _list_axes(given)
        alike = [dims for dims in self.taken if len(dims) == len(given)]
        is_map = len(given) > _BEFORE + 1
        if not alike:
            return (*widths,)
        if is_map and not self.has_maps:
            return self._correct_by_sizes(widths, given)
        if is_map and not self._enters(widths[0], [dims[1] for dims in alike]):
            return ()
        if any(given[axis] == widths[-1] for axis in axes):
            return (*widths,)
        # the axis of features is the one of the width that is known
        known = [axis for axis in axes if any(dims[axis] == widths[0] for dims in alike)]
        if len(known) != 1:
            return () if is_map else (*widths,)
        last = given[known[0]]
        # it goes on as wide as it came in beside what the layers take, which only steers it
        if last != widths[0] and any(dims[known[0]] == last for dims in alike):
            return (*widths,)
        return widths[0], last

    def _correct_by_sizes(self, widths: Sequence[int], given: tuple[int, ...]) -> tuple[int, ...]:
        """Return widths where any axis may be that of features: what stays as large is as wide."""
        if widths[-1] in given[1:]:
            return (*widths,)
        return (widths[0],) * 2 if given in self.taken and widths[0] in given[1:] else ()

    def _reshapes(self, widths: Sequence[int], given: tuple[int, ...]) -> bool:
        """Return whether what leaves is all that the last layer gives, in another shape."""
        if widths[-1] in given[1:]:
            return False
        size = max((prod(dims) for dims in self.taken if len(dims) == len(given)), default=0)
        return size > 0 and prod(given) * widths[0] == size * widths[-1]  # 0: the batch is open

    @staticmethod
    def _enters(width: int, taken: Sequence[int]) -> bool:
        """Return whether maps of some widths are what a layer of a width takes: one, or joined."""
        return width in taken or width == sum(taken)

    def find_ends(self) -> tuple[int, ...]:
        """Return the widths of the maps that enter and leave; nothing where there are several."""
        is_map = self.has_maps and all(len(d) > _BEFORE + 1 for d in (*self.taken, *self.given))
        ends = [{dims[1] for dims in each} for each in (self.taken, self.given)] if is_map else []
        return (*(width for each in ends for width in each),) if {*map(len, ends)} == {1} else ()

    def find_taken(self, given: int) -> int | None:
        """Return the width of what enters, of values of which what leaves has a known width."""
        if len(self.given) != 1 or not self.taken:
            return None
        if len(self.given[0]) > _BEFORE + 1 and not self.has_maps:
            return None
        axes = [axis for axis in _list_axes(self.given[0]) if self.given[0][axis] == given]
        alike = [dims for dims in self.taken if len(dims) == len(self.given[0])]
        if len(axes) != 1 or self._cuts_steps(alike, axes[0]):
            return None
        widths = {dims[axes[0]] for dims in alike}
        return widths.pop() if len(widths) == 1 else None

    def _cuts_steps(self, taken: Sequence[tuple[int, ...]], axis: int) -> bool:
        """Return whether sequences leave with more steps than enter, as what is cut in patches.

        What was an axis of samples is none of features then.
        """
        given = self.given[0]
        other = _BEFORE + 1 - axis
        return len(given) == _BEFORE + 1 and any(given[other] > dims[other] > 0 for dims in taken)

    def correct_facts(self, facts: Sequence[str]) -> tuple[str, ...]:
        """Return facts of a group with widths and with ``/2`` or ``×2`` as its border has it."""
        scale = self.tell_scale()
        if scale is None:
            return (*map(self._correct_fact, facts),)
        kept = [self._correct_fact(fact) for fact in facts if not re.fullmatch(_SCALE, fact)]
        place = next((place for place, fact in enumerate(kept, 1) if ARROW in fact), 0)
        if scale and place:
            kept.insert(place, scale)
        elif scale:
            return (*facts,)
        return (*kept,)

    def _correct_fact(self, fact: str) -> str:
        if not _COURSE.fullmatch(fact):
            return fact
        widths = [int(width) for width in fact.split(ARROW)]
        correct = self.correct(widths)
        # what one layer takes is told of it, also where something else enters
        return write_widths(*correct) if correct and correct != (*widths,) else fact

    def tell(self) -> list[str]:
        """Return ``8 → 12`` and ``/2`` of images; nothing where both stay as they are."""
        scale = self.tell_scale()
        if scale is None:
            return []
        taken = {dims[1] for dims in self.taken}
        given = self.given[0][1]
        changes = len(taken) == 1 and taken != {given}
        return [*([write_widths(*taken, given)] if changes else []), *filter(None, (scale,))]

    def tell_scale(self) -> str | None:
        """Return ``/2``, ``×4`` or ``/1×2×2``; "" where sizes stay, None where that is unknown.

        Only images and volumes are compared, of which all that enters is equally large. What
        kernels without padding lose at borders is no scale, as of 64 places that three strides of 2
        and two kernels of 4 leave 6 of.
        """
        sizes = {dims[_BEFORE:] for dims in self.taken}
        if not self.has_maps or len(self.given) != 1 or len(sizes) != 1:
            return None
        if {dims[0] for dims in self.taken} != {self.given[0][0]}:
            return None  # windows that are put together again
        before, after = self.taken[0][_BEFORE:], self.given[0][_BEFORE:]
        if len(before) != len(after) or len(after) < 2:
            return None
        if {*after} == {1} and {*before} != {1}:
            return ""  # means over all places
        if self.is_layer:
            return ""
        divide = _divide if self.strides is not None else _divide_unseen
        smaller = [divide(large, small) for large, small in zip(before, after, strict=True)]
        larger = [divide(large, small) for small, large in zip(before, after, strict=True)]
        for sign, factors in (("/", smaller), ("×", larger)):
            if all(factors):
                if {*factors} == {1}:
                    return ""
                if not self._come_of_strides(factors):
                    return None
                same = len({*factors}) == 1
                return sign + (str(factors[0]) if same else "×".join(map(str, factors)))
        return None

    def _come_of_strides(self, factors: Sequence[int]) -> bool:
        """Return whether some strides in a row divide or multiply each axis so."""
        if self.strides is None:
            return True
        products = [{1} for _ in factors]
        for step in self.strides:
            for axis, found in enumerate(products):
                by = step[axis] if len(step) == len(factors) else step[0]
                found |= {one * by for one in found}
        return all(factor in found for factor, found in zip(factors, products, strict=True))


UNKNOWN_PORTS = Ports()


def find_ports(group: Group) -> Ports:
    """Return the sizes at the border of a group, as far as all of them are numbers but the batch.

    What is stored, and what has no axis besides the batch, is left aside.
    """
    nodes = list_member_nodes(group, _MOST_NODES)
    inside = {*nodes}
    entering: dict[Value, None] = {}
    leaving: dict[Value, None] = {}
    for node in nodes:
        for value in node.inputs:
            if value is not None and value.producer not in inside and not is_constant(value):
                entering[value] = None
        for value in node.outputs:
            if value is None:
                continue
            is_used = any(
                user not in inside and not user.operator.has("reads_shape")
                for user in value.users[:_MOST_NODES]
            )
            if value.is_output or is_used:
                leaving[value] = None
        if len(entering) > _MOST_PORTS or len(leaving) > _MOST_PORTS:
            return UNKNOWN_PORTS
    if not entering or not leaving:
        return UNKNOWN_PORTS
    facts = find_value_facts(group.graph.model)
    taken = [_read(facts.find_dims(value)) for value in entering]
    given = [_read(facts.find_dims(value)) for value in leaving]
    if None in taken or None in given:
        return UNKNOWN_PORTS
    on_maps = [node for node in nodes if node.operator.has(*_OF_MAPS)]
    ranks = {_BEFORE + 2, *(len(dims) for dims in (*taken, *given) if dims)}
    return Ports(
        tuple(dims for dims in taken if dims),
        tuple(dims for dims in given if dims),
        bool(on_maps) and not any(_permutes_maps(node, ranks, facts) for node in nodes),
        len(on_maps) == 1
        and _is_without_stride(on_maps[0])
        and not any(node.operator.has("slices", "reshapes", "picks") for node in nodes),
        any(_joins(value, entering) for value in leaving),
        _list_strides(nodes),
    )


def _are_forms(values: Sequence[tuple[int, ...]]) -> bool:
    """Return whether values may be one in several forms, as before and behind a Transpose.

    Two that leave a block of two paths (Y. Chen and others, Dual Path Networks, 2017, section 3.3)
    have the size of their map in common, and no width.
    """
    first = values[0]
    return len({*values}) > 1 and all(
        prod(dims[1:]) == prod(first[1:])
        and (len(dims) != len(first) or sorted(dims) == sorted(first))
        for dims in values
    )


def _list_strides(nodes: Sequence[Node]) -> tuple[tuple[int, ...], ...] | None:
    """Return the strides of convolutions and pools; None where something else changes sizes."""
    if any(node.operator.has(*_RESIZING) for node in nodes):
        return None
    scaling = [node for node in nodes if node.operator.has("convolves", "pools")]
    if any(node.operator.has("pools_all") for node in scaling):
        return None
    strides = [read_ints(node, "strides") for node in scaling]
    return (*(step for step in strides if step and max(step) > 1),)


def _joins(value: Value, entering: Container[Value]) -> bool:
    """Return whether a value is one that enters, and others, side by side."""
    node = value.producer
    return (
        node is not None
        and node.operator.has("joins")
        and any(operand in entering for operand in node.inputs if operand is not None)
    )


def _is_without_stride(node: Node) -> bool:
    """Return whether a node is a convolution that looks at each place."""
    convolves = node.operator.has("convolves") and not node.operator.has("transposed")
    return convolves and {*read_ints(node, "strides")} <= {1}


def _permutes_maps(node: Node, ranks: set[int], facts: ValueFacts) -> bool:
    """Return whether a node may change which axis of a map is that of its channels.

    What shuffles channels of an image permutes five axes, and leaves those of the map where they
    are; the maps of a video have five themselves. What cuts a map into patches permutes six, and
    may put channels behind the places (S. Mehta and M. Rastegari, MobileViT, 2022, figure 1b).

    Parameters
    ----------
    node
        The node.
    ranks
        How many axes the values at the border of its group have.
    facts
        The sizes of values.
    """
    if not node.operator.has("permutes"):
        return False
    order = read_ints(node, "perm")
    is_larger = len(order) > _BEFORE + 2 and len(order) not in ranks
    return not is_larger or order[1] not in _list_channel_axes(node.input(0), facts)


def _list_channel_axes(value: Value | None, facts: ValueFacts) -> range:
    """Return the axes that the channels of a map were taken apart into; none where unknown."""
    dims = facts.find_dims(value)
    before = dims
    for _ in range(_MOST_BEHIND):  # as what is quantized in between
        maker = value.producer if value is not None else None
        if before is None or dims is None or maker is None or len(before) != len(dims):
            break
        value = maker.input(0) if maker.inputs else None
        before = facts.find_dims(value)
    if before is None or dims is None or not _BEFORE < len(before) < len(dims):
        return range(0)
    left = before[1]
    for axis in range(1, len(dims)):
        size = dims[axis]
        if not isinstance(left, int) or not isinstance(size, int) or size < 1 or left % size:
            return range(0)
        left //= size
        if left == 1:
            return range(1, axis + 1)
    return range(0)


def list_port_widths(blocks: Sequence[Group]) -> list[int]:
    """Return how wide the stream is before blocks in a row and behind each, each once in a row.

    ``[480, 512, 528, 832]``; nothing where one block takes or gives several widths, or not what the
    one before it gives, or where the width is nowhere known.
    """
    spans = []
    for block in blocks:
        ends = find_ports(block).find_ends()
        if not ends:
            return []
        spans.append(ends)
    if any(before[1] != after[0] for before, after in pairwise(spans)):
        return []
    return [width for width, _ in groupby((spans[0][0], *(span[1] for span in spans)))]


def list_port_places(blocks: Sequence[Group]) -> list[tuple[int, ...]]:
    """Return the sizes of the maps that blocks beside each other take, one of each.

    Nothing where they are not all of several sizes, or where one takes what another gives.
    """
    nodes = [{*list_member_nodes(block, _MOST_NODES)} for block in blocks]
    every = set().union(*nodes)
    found = []
    for block, own in zip(blocks, nodes, strict=True):
        values = [value for node in own for value in node.inputs if value is not None]
        if any(value.producer in every and value.producer not in own for value in values):
            return []
        places = {dims[_BEFORE:] for dims in find_ports(block).taken if len(dims) > _BEFORE + 1}
        if len(places) != 1:
            return []
        found.append(places.pop())
    return found if len({*found}) == len(found) > 1 else []


def _read(dims: Dims | None) -> tuple[int, ...] | None:
    """Return sizes, of the batch 0 where it is not known; None where any other is not."""
    if dims is None:
        return None
    if len(dims) < 2:
        return ()
    sizes = [dim if isinstance(dim, int) else None for dim in dims[1:]]
    known = [size for size in sizes if size is not None]
    batch = dims[0] if isinstance(dims[0], int) else 0
    return (batch, *known) if len(known) == len(sizes) else None


def _list_axes(dims: Sequence[int]) -> tuple[int, ...]:
    """Return where features may stand: first of images, first or last of sequences."""
    return (1, 2) if len(dims) == _BEFORE + 1 else (1,)


def _divide_unseen(large: int, small: int) -> int:
    """Return by what a size was divided where nobody sees how: evenly, or by twos; else 0.

    Of a picture that is resized and cut into patches the rest of a division says nothing.
    """
    factor = _divide(large, small)
    is_of_twos = factor & (factor - 1) == 0
    return factor if factor * small == large or is_of_twos else 0


def _divide(large: int, small: int) -> int:
    """Return by what a size was divided, rounded as strides round; 0 where it was not."""
    if small <= 0 or large < small:
        return 0
    factor = round(large / small)
    return factor if small in (large // factor, -(-large // factor)) else 0
