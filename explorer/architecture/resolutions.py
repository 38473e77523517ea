"""How many places of what a graph takes one place of each result stands for.

Strides, pools, enlargements and steps of slices are followed from the inputs on; sizes that the
file states are not needed. An axis that is passed in a Reshape is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import trace_back
from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.operators import PASSING_TRAITS
from netloupe.explorer.patterns import FoundBlock, Operations, read_numbers
from netloupe.explorer.patterns.readings import read_axes, read_int, read_ints
from netloupe.explorer.patterns.shuffles import SHUFFLE, UNSHUFFLE, read_shuffle

from .outline import Outline, OutlinePart

#: a pool of longer steps gives a few numbers of all places, as those of a pyramid do
_LONGEST_POOL = 4
#: what is made larger by more was one vector
_LARGEST_GROWTH = 8
_MOST_STEPS = 12
_MOST_AXES = 8
#: of what a gate is made, back to the function that squashes
_MOST_OF_GATE = 4
#: between a pool of a pyramid and what undoes it
_MOST_BETWEEN = 6
_ONE = Fraction(1)


@dataclass(frozen=True)
class Resolution:
    """Of the result of one operation.

    Parameters
    ----------
    factor
        So many places of the input are one; None where that is not known, or where there are no
        places.
    is_vector
        Whether there are none: one vector for all.
    is_pooled
        Whether that was made of all places, so that making it larger only spreads it.
    deepest
        The largest factor on any way to it.
    turns
        How often the way to it turned, at most: 0 on the way down, 1 on the way up behind it, 2
        where it goes down again.
    is_larger
        Whether it was made larger by a ratio that is not known.
    risen
        The lowest resolution that it was made larger from since anything was joined to it; None
        where it was not.
    restarts
        Whether it was written into places of its own, so that the factor is not that of an input.
    """

    factor: Fraction | None = None
    is_vector: bool = False
    is_pooled: bool = False
    deepest: Fraction = _ONE
    turns: int = 0
    is_larger: bool = False
    restarts: bool = False
    risen: Fraction | None = None

    @property
    def is_up(self) -> bool:
        """Whether there was a lower resolution before."""
        return self.factor is not None and self.deepest > self.factor


class Resolutions:
    """Those of all operations of a graph, by their numbers.

    Parameters
    ----------
    outline
        Of the graph. A block that gives as many places as it takes is no way down and up, whatever
        is inside of it.

    Attributes
    ----------
    inner
        The operations inside of such blocks.
    is_sure
        Whether no sum was found of results of different resolutions.
    fused
        Of how many resolutions what is joined at one place was made larger, at most.
    """

    def __init__(self, outline: Outline) -> None:
        self.operations: Operations = outline.operations
        self.inner: set[int] = set()
        self._has_convolved = False
        #: the sizes of the first maps that are convolved, with axes as convolutions take them
        self._taken: list[int] = []
        self.is_sure = True
        self.fused = 0
        self._found: list[Resolution] = []
        self._passed: list[OutlinePart] = []
        #: of what another map steers, the operation that gives what is steered
        self._steered: dict[int, int] = {}
        self._find_steered(outline)
        for part in outline.parts:  # parts are in the order of their ends
            self._found += map(self._follow, range(len(self._found), part.end + 1))
            if len(part.numbers) > 1 and self._goes_back(part):
                self._passed.append(part)
        self._found += map(self._follow, range(len(self._found), len(self.operations)))
        if len(self._passed) > 1 or any(map(self._is_deep, self._passed)):
            self._follow_past()

    def _find_steered(self, outline: Outline) -> None:
        """Find norms whose scale and shift another map gives: its resolutions are none of theirs.

        T. Park and others, Semantic Image Synthesis with Spatially-Adaptive Normalization, 2019,
        figure 3: the map is made as large as the features are.
        """
        for found in _walk_blocks(outline):
            if found.kind != "adaptive norm" or len(found.parts) != 1:
                continue
            (norm,) = found.parts
            product = self.operations.only_user(norm.end)
            if product is not None and self.operations.only_user(product) == found.end:
                self._steered |= {product: norm.end, found.end: product}
                self.inner |= found.numbers - {found.end}

    def _follow_past(self) -> None:
        """Follow all operations again, past the blocks that go down and up inside."""
        self.is_sure, self.fused, self._found = True, 0, []
        ends = {part.end: part for part in self._passed}
        for number in range(len(self.operations)):
            found = self._follow(number)
            part = ends.get(number)
            if part is not None:
                before = self._find_before(part)
                deepest, risen = before.deepest, before.risen
                found = replace(found, deepest=deepest, turns=before.turns, risen=risen)
                self.inner |= part.numbers - {number}
            self._found.append(found)

    def _find_before(self, part: OutlinePart) -> Resolution:
        """Return the resolution of what a block takes first."""
        operations = self.operations
        for number in sorted(part.numbers):
            for value in operations.operands[number]:
                if operations.giver(value) not in part.numbers:
                    return self.of_value(value)
        return Resolution()

    def _goes_back(self, part: OutlinePart) -> bool:
        """Return whether a block goes down and up inside, and gives as many places as it takes."""
        before, found = self._find_before(part), self._found[part.end]
        is_same = before.factor is not None and before.factor == found.factor
        return is_same and found.turns > before.turns

    def _is_deep(self, part: OutlinePart) -> bool:
        """Return whether a block goes down several times: one is the lowest level of a UNet."""
        before = self._find_before(part)
        factors = {self._found[number].factor for number in part.numbers}
        lower = [one for one in factors if one is not None and one > (before.factor or 1)]
        return len(lower) > 1

    def __getitem__(self, number: int) -> Resolution:
        return self._found[number]

    def of_value(self, value: Value) -> Resolution:
        """Return the resolution of a value as an operation takes it."""
        source = self.operations.source(value)
        number = self.operations.giver(source)
        if number is not None:
            return self._found[number] if number < len(self._found) else Resolution()
        stated = source.type
        if isinstance(stated, TensorType) and stated.shape is not None:
            axes = len(stated.shape)
            if axes < 2 or (axes == 2 and stated.dtype.is_float):
                return Resolution(is_vector=True)
        return Resolution(_ONE)

    def _follow(self, number: int) -> Resolution:
        operations = self.operations
        node, operator = operations.nodes[number], operations.nodes[number].operator
        if number in self._steered:
            return self._found[self._steered[number]]
        taken = [self.of_value(value) for value in operations.operands[number]]
        if not taken:
            return Resolution()
        first = taken[0]
        if operations.kinds[number] in (SHUFFLE, UNSHUFFLE):
            found = read_shuffle(node, operations.context)
            ratio = Fraction(found[1]) if found is not None else _ONE
            return _step(first, ratio if operations.kinds[number] == UNSHUFFLE else 1 / ratio)
        if operator.has("convolves"):
            return self._convolve(node, first)
        if is_crop(node):
            return Resolution(restarts=True)
        if operator.has("pools_all"):
            return _pool_all(first)
        if operator.has("pools"):
            stride = _read_strides(node)
            is_all = stride > _LONGEST_POOL or self._is_of_pyramid(number, stride)
            return _pool_all(first) if is_all else _step(first, Fraction(stride))
        if operator.has("reduces") and not operator.has("finds_largest"):
            return first if read_axes(node) == (1,) else _pool_all(first)
        if operator.has("resamples"):
            return self._resample(node, first)
        if operator.has("slices"):
            return self._slice(number, first)
        if operator.has("scatters", "samples", "detects"):
            return Resolution(restarts=True)
        if operator.has("multiplies", "attends", "finds_largest", "gathers"):
            return first
        if operator.has("multiplies_elements") and len(taken) == 2:
            gated = [
                one
                for one, value in zip(taken, operations.operands[number], strict=True)
                if not self._is_gate(value)
            ]
            return gated[0] if len(gated) == 1 else self._join(taken, is_sum=False)
        return self._join(taken, is_sum=operator.has("adds"))

    def _convolve(self, node: Node, first: Resolution) -> Resolution:
        if not self._has_convolved and first.factor == _ONE:
            self._taken = self._infer_sizes(node.input(0))
        self._has_convolved = True
        stride = _read_strides(node)
        kernel = max(read_ints(node, "kernel_shape"), default=read_int(node, "kernel") or 1)
        if first.is_vector and kernel == 1:
            return first
        if first.factor is None and (stated := self._read_stated(node.input(0))) is not None:
            first = replace(first, factor=stated, is_vector=False, is_pooled=False)
        elif first.factor is None and not first.is_larger:
            first = replace(
                first, factor=_ONE, is_vector=False, is_pooled=False, restarts=not first.is_vector
            )
        ratio = Fraction(stride) if stride > 0 else _ONE
        return _step(first, 1 / ratio if node.operator.has("transposed") else ratio)

    def _read_stated(self, value: Value | None) -> Fraction | None:
        """Return the resolution of maps whose sizes and those of the first input are stated."""
        return self._compare_sizes(_read_sizes(value))

    def _infer_sizes(self, value: Value | None) -> list[int]:
        """Return the sizes of a value that has places, 0 for an unknown one; else nothing."""
        facts = find_value_facts(self.operations.context.graph.model)
        dims = (facts.find_dims(value) if value is not None else None) or ()
        return [dim if isinstance(dim, int) else 0 for dim in dims] if len(dims) > 2 else []

    def _compare_sizes(self, after: Sequence[int]) -> Fraction | None:
        """Return how many places of the first input are one of maps, of which sizes are known.

        The last sizes, of height and width, are enough. What is turned around before it is
        convolved has its channels last as it comes in.
        """
        inputs = self.operations.context.graph.inputs
        before = self._taken or next(
            (sizes for one in inputs if len(sizes := _read_sizes(one)) > 2), []
        )
        count = len(before) - 2
        if count < 1 or len(after) not in (count, len(before)):
            return None
        old, new = before[-count:], after[-count:]
        if not all((*old, *new)):
            return None
        ratios = {Fraction(*pair) for pair in zip(old, new, strict=True)}
        return ratios.pop() if len(ratios) == 1 else None

    def _resample(self, node: Node, first: Resolution) -> Resolution:
        ratio = _read_growth(node)
        if first.is_vector:
            is_spread = ratio is None or ratio > _LARGEST_GROWTH or first.is_pooled
            return first if is_spread or ratio is None else Resolution(1 / ratio)
        wanted = self._read_stated(node.output(0))
        if ratio is not None and wanted is None:
            return _step(first, 1 / ratio)
        wanted = wanted or self._find_wanted(node)
        if wanted is not None and first.factor is not None and wanted != first.factor:
            return _step(first, wanted / first.factor)
        if wanted is not None and wanted == first.factor:
            return first
        if not self._has_convolved:
            return first  # how large a picture is taken is no level of the network
        return replace(first, factor=None, is_larger=True, risen=first.risen or first.factor)

    def _is_of_pyramid(self, number: int, stride: int) -> bool:
        """Return whether a value is pooled to several sizes beside each other.

        H. Zhao and others, Pyramid Scene Parsing Network, 2017, figure 3.
        """
        operations = self.operations
        giver = operations.giver(operations.operands[number][0])
        beside = [
            operations.nodes[user]
            for user in (operations.users[giver] if giver is not None else ())
            if user >= 0 and user != number
        ]
        if not any(
            node.operator.has("pools_all", "reduces")
            or (node.operator.has("pools") and _read_strides(node) != stride)
            for node in beside
        ):
            return False
        current: int | None = number
        for _ in range(_MOST_BETWEEN):
            current = operations.only_user(current) if current is not None else None
            if current is not None and operations.nodes[current].operator.has("resamples"):
                return True
        return False

    def _find_wanted(self, node: Node) -> Fraction | None:
        """Return the resolution whose sizes a Resize takes: of another value, or stored ones."""
        place = node.operator.operands.find("sizes")
        value = node.input(place) if place is not None else None
        for _ in range(_MOST_STEPS):
            tensor = constant_tensor(value) if value is not None else None
            if tensor is not None:
                return self._compare_sizes([int(size) for size in read_numbers(tensor, _MOST_AXES)])
            producer = value.producer if value is not None else None
            if producer is None or not producer.inputs:
                return None
            operator = producer.operator
            if operator.has("reads_shape"):
                like = producer.input(0)
                return self.of_value(like).factor if like is not None else None
            if not operator.has("joins", "gathers", *PASSING_TRAITS):
                return None
            value = producer.inputs[-1 if operator.has("joins") else 0]  # height and width are last
        return None

    def _slice(self, number: int, first: Resolution) -> Resolution:
        """Return the resolution of every second place and the like, along all axes once."""
        node = self.operations.nodes[number]
        step = _read_step(node)
        source = self.operations.operands[number][0].producer
        is_second = source is not None and source.operator.has("slices") and _read_step(source) > 1
        return _step(first, Fraction(step)) if step > 1 and not is_second else first

    def _is_gate(self, value: Value) -> bool:
        """Return whether a value is between two limits: so much of something goes on."""
        current: Value | None = self.operations.source(value)
        for _ in range(_MOST_OF_GATE):
            number = self.operations.giver(current) if current is not None else None
            if number is None:
                return False
            operator = self.operations.nodes[number].operator
            if operator.has("squashes", "distributes"):
                return True
            if not operator.has("resamples", "slices", "splits") or not (
                taken := self.operations.operands[number]
            ):
                return False
            current = taken[0]
        return False

    def _join(self, taken: Sequence[Resolution], *, is_sum: bool) -> Resolution:
        """Return the resolution of what several are joined to: of those that have places."""
        maps = [one for one in taken if not one.is_vector]
        if len(maps) < 2:
            return maps[0] if maps else taken[0]
        self.fused = max(self.fused, len({one.risen for one in maps} - {None}))
        deepest = max(one.deepest for one in maps)
        turns = max(one.turns for one in maps)
        restarts = any(one.restarts for one in maps)
        factors = {one.factor for one in maps if one.factor is not None}
        if len(factors) != 1:
            self.is_sure &= not (is_sum and len(factors) > 1)
            is_larger = any(one.is_larger for one in maps)
            return Resolution(None, False, False, deepest, turns, is_larger, restarts)
        factor = factors.pop()
        for one in maps:
            if one.is_larger and one.deepest > factor:
                turns = max(turns, one.turns + 1 - one.turns % 2)
        return Resolution(factor, False, False, deepest, turns, False, restarts)


def _walk_blocks(outline: Outline) -> Iterator[FoundBlock]:
    """Yield the blocks in the parts of an outline that have several."""
    pending = [found for part in outline.parts for found in part.parts]
    pending += [one for one in outline.blocks.list_outermost() if isinstance(one, FoundBlock)]
    met: set[int] = set()
    while pending:
        found = pending.pop()
        if id(found) not in met:
            met.add(id(found))
            yield found
            pending += found.parts


def is_crop(node: Node) -> bool:
    """Return whether a node cuts regions of interest out of maps.

    R. Girshick, Fast R-CNN, 2015, section 2.1; K. He and others, Mask R-CNN, 2017, section 3.
    """
    return (
        node.operator.has("pools", "samples") and node.operator.operands.find("boxes") is not None
    )


def _step(first: Resolution, ratio: Fraction) -> Resolution:
    """Return what a result is of which so many places are one."""
    if ratio == 1 or first.factor is None:
        return first
    factor = first.factor * ratio
    goes_down = ratio > 1
    turns = first.turns + 1 if first.turns % 2 == goes_down else first.turns
    deepest = max(first.deepest, factor)
    risen = None if goes_down else first.risen or first.factor
    return replace(first, factor=factor, deepest=deepest, turns=turns, risen=risen)


def _pool_all(first: Resolution) -> Resolution:
    return replace(first, factor=None, is_vector=True, is_pooled=True, is_larger=False)


def _read_strides(node: Node) -> int:
    """Return the largest stride of a convolution or a pool."""
    return max(read_ints(node, "strides"), default=read_int(node, "stride") or 1)


def _read_step(node: Node) -> int:
    """Return the largest step of a Slice; 1 where it is not stored."""
    place = node.operator.operands.find("steps")
    value = node.input(place) if place is not None else None
    for source in trace_back(value, *PASSING_TRAITS, most=_MOST_STEPS):
        numbers = read_numbers(constant_tensor(source), _MOST_AXES)
        if numbers:
            return int(max(numbers))
    return 1


def _read_growth(node: Node) -> Fraction | None:
    """Return how many times larger a picture becomes, as a constant or the file's types say."""
    place = node.operator.operands.find("scales")
    value = node.input(place) if place is not None else None
    scales = read_numbers(constant_tensor(value), _MOST_AXES) if value is not None else ()
    attribute = node.attributes.get("scales")
    if attribute is not None and isinstance(attribute.value, tuple):
        scales = tuple(entry for entry in attribute.value if isinstance(entry, int | float))
    if scales:
        return Fraction(max(scales)).limit_denominator(64) if min(scales) > 0 else None
    before, after = (_read_sizes(one) for one in (node.input(0), node.output(0)))
    if not before or len(before) != len(after):
        return None
    ratios = {
        Fraction(new, old)
        for old, new in zip(before, after, strict=True)
        if old and new and old != new
    }
    return ratios.pop() if len(ratios) == 1 else None


def _read_sizes(value: Value | None) -> list[int]:
    """Return the sizes that the file states of a value, 0 for an unknown one."""
    stated = value.type if value is not None else None
    shape = stated.shape if isinstance(stated, TensorType) else None
    return [dim.value if isinstance(dim.value, int) else 0 for dim in shape or ()]
