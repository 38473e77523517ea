"""What a repeated block is, told from its structure."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node, Value

from .combinations import REDUCTIONS
from .convolution_details import ConvolutionDetails
from .convolutions import read_convolution
from .dense import OF_CHANNELS
from .estimators import is_predictor, name_estimator, read_estimator
from .flows import is_coupling
from .found_blocks import FoundBlock
from .graph_context import GraphContext, find_graph_context
from .joined_branches import joins_branches, list_joined_starts
from .nested_blocks import NestedBlock, find_nested_blocks
from .operations import Operations
from .readings import read_int, read_str
from .recognise import add_ideas, find_blocks, try_to_recognise
from .residual_kinds import is_inverted, write_inside
from .residuals import MOST_COLOURS

#: a block is named after one thing in it that makes up so much of it
_MOST_OF_IT = 0.6
#: so many steps are followed before a block, to what its norm or activation takes
_MOST_BEFORE = 6
_RESIDUAL = frozenset(
    {"Bottleneck block", "Inverted bottleneck", "Inverted residual", "Residual block"}
)
_BOTH = 2
#: so many convolutions make new features of all before them
_MOST_OF_LAYER = 2


def name_block(nodes: Sequence[Node], context: GraphContext | None = None) -> str:
    """Return what a block of nodes is: ``Transformer block``; "" where it cannot be told.

    Parameters
    ----------
    nodes
        The block's nodes, producers first.
    context
        What is known of their graph, where several of its blocks are named.
    """
    recognition = try_to_recognise(nodes, context)
    # what is named after all its parts in a row is shown by these; and where keys come from may
    # differ between blocks that are wired alike
    is_told = recognition is not None and "·" not in recognition.name
    if recognition is not None and is_told and recognition.family != "attention":
        return recognition.name
    blocks = find_nested_blocks(nodes, context)
    attentions = sum(block.name == "Attention" for block in blocks)
    mlps = sum(block.name.endswith("MLP") for block in blocks)
    if attentions and mlps and _mixes_beside(nodes):
        return "Attention block"
    if attentions and mlps > 1:
        return f"{mlps} Transformer blocks"
    if attentions and mlps:
        return "Transformer block"
    several = _count_residuals(blocks, len(nodes)) if not attentions else ""
    large = _find_largest(blocks)
    if several:
        return several
    if large is not None and len(large.places) >= _MOST_OF_IT * len(nodes):
        return large.name if large.name != "Attention" else "Attention block"
    if attentions:
        return "Attention block"
    operations = Operations(nodes, context or find_graph_context(nodes[0].graph))
    if is_coupling(operations):
        return "Affine coupling"
    named = _name_convolutions(operations) or (_name_with_mlp(operations) if mlps else "")
    return named or _name_estimator(nodes)


def _name_with_mlp(operations: Operations) -> str:
    """Return what a block with an MLP is: by what attends beside it, where that is an idea.

    Where values are multiplied by one another it is more than an MLP.
    """
    blocks = find_blocks(operations)
    add_ideas(blocks)
    for entry in blocks.list_outermost():
        if isinstance(entry, FoundBlock) and entry.kind == "attention":
            return f"{entry.name} block"
    is_plain = all(
        len(operations.operands[number]) < _BOTH
        for number, node in enumerate(operations.nodes)
        if node.operator.has("multiplies")
    )
    return "MLP block" if is_plain else ""


def _mixes_beside(nodes: Sequence[Node]) -> bool:
    """Return whether a graph or a recurrence mixes what attention mixes, too.

    Then it is no block of a Transformer (L. Rampasek and others, Recipe for a General, Powerful,
    Scalable Graph Transformer, 2022, figure 1).
    """
    return any(
        node.operator.has("recurrent")
        or (node.operator.has("scatters") and read_str(node, "reduction") in REDUCTIONS)
        for node in nodes
    )


def _count_residuals(blocks: list[NestedBlock], size: int) -> str:
    """Return ``2 residual blocks`` where a block is so many, one behind the other; else ""."""
    outer = [
        one
        for place, one in enumerate(blocks)
        if not any(one.places < other.places for other in blocks[place + 1 :])
    ]
    alike = [one for one in outer if one.name in _RESIDUAL]
    held = sum(len(one.places) for one in alike)
    is_all = len(alike) > 1 and len({one.name for one in alike}) == 1 and held >= _MOST_OF_IT * size
    return f"{len(alike)} {write_inside(alike[0].name)}s" if is_all else ""


def _find_largest(blocks: list[NestedBlock]) -> NestedBlock | None:
    return max(blocks, key=lambda block: len(block.places), default=None)


def _name_estimator(nodes: Sequence[Node]) -> str:
    """Return what the one model of ``ai.onnx.ml`` is that a block asks, and combines with others.

    So ensembles ask their estimators (L. Breiman, Bagging Predictors, 1996).
    """
    models = [node for node in nodes if is_predictor(node)]
    details = read_estimator(models[0]) if len(models) == 1 else None
    return name_estimator(models[0], details) if details is not None else ""


def _name_convolutions(operations: Operations) -> str:
    convolutions = [n for n, node in enumerate(operations.nodes) if node.operator.has("convolves")]
    if not convolutions:
        return ""
    joins = [n for n, node in enumerate(operations.nodes) if node.operator.has("joins")]
    if any(joins_branches(operations, join, sum(n < join for n in convolutions)) for join in joins):
        return "Inception block"
    details = [read_convolution(operations, number) for number in convolutions]
    # what repeats may begin with any of its convolutions
    turned = [details[place:] + details[:place] for place in range(len(details))]
    shortcuts = _count_shortcuts(operations)
    if shortcuts:
        name = "Inverted residual" if any(map(is_inverted, turned)) else "Residual block"
        count = _count_alike(details, shortcuts)
        return name if count == 1 else f"{count} {write_inside(name)}s"
    if any(one.is_depthwise and two.is_pointwise for one, two in map(_list_ends, turned)):
        return "Separable convolution block"
    if any(_adds_to_before(operations, join) for join in joins):
        return "Dense layer"
    return "Convolution block"


def _list_ends(details: list[ConvolutionDetails]) -> tuple[ConvolutionDetails, ConvolutionDetails]:
    return details[-1], details[0]


def _joins_several(operations: Operations, join: int) -> bool:
    """Return whether a concatenation joins what comes of several values."""
    return len({*list_joined_starts(operations, join)}) > 1


def _adds_to_before(operations: Operations, join: int) -> bool:
    """Return whether a concatenation takes a value that convolutions make more features of.

    G. Huang and others, Densely Connected Convolutional Networks, 2017, figure 1. They take it as
    it is: what is added to a part of the channels first is no dense layer (S. Gao and others,
    Res2Net, 2019, equation 1).
    """
    values = operations.operands[join]
    if len(values) != _BOTH or read_int(operations.nodes[join], "axis") not in OF_CHANNELS:
        return False
    return any(
        _list_before(operations, value, _MOST_OF_LAYER).get(other, 0) > 0
        and not _adds_between(operations, value, other)
        for value in values
        for other in values
    )


def _adds_between(operations: Operations, value: Value, start: Value) -> bool:
    """Return whether something is added on the way from one value to another."""
    for _ in range(len(operations)):
        giver = operations.giver(value)
        if value is start or giver is None or not operations.operands[giver]:
            return False
        operands = operations.operands[giver]
        if operations.nodes[giver].operator.has("adds") and len(operands) == _BOTH:
            return True
        value = operands[0]
    return False


def _count_alike(details: list[ConvolutionDetails], most: int) -> int:
    """Return how many parts of convolutions of the same kinds, so many at most, are in a row."""
    told = [(max(one.kernel, default=0) > 1, one.is_depthwise) for one in details]
    for count in range(min(most, len(told)), 1, -1):
        length = len(told) // count
        # with one convolution each nothing tells where a part ends
        if len(told) % count == 0 and length > 1 and told[length:] == told[:-length]:
            return count
    return 1


def _count_shortcuts(operations: Operations) -> int:
    """Return how many sums add what a branch begins with, or a convolution of it, to the branch.

    What comes from elsewhere, such as the encoder of a decoder's block, is no shortcut.
    """
    return sum(
        node.operator.has("adds")
        and len(operands) == _BOTH
        and _adds_shortcut(operations, *operands)
        for node, operands in zip(operations.nodes, operations.operands, strict=True)
    )


def _adds_shortcut(operations: Operations, one: Value, other: Value) -> bool:
    """Return whether one of two values is what the other begins with, or a convolution of it."""
    # the convolution of a shortcut may stand before the block, that of a branch may not
    for shortcut, branch in ((one, other), (other, one)):
        if not _keeps_features(operations, branch):
            continue
        begins = _list_before(operations, branch, 0)
        ends = _list_before(operations, shortcut, 1)
        if any(value in begins and depth < begins[value] for value, depth in ends.items()):
            return True
    return False


def _keeps_features(operations: Operations, value: Value) -> bool:
    """Return whether what a branch gives are features, and it takes no single map.

    No more maps than a picture has correct that.
    """
    details: list[ConvolutionDetails] = []
    for _ in range(len(operations)):
        giver = operations.giver(value)
        if giver is None or not operations.operands[giver]:
            break
        if operations.nodes[giver].operator.has("convolves"):
            details.append(read_convolution(operations, giver))
        value = operations.operands[giver][0]
    if not details:
        return True
    given, taken = details[0].out_features, details[-1].in_features
    return (given is None or given > MOST_COLOURS) and (taken != 1 or details[-1].is_depthwise)


def _list_before(operations: Operations, value: Value, most: int) -> dict[Value, int]:
    """Return the values that a value comes from, each with how many convolutions are between.

    Of several operands the first is followed; before the nodes at hand beyond so many convolutions.
    """
    depths, depth, outside = {value: 0}, 0, 0
    for _ in range(len(operations) + _MOST_BEFORE):
        giver, node = operations.giver(value), value.producer
        is_convolution = node is not None and node.operator.has("convolves")
        outside += is_convolution and giver is None
        if node is None or outside > most or node.operator.has("pools", "resamples", "transposed"):
            break
        depth += is_convolution
        if giver is not None:
            operands = operations.operands[giver]
        else:
            operands = [v for v in node.inputs if v is not None and not operations.is_fixed(v)]
        if not operands or operands[0] in depths:
            break
        if node.operator.has("joins") and (giver is None or _joins_several(operations, giver)):
            break
        value = operands[0]
        depths[value] = depth
    return depths
