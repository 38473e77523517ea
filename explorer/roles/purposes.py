"""What a piece of preparation does, where its nodes and what they feed leave no doubt.

* attention mask: all that it gives is added to scores before a Softmax, or chosen there, or is the
  mask of a fused operator. *Causal* where positions are compared with positions, or a triangle is
  cut; *padding* where the elements of an input of two axes tell what is left out.
* ALiBi: positions times a slope for each head, added to the scores (O. Press and others, Train
  Short, Test Long, 2022, section 3).
* position ids: numbers counted by Range or CumSum that choose rows of a table.
* rotary cos/sin: cosine and sine of the same angles, each a factor (J. Su and others, RoFormer,
  2021, section 3.4).
* sinusoidal embedding: cosine and sine of the same angles side by side (A. Vaswani and others,
  Attention Is All You Need, 2017, section 3.5).
* relative position bias: see :mod:`netloupe.explorer.roles.unlearned`.
* initial state: what recurrent operators begin with.
* pixel normalization: shifting and scaling an image before the first convolution.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Node, Tensor, TensorType, Value, constant_tensor

from .fixed import is_input_independent
from .origins import find_origin
from .unlearned import LAYOUT, is_relative_bias
from .weights import find_weight

_COMPARISONS = frozenset({"Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
#: a mask is made with one of these
_CHOOSING = _COMPARISONS | {"And", "Equal", "Not", "Or", "Trilu", "Where"}
_COUNTING = frozenset({"CumSum", "Range"})
#: what may stand between a mask and the Softmax over the scores
_SCORING = frozenset(
    {"Add", "And", "Cast", "Clip", "Concat", "DequantizeLinear", "Div", "Expand", "IsNaN", "Max"}
    | {"Min", "Mul", "QLinearAdd", "QuantizeLinear", "Reshape", "Slice", "Sub", "Unsqueeze"}
    | {"Where"}
)
_SOFTMAX = frozenset({"QLinearSoftmax", "Softmax"})
#: by domain and fused operator, the inputs that are masks or biases of the scores
_MASKS = {
    ("", "Attention"): {3},
    ("com.microsoft", "Attention"): {3, 5},
    ("com.microsoft", "EmbedLayerNormalization"): {7},
    ("com.microsoft", "GroupQueryAttention"): {10},
    ("com.microsoft", "MultiHeadAttention"): {4, 5},
    ("com.microsoft", "QAttention"): {5},
}
_STATES = {"GRU": {5}, "LSTM": {5, 6}, "RNN": {5}}
_SHIFTING = frozenset({"Add", "Div", "Mul", "Sub"})
_PIXELS = (LAYOUT - {"Concat", "Slice"}) | _SHIFTING | {"DequantizeLinear", "QuantizeLinear"}
_MOST_STEPS = 16
_MOST_LOOKED = 40
_MOST_USES = 200


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a piece of preparation does.

    Parameters
    ----------
    name
        As a person would call it: ``attention mask``.
    facts
        What more is certain: ``causal``, ``padding``.
    """

    name: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PieceUse:
    """A use of what a piece gives, by a node outside of it."""

    value: Value
    user: Node


def find_purpose(graph: Graph, shapes: Container[int], nodes: Sequence[int]) -> Purpose | None:
    """Return what some nodes of preparation do; None where that is not certain.

    Parameters
    ----------
    graph
        The graph.
    shapes
        Indices of the nodes that only compute with shapes.
    nodes
        Indices of the nodes of preparation.
    """
    piece = _Piece(graph, shapes, nodes)
    for search in (
        _find_relative_bias,
        _find_rotary,
        _find_mask,
        _find_positions,
        _find_state,
        _find_pixels,
    ):
        purpose = search(piece)
        if purpose is not None:
            return purpose
    return None


class _Piece:
    """Nodes of preparation with their operators and uses."""

    def __init__(self, graph: Graph, shapes: Container[int], nodes: Sequence[int]) -> None:
        self.graph = graph
        self.nodes = [graph.nodes[index] for index in nodes]
        self.inside = {*self.nodes}
        self.kinds = {node.op_type for node in self.nodes}
        self.uses = [*self._list_uses(shapes)]

    def _list_uses(self, shapes: Container[int]) -> Iterator[PieceUse]:
        for node in self.nodes:
            for value in node.outputs:
                for user in value.users if value is not None else ():
                    if user in self.inside or (user.graph is self.graph and user.index in shapes):
                        continue
                    if user.op_type not in self.graph.dialect.shape_operators.readers:
                        assert value is not None  # noqa: S101 - it has users
                        yield PieceUse(value, user)

    def list_inputs(self) -> list[Value]:
        """Return the inputs of the graph whose elements the piece takes."""
        shapes = self.graph.dialect.shape_operators.readers
        return [
            *dict.fromkeys(
                value
                for node in self.nodes
                if node.op_type not in shapes
                for value in node.inputs
                if value is not None and value.is_input and value.initializer is None
            )
        ]


def _list_places(use: PieceUse) -> set[int]:
    return {place for place, value in enumerate(use.user.inputs) if value is use.value}


def _find_relative_bias(piece: _Piece) -> Purpose | None:
    for node in piece.nodes:
        if node.op_type == "Gather" and find_weight(node) is not None and is_relative_bias(node):
            return Purpose("relative position bias", _list_mask_facts(piece))
    return None


def _find_rotary(piece: _Piece) -> Purpose | None:
    if not {"Cos", "Sin"} <= piece.kinds or not piece.uses:
        return None
    given = dict.fromkeys(use.value for use in piece.uses)
    functions = {_trace_function(value) for value in given}
    if functions == {"Cos", "Sin"}:
        is_factor = all(_is_factor(use) for use in piece.uses[:_MOST_USES])
        return Purpose("rotary cos/sin") if is_factor else None
    joined = {_trace_function(value, joins=True) for value in given}
    return Purpose("sinusoidal embedding") if joined == {"Concat"} else None


def _trace_function(value: Value, *, joins: bool = False) -> str:
    """Return whether a value is a cosine or a sine, in some layout and perhaps scaled.

    With ``joins`` a Concat of one of each counts as ``Concat``.
    """
    node = value.producer
    for _ in range(_MOST_STEPS):
        if node is None:
            return ""
        if node.op_type in ("Cos", "Sin"):
            return node.op_type
        if node.op_type == "Concat" and joins:
            parts = [_trace_function(v) for v in node.inputs if v is not None]
            return "Concat" if sorted(parts) == ["Cos", "Sin"] else ""
        if node.op_type not in LAYOUT and node.op_type != "Mul":
            return ""
        computed = [v for v in node.inputs if v is not None and not is_input_independent(v)]
        data = node.inputs[0] if node.op_type in LAYOUT else computed[0] if computed else None
        if node.op_type == "Mul" and len(computed) > 1:
            return ""
        node = data.producer if data is not None else None
    return ""


def _is_factor(use: PieceUse) -> bool:
    """Return whether a use multiplies by a value, after a change of layout perhaps."""
    pending = [use.user]
    looked = 0
    while pending:
        user = pending.pop()
        looked += 1
        if user.op_type in LAYOUT and looked < _MOST_LOOKED:
            following = [u for value in user.outputs if value is not None for u in value.users]
            if not following:
                return False
            pending += following
        elif user.op_type not in ("Mul", "RotaryEmbedding", "GroupQueryAttention"):
            return False
    return True


def _find_mask(piece: _Piece) -> Purpose | None:
    if not piece.uses or not all(_masks_scores(use) for use in piece.uses[:_MOST_USES]):
        return None
    has_slopes = any(map(_multiplies_by_slopes, piece.nodes))
    # 1 - mask, times a large negative number
    is_inverted = {"Mul", "Sub"} <= piece.kinds and not piece.kinds & _COUNTING
    if not piece.kinds & _CHOOSING and not is_inverted:
        return Purpose("ALiBi") if has_slopes else None
    return Purpose("attention mask", (*_list_mask_facts(piece), *["ALiBi"] * has_slopes))


def _multiplies_by_slopes(node: Node) -> bool:
    """Return whether a node multiplies positions by several constants, one for each head."""
    if node.op_type != "Mul" or len(node.inputs) != 2:
        return False
    for slopes, positions in (node.inputs, node.inputs[::-1]):
        if slopes is None or positions is None or not is_input_independent(slopes):
            continue
        origin = find_origin(slopes)
        dims = origin.dims if origin is not None else None
        if dims is not None and None not in dims and prod(filter(None, dims)) > 1:
            return not is_input_independent(positions) and _trace_counting(positions)
    return False


def _masks_scores(use: PieceUse) -> bool:
    """Return whether a use adds a value to the scores of an attention, or chooses among them."""
    masks = _MASKS.get((use.user.domain, use.user.op_type))
    if masks is not None:
        return _list_places(use) <= masks
    pending = [use.user]
    seen: set[Node] = set()
    while pending and len(seen) < _MOST_LOOKED:
        node = pending.pop()
        if node.op_type in _SOFTMAX:
            return True
        if node in seen or node.op_type not in _SCORING:
            continue
        seen.add(node)
        pending += [user for value in node.outputs if value is not None for user in value.users]
        masks = _MASKS.get((node.domain, node.op_type))
    return False


def _list_mask_facts(piece: _Piece) -> tuple[str, ...]:
    offsets = [
        offset
        for node in piece.nodes
        if node.op_type in _COMPARISONS and (offset := _read_band(node)) is not None
    ]
    facts = []
    if "Trilu" in piece.kinds or any(abs(offset) <= 1 for offset in offsets):
        facts.append("causal")
    facts += [f"window {abs(offset):,}" for offset in offsets if abs(offset) > 1][:1]
    if any(_tells_padding(piece, value) for value in piece.list_inputs()):
        facts.append("padding")
    return tuple(facts)


def _read_band(node: Node) -> int | None:
    """Return by how much positions may differ where a node compares them; None for all else."""
    if len(node.inputs) != 2:
        return None
    first, second = (_read_offset(value) for value in node.inputs)
    if first is None or second is None or node.inputs[0] is node.inputs[1]:
        return None
    return first - second


def _read_offset(value: Value | None) -> int | None:
    """Return what is added to positions that Range counts; None where these are none.

    What is known only when the model runs, such as the length of a cache, shifts the whole.
    """
    offset = 0
    for _ in range(_MOST_STEPS):
        node = value.producer if value is not None else None
        if node is None:
            return None
        if node.op_type == "Range":
            return offset
        if node.op_type in ("Add", "Sub") and len(node.inputs) == 2:
            ranges = [v for v in node.inputs if _comes_from_counting(v)]
            if len(ranges) != 1 or (node.op_type == "Sub" and ranges[0] is not node.inputs[0]):
                return None
            other = node.inputs[1] if ranges[0] is node.inputs[0] else node.inputs[0]
            if other is not None and is_input_independent(other):
                added = _read_scalar(other)
                if added is None:
                    return None
                offset += added if node.op_type == "Add" else -added
            value = ranges[0]
        elif node.op_type in LAYOUT - {"Concat"}:
            value = node.inputs[0] if node.inputs else None
        else:
            return None
    return None


def _comes_from_counting(value: Value | None) -> bool:
    for _ in range(_MOST_STEPS):
        node = value.producer if value is not None else None
        if node is None:
            return False
        if node.op_type == "Range":
            return True
        if node.op_type not in (LAYOUT - {"Concat"}) | {"Add", "Sub"}:
            return False
        value = node.inputs[0] if node.inputs else None
    return False


def _read_scalar(value: Value) -> int | None:
    tensor = constant_tensor(value)
    if not isinstance(tensor, Tensor) or tensor.size != 1 or not tensor.dtype.is_integer:
        return None
    try:
        return int(tensor.numpy().ravel()[0])
    except NetloupeError:
        return None


def _tells_padding(piece: _Piece, value: Value) -> bool:
    """Return whether the elements of an input of two axes tell which places are left out.

    Positions that are given from outside and compared with counted ones do not.
    """
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if shape is None or len(shape) != 2:
        return False
    given = {use.value for use in piece.uses}
    readers = piece.graph.dialect.shape_operators.readers
    pending = [value]
    seen: set[Value] = set()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        if current in given:
            return True
        for user in current.users:
            if user not in piece.inside or user.op_type in readers:
                continue
            if user.op_type in _COMPARISONS and any(map(_comes_from_counting, user.inputs)):
                continue
            pending += [result for result in user.outputs if result is not None]
    return False


def _find_positions(piece: _Piece) -> Purpose | None:
    if not piece.kinds & _COUNTING or not all(
        _trace_counting(use.value) for use in piece.uses[:_MOST_USES]
    ):
        return None
    tables = [use for use in piece.uses[:_MOST_USES] if use.user.op_type == "Gather"]
    if any(_list_places(use) != {1} or find_weight(use.user) is None for use in tables):
        return None
    # a mask, or angles, may be made of the same numbers
    is_plain = piece.kinds <= _COUNTING | LAYOUT | {"Add", "Mul", "Sub"}
    return Purpose("position ids") if piece.uses and (tables or is_plain) else None


def _trace_counting(value: Value) -> bool:
    """Return whether a value is what Range or CumSum counts, shifted perhaps."""
    pending: list[Value | None] = [value]
    for _ in range(_MOST_LOOKED):
        if not pending:
            return False
        current = pending.pop()
        node = current.producer if current is not None else None
        if node is None:
            continue
        if node.op_type in ("CumSum", "Range"):
            return True
        if node.op_type in LAYOUT:
            pending.append(node.inputs[0] if node.inputs else None)
        elif node.op_type in ("Add", "Mul", "Sub", "Where"):
            pending += node.inputs
    return False


def _find_state(piece: _Piece) -> Purpose | None:
    uses = piece.uses
    if len(uses) <= _MOST_LOOKED:  # one state for all layers is cut into one for each
        uses = [inner for use in uses for inner in _list_uses_of_slices(use)]
    for use in uses:
        places = _STATES.get(use.user.op_type)
        if places is None or not _list_places(use) <= places:
            return None
    return Purpose("initial state") if uses else None


def _list_uses_of_slices(use: PieceUse) -> list[PieceUse]:
    """Return the uses of what a Slice cuts out of a value; of another use, itself."""
    if use.user.op_type != "Slice" or use.user.inputs[0] is not use.value:
        return [use]
    results = [value for value in use.user.outputs if value is not None]
    return [PieceUse(value, user) for value in results for user in value.users] or [use]


def _find_pixels(piece: _Piece) -> Purpose | None:
    inputs = piece.list_inputs()
    if len(inputs) != 1 or not piece.kinds <= _PIXELS or not piece.uses:
        return None
    shape = inputs[0].type.shape if isinstance(inputs[0].type, TensorType) else None
    if shape is None or len(shape) not in (3, 4):
        return None
    shifting = [node for node in piece.nodes if node.op_type in _SHIFTING]
    if not shifting or not all(
        any(v is not None and is_input_independent(v) for v in node.inputs) for node in shifting
    ):
        return None
    weights = [find_weight(use.user) for use in piece.uses]
    if all(weight is not None and weight.kind == "convolution" for weight in weights):
        return Purpose("pixel normalization")
    return None
