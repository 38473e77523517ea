"""Numbers and words laid over a picture: columns by path, their files, sums over groups, colours.

A :class:`Column` says what somebody has measured, under whatever names; an :class:`Overlay` puts it
on the nodes of a model, says what could not be put anywhere, adds up for groups, and colours boxes.
Files of others (profiles, node data, tables) become columns in :mod:`.formats`. Nothing here draws.
"""

from .amounts import Measured
from .built_in import BUILT_IN, make_built_in
from .column import ColourStop, Column, NodeSet
from .comparing import compare_columns
from .formats.node_data import write_node_data
from .formats.reading import read_column_file
from .on_model import Overlay
from .python_columns import make_columns
from .ranking import RankedNode
from .requested_overlays import make_overlays, overlay

__all__ = [
    "BUILT_IN",
    "ColourStop",
    "Column",
    "Measured",
    "NodeSet",
    "Overlay",
    "RankedNode",
    "compare_columns",
    "make_built_in",
    "make_columns",
    "make_overlays",
    "overlay",
    "read_column_file",
    "write_node_data",
]
