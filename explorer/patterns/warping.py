"""Maps that are looked up where other places are: moved by a flow, or by a camera."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value, is_constant

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import ARRANGING, Operations
from .weight_sizes import read_dims, read_type_dims

_BOTH = 2
_MOST_BEFORE = 40
#: the axes of places that are looked up: two of a picture
_COORDINATES = (2, 3)
#: what stands for a weight that a file holds
_STORING = frozenset({"Cast", "Constant", "DequantizeLinear", "Identity", "Transpose"})
#: what places are computed with
_ARITHMETIC = (
    *("adds", "subtracts", "multiplies_elements", "divides", "negates", "joins", "picks"),
    *("splits", "slices", "gathers", "permutes", "clips", "resamples", "multiplies"),
)


def find_warps(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find maps looked up at stored places that something computed moves.

    By a flow that is added (D. Sun and others, PWC-Net, 2018, equation 1); by a matrix (M.
    Jaderberg and others, Spatial Transformer Networks, 2015, equation 1); by a matrix and a
    division by depth (Y. Yao and others, MVSNet, 2018, equation 1). Of the products of two maps it
    is a correlation lookup (Z. Teed and J. Deng, RAFT, 2020, section 3.2).
    """
    operations = blocks.operations
    for end, node in enumerate(operations.nodes):
        if not node.operator.has("samples") or blocks.owner[end] is not None:
            continue
        grid = node.input(1)
        if grid is None:
            continue
        places = [] if operations.is_fixed(grid) else [operations.source(grid)]
        leading = find_leading(operations, {end}, places, most=_MOST_BEFORE)
        if leading is None:
            continue
        inner = {n for n in leading.numbers if _computes_places(blocks, n)}
        is_of_products = _is_of_products(node.input(0))
        found = "Correlation lookup" if is_of_products else _name(operations, inner)
        if found:
            numbers = _keep_joined(operations, inner, end)
            yield FoundBlock("unit", found, frozenset(numbers), end)


def _computes_places(blocks: FoundBlocks, number: int) -> bool:
    operations = blocks.operations
    node = operations.nodes[number]
    owner = blocks.owner[number]
    is_product = owner is not None and owner.kind == "linear" and len(owner.numbers) == 1
    if owner is not None and not is_product:
        return False
    return node.operator.has(*_ARITHMETIC) or operations.kinds[number] == "AffineGrid"


def _keep_joined(operations: Operations, inner: set[int], end: int) -> set[int]:
    """Return of some operations those that lead to a last one through others of them."""
    kept = {end}
    for number in sorted(inner, reverse=True):
        if kept.issuperset(operations.users[number]):
            kept.add(number)
    return kept


def _name(operations: Operations, inner: set[int]) -> str:
    kinds = {operations.kinds[n] for n in inner}
    if "AffineGrid" in kinds:
        return "Affine warping"
    matrices = [n for n in inner if _multiplies_places(operations, n)]
    divides = any(
        operations.kinds[n] == "Div" and len(operations.operands[n]) == _BOTH for n in inner
    )
    if matrices and divides:
        return "Projective warping"
    if len(matrices) == 1 and len(inner) <= _BOTH:
        return "Affine warping"
    if not matrices and any(_adds_places(operations, n) for n in inner):
        return "Warping"
    return ""


def _multiplies_places(operations: Operations, number: int) -> bool:
    """Return whether an operation multiplies a computed matrix and stored places."""
    node = operations.nodes[number]
    if not node.operator.has("multiplies") or len(operations.operands[number]) != 1:
        return False
    sizes = [_read_sizes(value) for value in operations.fixed(number)]
    return any(one is None or {*one} & {*_COORDINATES} for one in sizes)


def _adds_places(operations: Operations, number: int) -> bool:
    """Return whether an operation adds something computed to stored places of a whole map."""
    if operations.kinds[number] != "Add" or len(operations.operands[number]) != 1:
        return False
    maker = operations.operands[number][0].producer
    is_flow = maker is None or not maker.operator.has("multiplies")
    sizes = [_read_sizes(value) for value in operations.fixed(number)]
    return is_flow and any(
        one is None or sum(dim is None or dim > 1 for dim in one) > _BOTH for one in sizes
    )


def _read_sizes(value: Value) -> tuple[int | None, ...] | None:
    """Return the sizes of something stored; None where nodes compute it and do not state them."""
    known = read_dims(value) or read_type_dims(value)
    is_computed = value.producer is not None and value.producer.op_type not in _STORING
    return None if is_computed and not known else known


def _is_of_products(value: Value | None) -> bool:
    """Return whether what is looked up are products of two maps, pooled or not.

    Z. Teed and J. Deng, RAFT, 2020, section 3.2: they may stand before the loop that looks them up.
    """
    for _ in range(_MOST_BEFORE):
        node = value.producer if value is not None else None
        if node is None:
            return False
        computed = [one for one in node.inputs if one is not None and not is_constant(one)]
        if node.operator.has("multiplies") and len(computed) == _BOTH:
            return True
        is_scaled = node.operator.has("divides", "multiplies_elements") and len(computed) == 1
        if not is_scaled and not node.operator.has("pools", *ARRANGING):
            return False
        value = node.input(0) if node.input(0) in computed else computed[0] if computed else None
    return False
