"""The rows on a node's face: the attributes that matter, and the constant operands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Attribute, Graph, Node, SparseTensor, Tensor
from netloupe.explorer.notation import clip_text, write_number
from netloupe.explorer.operators import OperatorSchema, find_schema

from .face import TextStyle
from .sizes import TEXT_STYLES
from .text import measure_text

if TYPE_CHECKING:
    from netloupe.explorer.view.item import ConstantRow

MOST_ATTRIBUTES = 5
MOST_CONSTANTS = 6
MOST_ELEMENTS = 8
_MOST_DIMS = 6
#: of a node with more attributes the first ones are read for its rows
_MOST_READ = 1000

_NUMBERS = "0123456789–"

_DIMS = re.compile(r"\[[^\[\]]*\]")
#: of names of dimensions so many letters are left, while a type is too wide
_DIM_LENGTHS = (32, 24, 18, 14, 10, 6)

#: names that are shown, in this order, and what they are called on a face
_ATTRIBUTES = {
    "kernel_shape": "kernel",
    "kernel": "kernel",
    "kernel_h": "kernel_h",
    "kernel_w": "kernel_w",
    "strides": "strides",
    "stride": "stride",
    "pads": "pads",
    "pad": "pad",
    "dilations": "dilations",
    "dilation": "dilation",
    "group": "group",
    "output_padding": "output_padding",
    "auto_pad": "auto_pad",
    "ceil_mode": "ceil_mode",
    "axis": "axis",
    "axes": "axes",
    "perm": "perm",
    "split": "split",
    "num_outputs": "num_outputs",
    "keepdims": "keepdims",
    "to": "to",
    "dtype": "dtype",
    "shape": "shape",
    "starts": "starts",
    "ends": "ends",
    "epsilon": "epsilon",
    "alpha": "alpha",
    "beta": "beta",
    "gamma": "gamma",
    "min": "min",
    "max": "max",
    "size": "size",
    "bias": "bias",
    "lambd": "lambd",
    "approximate": "approximate",
    "transA": "transA",
    "transB": "transB",
    "trans_a": "trans_a",
    "trans_b": "trans_b",
    "equation": "equation",
    "num_heads": "num_heads",
    "q_num_heads": "q_num_heads",
    "kv_num_heads": "kv_num_heads",
    "scale": "scale",
    "is_causal": "is_causal",
    "unidirectional": "unidirectional",
    "hidden_size": "hidden_size",
    "direction": "direction",
    "activations": "activations",
    "activation": "activation",
    "linear_before_reset": "linear_before_reset",
    "mode": "mode",
    "coordinate_transformation_mode": "transform",
    "nearest_mode": "nearest",
    "blocksize": "blocksize",
    "block_size": "block_size",
    "bits": "bits",
    "K": "K",
    "N": "N",
    "upper": "upper",
    "k": "k",
    "p": "p",
    "largest": "largest",
    "exclusive": "exclusive",
    "reverse": "reverse",
    "fmod": "fmod",
    "reduction": "reduction",
    "output_dtype": "output_dtype",
    "value": "value",
    "classlabels_strings": "classes",
    "classlabels_int64s": "classes",
    "post_transform": "post_transform",
    "kernel_type": "kernel_type",
    "norm": "norm",
    "order": "order",
    "broadcast": "broadcast",
    "Y_scale": "Y_scale",
    "Y_zero_point": "Y_zero_point",
}
_ALWAYS = frozenset(("axis", "axes", "perm", "epsilon", "to", "kernel_shape"))
_UNINTERESTING: dict[str, Any] = {
    "group": 1,
    "auto_pad": "NOTSET",
    "keepdims": 1,
    "ceil_mode": 0,
    "order": "NCHW",
    "stride": 1,
    "pad": 0,
    "dilation": 1,
    "direction": "forward",
}
_MULTIPLIED = frozenset(("kernel_shape", "strides", "dilations", "kernel"))

_LIMITS = {2**63 - 1: "int64 max", -(2**63) + 1: "-int64 max", -(2**63): "int64 min"}


class FaceRow(NamedTuple):
    """One line: a name, and pieces of text with their styles after it.

    ``is_constant`` tells the rows that stand for a constant and can be selected.
    """

    name: str
    name_style: TextStyle
    pieces: tuple[tuple[str, TextStyle], ...]
    is_constant: bool = False


def describe_attributes(node: Node) -> list[FaceRow]:
    """Return a row for each attribute that matters, at most ``MOST_ATTRIBUTES``."""
    attributes = node.attributes
    if not attributes:
        return []
    schema = find_schema(node.domain, node.op_type, node.opset_version)
    names = [name for name in _ATTRIBUTES if name in attributes]
    if schema is None:
        names += [name for name in attributes if name not in _ATTRIBUTES]
    rows = []
    for name in names[:_MOST_READ]:
        attribute = attributes[name]
        if _is_default(attribute, schema):
            continue
        text = _describe_attribute(node, attribute)
        if text:
            rows.append(FaceRow(_ATTRIBUTES.get(name, name), "muted", ((text, "text"),)))
    return _bound(rows, MOST_ATTRIBUTES, len(names[_MOST_READ:]))


def _bound(rows: list[FaceRow], most: int, beyond: int = 0) -> list[FaceRow]:
    """Return the first rows, and how many are left out; ``beyond`` these are yet others."""
    if len(rows) + beyond <= most + 1:
        return rows
    return [*rows[:most], FaceRow(f"… {len(rows) + beyond - most} more", "muted", ())]


def _is_default(attribute: Attribute, schema: OperatorSchema | None) -> bool:
    name: str = attribute.name
    value: Any = attribute.value
    if attribute.reference or name in _ALWAYS:
        return False
    if name in ("strides", "dilations"):
        return isinstance(value, tuple) and all(item == 1 for item in value)
    if name in ("pads", "output_padding"):
        return isinstance(value, tuple) and not any(value)
    if name in _UNINTERESTING:
        return bool(_UNINTERESTING[name] == value)
    formal = schema.attributes.get(name) if schema else None
    return formal is not None and formal.is_default(value)


def _describe_attribute(node: Node, attribute: Attribute) -> str:
    """Return an attribute's value as it stands on a face; "" for what does not belong there."""
    name: str = attribute.name
    value: Any = attribute.value
    if attribute.reference:
        return f"@{attribute.reference}"
    dialect = node.graph.dialect
    if name in dialect.element_type_attributes and isinstance(value, int):
        return dialect.element_types.get(value, str(value))
    if isinstance(value, tuple) and value and all(isinstance(item, int) for item in value):
        if name in _MULTIPLIED:
            return describe_dims(value)
        if name == "pads":
            return describe_pads(value)
    if isinstance(value, Tensor):
        return describe_elements(value) or describe_dims(value.dims)
    if isinstance(value, Graph | SparseTensor):
        return ""
    return write_elements(value)


def describe_pads(pads: Sequence[int]) -> str:
    """Return paddings as briefly as they allow: ``1``, ``1, 0`` (both sides alike), or all."""
    half = len(pads) // 2
    if len(set(pads)) == 1:
        return str(pads[0])
    if len(pads) % 2 == 0 and tuple(pads[:half]) == tuple(pads[half:]):
        return ", ".join(map(str, pads[:half]))
    return write_elements(tuple(pads))


def write_elements(value: Any, most: int = MOST_ELEMENTS) -> str:
    """Return a number, string or tuple of them in a few characters."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return write_number(value)
    if isinstance(value, int):
        if value.bit_length() > 62:  # such as a Slice's end
            return _LIMITS.get(value) or (str(value) if value.bit_length() < 200 else "…")
        return str(value)
    if isinstance(value, bytes):
        return value[:80].decode("utf-8", "replace")
    if isinstance(value, str):
        return value[:200]
    if isinstance(value, tuple):
        parts = [write_elements(item) for item in value[:most]]
        more = f", … {len(value) - most} more" if len(value) > most else ""
        return f"[{', '.join(parts)}{more}]"
    return "" if value is None else clip_text(str(value), 80)


def describe_dims(dims: Iterable[object]) -> str:
    """Return ``768×2304``; the middle of many dimensions is left out."""
    parts = [str(dim) for dim in dims]
    if len(parts) > _MOST_DIMS:
        parts = [*parts[:3], "…", *parts[-2:]]
    return "×".join(parts)


def shorten_dims(type_text: str, room: float, style: TextStyle) -> str:
    """Return a type that is no wider than some pixels, as far as shorter names of dims do it.

    Of each name too long the middle is left out, so that all dimensions are told:
    ``float32[Layer…_dim_0, Layer…_dim_1, 48]``.
    """
    for most in (len(type_text), *_DIM_LENGTHS):
        shown = _DIMS.sub(partial(_shorten_each, most), type_text)
        if measure_text(shown, *TEXT_STYLES[style]) <= room:
            break
    return shown


def _shorten_each(most: int, dims: re.Match[str]) -> str:
    half = most // 2
    names = dims[0][1:-1].split(", ")
    kept = [name if len(name) <= most else f"{name[:half]}…{name[-half:]}" for name in names]
    return f"[{', '.join(kept)}]"


def describe_elements(tensor: Tensor | SparseTensor) -> str:
    """Return the elements of a scalar or of a tiny vector; "" for anything else.

    Nothing is read from other files.
    """
    if isinstance(tensor, SparseTensor) or tensor.external is not None:
        return ""
    dims = tensor.dims
    if len(dims) > 1 or (dims and not 0 < dims[0] <= MOST_ELEMENTS):
        return ""
    if dims and dims[0] > 1 and not (tensor.dtype.is_integer or tensor.dtype.name == "bool"):
        return ""
    try:
        elements = tensor.numpy()
    except TensorDataError:
        return ""
    values = elements.tolist()
    if isinstance(values, list):
        return write_elements(tuple(values))
    return write_elements(values)


def describe_constants(node: Node, constants: Sequence[ConstantRow]) -> list[FaceRow]:
    """Return a row for each constant operand, at most ``MOST_CONSTANTS``."""
    if not constants:
        return []
    schema = find_schema(node.domain, node.op_type, node.opset_version)
    rows = []
    for constant in constants[: MOST_CONSTANTS + 1]:
        name = (
            schema.input_name(constant.index)
            if schema is not None
            else node.operator.operands.name_at(constant.index)
        )
        if not name:
            operand = node.input(constant.index)
            name = short_name(operand.name if operand is not None else "")
        if constant.is_shape and constant.text in ("", "?"):
            continue  # nothing is known of what is computed from constants
        if constant.is_shape:
            rows.append(FaceRow(name, "name", ((constant.text, "badge"),), True))
        else:
            rows.append(FaceRow(name, "name", _describe_constant(constant), True))
    hidden = len(constants) - MOST_CONSTANTS
    if hidden > 1:
        rows[MOST_CONSTANTS:] = [FaceRow(f"… {hidden} more", "muted", ())]
    return rows


def _describe_constant(constant: ConstantRow) -> tuple[tuple[str, TextStyle], ...]:
    tensor = constant.tensor
    if tensor is None:
        return ((constant.text, "text"),)
    elements = describe_elements(tensor)
    dtype = tensor.dtype.name
    if elements:
        if dtype in ("float32", "int64", "bool", "string"):
            return ((elements, "text"),)
        return ((elements, "text"), (dtype, "muted"))
    text = f"⟨{describe_dims(tensor.dims)}⟩"
    if isinstance(tensor, SparseTensor):
        return ((f"{text} sparse" + (f" {dtype}" if dtype != "float32" else ""), "muted"),)
    return ((text if dtype == "float32" else f"{text} {dtype}", "muted"),)


#: between the first and the last name of a range
RANGE = " … "


def short_range(label: str) -> str:
    """Return ``layers.0 … 11`` for ``layers.0 … layers.11``, and other labels as they are.

    ``blocks.0–1 … blocks.4–5``, ``cell … cell_7`` and ``points.Mixed_4b … points.Mixed_4d`` become
    shorter, too; what was around them, as in ``encoder / layers.0 … layers.11``, stays before them.
    """
    around, mark, own = label.rpartition(" / ")
    if mark and RANGE not in around:
        return f"{around} / {short_range(own)}"
    first, between, last = label.partition(RANGE)
    prefix = first.rstrip(_NUMBERS)
    call = last.removeprefix(first)
    if between and call != last and call[:1] == "_" and call[1:].isdecimal():
        return first + between + call
    number = last.removeprefix(prefix)
    if between and prefix != first and number and not number.strip(_NUMBERS):
        return first + between + number
    scope = first[: first.rfind(".") + 1]
    return first + between + last.removeprefix(scope) if between else label


def drop_scope(label: str) -> str:
    """Return ``Mixed_4b … Mixed_4d`` for ``points.Mixed_4b … Mixed_4d``, where room is short."""
    first, between, last = label.partition(RANGE)
    is_scoped = last[:1].isalpha() and "." not in last
    return first[first.rfind(".") + 1 :] + between + last if is_scoped else label


def short_name(name: str) -> str:
    """Return the last part of a scoped name."""
    parts = [part for part in re.split(r"[/.:]", name[-200:]) if part]
    return parts[-1] if parts else "?"
