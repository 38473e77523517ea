"""Caffe2's fills: operators without inputs whose arguments hold a tensor, or say how to fill one.

An init net is made of them (caffe2/operators/given_tensor_fill_op, filler_op and
quantized/int8_given_tensor_fill_op).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import (
    DataType,
    ModelWarning,
    Payload,
    StatedQuantization,
    Tensor,
    data_type,
)
from netloupe.explorer.model.statement import Statement
from netloupe.explorer.model.storage import multiply_dims
from netloupe.explorer.readers.protobuf.parts import Fetch, Parts, TensorStorage, measure
from netloupe.explorer.readers.protobuf.stored_field import Count, StoredField
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.explorer.tensors import decode_tensor
from netloupe.explorer.tensors.elements import repeat_element

from .tensors import judge_count, read_caffe2_dtype, read_device

#: operator -> the type of the elements that its argument ``values`` gives: how Caffe2 writes them,
#: and so the reader's to know
_STORED_FILLS = {
    "GivenTensorFill": "float32",
    "GivenTensorDoubleFill": "float64",
    "GivenTensorBoolFill": "bool",
    "GivenTensorInt16Fill": "int16",
    "GivenTensorIntFill": "int32",
    "GivenTensorInt64Fill": "int64",
    "GivenTensorStringFill": "string",
    "GivenTensorByteStringToUInt8Fill": "uint8",
    "Int8GivenTensorFill": "uint8",
    "Int8GivenIntTensorFill": "int32",
}
#: operator -> the type of the elements that it draws, which no argument says
_RANDOM_FILLS = {
    "GaussianFill": "float32",
    "MSRAFill": "float32",
    "UniformFill": "float32",
    "UniformIntFill": "int32",
    "XavierFill": "float32",
}
_MOST_FILLED = 2**28
_MOST_LISTED = 16
#: the arguments that the tensor itself shows
_SHOWN = ("shape", "values", "dtype", "Y_scale", "Y_zero_point")


def is_fill(operator: Any) -> bool:
    """Return whether an operator fills one blob and needs nothing but its arguments for it."""
    if len(operator.output) != 1 or operator.input or not operator.output[0]:
        return False
    kind = operator.type
    if kind not in _STORED_FILLS and kind not in _RANDOM_FILLS and kind != "ConstantFill":
        return False
    # a fill that holds messages is odd, and stays a node that shows them
    return not any(
        field.message_type is not None
        for argument in operator.arg
        for field, _ in argument.ListFields()
    )


def read_fill(operator: Any, name: str, path: str, parts: Parts) -> Tensor:
    """Return the tensor that a fill gives; its elements are made when they are asked for.

    Parameters
    ----------
    operator
        An OperatorDef for which :func:`is_fill` holds.
    name, path
        Of the tensor.
    parts
        What the operator was read with.
    """
    arguments = {read_text(argument.name): argument for argument in reversed(operator.arg)}
    if operator.type in _STORED_FILLS:
        tensor, warnings = _read_stored(operator, arguments, name, path, parts)
    elif operator.type == "ConstantFill":
        tensor, warnings = _read_constant(operator, arguments, name, path)
    else:
        tensor, warnings = _read_random(operator, arguments, name, path)
    if any(dim < 0 for dim in tensor.dims):
        warnings.append(f"the dimensions {list(tensor.dims)} are negative")
    tensor.metadata = _list_rest(operator)
    if operator.HasField("device_option"):
        tensor.device = read_device(operator.device_option)
    tensor.warnings = tuple(ModelWarning(path, message) for message in warnings)
    return tensor


def leave_out_elements(operator: Any, statement: Statement) -> Statement:
    """Return what a fill states beside the dimensions and elements that its tensor has.

    Parameters
    ----------
    operator
        An OperatorDef for which :func:`is_fill` holds.
    statement
        All that it states.
    """
    told = {("arg", "shape", "ints")}
    if operator.type in _STORED_FILLS:
        given = {field for *way, field in statement if way == ["arg", "values"]}
        told.add(("arg", "values", _choose_field(operator.type, given)))
    elif operator.type == "ConstantFill":
        shape = statement.get(("arg", "shape", "ints"))
        dims = shape.content if shape is not None else ()
        if isinstance(dims, tuple) and multiply_dims(dims) <= _MOST_FILLED:
            fields = (field for field in ("f", "i", "s") if ("arg", "value", field) in statement)
            told.update(("arg", "value", field) for field in [*fields][:1])
    return {way: fact for way, fact in statement.items() if way not in told}


def _choose_field(kind: str, given: Collection[str]) -> str:
    """Return the field of the argument ``values`` that holds the elements."""
    if _STORED_FILLS[kind] == "uint8":  # in strings of bytes
        return "s" if "s" in given else "strings"
    if _STORED_FILLS[kind] == "string":
        return "strings"
    return "floats" if "floats" in given or "ints" not in given else "ints"


def _read_stored(
    operator: Any, arguments: dict[str, Any], name: str, path: str, parts: Parts
) -> tuple[Tensor, list[str]]:
    kind = operator.type
    dtype = data_type(_STORED_FILLS[kind])
    if kind == "GivenTensorFill":
        dtype = _find_dtype(arguments) or dtype
    values = arguments.get("values")
    storage = _find_values(kind, dtype, values, path, parts)
    warnings = [] if values is not None else ["the fill has no values"]
    shape = arguments.get("shape")
    if shape is None:
        dims: tuple[int, ...] = (_count_elements(storage),)
        warnings.append("the fill does not give a shape")
    else:
        dims = tuple(shape.ints)
    tensor = Tensor(name, path, dtype, dims, storage.field, storage.size, storage.fetch)
    if kind.startswith("Int8"):
        tensor.quantization = read_output_quantization(operator.type, arguments)
    if storage.count is not None:
        warnings += judge_count(tensor, storage.count)
    return tensor, warnings


def _find_values(kind: str, dtype: DataType, values: Any, path: str, parts: Parts) -> TensorStorage:
    """Return where the elements are, and how many."""
    if values is None:
        return TensorStorage("none", 0, lambda: Payload("absent"), Count.of(0))
    left = parts.stored(values)
    given = {*left, *(field.name for field, _ in values.ListFields())}
    field = _choose_field(kind, given)
    if _STORED_FILLS[kind] == "uint8":
        return _find_bytes(values, field, left.get(field), path)
    if dtype.name == "string":
        return _find_strings(values, left.get("strings"), path)
    element = np.float32 if field == "floats" else np.int64
    width = 4 if field == "floats" else (dtype.bits or 64) // 8
    numbers = left.get(field)
    if numbers is None:
        stored = getattr(values, field)
        fetch: Fetch = lambda: Payload("typed", _convert(np.array(stored, element), dtype))  # noqa: E731
        return TensorStorage(field, len(stored) * width, fetch, Count.of(len(stored)))
    count = numbers.count
    is_float = field == "floats" and dtype.name == "float32"
    return TensorStorage(
        field,
        count.exact * width
        if count.exact is not None
        else lambda: measure(lambda: len(numbers.numbers(path)) * width),
        lambda: Payload(
            "typed",
            numbers.row(path) if is_float else _convert(numbers.numbers(path), dtype),
        ),
        count,
    )


def _find_bytes(values: Any, field: str, left: StoredField | None, path: str) -> TensorStorage:
    """Return where elements are that are bytes of one string, or of several in a row."""
    if left is None:
        size = len(values.s) if field == "s" else sum(map(len, values.strings))
        fetch: Fetch = lambda: Payload(  # noqa: E731
            "raw", values.s if field == "s" else b"".join(values.strings)
        )
    elif field == "s" or (len(left.pieces) == 1 and left.pieces[0].content):
        last = left.pieces[-1]
        size = last.end - last.content
        fetch = lambda: Payload("raw", left.content(path))  # noqa: E731
    else:
        size = sum(piece.size for piece in left.pieces)
        fetch = lambda: Payload("raw", b"".join(left.strings(path)))  # noqa: E731
    return TensorStorage(field, size, fetch, Count.of(size))


def _find_strings(values: Any, left: StoredField | None, path: str) -> TensorStorage:
    if left is not None:
        fetch: Fetch = lambda: Payload("strings", left.strings(path))  # noqa: E731
        return TensorStorage("strings", left.size, fetch, left.count)
    strings = values.strings
    return TensorStorage(
        "strings",
        lambda: sum(map(len, strings)),
        lambda: Payload("strings", list(strings)),
        Count.of(len(strings)),
    )


def _count_elements(storage: TensorStorage) -> int:
    """Return how many elements there are; a fill without a shape has no other size.

    They are read only where they cannot be counted otherwise.
    """
    if storage.count is not None and storage.count.exact is not None:
        return storage.count.exact
    try:
        return len(storage.fetch().data)
    except TensorDataError:
        return 0


def _convert(elements: np.ndarray[Any, Any], dtype: DataType) -> np.ndarray[Any, Any]:
    """Bring stored elements into the form that typed elements of a type have."""
    if dtype.name == "bool":
        return np.asarray(elements != 0, np.int32)
    if dtype.name == "float16":
        return elements.astype(np.float16).view(np.uint16).astype(np.int32)
    if dtype.name in ("float32", "float64", "int64", "uint64"):
        return np.asarray(elements, np.dtype(dtype.name))
    return elements.astype(np.int32)


def _read_constant(
    operator: Any, arguments: dict[str, Any], name: str, path: str
) -> tuple[Tensor, list[str]]:
    argument = arguments.get("value")
    value: Any = 0
    used = ""
    if argument is not None:
        used = next((field for field in ("f", "i", "s") if argument.HasField(field)), "")
        value = getattr(argument, used) if used else 0
    # filler_op.h, ConstantFillOp: without a type that of the value counts
    inferred = data_type("int64" if used == "i" and "dtype" not in arguments else "float32")
    dtype = _find_dtype(arguments) or inferred
    dims, warnings = _read_dims(arguments)
    is_refused = used == "s" and "dtype" not in arguments
    if is_refused:
        warnings.append("is filled with a string, for which Caffe2 wants a dtype")
    size = multiply_dims(dims)

    def fetch() -> Payload:
        if is_refused:
            raise TensorDataError(
                f"{path}: is filled with a string, but without the dtype that Caffe2 wants for it. "
                "Add a dtype to the fill."
            )
        if size > _MOST_FILLED:
            raise TensorDataError(
                f"{path}: {size} elements are filled with {value!r}, more than {_MOST_FILLED}. "
                "Look at its value instead."
            )
        # one is decoded for all, which are never made unless somebody asks for them
        elements = repeat_element(
            decode_tensor(Tensor(name, path, dtype, (1,), "value", 0, one)), size
        )
        return Payload("elements", elements=elements)

    def one() -> Payload:
        if dtype.name == "string":
            return Payload("strings", [value if isinstance(value, bytes) else b""])
        number = value if isinstance(value, (int, float)) else 0
        with np.errstate(over="ignore", invalid="ignore"):
            element = np.array([number], np.float64 if isinstance(number, float) else np.int64)
            return Payload("typed", _convert(element, dtype))

    return Tensor(name, path, dtype, dims, "value", 0, fetch), warnings


def _read_random(
    operator: Any, arguments: dict[str, Any], name: str, path: str
) -> tuple[Tensor, list[str]]:
    kind = operator.type
    dims, warnings = _read_dims(arguments)

    def fetch() -> Payload:
        raise TensorDataError(
            f"{path}: is filled at random ({kind}) when the net runs; the file stores no "
            "elements. Run the init net and save the blob to see them."
        )

    return Tensor(name, path, data_type(_RANDOM_FILLS[kind]), dims, "none", 0, fetch), warnings


def _read_dims(arguments: dict[str, Any]) -> tuple[tuple[int, ...], list[str]]:
    shape = arguments.get("shape")
    if shape is None:
        return (), ["the fill does not give a shape"]
    return tuple(shape.ints), []


def _find_dtype(arguments: dict[str, Any]) -> DataType | None:
    argument = arguments.get("dtype")
    if argument is None or not argument.HasField("i") or not argument.i:
        return None
    return read_caffe2_dtype(argument.i)


def read_output_quantization(op_type: str, arguments: dict[str, Any]) -> StatedQuantization | None:
    """Return what the arguments of an Int8 operator say of its output; None without a scale."""
    scale = arguments.get("Y_scale")
    if scale is None or not scale.HasField("f"):
        return None
    zero_point = arguments.get("Y_zero_point")
    return StatedQuantization(
        f"arguments of {op_type}",
        (scale.f,),
        (float(zero_point.i),) if zero_point is not None else (),
        None,
        find_result_type(op_type),
    )


def find_result_type(op_type: str) -> DataType:
    """Return the type that an 8-bit operator stores its first result in."""
    return data_type(_STORED_FILLS.get(op_type, "uint8"))


def _list_rest(operator: Any) -> dict[str, str]:
    """Return what a fill says beyond its tensor, as text."""
    rest = {"filled by": read_text(operator.type)}
    for field in ("name", "engine", "debug_info", "domain", "op_version", "is_gradient_op"):
        content = getattr(operator, field)
        if operator.HasField(field) and content != "":
            rest[field] = content if isinstance(content, str) else str(content)
    if operator.control_input:
        rest["control_input"] = ", ".join(map(read_text, operator.control_input))
    for argument in operator.arg:
        name = read_text(argument.name)
        for field, content in argument.ListFields():
            if field.name == "name" or name in _SHOWN:
                continue
            rest[name if name not in rest else f"{name}.{field.name}"] = _write(content)
    return rest


def _write(content: Any) -> str:
    if isinstance(content, bytes):
        return content[:200].decode("utf-8", "backslashreplace")
    if isinstance(content, (int, float)):
        return str(content)
    if hasattr(content, "__len__"):
        shown = ", ".join(_write(entry) for entry in content[:_MOST_LISTED])
        return shown + (f", … {len(content):,} in all" if len(content) > _MOST_LISTED else "")
    return str(content)[:200]
