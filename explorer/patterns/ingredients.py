"""What nodes that are no known block altogether are made of: the blocks and operators among them.

What only moves data, sums, scales and compares is plumbing here: what a figure leaves out. It is
seen through where it is asked which part takes from which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from netloupe.explorer.model import Node, Value
from netloupe.explorer.operators import Operator, kept_with_catalogue

from .convolution_details import (
    ConvolutionDetails,
    ResidualDetails,
    SeparableDetails,
    StridedDetails,
)
from .details import NO_DETAILS, BlockDetails
from .found_blocks import FoundBlock, FoundBlocks
from .graph_context import GraphContext, find_graph_context
from .nested_levels import NESTED_U, count_nested_levels
from .operations import Operations
from .readings import read_int, read_ints
from .recognise import MOST_NODES, add_ideas, find_blocks
from .recognition import Recognition
from .recurrent import describe_recurrent
from .resampling import read_scale
from .rotations import ROTARY
from .scale_shifts import SCALE_SHIFT
from .shifted_channels import TOKEN_SHIFT
from .token_mixing import is_mlp
from .transformer_details import AttentionDetails
from .weight_sizes import read_width

#: how telling a part is: a figure shows the ideas, and the rest where it has room
IDEA, WORK, SIZE, TRIM = 4, 3, 2, 1
#: of blocks that a group was recognised as
KNOWN = "known"
_WITH_WEIGHTS = ("convolves", "looks_up", "multiplies", "recurrent")
#: a weight is cast and transposed by so many nodes at most
_MOST_ARRANGED = 4
#: what comes behind the name of a layer in its box
_BEHIND = " · "
#: a sum around so many blocks is none of them
_LEAST_BLOCKS = 2
_KINDS_OF_FAMILIES = {"activation": "activation", "normalization": "norm"}
#: what blocks of a kind are, where they are no ideas
_RANKS_OF_KINDS = {
    "activation": TRIM,
    "conv": WORK,
    "linear": WORK,
    "norm": TRIM,
    "pixel shuffle": SIZE,
    ROTARY.lower(): TRIM,
    TOKEN_SHIFT.lower(): SIZE,
    SCALE_SHIFT.lower(): TRIM,
}
#: what is told apart by its name, and is no idea
_SMALL = frozenset({ROTARY, SCALE_SHIFT, TOKEN_SHIFT})
#: how telling operators outside of blocks are, by the first trait that they have
_RANKS_OF_TRAITS = (
    ("detects", IDEA),
    ("fitted", IDEA),
    ("attends", IDEA),
    ("recurrent", IDEA),
    ("solves", IDEA),
    ("samples", IDEA),
    ("random", IDEA),
    ("routes_experts", IDEA),
    ("control_flow", IDEA),
    ("finds_largest", WORK),
    ("accumulates", WORK),
    ("convolves", WORK),
    ("multiplies", WORK),
    ("selects", WORK),
    ("pools", SIZE),
    ("resamples", SIZE),
    ("moves_pixels", SIZE),
    ("scatters", TRIM),
    ("normalizes", TRIM),
    ("activates", TRIM),
    ("reduces", TRIM),
    ("takes_sine", TRIM),
)


class Ingredient(NamedTuple):
    """A block or an operator that a figure would show.

    Parameters
    ----------
    name
        What it is called: ``Cross-attention``, ``Conv · BN · ReLU``, ``MaxPool``.
    kind
        The pattern that found it, else the operator.
    rank
        How telling it is, from `TRIM` to `IDEA`.
    facts, details
        What is known of it.
    before
        Which of the ingredients it takes from, by their places in order.
    times
        How many there are of it, as blocks of a stack; 0 where the weights are those of one before,
        which is called again.
    convolutions
        How many of them stand in branches of which only the sum is known.
    """

    name: str
    kind: str
    rank: int
    facts: tuple[str, ...] = ()
    details: BlockDetails = NO_DETAILS
    before: frozenset[int] = frozenset()
    times: int = 1
    convolutions: int = 0

    @property
    def scale(self) -> tuple[int, int] | None:
        """By what it divides and multiplies sizes, ``(2, 1)`` for half; None where unknown."""
        details = self.details.read_as(StridedDetails)
        strides = details.stride if isinstance(details.stride, tuple) else (details.stride or 1,)
        if len({*strides}) != 1:
            return None
        is_larger = self.details.read_as(ResidualDetails).enlarges
        if is_larger or self.details.read_as(ConvolutionDetails).transposed:
            return 1, strides[0]
        return strides[0], 1


class MetWeights:
    """The weights of parts that were told, which are those of another call when they come again.

    Parameters
    ----------
    identify
        Returns the same for values that hold one weight: an exporter may write it for each call.
    """

    def __init__(self, identify: Callable[[Value], object] | None = None) -> None:
        self._identify = identify or _find_stored
        self._known: set[tuple[str, frozenset[object]]] = set()

    def add(self, name: str, weights: frozenset[Value]) -> bool:
        """Add the weights of a part of a name; return whether they were there."""
        if not weights:
            return False
        key = name, frozenset[object](map(self._identify, weights))
        is_known = key in self._known
        self._known.add(key)
        return is_known


def find_ingredients(
    nodes: Sequence[Node],
    context: GraphContext | None = None,
    known: Iterable[Recognition] = (),
    met: MetWeights | None = None,
) -> list[Ingredient]:
    """Return what some nodes are made of, in order; nothing for more than `MOST_NODES`.

    Parameters
    ----------
    nodes
        Nodes of one graph, producers first.
    context
        What is known of their graph.
    known
        What parts of them were recognised as; what is found inside of these is not told.
    met
        The weights of parts that were told before.
    """
    if not 0 < len(nodes) <= MOST_NODES:
        return []
    operations = Operations(nodes, context or find_graph_context(nodes[0].graph))
    blocks = find_blocks(operations)
    add_ideas(blocks)
    places = {node: number for number, node in enumerate(operations.nodes)}
    for one in known:
        numbers = frozenset(places[node] for node in one.nodes if node in places)
        inner = {id(found): found for n in numbers if (found := blocks.owner[n]) is not None}
        only = next(iter(inner.values())) if len(inner) == 1 else None
        is_same = only is not None and only.numbers == numbers
        # an activation that was found is called as the field does, and not as its operator
        is_told = one.family in _KINDS_OF_FAMILIES or (only is not None and _is_windowed(only))
        if numbers and not (is_same and is_told):
            blocks.add(_make_block(one, numbers))
    return _list_ingredients(blocks, met or MetWeights())


def _is_windowed(block: FoundBlock) -> bool:
    """Return whether a block is attention in windows, which are cut outside of its own nodes."""
    return block.details.read_as(AttentionDetails).side is not None


def _make_block(one: Recognition, numbers: frozenset[int]) -> FoundBlock:
    kind = _KINDS_OF_FAMILIES.get(one.family, KNOWN)
    return FoundBlock(kind, one.name, numbers, max(numbers), one.facts, one.details)


def make_ingredient(one: Recognition, times: int) -> Ingredient:
    """Return what was recognised as an ingredient that there is so often."""
    kind = _find_kind(_make_block(one, frozenset({0})))
    rank = _RANKS_OF_KINDS.get(kind, IDEA)
    return Ingredient(one.name, kind, rank, one.facts, one.details, times=times)


def _list_ingredients(blocks: FoundBlocks, met: MetWeights) -> list[Ingredient]:
    operations = blocks.operations
    listed: list[Ingredient] = []
    #: by operation: which ingredients it gives on, or comes from where it is plumbing
    sources: list[frozenset[int]] = [frozenset()] * len(operations)
    for entry in _list_entries(blocks):
        numbers = sorted(entry.numbers) if isinstance(entry, FoundBlock) else [entry]
        before = frozenset[int]().union(
            *(
                sources[giver]
                for n in numbers
                for giver in operations.givers(n)
                if giver not in numbers
            )
        )
        made = _make(operations, entry, before)
        if made is not None:
            before = frozenset({len(listed)})
            weights = _list_weights(operations, numbers)
            is_called_again = met.add(made.name, weights)
            listed.append(made._replace(times=0) if is_called_again else made)
        for number in numbers:
            sources[number] = before
    return listed


def _list_entries(blocks: FoundBlocks) -> Iterator[FoundBlock | int]:
    """Yield blocks and operations in order; of a sum around several blocks these.

    It is a skip and no block of its own (B. Lim and others, Enhanced Deep Residual Networks for
    Single Image Super-Resolution, 2017, figure 3), unless it goes around the levels of a U.
    """
    for entry in blocks.list_outermost():
        if isinstance(entry, FoundBlock) and _is_skip(blocks.operations, entry):
            rest = entry.numbers.difference(*(part.numbers for part in entry.parts))
            inner: list[FoundBlock | int] = [*entry.parts, *rest]
            yield from sorted(inner, key=lambda one: one if isinstance(one, int) else one.end)
        else:
            yield entry


def _is_skip(operations: Operations, block: FoundBlock) -> bool:
    count = sum(part.kind == block.kind for part in block.parts)
    is_sum = block.kind == "residual" and count >= _LEAST_BLOCKS
    return is_sum and not count_nested_levels(operations, block.numbers)


def _list_weights(operations: Operations, numbers: Sequence[int]) -> frozenset[Value]:
    """Return which weights some operations take; none where none of these multiplies or looks up.

    Several norms may be given the same ones and zeros.
    """
    if not any(operations.nodes[number].operator.has(*_WITH_WEIGHTS) for number in numbers):
        return frozenset()
    weights = (value for number in numbers for value in operations.fixed(number))
    return frozenset(value for value in weights if read_width(value) > 1)


def _find_stored(value: Value) -> Value:
    """Return what a weight was before it was cast or transposed."""
    for _ in range(_MOST_ARRANGED):
        node = value.producer
        first = node.input(0) if node is not None else None
        # equal weights of several layers are stored once and copied
        if node is None or first is None or not node.operator.has("casts", "permutes"):
            break
        value = first
    return value


def _make(
    operations: Operations,
    entry: FoundBlock | int,
    before: frozenset[int],
) -> Ingredient | None:
    if isinstance(entry, FoundBlock):
        if entry.kind == "norm" and entry.name == "Affine":
            return None
        if entry.kind == "residual" and is_mlp(entry):
            return Ingredient("MLP", "mlp", IDEA, entry.facts, entry.details, before)
        kind = _find_kind(entry)
        rank = _RANKS_OF_KINDS.get(kind, IDEA)
        name = entry.name
        if kind == "residual":
            levels = count_nested_levels(operations, entry.numbers)
            name = f"{NESTED_U} of {levels} levels" if levels else name
        if kind == "conv" and entry.details.read_as(ConvolutionDetails).is_depthwise:
            name = name.replace("Conv", "Depthwise conv", 1)
        inside = _count_convolutions(operations, entry) if kind == "branches" else 0
        return Ingredient(
            *(name, kind, rank, entry.facts, entry.details, before), convolutions=inside
        )
    node = operations.nodes[entry]
    operator = node.operator
    rank = _rank_operator(operator)
    kind = operations.kinds[entry]
    if not rank or not kind:
        return None
    if operator.has("multiplies") and len(operations.operands[entry]) == 1:
        return Ingredient("Linear", "linear", rank, before=before)
    details: BlockDetails = NO_DETAILS
    if operator.has("recurrent"):
        facts, details = describe_recurrent([node])
        return Ingredient(_name_operator(operator), kind, rank, facts, details, before)
    if operator.has("pools") and not operator.has("pools_all"):
        strides = read_ints(node, "strides") or (read_int(node, "stride") or 1,)
        details = StridedDetails(stride=strides[0] if len({*strides}) == 1 else strides)
    elif operator.has("resamples"):
        factor = read_scale(operations, entry)
        details = ConvolutionDetails(stride=factor, transposed=True)
    return Ingredient(_name_operator(operator), kind, rank, (), details, before)


def _count_convolutions(operations: Operations, entry: FoundBlock) -> int:
    nodes = (operations.nodes[number] for number in entry.numbers)
    return sum(node.operator.has("convolves") for node in nodes)


def _find_kind(entry: FoundBlock) -> str:
    """Return the kind of a block; of what a group was recognised as, by its details."""
    if entry.name in _SMALL:
        return entry.name.lower()
    if entry.kind != KNOWN:
        return entry.kind
    details = entry.details
    if isinstance(details, ConvolutionDetails) and not isinstance(details, SeparableDetails):
        return "conv"
    # perhaps with a norm or an activation, but not an attention that is linear in its tokens
    return "linear" if entry.name.partition(_BEHIND)[0] == "Linear" else KNOWN


@kept_with_catalogue(maxsize=1 << 12)
def _rank_operator(operator: Operator) -> int:
    if operator.family == "shape" and operator.has("selects"):
        return 0  # places of what is not zero: with what something else is picked
    return next((rank for trait, rank in _RANKS_OF_TRAITS if operator.has(trait)), 0)


#: what figures call operators of a trait
_NAMES_OF_TRAITS = (("samples", "Lookup"), ("random", "Noise"), ("resamples", "Resize"))


def _name_operator(operator: Operator) -> str:
    named = (name for trait, name in _NAMES_OF_TRAITS if operator.has(trait))
    return next(named, operator.form)


def is_chain(ingredients: Sequence[Ingredient]) -> bool:
    """Return whether each ingredient takes from the one before it, and the first from none.

    It may take from others besides, as behind a residual sum.
    """
    return not any(one.before for one in ingredients[:1]) and all(
        place in one.before for place, (_, one) in enumerate(pairwise(ingredients))
    )
