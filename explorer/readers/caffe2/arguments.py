"""Caffe2 arguments as attributes of the view model (caffe2.proto: Argument)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Attribute, Graph, ModelWarning, StoredRow, Tensor
from netloupe.explorer.model.failing import fail
from netloupe.explorer.readers.protobuf.parts import Parts
from netloupe.explorer.readers.protobuf.texts import read_bytes, read_text
from netloupe.explorer.tensors import ModelFiles

from .tensors import read_qtensor, read_tensor

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


class ArgumentReader:
    """Reads the arguments of nets and operators.

    Parameters
    ----------
    files
        Gives external data.
    parts
        What the messages were read with.
    """

    def __init__(self, files: ModelFiles, parts: Parts) -> None:
        self._files = files
        self._parts = parts

    def read(
        self,
        protos: Iterable[Any],
        path: str,
        graphs: Graphs,
        constants: dict[int, Tensor] | None = None,
    ) -> tuple[dict[str, Attribute], list[ModelWarning]]:
        """Return arguments as attributes by name, and what is odd about them.

        An argument with several values gives one attribute for each; the later ones have the
        field appended to their name, as in ``k#ints``. A repeated name gets ``#2`` appended.

        Parameters
        ----------
        protos
            The messages.
        path
            Of the node or graph that has them.
        graphs
            The nets among the arguments, already read.
        constants
            Tensors that stand for the elements of a fill, by position of the argument: the
            list that they are made of may be long, and is not read.
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
            fields = self._list_fields(proto)
            if not fields:  # also how an empty list is written
                attributes[key] = Attribute(name, "undefined", ())
            if len(fields) > 1:
                held = ", ".join(_KINDS[field] for field in fields)
                warnings.append(ModelWarning(f"{path}.{name}", f"holds several values: {held}"))
            constant = (constants or {}).get(position)
            for number, field in enumerate(fields):
                own = key if number == 0 else f"{key}#{field}"
                value: Any
                if constant is not None and field == constant.storage:
                    value = constant
                elif field in ("n", "nets"):
                    found = graphs[position, field]
                    value = found[0] if field == "n" else found
                else:
                    try:
                        value = self._read_value(proto, field, f"{path}.{own}")
                    except TensorDataError as error:
                        value = ()
                        warnings.append(ModelWarning(f"{path}.{own}", str(error)))
                    except Exception as error:
                        element = f"argument '{own}' of {path}"
                        fail(error, self._parts.source.name, element)
                attributes[own] = Attribute(name, _KINDS[field], value)
        return attributes, warnings

    def _list_fields(self, proto: Any) -> list[str]:
        given = {field.name for field, _ in proto.ListFields()} | set(self._parts.stored(proto))
        return [field for field in _KINDS if field in given]

    def _read_value(self, proto: Any, field: str, path: str) -> Any:
        left = self._parts.stored(proto).get(field)
        if field in ("f", "i"):
            return getattr(proto, field)
        if field in ("floats", "ints"):
            return tuple(getattr(proto, field) if left is None else left.numbers(path).tolist())
        if field == "s":
            return read_bytes(proto.s if left is None else _read_all(left.content(path)))
        if field == "strings":
            return tuple(map(read_bytes, proto.strings if left is None else left.strings(path)))
        files, parts = self._files, self._parts
        if field == "t":
            return read_tensor(proto.t, path, files, parts)
        if field == "tensors":
            return tuple(
                read_tensor(tensor, f"{path}[{index}]", files, parts)
                for index, tensor in enumerate(proto.tensors)
            )
        return tuple(
            read_qtensor(tensor, f"{path}[{index}]", parts)
            for index, tensor in enumerate(proto.qtensors)
        )


def _read_all(row: StoredRow) -> bytes:
    return row.read(0, len(row)).tobytes()
