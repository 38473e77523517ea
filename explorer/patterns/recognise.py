"""What some nodes are altogether: a name and a few facts, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.model import Graph, Node
from netloupe.explorer.progress import step
from netloupe.explorer.roles import find_weight

from .activations import find_activations, spell_as_operator
from .attention import find_attentions
from .conformers import find_conformers, find_convolution_modules, find_rotated_attentions
from .convolutions import find_convolutions, find_residuals
from .dense import find_dense, find_transitions
from .estimators import find_estimators
from .experts import find_experts
from .found_blocks import BlockFinder, FoundBlock, FoundBlocks
from .graph_context import GraphContext, find_graph_context
from .linear import find_embeddings, find_linears, find_mlps, read_table
from .norms import find_norms
from .operations import ARRANGING, Operations
from .positions import find_merging, find_waves
from .pyramids import find_pyramid_steps
from .recognition import Recognition
from .recurrent import find_cells, find_recurrent, find_state_spaces
from .resampling import find_joined, find_pixel_shuffles, find_resampled
from .separable import find_excitations, find_separable
from .shuffles import list_shuffle_nodes
from .similarity import find_similarities, find_similarity
from .state_spaces import find_mixers
from .transformers import find_reduced_attentions, find_sublayers, find_transformers
from .whole_groups import (
    find_branches,
    find_partial_stages,
    find_patches,
    find_row,
    find_same,
    find_shuffles,
    find_token_embeddings,
)

#: more nodes are not looked at: no block that the field has a name for is so large
MOST_NODES = 500

#: the families, those first that others are put together from
FINDERS: tuple[BlockFinder, ...] = (
    find_norms,
    find_linears,
    find_activations,
    find_pixel_shuffles,
    find_embeddings,
    find_attentions,
    find_mlps,
    find_experts,
    find_convolutions,
    find_excitations,
    find_separable,
    find_residuals,
    find_mixers,
)
#: what is told of all operations together, the most telling first
WHOLE_GROUP_FINDERS: tuple[BlockFinder, ...] = (
    find_estimators,
    find_patches,
    find_transformers,
    find_conformers,
    find_convolution_modules,
    find_rotated_attentions,
    find_reduced_attentions,
    find_sublayers,
    find_token_embeddings,
    find_recurrent,
    find_cells,
    find_state_spaces,
    find_waves,
    find_similarity,
    find_merging,
    find_partial_stages,
    find_dense,
    find_shuffles,
    find_branches,
    find_same,
    find_pyramid_steps,
    find_resampled,
    find_joined,
    find_row,
)
#: what few nodes are
_SMALL: tuple[BlockFinder, ...] = (
    find_norms,
    find_activations,
    find_convolutions,
    find_pixel_shuffles,
    find_transitions,
    find_similarities,
)
#: what a single operator may stand for; linear layers are parts of attentions
_FUSABLE: tuple[BlockFinder, ...] = (find_norms, find_linears, find_activations, find_attentions)
_FUSED_KINDS = frozenset({"activation", "attention", "norm"})
#: families of operators, by kind of block
_FAMILIES = {
    "activation": "activation",
    "attention": "attention",
    "conv": "linear",
    "embedding": "shape",
    "estimator": "classical",
    "linear": "linear",
    "mlp": "linear",
    "norm": "normalization",
    "positions": "generator",
    "recurrent": "recurrent",
    "pixel shuffle": "shape",
    "resampled": "linear",
    "similarity": "linear",
}


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
        return _recognise_table(nodes)
    blocks = find_blocks(operations)
    found = name_whole_group(blocks)
    if found is None:
        return None
    found = spell_as_operator(operations, found)
    return Recognition(
        found.name,
        _FAMILIES.get(found.kind, "group"),
        found.facts,
        found.details,
        tuple(nodes),
    )


def _recognise_table(nodes: Sequence[Node]) -> Recognition | None:
    """Return an embedding of positions: its rows are picked by what shapes alone tell."""
    picking = [node for node in nodes if not node.operator.has(*ARRANGING)]
    if len(picking) != 1 or picking[0].op_type != "Gather":
        return None
    table = find_weight(picking[0])
    facts = read_table(picking[0]) if table is not None and table.kind == "embedding" else None
    if facts is None:
        return None
    return Recognition("Embedding", _FAMILIES["embedding"], *facts, nodes=tuple(nodes))


def try_to_recognise(
    nodes: Sequence[Node], context: GraphContext | None = None
) -> Recognition | None:
    """Return what some nodes are as :func:`recognise` does; None where a rule fails on them.

    A mistake in a rule then costs a name, and not the picture of a model that is odd in a way that
    nobody has thought of.
    """
    try:
        return recognise(nodes, context)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None


def find_blocks(operations: Operations) -> FoundBlocks:
    """Return the blocks of known kinds among some operations."""
    blocks = FoundBlocks(operations)
    for finder in FINDERS:
        for found in finder(blocks):
            blocks.add(found)
    return blocks


def find_fusable(operations: Operations) -> list[FoundBlock]:
    """Return the norms, activations and attentions among the operations of a whole graph."""
    blocks = FoundBlocks(operations)
    for finder in _FUSABLE:
        for found in finder(blocks):
            step()
            blocks.add(found)
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
    for finder in (find_norms, find_activations):
        for found in finder(blocks):
            blocks.add(found)
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
    for finder in _SMALL:
        for found in finder(blocks):
            blocks.add(found)
    for entry in blocks.list_outermost():
        if isinstance(entry, FoundBlock) and entry.kind == "pixel shuffle":
            (number,) = entry.numbers
            around = list_shuffle_nodes(operations.nodes[number])
            if len(around) > 1:
                yield entry.name, around
        elif isinstance(entry, FoundBlock) and len(entry.numbers) > 1:
            yield entry.name, operations.list_nodes(entry.numbers)


def name_whole_group(blocks: FoundBlocks) -> FoundBlock | None:
    """Return what all operations are together; None where that is nothing known."""
    for finder in WHOLE_GROUP_FINDERS:
        for found in finder(blocks):
            return found
    outline = blocks.list_outermost()
    only = outline[0] if len(outline) == 1 else None
    return only if isinstance(only, FoundBlock) else None
