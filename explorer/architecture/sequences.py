"""Networks that go along a sequence step by step: recurrent ones and state-space models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, groupby
from typing import NamedTuple

from netloupe.explorer.model import Node
from netloupe.explorer.operators import ARRANGING_TRAITS
from netloupe.explorer.patterns import Detail

from .cells import UnrolledDetails
from .layer_words import write_given
from .layers import find_sum
from .outline import Outline, OutlinePart
from .reach import Reach
from .sizes import find_head, find_token_tables, list_matrices
from .sketch import BlockSketch, Sketch

#: what a recurrent network has besides its layers: embeddings, linear layers,
_AROUND_LAYERS = frozenset({"activation", "embedding", "linear", "mlp", "norm", "unrolled"})
#: of these each is a step of a chain
_LAYERS = frozenset({"linear", "mlp", "unrolled"})
#: and what picks and joins steps and directions
_JOINING = (*ARRANGING_TRAITS, "adds", "looks_up", "distributes", "reduces", "reverses")


def find_sequence_network(outline: Outline) -> Sketch | None:
    """Tell whether a graph is a recurrent network or a state-space model; None for neither."""
    return _tell_recurrent(outline) or _tell_state_space(outline)


def _tell_recurrent(outline: Outline) -> Sketch | None:
    """Tell recurrent layers with an embedding before and linear layers behind, and no more.

    Steps of a layer may be written out. S. Hochreiter and J. Schmidhuber, Long Short-Term Memory,
    1997; K. Cho and others, 2014 (GRU);
    both directions: M. Schuster and K. Paliwal, Bidirectional Recurrent Neural Networks, 1997.
    """
    layers = [part for part in outline.parts if part.kind == "unrolled" or part.has("recurrent")]
    if not layers or not all(
        part.kind in _AROUND_LAYERS or part.has("recurrent", *_JOINING) for part in outline.parts
    ):
        return None
    weights = [list_matrices(outline, [part]) for part in layers]
    calls = Counter(weights)
    if max(calls.values()) > 1 and frozenset() not in calls:
        return None  # of layers that are called several times modules tell more
    if _are_of_streams(outline, layers) or not _is_chain(outline):
        return None
    read = [_read_part(outline, part) for part in layers]
    if not all(layer.hidden for layer in read):
        return None
    facts: dict[str, Detail] = {"layers": len(layers)}
    said, blocks = write_recurrent(read)
    tokens = find_token_tables(outline)
    if tokens:
        facts["vocabulary"] = tokens[0].rows
        said.append(f"vocabulary {tokens[0].rows:,}")
    head = find_head(outline, outline.parts[layers[-1].place + 1 :])
    if head is not None:
        count, is_one, classifies = head
        key = "classes" if is_one and classifies else "outputs"
        facts[key] = count
        said.append(write_given(count, key))
    return Sketch("recurrent network", "Recurrent network", tuple(said), tuple(blocks), facts)


def _are_of_streams(outline: Outline, layers: Sequence[OutlinePart]) -> bool:
    """Return whether two layers follow from different inputs alone, as those of a transducer.

    A. Graves, Sequence Transduction with Recurrent Neural Networks, 2012, section 2.
    """
    reach = Reach(outline)
    taken = {reach.taken[part.end] for part in layers}
    return any(one & other == 0 < one for one, other in combinations(taken, 2) if other)


def _is_chain(outline: Outline) -> bool:
    """Return whether each layer takes what the one before it gives, and nothing else of layers.

    Of others it is told how they join. What is looked up begins anywhere.
    """
    before: dict[int, frozenset[OutlinePart]] = {}
    last: frozenset[OutlinePart] = frozenset()
    for part in outline.parts:
        givers = outline.givers(part)
        if any(id(giver) not in before for giver in givers):
            return False  # it is between the steps of a layer that are written out
        taken = frozenset[OutlinePart]().union(*(before[id(giver)] for giver in givers))
        if part.has("adds"):  # what a layer is added to went into it
            taken = frozenset(one for one in taken if not any(two.follows(one) for two in taken))
        is_layer = part.kind in _LAYERS or part.has("recurrent")
        if is_layer and taken != last:
            return False
        if is_layer:
            last = taken = frozenset({part})
        before[id(part)] = taken
    return True


class RecurrentLayer(NamedTuple):
    """A recurrent layer.

    Parameters
    ----------
    kind
        ``GRU``, ``LSTM`` or ``RNN``.
    direction
        As ONNX calls it.
    hidden
        Its width; 0 where it is not stated.
    steps
        How many there are where they are written out, else 0.
    nodes
        Those of its operators.
    """

    kind: str
    direction: str
    hidden: int
    steps: int
    nodes: tuple[Node, ...]


def read_layer(node: Node) -> RecurrentLayer:
    """Return what an operator says of the layer that it is."""
    return RecurrentLayer(node.operator.form, _direction(node), _hidden(node), 0, (node,))


def write_recurrent(layers: Sequence[RecurrentLayer]) -> tuple[list[str], list[BlockSketch]]:
    """Return what is said of layers, alike ones in a row together, and the blocks that they are."""
    said: list[str] = []
    blocks: list[BlockSketch] = []
    for (kind, direction, hidden, steps), run in groupby(layers, key=lambda layer: layer[:4]):
        alike = list(run)
        both = "bidirectional " if direction == "bidirectional" else ""
        plural = "s" if len(alike) > 1 else ""
        text = f"{len(alike)} {both}{kind} layer{plural} of width {hidden:,}"
        facts: dict[str, Detail] = {"hidden": hidden}
        if steps:
            text += f" written out in {steps:,} steps"
            facts["steps"] = steps
            blocks += [BlockSketch(f"{kind} step", steps, one.nodes, facts) for one in alike]
        else:
            nodes = tuple(node for one in alike for node in one.nodes)
            blocks.append(BlockSketch(f"{both}{kind}", len(alike), nodes, facts))
        said.append(text)
    return said, blocks


def _read_part(outline: Outline, part: OutlinePart) -> RecurrentLayer:
    if part.kind == "unrolled":
        details = part.details.read_as(UnrolledDetails)
        sizes = details.hidden or 0, details.steps or 0
        direction = "bidirectional" if details.bidirectional else "forward"
        return RecurrentLayer(part.name, direction, *sizes, outline.nodes([part]))
    return read_layer(outline.operations.nodes[part.end])


def _direction(node: Node) -> str:
    attribute = node.attributes.get("direction")
    value = attribute.value if attribute is not None else "forward"
    return str(value)


def _hidden(node: Node) -> int:
    attribute = node.attributes.get("hidden_size")
    value = attribute.value if attribute is not None else 0
    return value if isinstance(value, int) else 0


def _tell_state_space(outline: Outline) -> Sketch | None:
    """Tell blocks of a selective state-space model, one behind another.

    In each a linear layer widens the features; a depthwise convolution goes along the sequence;
    a softplus makes step sizes, of which exponentials are taken; a gate and a linear layer give
    the result, which is added to the stream (A. Gu and T. Dao, Mamba, 2023, figure 3 and
    algorithm 2).
    """
    deep = [
        part
        for part in outline.of_kind("conv")
        if part.is_depthwise and (len(part.kernel) == 1 or min(part.kernel) == 1)
    ]
    if len(deep) < 2 or outline.of_kind("attention", "mlp", "Softmax"):
        return None
    bounds = [*(part.place for part in deep), len(outline.parts)]
    blocks: list[list[OutlinePart]] = []
    shapes = set()
    for index, part in enumerate(deep):
        before = [giver for giver in _walk(outline, part) if giver.kind == "linear"]
        inside = outline.parts[bounds[index] : bounds[index + 1]]
        softplus = [one for one in inside if one.name == "Softplus" or one.kind == "Softplus"]
        exponentials = [one for one in inside if one.kind == "Exp"]
        linears = [one for one in inside if one.kind == "linear" and one.follows(part)]
        last = [
            one
            for one in linears
            if one.in_features == part.out_features and find_sum(outline, one)
        ]
        if len(before) != 1 or len(softplus) != 1 or not exponentials or len(last) != 1:
            return None
        if last[0].out_features != before[0].in_features:
            return None
        shapes.add((before[0].in_features, part.out_features, part.kernel, before[0].out_features))
        blocks.append([before[0], part, *[p for p in inside if p.place <= last[0].place]])
    if len(shapes) != 1:
        return None
    width, inner, kernel, widened = shapes.pop()
    if widened != 2 * inner:
        return None
    norms = {part.name for part in outline.of_kind("norm")}
    facts: dict[str, Detail] = {"width": width, "inner_width": inner}
    norm = f"{next(iter(norms))}; " if len(norms) == 1 else ""
    clauses = [f"{len(deep)} Mamba blocks ({norm}{width} → {inner}, convolution of {max(kernel)})"]
    tokens = find_token_tables(outline)
    if tokens:
        facts["vocabulary"] = tokens[0].rows
        clauses.append(f"vocabulary {tokens[0].rows:,}")
    members = outline.nodes(part for block in blocks for part in block)
    block = BlockSketch("Mamba block", len(deep), members, {"width": width, "inner": inner})
    return Sketch("state-space model", "State-space model", tuple(clauses), (block,), facts)


def _walk(outline: Outline, part: OutlinePart) -> list[OutlinePart]:
    """Return what gives a part's operand, back through what only cuts it."""
    found = outline.givers(part)
    for _ in range(4):
        if len(found) != 1 or not found[0].has("looks_up", *ARRANGING_TRAITS):
            break
        found = outline.givers(found[0])
    return found
