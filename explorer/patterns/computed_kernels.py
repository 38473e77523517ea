"""Convolutions whose kernels a network computes, and sums over neighbours by weights of its own."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.facts import Dims
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_source, is_input_independent
from netloupe.explorer.model import Node, Value

from .convolution_details import ConvolutionDetails
from .convolutions import CONVOLUTIONS, read_convolution
from .found_blocks import FoundBlock, FoundBlocks
from .leading import Leading, find_leading
from .operations import ARRANGING, Operations
from .readings import read_ints
from .weight_sizes import read_dims, read_type_dims

#: what tells how much of each stored kernel counts
_SHARING = frozenset({"Softmax", "Sigmoid", "HardSigmoid"})
_SUMS = ("ReduceSum", "ReduceSumSquare", "ReduceL2")
_MOST_BEHIND = 4
#: a norm, an activation and what cuts features may stand before they are a kernel
_MOST_BEFORE_KERNEL = 6
_KEEPING_PLACES = ("activates", "elementwise", "normalizes", "slices", "splits")
CROSS_CORRELATION = "Cross-correlation"
_COMPUTED = "Convolution by a computed kernel"
#: kernels have so many axes: of channels given and taken, and at least one of places
_LEAST_AXES = 3
#: more kernels than that are mixed by no network
_MOST_KERNELS = 64
_BOTH = 2
#: axes of a picture
_PICTURE = 4


def find_computed_kernels(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find convolutions whose kernel is computed from what the network takes.

    Stored kernels that are mixed by shares (B. Yang and others, CondConv, 2019, equation 1; Y. Chen
    and others, Dynamic Convolution, 2020, section 3.1) are a dynamic convolution; one stored kernel
    whose channels a style scales is a modulated convolution (T. Karras and others, Analyzing and
    Improving the Image Quality of StyleGAN, 2020, equations 1 to 3). Others are as a network gives
    them (X. Jia and others, Dynamic Filter Networks, 2016, section 3), and where they are features
    of a picture, whose places the kernel's are, it is a cross-correlation (L. Bertinetto and
    others, Fully-Convolutional Siamese Networks for Object Tracking, 2016, equation 1).
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        node = operations.nodes[number]
        weight = node.input(1) if kind in CONVOLUTIONS and kind != "DeformConv" else None
        if weight is None or operations.is_fixed(weight):
            continue
        own = blocks.holding(number, "conv")
        core = own.numbers if own is not None else frozenset({number})
        data = node.input(0)
        stops = () if data is None else (operations.source(data),)
        others = [value for value in node.inputs[1:] if value and not operations.is_fixed(value)]
        leading = find_leading(operations, core, map(operations.source, others), stops)
        is_correlation = correlates(node)
        if leading is None or not (leading.numbers or is_correlation):
            continue
        axes = _LEAST_AXES - 1 + len(read_convolution(operations, number).kernel)
        name, facts = _tell(operations, operations.source(weight), leading, axes)
        before = leading.numbers
        if name == _COMPUTED and is_correlation:
            name, before = CROSS_CORRELATION, frozenset()
        end = own.end if own is not None else number
        details = own.details if own is not None else ConvolutionDetails()
        size = read_convolution(operations, number).kernel
        if size:
            facts = (*facts, "×".join(map(str, size)) if len(size) > 1 else f"kernel {size[0]}")
        carrier = own or FoundBlock("conv", "Conv", core, end, details=details)
        yield FoundBlock("unit", name, core | before, end, facts, details, (carrier,))


def _tell(
    operations: Operations, weight: Value, leading: Leading, axes: int
) -> tuple[str, tuple[str, ...]]:
    """Return what a convolution by a computed kernel is called, and what is known of it."""
    count = _count_mixed(operations, weight, leading, axes)
    if count:
        return "Dynamic convolution", (f"{count} kernels",)
    number = operations.giver(weight)
    is_demodulated = False
    for _ in range(_MOST_BEHIND):
        if number is None or operations.kinds[number] not in ("Mul", "Div"):
            break
        dims = [read_dims(value) for value in operations.fixed(number)]
        if any(len(one) >= _LEAST_AXES for one in dims) and len(operations.operands[number]) == 1:
            facts = ("demodulated",) if is_demodulated else ()
            return "Modulated convolution", facts
        taken = operations.operands[number]
        givers = [operations.giver(value) for value in taken]
        inner = [one for one in givers if one is not None and operations.kinds[one] == "Mul"]
        if len(taken) == _BOTH:
            sums = [n for n in leading.numbers if operations.kinds[n] in _SUMS]
            if not any(one in inner for n in sums for one in _pass_squares(operations, n)):
                break
            is_demodulated = True
        number = inner[0] if inner else None
    return _COMPUTED, ()


def correlates(node: Node) -> bool:
    """Return whether a convolution's kernel is features of a picture, whose places are its own."""
    weight = node.input(1) if node.operator.has("convolves") and len(node.inputs) > 1 else None
    if weight is None or weight.initializer is not None or is_input_independent(weight):
        return False
    facts = find_value_facts(node.graph.model)
    size = _read_places(facts.find_dims(weight))
    if not any(one > 1 for one in size):
        return False
    value = find_source(weight, *ARRANGING)
    for _ in range(_MOST_BEFORE_KERNEL):
        giver = value.producer if value is not None else None
        if value is None or giver is None or _read_places(facts.find_dims(value)) != size:
            return False
        if giver.operator.has("convolves", "pools"):
            return True
        if not giver.operator.has(*_KEEPING_PLACES):
            return False
        value = find_source(giver.input(0), *ARRANGING)
    return False


def _read_places(dims: Dims | None) -> tuple[int, ...]:
    """Return height and width of a picture; nothing where they are not known."""
    sizes = dims[2:] if dims and len(dims) == _PICTURE else ()
    known = tuple(one for one in sizes if isinstance(one, int))
    return known if len(known) == len(sizes) else ()


def _pass_squares(operations: Operations, number: int) -> list[int]:
    """Return what gives the numbers whose squares are summed."""
    givers = operations.givers(number)
    squares = [one for one in givers if operations.kinds[one] in ("Mul", "Pow")]
    return [*givers, *(inner for one in squares for inner in operations.givers(one))]


def _count_mixed(operations: Operations, weight: Value, leading: Leading, axes: int) -> int:
    """Return how many stored kernels of so many axes shares mix; 0 where none do."""
    number = operations.giver(weight)
    if number is None or not any(operations.kinds[n] in _SHARING for n in leading.numbers):
        return 0
    count = 0
    shares: Value | None = None
    if operations.kinds[number] == "Gemm":
        fixed = [read_dims(value) for value in operations.fixed(number)]
        tables = [dims for dims in fixed if len(dims) >= _BOTH]
        if len(tables) == 1 and len(operations.operands[number]) == 1:
            count, shares = tables[0][0], operations.operands[number][0]
    elif operations.kinds[number] == "ReduceSum":
        product = operations.given_by(operations.operands[number][0], "Mul")
        banks = operations.fixed(product) if product is not None else []
        dims = read_dims(banks[0]) if len(banks) == 1 else ()
        while dims[:1] == (1,):
            dims = dims[1:]
        if product is not None and len(dims) == axes + 1:
            count, shares = dims[0], operations.operands[product][0]
    giver = operations.giver(shares) if shares is not None else None
    is_shared = giver is not None and operations.kinds[giver] in _SHARING
    return count if is_shared and 1 < count <= _MOST_KERNELS else 0


def find_local_filters(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the neighbours of each place summed up by weights that are computed for that place.

    Of the value itself it is involution (D. Li and others, Involution, 2021, equations 4 and 6);
    where each place becomes several, content-aware upsampling, as in J. Wang and others, CARAFE,
    2019, equation 2, and Z. Teed and J. Deng, RAFT, 2020, section 3.3.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        product = operations.given_by(taken[0], "Mul") if kind == "ReduceSum" and taken else None
        if product is None or blocks.owner[end] is not None or blocks.owner[product] is not None:
            continue
        factors = operations.operands[product]
        if len(factors) != _BOTH or operations.only_user(product) != end:
            continue
        for neighbours, weights in (factors, factors[::-1]):
            found = _read_filter(blocks, end, product, neighbours, weights)
            if found is not None:
                yield found
                break


def _read_filter(
    blocks: FoundBlocks, end: int, product: int, neighbours: Value, weights: Value
) -> FoundBlock | None:
    operations = blocks.operations
    cut = _read_neighbours(operations, neighbours)
    giver = operations.giver(weights)
    if cut is None or giver is None:
        return None
    numbers, size, source = cut
    softmax = operations.kinds[giver] == "Softmax"
    leading = find_leading(
        operations, {end, product, *numbers}, [weights], [source], most=_MOST_LEADING
    )
    if leading is None:
        return None
    layers = [n for n in leading.numbers if operations.kinds[n] in ("Conv", "Gemm")]
    if not layers or _read_neighbours(operations, weights) is not None:
        return None
    is_larger = any(operations.nodes[n].operator.has("resamples", "moves_pixels") for n in numbers)
    is_larger = is_larger or _is_moved(operations, end)
    facts = (f"{size[0]}×{size[1]}",) if all(size) else ()
    if softmax and is_larger:
        name = "Content-aware upsampling"
    elif leading.sources == {source} and not softmax:
        name = "Involution"
    else:
        name = "Local filter by computed weights"
    every = frozenset({end, product, *numbers, *leading.numbers})
    return FoundBlock("unit", name, every, end, facts)


#: so many operations compute the weights of neighbours
_MOST_LEADING = 30


def _is_moved(operations: Operations, end: int) -> bool:
    """Return whether parts of channels become places behind a sum."""
    return any(
        node.operator.has("permutes") and len(read_ints(node, "perm")) > _PICTURE
        for node in operations.arrangement
        if any(
            value is not None and operations.giver(operations.source(value)) == end
            for value in node.inputs
        )
    )


def _read_neighbours(
    operations: Operations, value: Value
) -> tuple[set[int], tuple[int, int], Value] | None:
    """Return what cuts a value into windows that overlap, their size, and the value.

    Rows and then columns are looked up at stored places, of a value with a border.
    """
    numbers: set[int] = set()
    sizes: list[int] = []
    for _ in range(_MOST_CUTTING):
        number = operations.giver(value)
        if number is None or not operations.operands[number]:
            break
        node = operations.nodes[number]
        if node.operator.has("gathers") and operations.is_fixed(node.input(1)):
            dims = read_type_dims(node.input(1)) or read_dims(node.input(1))
            known = [dim for dim in dims if isinstance(dim, int) and dim > 1]
            if dims and len(known) != _BOTH:
                return None  # single places, or a row of them
            sizes.append(min(known, default=0))
        elif not (node.operator.has("resamples") or operations.kinds[number] == "Pad"):
            break
        numbers.add(number)
        value = operations.operands[number][0]
    if len(sizes) != _BOTH:
        return None
    return numbers, (sizes[1], sizes[0]), value


#: a border, rows, columns, and a resampling
_MOST_CUTTING = 5
