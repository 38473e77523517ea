"""What a repeated block is, told from its structure."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node, Value

from .blocks import Motif, find_motifs
from .estimators import is_predictor, name_estimator, read_estimator
from .graph_context import GraphContext
from .recognise import try_to_recognise
from .residuals import is_depthwise
from .wires import Wires, is_fixed

#: a block is named after one thing in it that makes up so much of it
_MOST_OF_IT = 0.6
#: so many steps are followed before a block, to what its norm or activation takes
_MOST_BEFORE = 6


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
    motifs = find_motifs(nodes)
    attentions = sum(motif.name == "Attention" for motif in motifs)
    mlps = sum(motif.name.endswith("MLP") for motif in motifs)
    if attentions and mlps > 1:
        return f"{mlps} Transformer blocks"
    if attentions and mlps:
        return "Transformer block"
    large = _find_largest(motifs)
    if large is not None and len(large.places) >= _MOST_OF_IT * len(nodes):
        return large.name if large.name != "Attention" else "Attention block"
    if attentions:
        return "Attention block"
    return _name_convolutions(nodes) or ("MLP block" if mlps else "") or _name_estimator(nodes)


def _find_largest(motifs: list[Motif]) -> Motif | None:
    return max(motifs, key=lambda motif: len(motif.places), default=None)


def _name_estimator(nodes: Sequence[Node]) -> str:
    """Return what the one model of ``ai.onnx.ml`` is that a block asks, and combines with others.

    So ensembles ask their estimators (L. Breiman, Bagging Predictors, 1996).
    """
    models = [node for node in nodes if is_predictor(node)]
    details = read_estimator(models[0]) if len(models) == 1 else None
    return name_estimator(models[0], details) if details is not None else ""


def _name_convolutions(nodes: Sequence[Node]) -> str:
    convolutions = [node for node in nodes if node.operator.has("convolves")]
    if not convolutions:
        return ""
    joins = [node for node in nodes if node.operator.has("joins")]
    if joins and len(convolutions) > 3 and max(len(node.inputs) for node in joins) > 2:
        return "Inception block"
    is_residual = _has_shortcut(nodes)
    if any(is_depthwise(node) for node in convolutions) and len(convolutions) > 1:
        return "Inverted residual" if is_residual else "Separable convolution block"
    if is_residual:
        return "Residual block"
    wires = Wires(nodes)
    if any(_takes_from_before(wires, node) for node in joins):
        return "Dense layer"
    return (
        "Fire module" if any(_joins_twins(wires, node) for node in joins) else "Convolution block"
    )


def _takes_from_before(wires: Wires, join: Node) -> bool:
    """Return whether a concatenation takes what the block begins with."""
    return any(value is not None and wires.producer(value) is None for value in join.inputs)


def _joins_twins(wires: Wires, join: Node) -> bool:
    """Return whether a concatenation joins two convolutions of one value.

    So a fire module ends (F. Iandola and others, SqueezeNet, 2016, figure 1).
    """
    starts = []
    for value in wires.computed(wires.place(join)):
        producer = wires.producer(value)
        while producer is not None and not wires.has(producer, "convolves"):
            operands = wires.computed(producer)
            producer = wires.producer(operands[0]) if len(operands) == 1 else None
        if producer is None:
            return False
        starts += wires.computed(producer)[:1]
    return len(starts) == 2 and starts[0] is starts[1]


def _has_shortcut(nodes: Sequence[Node]) -> bool:
    """Return whether a sum adds what a branch begins with, or a convolution of it, to the branch.

    What comes from elsewhere, such as the encoder of a decoder's block, is no shortcut.
    """
    wires = Wires(nodes)
    for place, node in enumerate(nodes):
        operands = wires.computed(place)
        if not node.operator.has("adds") or len(operands) != 2:
            continue
        one, other = operands
        # the convolution of a shortcut may stand before the block, that of a branch may not
        for shortcut, branch in ((one, other), (other, one)):
            begins = _list_before(wires, branch, 0)
            ends = _list_before(wires, shortcut, 1)
            if any(value in begins and depth < begins[value] for value, depth in ends.items()):
                return True
    return False


def _list_before(wires: Wires, value: Value, most: int) -> dict[Value, int]:
    """Return the values that a value comes from, each with how many convolutions are between.

    Of several operands the first is followed; before the nodes at hand beyond so many convolutions.
    """
    depths, depth, outside = {value: 0}, 0, 0
    for _ in range(len(wires.nodes) + _MOST_BEFORE):
        place = wires.producer(value)
        node = value.producer if place is None else wires.nodes[place]
        is_convolution = node is not None and node.operator.has("convolves")
        outside += is_convolution and place is None
        if node is None or outside > most:
            break
        depth += is_convolution
        operands = [one for one in node.inputs if one is not None and not is_fixed(one)]
        if not operands or operands[0] in depths:
            break
        value = operands[0]
        depths[value] = depth
    return depths
