"""Denotations of axes, carried through operators and held against what these expect.

ONNX, DimensionDenotation: operators that permute, destroy or create axes carry denotations on
(Denotation Propagation), and operators that expect an operand in a particular form are held to it
(Denotation Verification). Followed are transpositions, reductions, what adds or drops axes of size
1, and what leaves axes as they are; other operators end the way of a denotation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from netloupe.explorer.model import Graph, Node, SparseTensorType, TensorType, Value

from .denotations import DATA_AXES, FILTER_AXES
from .operands import read_constant, take_attribute, take_input, take_output
from .rule import Occurrence

#: by axis a standard denotation, "" for none
Axes: TypeAlias = tuple[str, ...]

_BATCH, _CHANNEL, _TIME, _FEATURE = DATA_AXES
_IN, _OUT, _SPATIAL = FILTER_AXES
_KNOWN = frozenset((*DATA_AXES, *FILTER_AXES))

#: operators that take [batch, channel, feature …], and give the same
_SPATIAL_OPS = frozenset(
    {"AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "GlobalAveragePool"}
    | {"GlobalLpPool", "GlobalMaxPool", "GroupNormalization", "InstanceNormalization", "LRN"}
    | {"LpPool", "MaxPool"}
)
_RECURRENT_OPS = frozenset({"GRU", "LSTM", "RNN"})
#: operators whose result has the axes of their first operand, in their order
_SAME_OPS = frozenset(
    {"Abs", "Cast", "CastLike", "Ceil", "Celu", "Clip", "DequantizeLinear", "Dropout", "Elu"}
    | {"Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "Hardmax", "Identity"}
    | {"LayerNormalization", "LeakyRelu", "Log", "LogSoftmax", "Mish", "Neg", "Pad", "PRelu"}
    | {"QuantizeLinear", "Reciprocal", "Relu", "Resize", "Round", "Selu", "Shrink", "Sigmoid"}
    | {"Slice", "Softmax", "Softplus", "Softsign", "Sqrt", "Tanh", "ThresholdedRelu", "Upsample"}
)
#: operators of several operands whose axes are the same, the last ones where one has fewer
_JOINT_OPS = frozenset(
    {"Add", "Concat", "Div", "Max", "Mean", "Min", "Mul", "Pow", "Sub", "Sum", "Where"}
)


def follow_denotations(graphs: list[Graph]) -> Iterator[Occurrence]:
    """Yield where the denotations of axes do not fit an operator, or one another."""
    if not any(graph._has_denotations for graph in graphs):
        return
    known: dict[Value, Axes] = {}
    for graph in graphs:
        for value in graph.values.values():
            if axes := _read_stated(value):
                known[value] = axes
        for node in graph.nodes:
            if node.domain == graph.dialect.domain:
                yield from _judge(node, known)
                yield from _carry(node, known)


def _read_stated(value: Value) -> Axes:
    """Return the denotations that the file states; () where it states none."""
    stated = value.type
    if not isinstance(stated, TensorType | SparseTensorType) or stated.shape is None:
        return ()
    given = tuple(dimension.denotation.upper() for dimension in stated.shape)
    axes = tuple(name if name in _KNOWN else "" for name in given)
    return axes if any(axes) else ()


def _judge(node: Node, known: dict[Value, Axes]) -> Iterator[Occurrence]:
    """Yield the operands of a node that are not in the form that it expects."""
    for place, name, wanted in _list_expected(node, known):
        axes = known.get(operand, ()) if (operand := take_input(node, place)) is not None else ()
        for axis, (has, may_be) in enumerate(zip(axes, wanted, strict=False)):
            if has and has not in may_be:
                yield Occurrence(
                    node.path,
                    f"{node.op_type} takes axis {axis} of its {name} for "
                    f"{' or '.join(may_be)}, but it is denoted {has}",
                    {"operand": place, "axis": axis, "denoted": has, "expected": list(may_be)},
                    f"{node.op_type} {place} {axis} {has}",
                )
                break


def _list_expected(
    node: Node, known: dict[Value, Axes]
) -> Iterator[tuple[int, str, tuple[tuple[str, ...], ...]]]:
    """Yield by operand what it is called, and by axis which denotations are expected."""
    rank = max((len(known.get(v, ())) for v in node.inputs[:2] if v is not None), default=0)
    more = max(rank - 2, 0)
    if node.op_type in _SPATIAL_OPS:
        features = ((_FEATURE, _TIME),) * more
        yield 0, "data", ((_BATCH,), (_CHANNEL, _FEATURE), *features)
        if node.op_type == "Conv":
            yield 1, "filter", ((_OUT,), (_IN,), *(((_SPATIAL,),) * more))
        elif node.op_type == "ConvTranspose":
            yield 1, "filter", ((_IN,), (_OUT,), *(((_SPATIAL,),) * more))
    elif node.op_type in _RECURRENT_OPS:
        first = (_TIME, _BATCH) if not take_attribute(node, "layout", 0) else (_BATCH, _TIME)
        yield 0, "data", ((first[0],), (first[1],), (_FEATURE, _CHANNEL))


def _carry(node: Node, known: dict[Value, Axes]) -> Iterator[Occurrence]:
    """Note what the result of a node is denoted; yield where that contradicts something."""
    given = take_output(node)
    if given is None:
        return
    axes, clash = _find_result(node, known)
    if clash:
        yield clash
    stated = known.get(given)
    if stated is None:
        if any(axes):
            known[given] = axes
        return
    for axis, (has, follows) in enumerate(zip(stated, axes, strict=False)):
        if has and follows and has != follows and len(stated) == len(axes):
            yield Occurrence(
                given.path,
                f"its axis {axis} is denoted {has}, but {node.op_type} gives it as {follows}",
                {"axis": axis, "denoted": has, "follows": follows},
                f"{node.op_type} {axis} {has} {follows}",
            )
            break


def _find_result(node: Node, known: dict[Value, Axes]) -> tuple[Axes, Occurrence | None]:
    """Return what the axes of a node's first result are denoted, and where operands clash."""
    if node.op_type in _JOINT_OPS:
        return _join(node, known)
    first = take_input(node, 0)
    axes = known.get(first, ()) if first is not None else ()
    if not axes:
        return (), None
    if node.op_type in _SAME_OPS or node.op_type in _SPATIAL_OPS:
        return axes, None
    if node.op_type == "Transpose":
        order = take_attribute(node, "perm", [*reversed(range(len(axes)))])
        if order and sorted(order) == [*range(len(axes))]:
            return tuple(axes[axis] for axis in order), None
    elif node.op_type in ("Squeeze", "Unsqueeze") or node.op_type.startswith("Reduce"):
        return _change_rank(node, axes), None
    return (), None


def _change_rank(node: Node, axes: Axes) -> Axes:
    """Return the denotations behind what drops, adds or shrinks some axes; () where unknown."""
    stored = read_constant(take_input(node, 1), 64) if len(node.inputs) > 1 else None
    chosen = stored.reshape(-1).tolist() if stored is not None else take_attribute(node, "axes")
    if not isinstance(chosen, list | tuple) or not all(isinstance(each, int) for each in chosen):
        return ()
    if node.op_type == "Unsqueeze":
        rank = len(axes) + len(chosen)
        added = {axis % rank for axis in chosen}
        left = iter(axes)
        if len(added) != len(chosen):
            return ()
        return tuple("" if axis in added else next(left) for axis in range(rank))
    gone = {axis % len(axes) for axis in chosen}
    if node.op_type != "Squeeze" and take_attribute(node, "keepdims", 1):
        return axes
    return tuple(name for axis, name in enumerate(axes) if axis not in gone)


def _join(node: Node, known: dict[Value, Axes]) -> tuple[Axes, Occurrence | None]:
    """Return the denotations that several operands agree upon, counted from the last axis."""
    given = [known[value] for value in node.inputs if value is not None and value in known]
    rank = max(map(len, given), default=0)
    joined = [""] * rank
    for axes in given:
        for back, name in enumerate(reversed(axes), 1):
            if not name:
                continue
            if joined[-back] and joined[-back] != name:
                axis = rank - back
                clash = Occurrence(
                    node.path,
                    f"{node.op_type} joins axes that are denoted {joined[-back]} and {name}",
                    {"axis": axis, "denoted": [joined[-back], name]},
                    f"{node.op_type} {axis} {name}",
                )
                return (), clash
            joined[-back] = name
    return tuple(joined), None
