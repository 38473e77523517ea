"""What there is to review, in a page.

The block (see :mod:`.blocks`) has two columns: ``review`` as :mod:`netloupe.explorer.review.wire`
writes it, and ``marks``: how boxes are marked, by path, as canvases take it.
"""

from __future__ import annotations

from netloupe.explorer.render.paint import Paints, encode_paints
from netloupe.explorer.review import Review, encode_review

from .blocks import write_block


def write_review(review: Review, marks: Paints) -> bytes:
    """Return the block of a review and of the marks that show it in the picture."""
    return write_block({}, {"review": encode_review(review), "marks": encode_paints(marks)})
