"""Linear layers, MLPs of them, and embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from netloupe.explorer.model import Node, Value

from .adjacencies import read_step
from .cell_gates import gives_gates
from .details import EmbeddingDetails, FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .given_matrices import is_given
from .operations import PICKING, Operations
from .picked_factors import picks_factors
from .readings import read_int, read_ints
from .transformer_details import MlpDetails
from .weight_sizes import read_dims, read_features, read_kernel, read_width

#: between widths that follow each other
ARROW = " → "
#: what an MLP may have between its layers besides activations
_PASSED = frozenset({"Dropout"})
#: gated units, by the activation of their gate
_GATED = {
    "SiLU": "SwiGLU",
    "GELU": "GEGLU",
    "GELU (tanh)": "GEGLU",
    "quick GELU": "GEGLU",
    "ReLU": "ReGLU",
    "Sigmoid": "GLU",
}
_MOST_LAYERS = 12
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


def find_mlps(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find linear layers with activations between them, and gated ones.

    The layers of an MLP each take what the one before gives (A. Vaswani and others, Attention Is
    All You Need, 2017, equation 2, for two of them). In a gated one the hidden features are a
    product of two linear ones, of which one is activated: SwiGLU, GEGLU, ReGLU (N. Shazeer, GLU
    Variants Improve Transformer, 2020, equation 6).
    """
    operations = blocks.operations
    if any(owner is not None and owner.kind == "attention" for owner in blocks.owner):
        _add_pointwise_layers(blocks)
    for number in range(len(operations)):
        gated = _find_gated(blocks, number)
        if gated is not None:
            yield gated
    for number in range(len(operations)):
        first = blocks.ending(number, "linear")
        if first is None:
            continue
        before = _only_giver(operations, min(first.numbers))
        if before is not None and blocks.ending(before, "activation") is not None:
            inner = blocks.ending(before, "activation")
            start = _only_start(operations, inner) if inner is not None else None
            earlier = blocks.ending(start, "linear")
            if earlier is not None and _follows(blocks, earlier, inner) is not None:
                continue  # it is not the first one
        chain = _follow_chain(blocks, first)
        if chain is not None:
            yield chain


def _add_pointwise_layers(blocks: FoundBlocks) -> None:
    """Take two convolutions of single places with an activation between for linear layers.

    So the MLP beside an attention is written where features come first (Z. Dai and others, CoAtNet,
    2021, section 2.1).
    """
    operations = blocks.operations
    for number in range(len(operations)):
        activation = blocks.ending(number, "activation")
        if activation is None:
            continue
        before = _only_start(operations, activation)
        behind = operations.only_user(activation.end)
        if before is None or behind is None or behind < 0:
            continue
        if not activation.numbers.issuperset(operations.users[before]):
            continue
        layers = [
            blocks.holding(each, "linear") or make_pointwise(blocks, each)
            for each in (before, behind)
        ]
        if None not in layers:
            for layer in filter(None, layers):
                blocks.add(layer)


def _follow_chain(blocks: FoundBlocks, first: FoundBlock) -> FoundBlock | None:
    operations = blocks.operations
    parts = [first]
    activations: list[str] = []
    current = first
    for _ in range(_MOST_LAYERS):
        activation = _follows(blocks, current, None)
        if activation is None or activation.kind != "activation":
            break
        following = _follows(blocks, activation, None)
        if following is None or following.kind != "linear":
            break
        if gives_gates(operations, following.end):
            break
        parts += [activation, following]
        activations.append(activation.name)
        current = following
    if len(parts) < 3:
        return None
    linears = parts[::2]
    numbers = frozenset().union(*(part.numbers for part in parts))
    widths = list_widths(linears)
    between = ", ".join(dict.fromkeys(activations))
    facts = (*([write_layer_widths(widths)] if widths else []), between)
    details = MlpDetails(activation=between, widths=widths)
    return FoundBlock("mlp", "MLP", numbers, parts[-1].end, facts, details, tuple(parts))


def list_widths(linears: list[FoundBlock]) -> tuple[int, ...]:
    """Return what each of some layers takes and the last gives; nothing where any is unknown."""
    pairs = [linear.details.in_out for linear in linears]
    known = [pair for pair in pairs if pair is not None]
    if not known or len(known) < len(pairs):
        return ()
    return (*(taken for taken, _ in known), known[-1][1])


def _follows(
    blocks: FoundBlocks, found: FoundBlock, expected: FoundBlock | None
) -> FoundBlock | None:
    """Return the linear layer or activation that alone takes a block's result, all of it."""
    operations = blocks.operations
    users = operations.users[found.end]
    user = users[0] if users else None
    while user is not None and user >= 0 and operations.kinds[user] in _PASSED:
        user = operations.only_user(user)
    other = blocks.holding(user, "linear", "activation")
    if other is None or not other.numbers.issuperset(users):
        return None
    if expected is not None and other is not expected:
        return None
    return other


def _only_giver(operations: Operations, number: int) -> int | None:
    givers = operations.givers(number)
    return givers[0] if len(givers) == 1 else None


def _only_start(operations: Operations, found: FoundBlock) -> int | None:
    """Return the one operation outside of a block that it takes from."""
    starts = {giver for n in found.numbers for giver in operations.givers(n)} - found.numbers
    return starts.pop() if len(starts) == 1 else None


def _find_gated(blocks: FoundBlocks, product: int) -> FoundBlock | None:
    operations = blocks.operations
    taken, kind = operations.operands[product], operations.kinds[product]
    if kind == "SwiGLU" and len(taken) in (1, 2):  # the gate first; one for both halves
        halves = operations.giver(taken[0]), operations.giver(taken[-1])
        return _close_gated(blocks, product, halves, None)
    if kind != "Mul" or len(taken) != 2:
        return None
    for gated, multiplied in (taken, taken[::-1]):
        activation = blocks.ending(operations.giver(gated), "activation")
        if activation is None or operations.only_user(activation.end) != product:
            continue
        halves = _only_start(operations, activation), operations.giver(multiplied)
        found = _close_gated(blocks, product, halves, activation)
        if found is not None:
            return found
    return None


def _close_gated(
    blocks: FoundBlocks,
    product: int,
    halves: tuple[int | None, int | None],
    activation: FoundBlock | None,
) -> FoundBlock | None:
    """Return a gated unit with the linear layers around it; None where these are not all there.

    Parameters
    ----------
    blocks
        What was found so far.
    product
        The operation that multiplies both halves.
    halves
        The operations that give the half for the gate, before its activation, and the other.
    activation
        That of the gate; None where the product holds it, which is SwiGLU then.
    """
    operations = blocks.operations
    first, passed = _walk_to_linear(blocks, halves[0])
    second, again = _walk_to_linear(blocks, halves[1])
    users = operations.users[product]
    last = blocks.holding(users[0] if users else None, "linear")
    if first is None or second is None or last is None or not last.numbers.issuperset(users):
        return None
    linears = [first, *([second] if second is not first else []), last]
    inner = linears if activation is None else [activation, *linears]
    numbers = frozenset().union(*(part.numbers for part in inner), {product, *passed, *again})
    if not operations.is_closed(set(numbers), last.end):
        return None
    if second is not first and not _share_start(operations, first, second):
        return None
    if activation is None:  # N. Shazeer, 2020, equation 5: of any β, which is 1 in SiLU
        name, unit = _read_swish(operations.nodes[product]), "SwiGLU"
    else:
        name, unit = activation.name, _GATED.get(activation.name, "Gated MLP")
    widths = list_widths([first, last])
    facts = (*([write_widths(*widths)] if widths else []), *([name] if unit == "Gated MLP" else []))
    details = MlpDetails(activation=name, widths=widths, gated=True)
    return FoundBlock("mlp", unit, numbers, last.end, facts, details, tuple(inner))


def _read_swish(node: Node) -> str:
    """Return which activation is in a node that is a SwiGLU of ONNX or of ONNX Runtime."""
    name = "activation_alpha" if node.domain else "alpha"
    alpha = node.attributes.get(name)
    return "SiLU" if alpha is None or alpha.value == 1 else "Swish"


def _walk_to_linear(blocks: FoundBlocks, number: int | None) -> tuple[FoundBlock | None, set[int]]:
    """Return the linear layer that gives a half of a gated unit, and what splits its result."""
    passed: set[int] = set()
    for _ in range(3):
        found = blocks.ending(number, "linear")
        if found is not None:
            return found, passed
        operations = blocks.operations
        if number is None or not operations.nodes[number].operator.has(*PICKING):
            return None, passed
        passed.add(number)
        number = _only_giver(operations, number)
    return None, passed


def _share_start(operations: Operations, first: FoundBlock, second: FoundBlock) -> bool:
    starts: list[Value] = []
    for found in (first, second):
        starts += operations.operands[min(found.numbers)][:1]
    return len(starts) == 2 and starts[0] is starts[1]


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
