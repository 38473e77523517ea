"""The rules for families, asked one after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.progress import step
from netloupe.explorer.roles import find_weight

from .arithmetic import tell_operators
from .called_layers import bind_inputs, find_called_layers
from .cells import find_unrolled
from .classical import find_classical, find_multilayer_perceptron
from .composed import compose, count_blocks
from .composites import add_composites
from .convolutional import find_convolutional
from .denoisers import write_denoising
from .folded import FoldedGraph, fold_graph
from .given_names import add_names, list_given_names
from .given_places import place_outputs
from .given_sizes import correct_given
from .images import find_image_network
from .layer_words import write_lower
from .left_out import add_left_out
from .outline import Outline
from .projections import (
    find_convolved,
    find_projected,
    find_relative_values,
)
from .sequences import find_sequence_network
from .sketch import Sketch
from .transformers import find_transformer

#: of a graph of more nodes, or wires or values between them, only what is not repeated is told
MOST_NODES = 12_000
_MOST_WIRES = 50_000
_MOST_LEVELS = 8
#: so many graphs inside of nodes are looked at, and so many that differ are told
_MOST_INNER = 12
_MOST_TOLD = 2
_LEAST_CLAUSES = 3
_EACH = "in each of several inner graphs"
#: what is put together before any rule is asked
_MERGED = (
    find_projected,
    find_convolved,
    find_relative_values,
    find_unrolled,
)
#: so many constants may stand beside a call
_MOST_BESIDE = 32
_RULES = (
    find_image_network,
    find_transformer,
    find_convolutional,
    find_sequence_network,
    find_multilayer_perceptron,
)


def tell_family(model: Model) -> Sketch | None:
    """Return what a model is; None where its structure does not tell.

    A graph that is one call of a function is what the function is. One that is one If is what both
    of its branches are, where these differ in nothing but a past.
    """
    graph: Graph = model.graph
    given: dict[Value, Value] = {}
    for _ in range(_MOST_LEVELS):
        only = _find_only(graph)
        if only is None:
            break
        if only.function is not None:
            given = bind_inputs(only, given)
            graph = only.function
            continue
        if only.operator.has("branches") and len(only.subgraphs) == 2:
            return _tell_branches([tell_graph(branch) for branch in only.subgraphs])
        break
    found = tell_graph(graph) or find_called_layers(graph, given)
    if found is None or not found.family:
        found = _complete(model, graph, found)
        return found and replace(found, title=write_denoising(graph, found.title))
    if found.is_open:
        found = _open(model, graph, found)
    names = list_given_names(graph) if found.is_network else []
    title = write_denoising(graph, found.title)
    clauses = place_outputs(model.graph, found.clauses)
    corrected = correct_given(model.graph, clauses)
    names = names if corrected == clauses else []  # they are said with the sizes
    return replace(found, title=title, clauses=add_names(names, corrected))


def tell_blocks_alone(model: Model) -> Sketch | None:
    """Return how many blocks of each kind a graph has; None where it has none."""
    return count_blocks(_outline(model.graph, model.graph.nodes))


def tell_operators_alone(model: Model) -> Sketch | None:
    """Return how many operators a graph has; None for few."""
    found = tell_operators(model.graph)
    return found and replace(found, is_network=any(map(find_weight, model.graph.nodes)))


def _complete(model: Model, graph: Graph, found: Sketch | None, level: int = 0) -> Sketch | None:
    """Return what a graph is composed of, with what is known of its blocks besides."""
    composed = _compose_graph(model, graph) or _tell_inner(model, graph, level)
    if composed is None and found is None and not level:
        return tell_operators(graph)
    if found is None or composed is None:
        return composed or found
    return replace(
        composed, blocks=found.blocks or composed.blocks, facts={**composed.facts, **found.facts}
    )


def _open(model: Model, graph: Graph, found: Sketch) -> Sketch:
    """Return a family with what its blocks are before its own clauses."""
    composed = _compose_graph(model, graph)
    if composed is None:
        return found
    clauses = (*composed.clauses, *found.clauses)
    facts = {**composed.facts, **found.facts}
    return replace(found, clauses=clauses, blocks=composed.blocks, facts=facts)


def _tell_inner(model: Model, graph: Graph, level: int) -> Sketch | None:
    """Return what the graphs inside of the nodes of a graph are, where it has no block itself."""
    if level == _MOST_LEVELS or len(graph.nodes) > MOST_NODES:
        return None
    counts: dict[Graph, int] = {}
    for node in graph.nodes:
        inner = [*node.subgraphs] if node.function is None else [node.function]
        for one in inner if len(counts) < _MOST_INNER else ():
            counts[one] = counts.get(one, 0) + 1
    told = {one: _complete(model, one, tell_graph(one), level + 1) for one in counts}
    kept = {one: sketch for one, sketch in told.items() if sketch and _says_enough(sketch)}
    sketches = [*kept.values()]
    if not sketches:
        return None
    texts = Counter({sketch.text.rstrip("."): counts[one] for one, sketch in kept.items()})
    first = sketches[0]
    if len(texts) == 1 and sum(counts.values()) == 1:
        return first
    if len(texts) == 1:
        if _EACH in first.clauses:
            return first
        return replace(first, family="", clauses=(*first.clauses, _EACH))
    clauses = tuple(
        f"{write_lower(text)}{f' ×{count:,}' if count > 1 else ''}"
        for text, count in texts.most_common(_MOST_TOLD)
    )
    blocks = tuple(block for sketch in sketches for block in sketch.blocks)
    return Sketch("", "Several inner graphs", ("; ".join(clauses),), blocks)


def _says_enough(sketch: Sketch) -> bool:
    """Return whether more is told of an inner graph than one layer."""
    clauses = [clause for clause in sketch.clauses if clause and clause != _EACH]
    return bool(sketch.family or sketch.blocks) or len(clauses) >= _LEAST_CLAUSES


def _find_only(graph: Graph) -> Node | None:
    """Return the one node of a graph besides constants; None where there are more."""
    if len(graph.nodes) > _MOST_BESIDE:
        return None
    nodes = [node for node in graph.nodes if not node.operator.has("stores_constant")]
    return nodes[0] if len(nodes) == 1 else None


def _tell_branches(sketches: list[Sketch | None]) -> Sketch | None:
    one, two = sketches
    if one is None or two is None or one.family != two.family or one.facts != two.facts:
        return None
    first, second = sorted((one, two), key=lambda sketch: len(sketch.text))
    clauses = (*first.clauses, "one branch with past, one without")
    if second.text.replace(", with past", "") != first.text:
        clauses = (*first.clauses, "in two branches")
    return Sketch(first.family, first.title, clauses, (*one.blocks, *two.blocks), first.facts)


def _compose_graph(model: Model, graph: Graph) -> Sketch | None:
    """Return what a graph is by its blocks alone, where no family is sure.

    Of a large one what its picture shows is looked at: one of each run of alike groups.
    """
    folded = FoldedGraph([*graph.nodes])
    if _is_large(graph):
        folded = fold_graph(model, graph, MOST_NODES)
    if not folded.nodes:
        return None
    outline = _outline(graph, folded.nodes)
    composed = compose(model, outline, folded.nodes, folded.times, folded.calls)
    if composed is None or folded.times or folded.calls:
        return composed
    return add_left_out(outline, composed)


def _outline(graph: Graph, nodes: Sequence[Node]) -> Outline:
    outline = Outline(graph, nodes)
    add_composites(outline)
    for find in _MERGED:
        outline.merge(find(outline))
    return outline


def _is_large(graph: Graph) -> bool:
    """Return whether so much is in a graph that all of it would take long."""
    wiring = graph.wiring if len(graph.nodes) <= MOST_NODES else None
    return wiring is None or max(len(wiring.used), len(wiring.values)) > _MOST_WIRES


def tell_graph(graph: Graph) -> Sketch | None:
    """Return what a graph is by its own nodes; None where they do not tell."""
    nodes = graph.nodes
    if not nodes or _is_large(graph):
        return None
    found = find_classical(nodes)
    if found is not None:
        return found
    outline = _outline(graph, nodes)
    for rule in _RULES:
        step()
        found = rule(outline)
        if found is not None:
            return add_left_out(outline, found)
    return None
