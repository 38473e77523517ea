"""Attributes that state what holds without them, where the specification says so in words only.

The operator table has the defaults that are declared. Others follow from what a node takes, such
as the strides of a convolution, ones along each axis, or the order of Transpose, the last axis
first. Axes are equal only where it is known how many there are.

Sources: onnx/docs/Operators.md, Changelog.md and Operators-ml.md; ContribOperators.md of ONNX
Runtime.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor, TensorType, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import find_default, find_schema
from netloupe.explorer.progress import is_ending

from .axes import are_same_axes, count_axes

Dims = tuple[int | str | None, ...]
#: returns whether what one node states holds for the other one, which does not state it
Test = Callable[[Node, Node, object], bool]

#: what goes over windows, and so has attributes for each axis of these
_GOING_OVER_WINDOWS = ("convolves", "pools", "scatters")
#: what these do along each axis where nothing is stated, and how many numbers an axis has
_WINDOWS = {
    "dilations": (1, 1),
    "strides": (1, 1),
    "pads": (0, 2),
    "output_padding": (0, 1),
}
# local, as the next two: what the specifications say in words only
#: by operator and attribute a single value that holds without it; of lists each entry
_VALUES: dict[tuple[str, str], object] = {
    ("SequenceEmpty", "dtype"): 1,
    ("StringSplit", "delimiter"): "",
    ("TfIdfVectorizer", "weights"): 1.0,
    ("TreeEnsemble", "nodes_missing_value_tracks_true"): 0,
    ("TreeEnsembleClassifier", "nodes_missing_value_tracks_true"): 0,
    ("TreeEnsembleRegressor", "nodes_missing_value_tracks_true"): 0,
    ("Scan", "directions"): 0,
    ("Scan", "scan_input_directions"): 0,
    ("Scan", "scan_output_directions"): 0,
}
_RUNTIME = "com.microsoft"
#: the same in the domain of ONNX Runtime
_VALUES_OF_RUNTIME: dict[tuple[str, str], object] = {
    ("Attention", "do_rotary"): 0,
    ("GroupQueryAttention", "do_rotary"): 0,
    ("GroupQueryAttention", "rotary_interleaved"): 0,
    ("GroupQueryAttention", "softcap"): 0,
    ("MRotaryEmbedding", "interleaved"): 0,
    ("MRotaryEmbedding", "is_packed_batching"): 0,
    ("MultiHeadAttention", "mask_filter_value"): -10_000.0,
    ("RotaryEmbedding", "interleaved"): 0,
    ("RotaryEmbedding", "is_packed_batching"): 0,
    ("RotaryEmbedding", "num_heads"): 0,
    ("RotaryEmbedding", "rotary_embedding_dim"): 0,
    ("RotaryEmbedding", "scale"): 1.0,
}
_DOMAINS = ("", "ai.onnx.ml", _RUNTIME, "com.microsoft.nchwc", "com.ms.internal.nhwc")
#: since this operator set an axis of Concat has to be stated; before, it was 1
_CONCAT_STATES_AXIS = 4
#: axes of which each is of another operand or result
SCAN_AXES = frozenset({"scan_input_axes", "scan_output_axes"})
#: what a recurrent layer applies in each direction; that of RNN is declared for two
_ACTIVATIONS = {
    "GRU": ("Sigmoid", "Tanh"),
    "LSTM": ("Sigmoid", "Tanh", "Tanh"),
    "RNN": ("Tanh",),
}
#: lists that say nothing where they are empty, unless others are declared to hold without them
_EMPTY = frozenset(
    {"activation_alpha", "activation_beta", "activations", "base_values", "nodes_hitrates"}
    | {"nodes_missing_value_tracks_true", "prob_a", "prob_b", "stopwords"}
)


def is_written_out(silent: Node, stating: Node, name: str, value: object) -> bool:
    """Return whether what one node states holds for the other one without a word.

    Parameters
    ----------
    silent, stating
        A node that does not state the attribute, and one of the same operator that does.
    name
        The attribute.
    value
        What is stated.
    """
    if not _is_known(silent, stating):
        return False
    operator = stating.operator
    if value == () and _says_nothing(stating, name):
        return True
    if name in _WINDOWS and operator.has(*_GOING_OVER_WINDOWS):
        return _is_plain_window(silent, stating, name, value)
    key = operator.op_type, name
    values = _VALUES_OF_RUNTIME if operator.domain == _RUNTIME else _VALUES
    if key in values:
        return _is_each(value, values[key])
    if name in SCAN_AXES:
        plain = (0,) * len(value) if isinstance(value, tuple) else None
        return bool(plain) and mean_same_scan_axes(silent, stating, name, value, plain)
    test = _TESTS.get(name)
    return test is not None and test(silent, stating, value)


def _says_nothing(node: Node, name: str) -> bool:
    """Return whether an attribute of a node says nothing where it is an empty list."""
    operator = node.operator
    if name in _EMPTY:
        schema = find_schema(node.domain, node.op_type, node.opset_version)
        return schema is not None and find_default(schema, name) is None
    if name == "axes":
        return operator.has("reduces")
    return name in _WINDOWS and operator.has(*_GOING_OVER_WINDOWS)


def _is_known(left: Node, right: Node) -> bool:
    """Return whether two nodes are of one operator that the specifications have."""
    is_one = (left.domain, left.op_type) == (right.domain, right.op_type)
    is_function = left.function is not None or right.function is not None
    return is_one and left.domain in _DOMAINS and not is_function


def have_same_padding(left: Node, right: Node) -> bool:
    """Return whether two nodes pad nothing: by ``VALID`` or by zeros."""
    if not _is_known(left, right):
        return False
    is_window = left.operator.has(*_GOING_OVER_WINDOWS)
    return is_window and all(map(_pads_nothing, (left, right)))


def _pads_nothing(node: Node) -> bool:
    mode, pads = (node.attributes.get(name) for name in ("auto_pad", "pads"))
    if (mode is not None and mode.reference) or (pads is not None and pads.reference):
        return False
    is_zero = pads is None or pads.value == () or _is_each(pads.value, 0)
    if _states(node, "ceil_mode"):  # VALID rounds down whatever is stated
        return False
    return is_zero and (mode is None or mode.value in ("NOTSET", "VALID"))


def _is_each(value: object, wanted: object) -> bool:
    """Return whether a value is another one, or a list of nothing else."""
    listed = value if isinstance(value, tuple) else (value,)
    return bool(listed) and all(
        isinstance(entry, int | float | str)
        and isinstance(entry, str) == isinstance(wanted, str)
        and entry == wanted
        for entry in listed
    )


# windows


def _is_plain_window(silent: Node, stating: Node, name: str, value: object) -> bool:
    fill, each = _WINDOWS[name]
    if not isinstance(value, tuple) or not _is_each(value, fill):
        return False
    sizes = [_find_kernel(node) for node in (silent, stating)]
    return all(size is None or len(value) == each * len(size) for size in sizes)


def _find_kernel(node: Node) -> Dims | None:
    """Return the sizes of the window that a node goes over; None where they are not known."""
    stated = node.attributes.get("kernel_shape")
    if stated is not None:
        return stated.value if isinstance(stated.value, tuple) else None
    return _find_weight_sizes(node)


def _find_weight_sizes(node: Node) -> Dims | None:
    operator = node.operator
    place = operator.operands.find("weight")
    if place is None or not operator.weight_layout.startswith("conv"):
        return None
    dims = find_dims(node, place)
    return None if dims is None or len(dims) <= 2 else dims[2:]


def _is_kernel_of_weight(silent: Node, stating: Node, value: object) -> bool:
    return value == _find_weight_sizes(silent) == _find_weight_sizes(stating)


# axes


def _is_turned(silent: Node, stating: Node, value: object) -> bool:
    """Return whether an order of axes is that of Transpose without one: the last first."""
    if not isinstance(value, tuple):
        return False
    ranks = {count_axes(node.input(0)) for node in (silent, stating) if node.inputs} - {None}
    return ranks <= {len(value)} and value == (*range(len(value))[::-1],)


def _is_former_axis(silent: Node, stating: Node, value: object) -> bool:
    """Return whether an axis is the one of a Concat that need not state it."""
    version = silent.opset_version
    is_old = version is not None and version < _CONCAT_STATES_AXIS
    return is_old and value == 1 and stating.operator.form == "Concat"


def _is_first_axes(silent: Node, stating: Node, value: object) -> bool:
    """Return whether axes are those that are taken where none are stated."""
    if not isinstance(value, tuple):
        return False
    operator = stating.operator
    if operator.has("pads", "reduces", "resamples"):
        ranks = {count_axes(node.input(0)) for node in (silent, stating) if node.inputs} - {None}
        if len(ranks) != 1:
            return False
        rank = ranks.pop() or 0
        every = (*range(rank),)
        is_noop = any(_states(node, "noop_with_empty_axes") for node in (silent, stating))
        if operator.has("reduces"):  # in whichever order
            listed = [a for a in value if isinstance(a, int) and -rank <= a < rank]
            if len(listed) != len(value):
                return False
            value = (*sorted(axis % rank for axis in listed),)
        return not is_noop and are_same_axes(silent, stating, value, every)
    if operator.has("slices"):
        return are_same_axes(silent, stating, value, (*range(len(value)),))
    return False


def _states(node: Node, name: str) -> bool:
    attribute = node.attributes.get(name)
    return attribute is not None and attribute.value != 0


def mean_same_scan_axes(left: Node, right: Node, name: str, one: object, other: object) -> bool:
    """Return whether a Scan goes along the same axes of what it takes, or gives, in slices."""
    if not isinstance(one, tuple) or not isinstance(other, tuple) or len(one) != len(other):
        return False
    if not _is_known(left, right) or left.operator.form != "Scan":
        return False
    sides = [_list_scanned(node, name) for node in (left, right)]
    if any(len(side) != len(one) for side in sides):
        return False
    for first, second, *values in zip(one, other, *sides, strict=True):
        if first == second:
            continue
        ranks = {rank for value in values if value and (rank := count_axes(value)) is not None}
        if len(ranks) != 1 or not isinstance(first, int) or not isinstance(second, int):
            return False
        (rank,) = ranks
        if not all(-rank <= axis < rank for axis in (first, second)) or (first - second) % rank:
            return False
    return True


def _list_scanned(node: Node, name: str) -> list[Value | None]:
    """Return what a Scan takes, or gives, slice by slice: what stands behind its states."""
    stated = node.attributes.get("num_scan_inputs")
    count = None if stated is None else stated.value
    if not isinstance(count, int) or not 0 <= count <= len(node.inputs):
        return []
    states = len(node.inputs) - count
    return [*(node.inputs if name == "scan_input_axes" else node.outputs)[states:]]


def _is_end_of_shape(silent: Node, stating: Node, value: object) -> bool:
    ranks = {count_axes(node.input(0)) for node in (silent, stating) if node.inputs} - {None}
    return ranks == {value}


# what follows from what a node takes


def _is_split_evenly(silent: Node, stating: Node, value: object) -> bool:
    if not isinstance(value, tuple):
        return False
    return len({*value}) == 1 and len(value) == len(silent.outputs) == len(stating.outputs)


def _applies_usual(silent: Node, stating: Node, value: object) -> bool:
    usual = None if stating.domain else _ACTIVATIONS.get(stating.operator.op_type)
    stated = [node.attributes.get("direction") for node in (silent, stating)]
    directions = ["forward" if one is None else one.value for one in stated]
    if usual is None or directions[0] != directions[1]:
        return False
    return value == usual * (2 if directions[0] == "bidirectional" else 1)


def _is_float_zero(silent: Node, stating: Node, value: object) -> bool:
    """Return whether a constant is filled with what fills it without a word."""
    if not stating.operator.has("fills") or not isinstance(value, Tensor):
        return False
    if value.dtype.name != "float32" or value.size != 1:
        return False
    try:
        number = np.asarray(value.numpy()).reshape(-1)[0]
    except NetloupeError as error:
        if is_ending(error):
            raise
        return False
    return bool(number == 0 and not np.signbit(number))


def _is_usual_scale(silent: Node, stating: Node, value: object) -> bool:
    """Return whether scores are scaled by the root of a head's size, rounded to 32 bits."""
    sizes = [_find_head_size(node) for node in (silent, stating)]
    size = sizes[0]
    if size is None or sizes[0] != sizes[1] or not isinstance(value, int | float):
        return False
    usual = np.float32(1) / np.sqrt(np.float32(size))
    return bool(np.float32(value) in (usual, np.float32(1 / math.sqrt(size))))


def _find_head_size(node: Node) -> int | None:
    dims = find_dims(node, 0)
    name = "q_num_heads" if not node.domain else "num_heads"
    if dims is None or not node.operator.has("attends") or node.operator.weight_kind:
        return None
    if len(dims) == 4 and not node.domain:
        return dims[-1] if isinstance(dims[-1], int) else None
    stated = node.attributes.get(name)
    heads = None if stated is None else stated.value
    # keys in a query are packed with it
    is_packed = len(node.inputs) < 3 or node.input(1) is None or node.input(2) is None
    if not isinstance(heads, int) or heads <= 0 or len(dims) != 3 or is_packed:
        return None
    return dims[-1] // heads if isinstance(dims[-1], int) and not dims[-1] % heads else None


def find_dims(node: Node, place: int) -> Dims | None:
    """Return the dimensions of an operand; None where not even their number is known."""
    value = node.input(place)
    if value is None:
        return None
    tensor = find_stored_tensor(value)
    if tensor is not None:
        return tensor.dims
    kind = value.type
    if not isinstance(kind, TensorType) or kind.shape is None:
        return None
    return tuple(size.value for size in kind.shape)


#: by attribute
_TESTS: dict[str, Test] = {
    "activations": _applies_usual,
    "axes": _is_first_axes,
    "axis": _is_former_axis,
    "end": _is_end_of_shape,
    "kernel_shape": _is_kernel_of_weight,
    "perm": _is_turned,
    "scale": _is_usual_scale,
    "split": _is_split_evenly,
    "value": _is_float_zero,
}
