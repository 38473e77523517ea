"""Load a model from wherever it is."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.model import Model


def load(source: Any) -> Model:
    """Read a model file into the view model.

    Parameters
    ----------
    source
        A path, bytes, a binary file object, an ``onnx.ModelProto`` or anything else that
        serializes itself with ``SerializeToString()``; a Model is returned as it is.

    Raises
    ------
    SourceError
        Where the source cannot be read.
    ModelFormatError
        Where it is no model.
    """
    if isinstance(source, Model):
        return source
    from netloupe.explorer.readers import open_source, read_model

    return read_model(open_source(source))
