"""Opening a file with numbers, whatever format it has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from netloupe.explorer.errors import OverlayError
from netloupe.explorer.overlays.column import Column

from .costs import is_cost_report, read_cost_report
from .node_data import is_node_data, read_node_data
from .ort_profile import is_ort_profile, read_ort_profile
from .tables import find_columns, read_csv
from .tensorrt import (
    is_layer_information,
    is_tensorrt_profile,
    read_layer_information,
    read_layer_names,
    read_tensorrt_profile,
)
from .text import parse_json, read_file_text

#: what is looked for in a file that begins as JSON does
_KNOWN = (
    "name,value tables, node data of Model Explorer, profiles of ONNX Runtime, profiles and layer "
    "information of TensorRT, tables of onnx-tool, cost reports of QONNX"
)


def read_column_file(path: str | os.PathLike[str]) -> list[Column]:
    """Return the columns of a file: CSV or JSON of one of the formats that are known.

    Parameters
    ----------
    path
        A CSV or JSON file with names and values (:mod:`.tables`), node data of Model Explorer, a
        profile of ONNX Runtime, a profile or layer information of TensorRT, a table of onnx-tool
        or a cost report of QONNX. What it is, is told from its content.

    Raises
    ------
    OverlayError
        Where it cannot be read or is none of these, naming the file and the place.
    """
    return read_column_files([path])


def read_column_files(paths: Sequence[str | os.PathLike[str]]) -> list[Column]:
    """Return the columns of several files, in their order.

    With a profile of TensorRT and its layer information among them, the profile's layers get the
    names of nodes that the information has.

    Raises
    ------
    OverlayError
        As for :func:`read_column_file`.
    """
    read = [(os.fsdecode(path), *_read_file(os.fsdecode(path))) for path in paths]
    names: dict[str, tuple[str, ...]] = {}
    for _, _, told in read:
        if told is not None and is_layer_information(told):
            names |= read_layer_names(told)
    return [column for name, text, told in read for column in _take(name, text, told, names)]


def _read_file(name: str) -> tuple[str, Any]:
    """Return the text of a file that is no JSON, or what it says; a profile stays text."""
    text = read_file_text(name)
    if text.lstrip()[:1] not in ("{", "["):
        return text, None
    if is_ort_profile(text):
        return text, None
    return "", parse_json(text, name)


def _take(name: str, text: str, told: Any, names: dict[str, tuple[str, ...]]) -> list[Column]:
    if told is None:
        return read_ort_profile(text, name) if is_ort_profile(text) else read_csv(text, name)
    if is_tensorrt_profile(told):
        return read_tensorrt_profile(told, name, names)
    if is_layer_information(told):
        return read_layer_information(told, name)
    if is_node_data(told):
        return read_node_data(told, name)
    if is_cost_report(told):
        return read_cost_report(told, name)
    found = find_columns(told, name)
    if not found:
        raise OverlayError(f"{name}: is JSON, but nothing to colour by. Known are {_KNOWN}.")
    return found
