"""Dataflow: what values come from, through what, and which of them are the same in every run.

Questions on sources name the traits of operators that are looked through, in the words of the
catalogue. A value is the same in every run in three grades, each in the one before: it follows
from constants and shapes alone (`find_unchanging_nodes`), it depends on nothing that the model is
given (`is_input_independent`), the file holds it (`is_constant` of the model). What is asked of a
whole graph is found once, over arrays of its edges.
"""

from .determined_nodes import Booleans, Integers, find_determined_nodes, list_edges
from .input_independence import (
    InputIndependence,
    find_input_independence,
    find_input_independence_given,
    is_input_independent,
)
from .sources import find_computing_node, find_source, is_counted, walk_back
from .unchanging_nodes import find_unchanging_nodes

__all__ = [
    "Booleans",
    "InputIndependence",
    "Integers",
    "find_computing_node",
    "find_determined_nodes",
    "find_input_independence",
    "find_input_independence_given",
    "find_source",
    "find_unchanging_nodes",
    "is_counted",
    "is_input_independent",
    "list_edges",
    "walk_back",
]
