"""Operators of somebody's own domain: what they are is told in a file or a mapping."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from netloupe.explorer.arguments import explain_arguments

from .accepting import accept_entries, make_error, read_operator_file
from .plugins import PLUGINS


@explain_arguments
def register_operators(source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
    """Tell what operators of your own domain are, so that they are shown and counted as such.

    Parameters
    ----------
    source
        A file in TOML, or in JSON where its name ends in ``.json``; or a mapping of the same
        contents: by domain and op_type an entry, whose members the documentation lists under
        Operators of your own.

    Raises
    ------
    OperatorsError
        Where the file cannot be read, or entries are wrong. Those that are right are registered
        all the same.

    Notes
    -----
    What was registered for an operator before is replaced; other operators of its domain stay.
    Models that were loaded before keep what was found of them: load them again. Operators that
    netloupe knows, those of ONNX and ONNX Runtime among them, cannot be changed.

    An installed package registers operators by itself with an entry point of the group
    ``netloupe.operators`` that gives such a mapping or the path of such a file.

    Examples
    --------
    >>> import netloupe
    >>> netloupe.register_operators(
    ...     {"com.example": {"FastConv": {"form_of": "Conv"}, "Tag": {"macs": 0}}}
    ... )
    """
    PLUGINS.load()  # what they give may be what others are forms of
    if isinstance(source, Mapping):
        given, name = source, "the mapping"
    elif isinstance(source, str | os.PathLike):
        given, name = read_operator_file(source), os.fsdecode(source)
    else:
        raise TypeError("source is neither a path nor a mapping")
    problems = accept_entries(given, name)
    if problems:
        raise make_error(problems)
