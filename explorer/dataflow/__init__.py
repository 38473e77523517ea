"""How data flow through a graph: what gives what, through what hands it on, and what is constant.

A graph comes in; answers for all of its nodes at once come out as arrays, and answers on one value
as what it was before. Nothing here knows what operators are for: traits and roles of the catalogue
say what is asked.
"""

from .constancy import (
    InputIndependence,
    find_input_independence,
    find_input_independence_given,
    find_of_constants,
    find_of_shapes,
    is_input_independent,
    is_of_shapes,
)
from .determined_nodes import (
    Booleans,
    Integers,
    find_determined_nodes,
    find_leading_nodes,
    find_taking,
    list_edges,
)
from .passing import (
    MOST_PASSED,
    copies_stored,
    find_giver,
    find_operand,
    find_source,
    list_users,
    takes_computed,
    trace_back,
    trace_back_where,
    trace_on,
)

__all__ = [
    "MOST_PASSED",
    "Booleans",
    "InputIndependence",
    "Integers",
    "copies_stored",
    "find_determined_nodes",
    "find_giver",
    "find_input_independence",
    "find_input_independence_given",
    "find_leading_nodes",
    "find_of_constants",
    "find_of_shapes",
    "find_operand",
    "find_source",
    "find_taking",
    "is_input_independent",
    "is_of_shapes",
    "list_edges",
    "list_users",
    "takes_computed",
    "trace_back",
    "trace_back_where",
    "trace_on",
]
