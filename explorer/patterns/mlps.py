"""MLPs: linear layers with activations between them, and gated ones."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

from .cell_gates import gives_gates
from .found_blocks import FoundBlock, FoundBlocks
from .linear import list_widths, make_pointwise, write_layer_widths, write_widths
from .operations import OUTSIDE, PICKING, Operations
from .transformer_details import MlpDetails

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
#: a norm, and a scale of the layer
_MOST_BEFORE_SUM = 3


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
        if not _is_added(blocks, behind):
            continue
        layers = [
            blocks.holding(each, "linear") or make_pointwise(blocks, each)
            for each in (before, behind)
        ]
        if None not in layers:
            for layer in filter(None, layers):
                blocks.add(layer)


def _is_added(blocks: FoundBlocks, number: int) -> bool:
    """Return whether what an operation gives is added to something, scaled or normalized at most.

    Layers of a head are alike but for this: what they give is the result.
    """
    operations = blocks.operations
    for _ in range(_MOST_BEFORE_SUM):
        users = operations.users[number]
        if len(users) != 1 or users[0] < 0:
            return OUTSIDE in users
        number = users[0]
        if operations.nodes[number].operator.has("adds"):
            return True
        owner = blocks.owner[number]
        is_norm = owner is not None and owner.kind == "norm"
        if not is_norm and operations.kinds[number] != "Mul":
            return False
        number = owner.end if owner is not None else number
    return False


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
