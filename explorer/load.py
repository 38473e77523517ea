"""Load a model from wherever it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloupe.explorer.errors import ModelFormatError, SourceError
from netloupe.explorer.model import Model, ModelWarning

if TYPE_CHECKING:
    from netloupe.explorer.readers import Source


def load(source: Any, init: Any = None) -> Model:
    """Read a model file into the view model.

    Parameters
    ----------
    source
        A path, bytes, a binary file object, an ``onnx.ModelProto`` or anything else that
        serializes itself with ``SerializeToString()``; a Model is returned as it is. Or a
        pair of these: a Caffe2 net and its init net.
    init
        The init net of a Caffe2 net. Where none is given and ``source`` is a path, it is looked
        for beside the file under the usual names.

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

    if isinstance(source, tuple):
        if len(source) != 2 or init is not None:
            raise SourceError(
                f"a tuple of {len(source)} is no model source. Give (predict_net, init_net)."
            )
        source, init = source
    opened = open_source(source)
    from netloupe.explorer.readers.caffe2 import parse_caffe2_source

    parsed = parse_caffe2_source(opened)
    if parsed is not None:
        return _read_caffe2(source, opened, parsed, init)
    if init is not None:
        raise ModelFormatError(
            f"{opened.name}: is no Caffe2 net, and only these have an init net. Load it alone."
        )
    return read_model(opened)


def _read_caffe2(source: Any, opened: Source, parsed: tuple[Any, str], init: Any) -> Model:
    """Read a Caffe2 message with its init net: the one given, or the one found beside it."""
    from netloupe.explorer.readers import open_source
    from netloupe.explorer.readers.caffe2 import find_init_net, parse_init_net, read_caffe2_message
    from netloupe.explorer.readers.caffe2_messages import Net

    message, container = parsed
    if init is not None:
        fills = parse_init_net(open_source(init))
        return read_caffe2_message(opened, message, fills, container)
    found = None
    if isinstance(message, Net) and isinstance(source, (str, os.PathLike)):
        found = find_init_net(Path(os.fsdecode(source)))
    if found is None:
        return read_caffe2_message(opened, message, None, container)
    try:
        fills = parse_init_net(open_source(found))
    except (SourceError, ModelFormatError) as error:
        model = read_caffe2_message(opened, message, None, container)
        model.warnings.append(ModelWarning("model", f"the init net is not used: {error}"))
        return model
    model = read_caffe2_message(opened, message, fills, container)
    model.metadata["init net file"] = found.name
    return model
