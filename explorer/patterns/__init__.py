"""Patterns: kinds of block that the field knows, recognised by how nodes are wired.

Nodes in a list go in, what is known among them comes out: which of them form a norm, an attention,
an MLP, and what all of them are together. Nothing here knows groups, names of scopes, or what is
shown.
"""

from .block_names import name_block
from .blocks import Motif, find_motifs
from .convolutions import read_convolution
from .found import Blocks, Found
from .knowledge import Knowledge, know
from .operations import KINDS, Operations
from .readings import read_numbers
from .recognise import (
    MOST_NODES,
    find_blocks,
    find_fusable,
    find_small_blocks,
    recognise,
    try_to_recognise,
)
from .recognition import Detail, Recognition
from .shape_values import describe_shape_value
from .shortcuts import has_projection
from .weights import read_dims
from .wires import SHAPE_READERS

__all__ = [
    "KINDS",
    "MOST_NODES",
    "SHAPE_READERS",
    "Blocks",
    "Detail",
    "Found",
    "Knowledge",
    "Motif",
    "Operations",
    "Recognition",
    "describe_shape_value",
    "find_blocks",
    "find_fusable",
    "find_motifs",
    "find_small_blocks",
    "has_projection",
    "know",
    "name_block",
    "read_convolution",
    "read_dims",
    "read_numbers",
    "recognise",
    "try_to_recognise",
]
