"""What is shown of a model: which groups are open, and the items and links in them.

A model and its groups go in; a tree of items with the links between siblings comes out. It
knows nothing of sizes, positions or colours.
"""

from .bodies import resolve_operand
from .expand import count_held_nodes, count_least, expand_view, is_recursive
from .focus import find_neighbourhood
from .group_borders import body_graphs, nodes_inside
from .item import BORDER, ConstantRow, Instance, Item, Link
from .links import NO_OPERAND_KINDS, OperandKinds
from .open_state import sibling_key, strip_numbers
from .showing import list_showing
from .view import View
from .view_options import ViewKeywords, ViewOptions

__all__ = [
    "BORDER",
    "NO_OPERAND_KINDS",
    "ConstantRow",
    "Instance",
    "Item",
    "Link",
    "OperandKinds",
    "View",
    "ViewKeywords",
    "ViewOptions",
    "body_graphs",
    "count_held_nodes",
    "count_least",
    "expand_view",
    "find_neighbourhood",
    "is_recursive",
    "list_showing",
    "nodes_inside",
    "resolve_operand",
    "sibling_key",
    "strip_numbers",
]
