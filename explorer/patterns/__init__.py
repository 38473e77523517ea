"""Patterns: kinds of block that the field knows, recognised by how nodes are wired.

Nodes in a list go in, what is known among them comes out: which of them form a norm, an attention,
an MLP, and what all of them are together. Nothing here knows groups, names of scopes, or what is
shown.
"""

from .arithmetic import has_weights, is_mere_arithmetic, is_written_formula, takes_few_stored
from .attention_forms import count_queries
from .block_names import name_block
from .convolutions import read_convolution
from .details import BlockDetails, Detail, FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .graph_context import GraphContext, find_graph_context
from .image_windows import cuts_windows
from .ingredients import (
    IDEA,
    SIZE,
    TRIM,
    WORK,
    Ingredient,
    MetWeights,
    find_ingredients,
    is_chain,
    make_ingredient,
)
from .layout_facts import crops_one_value, describe_crop, describe_layout
from .nested_blocks import NestedBlock, find_nested_blocks
from .operations import Operations
from .passages import name_passage
from .pattern import Pattern
from .readings import read_numbers, read_scalar
from .recognise import (
    MOST_NODES,
    find_blocks,
    find_fusable,
    find_ideas,
    find_long_ideas,
    find_small_blocks,
    find_windowed,
    find_written_out,
    recognise,
    try_to_recognise,
)
from .recognition import Recognition
from .shape_values import describe_shape_value
from .shortcuts import has_projection
from .weight_sizes import read_dims

__all__ = [
    "IDEA",
    "MOST_NODES",
    "SIZE",
    "TRIM",
    "WORK",
    "BlockDetails",
    "Detail",
    "FeatureDetails",
    "FoundBlock",
    "FoundBlocks",
    "GraphContext",
    "Ingredient",
    "MetWeights",
    "NestedBlock",
    "Operations",
    "Pattern",
    "Recognition",
    "count_queries",
    "crops_one_value",
    "cuts_windows",
    "describe_crop",
    "describe_layout",
    "describe_shape_value",
    "find_blocks",
    "find_fusable",
    "find_graph_context",
    "find_ideas",
    "find_ingredients",
    "find_long_ideas",
    "find_nested_blocks",
    "find_small_blocks",
    "find_windowed",
    "find_written_out",
    "has_projection",
    "has_weights",
    "is_chain",
    "is_mere_arithmetic",
    "is_written_formula",
    "make_ingredient",
    "name_block",
    "name_passage",
    "read_convolution",
    "read_dims",
    "read_numbers",
    "read_scalar",
    "recognise",
    "takes_few_stored",
    "try_to_recognise",
]
