"""Load a model from wherever it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from netloupe.explorer.arguments import explain_arguments
from netloupe.explorer.errors import NetloupeError, SourceError
from netloupe.explorer.files.home import expand_home
from netloupe.explorer.files.inputs import note_inputs_later
from netloupe.explorer.model import Model
from netloupe.explorer.model.collector import collector_paused

#: a Model, or anything that :func:`load` makes one of: every public function that takes a model
#: takes these
ModelSource: TypeAlias = Any


@explain_arguments
def load(source: Any, init: Any = None, *, infer_shapes: bool = False) -> Model:
    """Read a model file into the view model.

    Parameters
    ----------
    source
        A path, bytes, a binary file object, an ``onnx.ModelProto`` or anything else that
        serializes itself with ``SerializeToString()``; a Model is returned as it is. Or a
        pair of these: a Caffe2 net and its init net. In a path ``~`` is the home folder.
    init
        The init net of a Caffe2 net. Where none is given and ``source`` is a path, it is looked
        for beside the file under the usual names.
    infer_shapes
        Whether onnx is to infer the types that the file does not state, as
        :meth:`Model.infer_shapes` does.

    Raises
    ------
    SourceError
        Where the source cannot be read.
    ModelFormatError
        Where it is no model.
    InferenceError
        Where shapes cannot be inferred.
    """
    if isinstance(source, Model):
        model = source
    else:
        model = _read(source, init)
        note_inputs_later(lambda: _list_files(model))
    if infer_shapes:
        model.infer_shapes()
    return model


def _list_files(model: Model) -> Iterator[Path]:
    """Yield the files that a model was read from: its own, its init net, and external data."""
    if model.files is None:
        return
    yield from model.files.own
    folder = model.files.folder
    if folder is None:
        return
    with suppress(NetloupeError):
        locations = {
            tensor.external.location
            for graph in model.graphs
            for tensor in graph.initializers
            if tensor.external is not None
        }
        yield from (folder / location for location in locations if location)


def _read(source: Any, init: Any) -> Model:
    from .pipeline import read_model
    from .source import open_source

    if isinstance(source, tuple):
        if len(source) != 2 or init is not None:
            raise SourceError(
                f"a tuple of {len(source)} is no model source. Give (predict_net, init_net)."
            )
        source, init = source
    if any(isinstance(given, str) and not given for given in (source, init)):
        raise SourceError("the path of the model is empty. Give the name of a file.")
    source, init = _expand(source), _expand(init)
    path = Path(os.fsdecode(source)) if isinstance(source, (str, os.PathLike)) else None
    with collector_paused(reads_model=True):
        return read_model(
            open_source(source), None if init is None else open_source(init), beside=path
        )


def _expand(source: Any) -> Any:
    """Return a path that begins with ``~`` below the home folder, and anything else as it is."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        return str(expand_home(path)) if path.startswith("~") else source
    return source


def load_again(model: Model) -> Model:
    """Read a model anew from the files that it was read from.

    Raises
    ------
    SourceError
        Where it was not read from a file, or that cannot be read any more.
    ModelFormatError
        Where the file is no model any more.
    """
    own = model.files.own if model.files is not None else []
    if not own:
        raise SourceError(
            f"{model.source}: was not read from a file, so it cannot be read again. "
            "Load it and explore what comes of it."
        )
    # an init net that was found beside the model is looked for again
    init = own[1] if len(own) > 1 and "init net file" not in model.metadata else None
    again = load(own[0], init)
    again.source = model.source
    return again
