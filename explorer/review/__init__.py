"""What is to be looked at in a model, as one list, and marked in its picture.

Findings, differences, an audit and notes go in; out go :class:`ReviewItem` objects in one order, a
line that counts them, what was not checked, and :class:`~netloupe.explorer.render.paint.Paint` by
path. Nothing here reads weights, applies rules or knows browsers.
"""

from .item import KINDS, LEVELS, ItemKind, Level, ReviewItem, sort_items
from .marking import ItemPlaces, mark_items, paint_places, place_items
from .review import Review, Reviewable, make_review, take_review
from .wire import encode_review

__all__ = [
    "KINDS",
    "LEVELS",
    "ItemKind",
    "ItemPlaces",
    "Level",
    "Review",
    "ReviewItem",
    "Reviewable",
    "encode_review",
    "make_review",
    "mark_items",
    "paint_places",
    "place_items",
    "sort_items",
    "take_review",
]
