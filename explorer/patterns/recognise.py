"""What some nodes are altogether: a name and a few facts, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.model.constant import is_constant_node
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.progress import step
from netloupe.explorer.roles import find_weight

from .activations import spell_as_operator
from .adjacencies import find_learned_adjacencies
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .graph_context import GraphContext, find_graph_context
from .known_patterns import (
    ARITHMETIC,
    FUSABLE,
    IDEA_KINDS,
    IDEAS,
    LONG,
    PARTS,
    SMALL,
    WHOLES,
    WRITTEN_OUT,
)
from .linear import read_table, write_widths
from .operations import ARRANGING, OUTSIDE, Operations
from .pattern import Pattern
from .picked_tokens import read_picked_token
from .recognition import Recognition
from .registry import find_block_family, find_by, is_kind_of_ours, list_added
from .shuffles import list_shuffle_nodes
from .transformer_details import AttentionDetails
from .transformers import find_transformers
from .weight_sizes import read_dims, read_features

#: more nodes are not looked at: no block that the field has a name for is so large
MOST_NODES = 500
#: of so many groups of nodes it is kept what they are
_MOST_KNOWN = 512
_LEARNED = "Learned adjacency"
#: the axes of a layer's weight
_MATRIX = 2
#: ideas that are steps of others, and drawn as one box there, too
_STEPS = frozenset({"neighbours", "squash"})
_FUSED_KINDS = frozenset({"activation", "attention", "norm"})


def recognise(nodes: Sequence[Node], context: GraphContext | None = None) -> Recognition | None:
    """Return what some nodes are altogether; None where that is no block of a known kind.

    Parameters
    ----------
    nodes
        Nodes of one graph, producers first: those of a group, of a function's body, of a
        graph. More than `MOST_NODES` are none.
    context
        What is known of their graph, where several of its blocks are asked for.

    Notes
    -----
    What only arranges, and constants, belong to whatever they are among. Every other operation
    has to be a part of the block; so a group that holds more than an MLP is none.
    """
    if not 0 < len(nodes) <= MOST_NODES:
        return None
    step()
    operations = Operations(nodes, context or find_graph_context(nodes[0].graph))
    if not len(operations):
        kinds = (_recognise_table, _recognise_adjacency, _recognise_places, _recognise_stored)
        return next(filter(None, (recognise_as(nodes) for recognise_as in kinds)), None)
    blocks = find_blocks(operations)
    found = name_whole_group(blocks) or _name_idea(blocks)
    if found is None:
        return None
    found = spell_as_operator(operations, found)
    picked = _tell_picked(operations, found)
    return Recognition(
        found.name,
        find_block_family(found.kind),
        (*found.facts, *picked[:1]),
        found.details,
        tuple(nodes),
    )


def _tell_picked(operations: Operations, found: FoundBlock) -> list[str]:
    """Return which place of a sequence a block takes, or which a recurrent layer hands on."""
    told = [f"of the {word}" for word in operations.picked.values()]
    if found.kind != "formula":  # which tells it itself
        told += operations.scaled.values()
    if found.kind == "recurrent":
        for node, users in zip(operations.nodes, operations.users, strict=True):
            word = read_picked_token(node) if OUTSIDE in users else ""
            told += [f"{word} out"] if word else []
    return told


def _name_idea(blocks: FoundBlocks) -> FoundBlock | None:
    """Return the idea of a paper that all operations are together, or else their arithmetic."""
    add_ideas(blocks)
    outline = blocks.list_outermost()
    only = outline[0] if len(outline) == 1 else None
    if isinstance(only, FoundBlock):
        return only
    # with norms that are adaptive, which are ideas
    found = next(find_transformers(blocks), None)
    return found or next((one for each in ARITHMETIC for one in each.find(blocks)), None)


def add_ideas(blocks: FoundBlocks) -> None:
    """Add the ideas of papers that there are among operations besides the blocks found."""
    _look_for(blocks, IDEAS)


def _recognise_table(nodes: Sequence[Node]) -> Recognition | None:
    """Return an embedding of positions: its rows are picked by what shapes alone tell."""
    picking = [node for node in nodes if not node.operator.has(*ARRANGING)]
    if len(picking) != 1 or picking[0].op_type != "Gather":
        return None
    table = find_weight(picking[0])
    facts = read_table(picking[0]) if table is not None and table.kind == "embedding" else None
    if facts is None:
        return None
    return Recognition("Embedding", find_block_family("embedding"), *facts, nodes=tuple(nodes))


def _recognise_adjacency(nodes: Sequence[Node]) -> Recognition | None:
    """Return the graph that is made of stored vectors by all of some nodes."""
    for members in find_learned_adjacencies(nodes):
        if len(members) == len([node for node in nodes if not is_constant_node(node)]):
            family = find_block_family("graph convolution")
            return Recognition(_LEARNED, family, nodes=tuple(nodes))
    return None


def _recognise_places(nodes: Sequence[Node]) -> Recognition | None:
    """Return sines and cosines of places that follow from sizes alone, perhaps projected.

    A. El-Nouby and others, XCiT, 2021, section 3.3, after A. Vaswani and others, Attention Is All
    You Need, 2017, section 3.5.
    """
    waves: dict[str, int] = {}
    for node in nodes:
        if node.operator.has("takes_sine"):
            waves[node.operator.form] = waves.get(node.operator.form, 0) + 1
    if waves.keys() != {"Sin", "Cos"} or len({*waves.values()}) != 1:
        return None
    layers = [node for node in nodes if find_weight(node) is not None]
    last = max(node.index for node in nodes if node.operator.has("takes_sine"))
    if len(layers) > 1 or any(node.index < last for node in layers):
        return None
    widths = read_features(layers[0]) if layers else (0, 0)
    facts = (write_widths(*widths),) if all(widths) else ()
    family = find_block_family("positions")
    return Recognition("Sinusoidal positions", family, facts, nodes=tuple(nodes))


def _recognise_stored(nodes: Sequence[Node]) -> Recognition | None:
    """Return a linear layer of what is stored, as of learned queries: a product with a matrix."""
    computing = [node for node in nodes if not node.operator.has(*ARRANGING, "reads_shape")]
    products = [node for node in computing if node.operator.has("multiplies")]
    biases = [node for node in computing if node.operator.has("adds")]
    if len(products) != 1 or len(computing) != len(products) + len(biases) or len(biases) > 1:
        return None
    (product,) = products
    sources = [value and find_source(value, "copies") for value in product.inputs[:2]]
    data, matrix = [*sources, None, None][:2]
    if data is None or matrix is None or data.initializer is not None:
        return None
    dims = read_dims(matrix)
    is_layer = product.operator.form == "MatMul" and len(dims) == _MATRIX
    if matrix.initializer is None or not is_layer or data.producer in {*nodes}:
        return None
    details = FeatureDetails().with_features((dims[0], dims[-1]))
    facts = (write_widths(*dims),)
    return Recognition("Linear", find_block_family("linear"), facts, details, tuple(nodes))


def try_to_recognise(
    nodes: Sequence[Node], context: GraphContext | None = None
) -> Recognition | None:
    """Return what some nodes are as :func:`recognise` does; None where a rule fails on them.

    A mistake in a rule then costs a name, and not the picture of a model that is odd in a way that
    nobody has thought of. What was found is kept with the graph: groups are made, tried and made
    anew, of the same nodes.
    """
    if not 0 < len(nodes) <= MOST_NODES:
        return None
    known = find_kept(nodes[0].graph, _Recognised, _Recognised)
    key = tuple(nodes)
    if key not in known:
        if len(known) >= _MOST_KNOWN:
            known.pop(next(iter(known)), None)
        known[key] = _recognise_or_fail(nodes, context)
    return known[key]


class _Recognised(dict[tuple[Node, ...], Recognition | None]):
    """What the groups of nodes that were asked for last were recognised as."""


def _recognise_or_fail(nodes: Sequence[Node], context: GraphContext | None) -> Recognition | None:
    try:
        return recognise(nodes, context)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None


def find_blocks(operations: Operations) -> FoundBlocks:
    """Return the blocks of known kinds among some operations."""
    blocks = FoundBlocks(operations)
    _look_for(blocks, PARTS)
    for pattern in list_added("part"):
        for found in find_by(pattern, blocks):
            blocks.add(found)
    return blocks


def _look_for(blocks: FoundBlocks, patterns: Sequence[Pattern]) -> None:
    """Add the blocks that patterns find among operations, those of each pattern in turn."""
    for pattern in patterns:
        for found in pattern.find(blocks):
            step()
            blocks.add(found)


def find_fusable(operations: Operations) -> list[FoundBlock]:
    """Return the norms, activations and attentions among the operations of a whole graph."""
    blocks = FoundBlocks(operations)
    _look_for(blocks, FUSABLE)
    told = {id(found): found for found in blocks.owner if found is not None}
    return [found for found in told.values() if found.kind in _FUSED_KINDS]


def find_written_out(graph: Graph) -> Iterator[tuple[str, tuple[Node, ...]]]:
    """Yield the norms and activations that are written out in a graph.

    Yields
    ------
    tuple
        What one is called, and the nodes that it consists of; no two share one.
    """
    operations = Operations(graph.nodes, find_graph_context(graph))
    blocks = FoundBlocks(operations)
    _look_for(blocks, WRITTEN_OUT)
    for entry in blocks.list_outermost():
        if isinstance(entry, FoundBlock) and len(entry.numbers) > 1:
            nodes = [operations.nodes[number] for number in sorted(entry.numbers)]
            if entry.name == "GroupNorm":  # channels are put into groups before it, and back
                nodes = [*operations.list_nodes(entry.numbers)]
            yield entry.name, tuple(nodes)


def find_small_blocks(
    nodes: Sequence[Node], context: GraphContext
) -> Iterator[tuple[str, tuple[Node, ...]]]:
    """Yield what is written out, as a norm, and what follows a convolution, with it.

    Parameters
    ----------
    nodes
        At most `MOST_NODES` nodes of one graph, producers first.
    context
        What is known of their graph.

    Yields
    ------
    tuple
        What a block is called, and its nodes; no two share one.
    """
    operations = Operations(nodes, context)
    blocks = FoundBlocks(operations)
    _look_for(blocks, SMALL)
    for entry in blocks.list_outermost():
        if isinstance(entry, FoundBlock) and entry.kind == "pixel shuffle":
            (number,) = entry.numbers
            around = list_shuffle_nodes(operations.nodes[number])
            if len(around) > 1:
                yield entry.name, around
        elif isinstance(entry, FoundBlock) and len(entry.numbers) > 1:
            yield entry.name, operations.list_nodes(entry.numbers)


def find_ideas(
    nodes: Sequence[Node], context: GraphContext
) -> Iterator[tuple[str, tuple[Node, ...], tuple[Node, ...]]]:
    """Yield the ideas of papers among some nodes: what a figure draws as one box.

    Parameters
    ----------
    nodes
        At most `MOST_NODES` nodes of one graph, producers first.
    context
        What is known of their graph.

    Yields
    ------
    tuple
        What an idea is called, its nodes, several, and those of them that do not only arrange what
        it takes. No two ideas share one, but for an activation that is the last step of another,
        which comes before that.
    """
    operations = Operations(nodes, context)
    blocks = find_blocks(operations)
    add_ideas(blocks)
    for entry in _list_boxes(blocks):
        if _is_one_box(entry):
            steps = [part for part in entry.parts if part.kind in _STEPS]
            for one in (*steps, entry):
                inner = operations.list_nodes(one.numbers, are_leading_in=False, are_shared=True)
                yield one.name, operations.list_nodes(one.numbers, are_shared=True), inner
    for members in find_learned_adjacencies(nodes):
        if len(members) > 1:
            yield _LEARNED, members, members


def _list_boxes(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Yield the outermost blocks; of residual blocks the units in them, which tell them apart."""
    for entry in blocks.list_outermost():
        if isinstance(entry, FoundBlock):
            units = [part for part in entry.parts if part.kind == "unit"]
            yield from units if entry.kind == "residual" and units else [entry]


def find_long_ideas(
    nodes: Sequence[Node], context: GraphContext
) -> Iterator[tuple[str, tuple[str, ...], tuple[Node, ...]]]:
    """Yield the ideas among many nodes that are written out by their iterations.

    Parameters
    ----------
    nodes
        Nodes of one graph, however many, producers first.
    context
        What is known of their graph.

    Yields
    ------
    tuple
        What an idea is called, its facts and its nodes.
    """
    operations = Operations(nodes, context)
    blocks = FoundBlocks(operations)
    _look_for(blocks, LONG)
    for entry in blocks.list_outermost():
        if isinstance(entry, FoundBlock):
            yield entry.name, entry.facts, operations.list_nodes(entry.numbers, are_shared=True)


def find_windowed(
    nodes: Sequence[Node], context: GraphContext
) -> Iterator[tuple[str, tuple[Node, ...]]]:
    """Yield the attentions to windows of an image among some nodes, with what cuts these out.

    Parameters
    ----------
    nodes
        At most `MOST_NODES` nodes of one graph, producers first.
    context
        What is known of their graph.

    Yields
    ------
    tuple
        What one is called, and its nodes.
    """
    operations = Operations(nodes, context)
    blocks = FoundBlocks(operations)
    _look_for(blocks, FUSABLE)
    for entry in blocks.list_outermost():
        if isinstance(entry, FoundBlock) and entry.details.read_as(AttentionDetails).side:
            yield entry.name, operations.list_nodes(entry.numbers, are_shared=True)


def _is_one_box(found: FoundBlock) -> bool:
    """Return whether a figure draws an idea as one box: a gate's own layers are seen."""
    is_bare = found.kind != "gate" or all(part.kind == "activation" for part in found.parts)
    return found.kind in IDEA_KINDS and len(found.numbers) > 1 and is_bare


def name_whole_group(blocks: FoundBlocks) -> FoundBlock | None:
    """Return what all operations are together; None where that is nothing known.

    What an installed package says of them comes before what netloupe itself would.
    """
    for pattern in list_added("whole"):
        for found in find_by(pattern, blocks):
            return found
    outline = blocks.list_outermost()
    only = outline[0] if len(outline) == 1 else None
    if isinstance(only, FoundBlock) and not is_kind_of_ours(only.kind):
        return only
    for pattern in WHOLES:
        for found in pattern.find(blocks):
            return found
    return only if isinstance(only, FoundBlock) else None
