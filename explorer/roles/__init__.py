"""Roles: what the nodes of a graph are for, and which operands are their weights.

Nodes go in; out comes the weight of each, if it has one. Roles follow from the flow of data alone:
nothing here knows groups, names of scopes, or what is shown.
"""

from .fixed import is_input_independent
from .weights import Weight, find_weight

__all__ = ["Weight", "find_weight", "is_input_independent"]
