"""Caffe2 arguments as attributes of the view model (caffe2.proto: Argument)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from netloupe.explorer.model import Attribute, Graph, ModelWarning

from .caffe2_tensors import read_qtensor, read_tensor
from .onnx_attributes import read_bytes
from .onnx_tensors import read_text

#: field of an Argument -> the kind of attribute that it makes
_KINDS = {
    "f": "float",
    "i": "int",
    "s": "string",
    "t": "tensor",
    "n": "graph",
    "floats": "floats",
    "ints": "ints",
    "strings": "strings",
    "tensors": "tensors",
    "nets": "graphs",
    "qtensors": "qtensors",
}

#: the graphs of an owner's arguments, by position of the argument and field
Graphs = dict[tuple[int, str], tuple[Graph, ...]]


def read_arguments(
    protos: Iterable[Any], path: str, folder: Path | None, graphs: Graphs
) -> tuple[dict[str, Attribute], list[ModelWarning]]:
    """Return arguments as attributes by name, and what is odd about them.

    An argument with several values gives one attribute for each; the later ones have the field
    appended to their name, as in ``k#ints``. A repeated name gets ``#2`` appended.

    Parameters
    ----------
    protos
        The messages.
    path
        Of the node or graph that has them.
    folder
        Where external data may lie.
    graphs
        The nets among the arguments, already read.
    """
    attributes: dict[str, Attribute] = {}
    warnings: list[ModelWarning] = []
    for position, proto in enumerate(protos):
        name = read_text(proto.name)
        key, count = name, 2
        while key in attributes:
            key = f"{name}#{count}"
            count += 1
        if key != name:
            warnings.append(ModelWarning(path, f"has argument {name!r} twice"))
        fields = _list_fields(proto, position, graphs)
        if not fields:  # also how an empty list is written
            attributes[key] = Attribute(name, "undefined", ())
        if len(fields) > 1:
            held = ", ".join(_KINDS[field] for field in fields)
            warnings.append(ModelWarning(f"{path}.{name}", f"holds several values: {held}"))
        for number, field in enumerate(fields):
            own = key if number == 0 else f"{key}#{field}"
            value = _read_value(proto, position, field, f"{path}.{own}", folder, graphs)
            attributes[own] = Attribute(name, _KINDS[field], value)
            entries = value if isinstance(value, tuple) else (value,)
            for entry in entries[:1000]:
                warnings += getattr(entry, "warnings", ()) if field[0] in "tq" else ()
    return attributes, warnings


def _list_fields(proto: Any, position: int, graphs: Graphs) -> list[str]:
    given = {field.name for field, _ in proto.ListFields()}
    given |= {field for field in ("n", "nets") if (position, field) in graphs}
    return [field for field in _KINDS if field in given]


def _read_value(
    proto: Any, position: int, field: str, path: str, folder: Path | None, graphs: Graphs
) -> Any:
    if field in ("f", "i"):
        return getattr(proto, field)
    if field in ("floats", "ints"):
        return tuple(getattr(proto, field))
    if field == "s":
        return read_bytes(proto.s)
    if field == "strings":
        return tuple(map(read_bytes, proto.strings))
    if field == "t":
        return read_tensor(proto.t, path, folder)
    if field == "tensors":
        return tuple(
            read_tensor(tensor, f"{path}[{index}]", folder)
            for index, tensor in enumerate(proto.tensors)
        )
    if field == "qtensors":
        return tuple(
            read_qtensor(tensor, f"{path}[{index}]") for index, tensor in enumerate(proto.qtensors)
        )
    found = graphs[position, field]
    return found[0] if field == "n" else found
