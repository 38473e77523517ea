"""Linear layers, and embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from netloupe.explorer.model import Node

from .adjacencies import read_step
from .details import EmbeddingDetails, FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .given_matrices import is_given
from .operations import Operations
from .picked_factors import picks_factors
from .readings import read_int, read_ints
from .weight_sizes import read_dims, read_features, read_kernel, read_width

#: between widths that follow each other
ARROW = " → "
#: so many widths are written one by one
_MOST_WIDTHS = 6


def find_linears(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x·W + b: a product with a weight, and its bias."""
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind == "Gemm" and len(operations.operands[number]) == 1:
            if any(map(is_given, operations.fixed(number))):
                continue
            if read_step(operations, number) is not None:
                continue  # who is joined to whom is no weight
            yield _read_linear(operations, number)
        elif kind == "Conv" and _is_pointwise(operations, number):
            widths = read_features(operations.nodes[number])
            yield _make_linear({number}, number, *widths, (write_widths(*widths),))


def _is_pointwise(operations: Operations, number: int) -> bool:
    """Return whether a convolution is a matrix product: its operand is put into its form."""
    node = operations.nodes[number]
    if node.op_type != "Conv" or len(node.inputs) < 2:
        return False
    kernel = read_kernel(node)
    around = {arranging.op_type for arranging in operations.path(node.input(0))}
    return {*kernel} == {1} and bool(around & {"Transpose", "Unsqueeze"})


def make_pointwise(
    blocks: FoundBlocks, number: int, *, are_grouped: bool = False
) -> FoundBlock | None:
    """Return a convolution of single places as the linear layer that it is at each; else None.

    That of groups of features is one only where ``are_grouped`` (F. Iandola and others,
    SqueezeBERT, 2020, section 3.2).
    """
    operations = blocks.operations
    node = operations.nodes[number]
    if operations.kinds[number] != "Conv" or blocks.owner[number] is not None:
        return None
    strides = (*read_ints(node, "strides"), 1)
    if {*read_kernel(node)} != {1} or max(strides) > 1:
        return None
    widths = read_features(node)
    if not 1 <= (read_int(node, "group") or 1) <= (max(widths) // 2 if are_grouped else 1):
        return None
    return _make_linear({number}, number, *widths, (write_widths(*widths),))


def _read_linear(operations: Operations, number: int) -> FoundBlock:
    node = operations.nodes[number]
    taken, given = read_features(node)
    numbers, end = {number}, number
    if node.op_type not in ("Gemm", "FC"):
        bias = operations.only_user(number)
        if (
            bias is not None
            and operations.kinds[bias] == "Add"
            and _is_bias(operations, bias, given)
        ):
            numbers.add(bias)
            end = bias
    if not (taken and given):
        return _make_linear(numbers, end, taken, given, ())
    groups = _count_groups(operations, number)
    if groups > 1:  # of all features together nothing is known
        widths = write_widths(taken, given)
        return _make_linear(numbers, end, 0, 0, (f"{groups:,} × ({widths})",))
    return _make_linear(numbers, end, taken, given, (write_widths(taken, given),))


def _count_groups(operations: Operations, number: int) -> int:
    """Return how many matrices a product has, each for a group of its own; 1 where unknown.

    Z. Jiang and others, ConvBERT, 2020, section 3.3.
    """
    groups = 1
    is_plain = operations.nodes[number].op_type == "MatMul"  # others pack their matrices
    for value in operations.fixed(number)[:1] if is_plain else ():
        for size in read_dims(value)[:-2]:
            groups *= size
    return groups


def _make_linear(
    numbers: set[int], end: int, taken: int, given: int, facts: tuple[str, ...]
) -> FoundBlock:
    details = FeatureDetails().with_features((taken, given) if taken and given else None)
    return FoundBlock("linear", "Linear", frozenset(numbers), end, facts, details)


def _is_bias(operations: Operations, number: int, width: int) -> bool:
    constants = operations.fixed(number)
    if len(operations.operands[number]) != 1 or len(constants) != 1:
        return False
    found = read_width(constants[0])
    return not found or not width or found == width


def write_widths(*widths: int) -> str:
    """Return ``768 → 3072``."""
    return ARROW.join(map(str, widths))


def write_layer_widths(widths: Sequence[int]) -> str:
    """Return what layers take and give, each told: ``2 → 64 → 64 → 40``, ``63 → 256 ×8 → 4``.

    Where there are many, layers in a row that give as much are counted, and of what is long even
    so the ends are told. What the first one takes stands apart, so that ``×8`` are eight layers.
    """
    if len(widths) <= _MOST_WIDTHS:
        return write_widths(*widths)
    runs = [(width, len([*run])) for width, run in groupby(widths[1:])]
    given = [f"{width} ×{count}" if count > 1 else str(width) for width, count in runs]
    told = [str(widths[0]), *given]
    if len(told) > _MOST_WIDTHS:
        told = [*told[:2], "…", told[-1]]
    return ARROW.join(told)


def list_widths(linears: list[FoundBlock]) -> tuple[int, ...]:
    """Return what each of some layers takes and the last gives; nothing where any is unknown."""
    pairs = [linear.details.in_out for linear in linears]
    known = [pair for pair in pairs if pair is not None]
    if not known or len(known) < len(pairs):
        return ()
    return (*(taken for taken, _ in known), known[-1][1])


def find_embeddings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find rows of a table that are picked by ids."""
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        node = operations.nodes[number]
        if kind in ("Gather", "TorchEmbedding") and operations.is_fixed(node.input(0)):
            facts = read_table(node)
            if facts is not None:
                yield FoundBlock("embedding", "Embedding", frozenset({number}), number, *facts)


def read_table(node: Node) -> tuple[tuple[str], EmbeddingDetails] | None:
    """Return what is told of the table that a node picks rows of; None where it has none.

    Weights that a token is multiplied by are no rows that stand for it.
    """
    rows, width = read_features(node)
    if not rows or picks_factors(node):
        return None
    return (f"{rows:,} × {width:,}",), EmbeddingDetails(rows=rows, width=width)
