"""What there is to review, in a page.

The block (see :mod:`.blocks`) has three columns: ``review`` as :mod:`netloupe.explorer.review.wire`
writes it; ``marks``: how boxes are marked, by path, as canvases take it; and ``structure``: the
digest of the model that notes have in their anchors.
"""

from __future__ import annotations

from netloupe.explorer.model import Model
from netloupe.explorer.render.paint import Paints, encode_paints
from netloupe.explorer.review import Review, encode_review

from .blocks import write_block


def write_review(model: Model, review: Review, marks: Paints) -> bytes:
    """Return the block of a review of a model, and of the marks that show it in the picture."""
    # of two models that are shown as one, notes are on the newer
    noted = model if model.comparison is None else model.comparison.right
    columns = {
        "review": encode_review(review),
        "marks": encode_paints(marks),
        "structure": noted.notes.structure,
    }
    return write_block({}, columns)
