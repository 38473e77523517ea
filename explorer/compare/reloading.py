"""Reading again what a picture shows: one model, or the two that are compared in it."""

from __future__ import annotations

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load_again

from .comparing import diff


def reload_model(model: Model) -> Model:
    """Read a model anew from its files; of one made of two both, which are compared again.

    Raises
    ------
    SourceError
        Where it was not read from files, or these cannot be read any more.
    ModelFormatError
        Where a file is no model any more.
    """
    found = model.comparison
    if found is None:
        return load_again(model)
    left, right = load_again(found.left), load_again(found.right)
    return diff(left, right, ignore=found.ignored).merged
