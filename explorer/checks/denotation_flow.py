"""Denotations of axes, carried through operators and held against what these expect.

ONNX, DimensionDenotation: operators that permute, destroy or create axes carry denotations on
(Denotation Propagation), and operators that expect an operand in a particular form are held to it
(Denotation Verification). Followed are transpositions, reductions, what adds or drops axes of size
1, what takes some of an axis or multiplies the last one, what leaves axes as they are, and of
Reshape the first axes as far as they are the same. Other operators end the way of a denotation, and
that is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

from netloupe.explorer.model import Model, Node, SparseTensorType, TensorType, Value
from netloupe.explorer.model.reading import get_graph_reading
from netloupe.explorer.model.storage import multiply_dims
from netloupe.explorer.notation import join_parts
from netloupe.explorer.operators import Operator

from .denotations import DATA_AXES, FILTER_AXES
from .operands import read_constant, take_attribute
from .rule import Occurrence
from .subject import Subject

#: by axis a standard denotation, "" for none
Axes: TypeAlias = tuple[str, ...]

_BATCH, _CHANNEL, _TIME, _FEATURE = DATA_AXES
_IN, _OUT, _SPATIAL = FILTER_AXES
_KNOWN = frozenset((*DATA_AXES, *FILTER_AXES))

#: the result has the axes of the first operand, in their order
_KEEPING = (
    *("accumulates", "activates", "casts", "convolves", "copies", "dequantizes", "drops_out"),
    *("elementwise", "masks", "normalizes", "pads", "picks", "quantizes", "resamples"),
)
_MOST_TOLD = 5
#: by paths, since a value would keep its model
_CARRIED: WeakKeyDictionary[Model, Mapping[str, Axes]] = WeakKeyDictionary()


def follow_denotations(subject: Subject) -> Iterator[Occurrence]:
    """Yield where the denotations of axes do not fit an operator, or one another.

    What ends the way of a denotation is noted as not looked at.
    """
    known: dict[Value, Axes] = {}
    ended: Counter[str] = Counter()
    yield from _follow(subject, known, ended)
    if ended:
        told = [f"{name[:60]} ({count:,})" for name, count in ended.most_common(_MOST_TOLD)]
        subject.leave_out(
            f"denotations of axes are not followed behind {join_parts(told, len(ended))}"
        )


def find_carried(model: Model) -> Mapping[str, Axes]:
    """Return by path the denotations of axes that values of a model have from others.

    Of values of which the file states some itself, nothing is in it. It is found once for a model.
    """
    if model not in _CARRIED:
        known: dict[Value, Axes] = {}
        for _ in _follow(Subject(model), known, Counter()):
            pass  # what does not fit is a finding
        _CARRIED[model] = {
            value.path: axes for value, axes in known.items() if not _read_stated(value)
        }
    return _CARRIED[model]


def _follow(
    subject: Subject, known: dict[Value, Axes], ended: Counter[str]
) -> Iterator[Occurrence]:
    """Yield what does not fit; note denotations of values, and operators that end their way."""
    graphs = subject.graphs
    if not any(get_graph_reading(graph).has_denotations for graph in graphs):
        return
    for graph in graphs:
        for value in graph.values.values():
            if axes := _read_stated(value):
                known[value] = axes
        for node in graph.nodes:
            if graph.dialect.is_own(node):
                yield from _judge(node, known)
                yield from _carry(node, known, subject)
            if _ends_here(node, known):
                ended[node.op_type] += 1


def _ends_here(node: Node, known: dict[Value, Axes]) -> bool:
    """Return whether a node takes a value with denotations, and gives none that is denoted."""
    if not any(value is not None and value in known for value in node.inputs):
        return False
    if node.operator.has("reads_shape") or node.operator.results.kind_at(0) == "indices":
        return False  # what has no axes of operands
    given = [value for value in node.outputs if value is not None]
    return bool(given) and not any(value in known for value in given)


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
        axes = known.get(operand, ()) if (operand := node.input(place)) is not None else ()
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
    operator = node.operator
    if operator.has("convolves", "pools", "normalizes_channels"):
        features = ((_FEATURE, _TIME),) * more
        yield 0, "data", ((_BATCH,), (_CHANNEL, _FEATURE), *features)
        weight = operator.operands.find("weight")
        if operator.has("convolves") and weight is not None:
            channels = ((_IN,), (_OUT,)) if operator.has("transposed") else ((_OUT,), (_IN,))
            yield weight, "filter", (*channels, *(((_SPATIAL,),) * more))
    elif operator.has("recurrent"):
        first = (_TIME, _BATCH) if not take_attribute(node, "layout", 0) else (_BATCH, _TIME)
        yield 0, "data", ((first[0],), (first[1],), (_FEATURE, _CHANNEL))


def _carry(node: Node, known: dict[Value, Axes], subject: Subject) -> Iterator[Occurrence]:
    """Note what the results of a node are denoted; yield where that contradicts something."""
    axes, clash = _find_result(node, known, subject)
    if clash:
        yield clash
    is_alike = node.operator.has("drops_out", "splits") or node.operator.form == "TopK"
    count = None if is_alike else 1
    for given in node.outputs[:count]:
        if given is not None:
            yield from _note_result(node, given, axes, known)


def _note_result(
    node: Node, given: Value, axes: Axes, known: dict[Value, Axes]
) -> Iterator[Occurrence]:
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


def _find_result(
    node: Node, known: dict[Value, Axes], subject: Subject
) -> tuple[Axes, Occurrence | None]:
    """Return what the axes of a node's first result are denoted, and where operands clash."""
    operator = node.operator
    operands = operator.operands
    if operator.has("elementwise", "joins") and (
        operands.repeated or len(operands.list_of("data")) > 1
    ):
        return _join(node, known, subject)
    first = node.input(0)
    axes = known.get(first, ()) if first is not None else ()
    if not axes:
        return (), None
    if _keeps_axes(operator):
        return axes, None
    if operator.has("permutes"):
        order = take_attribute(node, "perm", [*reversed(range(len(axes)))])
        if order and sorted(order) == [*range(len(axes))]:
            return tuple(axes[axis] for axis in order), None
    elif operands.at(1) == "axes":  # what adds axes, drops them or shrinks them
        return _change_rank(node, axes), None
    elif operator.form == "Reshape":
        return _reshape(node, axes, subject), None
    elif operator.form == "Gather":
        axis, indices = take_attribute(node, "axis", 0), _find_rank(node.input(1), subject)
        if indices is not None and isinstance(axis, int) and -len(axes) <= axis < len(axes):
            axis %= len(axes)
            return (*axes[:axis], *[""] * indices, *axes[axis + 1 :]), None
    elif operator.weight_layout == "linear":
        is_matrix = _find_rank(node.input(1), subject) == 2
        if is_matrix and len(axes) > 1 and not take_attribute(node, "transA", 0):
            return (*axes[:-1], ""), None
    elif operator.form == "Flatten" and take_attribute(node, "axis", 1) == 1 and len(axes) > 1:
        return (axes[0], axes[1] if len(axes) == 2 else ""), None
    return (), None


def _keeps_axes(operator: Operator) -> bool:
    """Return whether the result has the axes of the first operand, in their order."""
    if operator.has("pools"):
        return operator.operands.find("boxes") is None  # of which each makes one of a batch
    if operator.has("repeats"):
        return operator.operands.find("repeats") is not None  # else axes may be put before
    return operator.has(*_KEEPING) or operator.form == "TopK"


def _reshape(node: Node, axes: Axes, subject: Subject) -> Axes:
    """Return the denotations of the first axes that a Reshape leaves as they are; () for none.

    Elements stay in row-major order: an axis is the same where those before it are, and its size
    is, or all that follows has the same size.
    """
    stored = read_constant(node.input(1), 64)
    dims = subject.fact(node.input(0)).dims
    if stored is None or dims is None or len(dims) != len(axes):
        return ()
    target = [int(size) for size in stored.reshape(-1)]
    kept: list[str] = []
    for place, (size, dim) in enumerate(zip(target, dims, strict=False)):
        behind, before = target[place + 1 :], dims[place + 1 :]
        is_same = size == dim or (size == 0 and not take_attribute(node, "allowzero", 0))
        if not is_same and not _have_equal_sizes(behind, before):
            break
        kept.append(axes[place])
    return (*kept, *[""] * (len(target) - len(kept))) if any(kept) else ()


def _have_equal_sizes(one: Sequence[object], other: Sequence[object]) -> bool:
    products = []
    for sizes in (one, other):
        known = [size for size in sizes if isinstance(size, int) and size > 0]
        if len(known) != len(sizes):
            return False
        products.append(multiply_dims(tuple(known)))
    return products[0] == products[1]


def _find_rank(value: Value | None, subject: Subject) -> int | None:
    """Return how many axes a value has, as far as that is known."""
    if value is None:
        return None
    stored = value.initializer
    if stored is not None:
        return len(stored.dims)
    stated = value.type
    if isinstance(stated, TensorType | SparseTensorType) and stated.shape is not None:
        return len(stated.shape)
    dims = subject.fact(value).dims
    return None if dims is None else len(dims)


def _change_rank(node: Node, axes: Axes) -> Axes:
    """Return the denotations behind what drops, adds or shrinks some axes; () where unknown."""
    stored = read_constant(node.input(1), 64) if len(node.inputs) > 1 else None
    chosen = stored.reshape(-1).tolist() if stored is not None else take_attribute(node, "axes")
    if not isinstance(chosen, list | tuple) or not all(isinstance(each, int) for each in chosen):
        return ()
    if node.operator.form == "Unsqueeze":
        rank = len(axes) + len(chosen)
        added = {axis % rank for axis in chosen}
        left = iter(axes)
        if len(added) != len(chosen):
            return ()
        return tuple("" if axis in added else next(left) for axis in range(rank))
    gone = {axis % len(axes) for axis in chosen}
    if node.operator.has("reduces") and take_attribute(node, "keepdims", 1):
        return axes
    return tuple(name for axis, name in enumerate(axes) if axis not in gone)


def _join(node: Node, known: dict[Value, Axes], subject: Subject) -> tuple[Axes, Occurrence | None]:
    """Return the denotations that several operands agree upon, counted from the last axis.

    The result has as many axes as the operand that has most, whether or not that is denoted; where
    that is not known, nothing is denoted.
    """
    values = [value for value in node.inputs if value is not None]
    given = [known[value] for value in values if value in known]
    ranks = [_find_rank(value, subject) for value in values] if given else []
    is_known = None not in ranks
    rank = max([*map(len, given), *(each for each in ranks if each is not None)], default=0)
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
    return tuple(joined) if is_known else (), None
