"""Roles: what the nodes of a graph are for, and which operands are their weights.

A graph goes in; out comes what each node is for: body, preparation, postprocessing, arrangement.
A node goes in; out comes its weight, if it has one. All of it follows from the flow of data alone:
nothing here knows groups, names of scopes, or what is shown.
"""

from .computed_features import FEATURES
from .position_indices import comes_from_range_or_cumsum
from .preparation_pieces import EDGE_ENDS, MASK, PreparationPiece, Purpose
from .purposes import find_purpose
from .roles import Role, Roles, find_roles
from .weights import Weight, find_weight

__all__ = [
    "EDGE_ENDS",
    "FEATURES",
    "MASK",
    "PreparationPiece",
    "Purpose",
    "Role",
    "Roles",
    "Weight",
    "comes_from_range_or_cumsum",
    "find_purpose",
    "find_roles",
    "find_weight",
]
