"""What is told of elements along axes: means, deviations, maxima, with shares or without."""

from __future__ import annotations

from typing import NamedTuple

from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.constant import constant_tensor

from .operations import Operations
from .readings import holds_ones, read_axes

_MOST_PASSED = 4
_MOST_ONES = 1 << 16
#: what keeps a root or a quotient from 0
_LEAST = ("Add", "Clip", "Max", "Relu")
#: what counts of samples may multiply and divide
_VARIANCES = ("variance", "weighted variance")
#: how the elements along an axis become one
_TOGETHER = {
    "ReduceMean": "mean",
    "ReduceSum": "sum",
    "ReduceMax": "maximum",
    "ReduceMin": "minimum",
    "ReduceL2": "length",
    "ReduceProd": "product",
    "GlobalAveragePool": "mean",
    "GlobalMaxPool": "maximum",
}


class Term(NamedTuple):
    """What is known of one result.

    Parameters
    ----------
    kind
        ``value`` for what is taken as it is; ``mean``, ``deviation``, ``maximum`` and so on for
        what is told of the elements along axes; ``centred``, ``standard``, ``square``; else
        ``formula``.
    of
        The value that it is of; None of several.
    axes
        Along which axes.
    shares
        The shares by which elements are weighted; None where all count alike.
    """

    kind: str
    of: Value | None = None
    axes: tuple[int, ...] = ()
    shares: Value | None = None


_FORMULA = Term("formula")


def read_terms(operations: Operations) -> list[Term]:
    """Return what each operation gives: of known statistics what they are, else a formula.

    What is multiplied by ones alone, as by a mask that hides nothing, is as it was.
    """
    terms: list[Term] = []
    for number, node in enumerate(operations.nodes):
        terms.append(_read_term(operations, terms, number, node))
    return terms


def _see_through(operations: Operations, value: Value) -> Value:
    """Return what a value was before it was multiplied by ones."""
    for _ in range(_MOST_PASSED):
        giver = operations.given_by(value, "Mul")
        fixed = operations.fixed(giver) if giver is not None else []
        tensor = constant_tensor(fixed[0]) if len(fixed) == 1 else None
        if giver is None or not holds_ones(tensor, _MOST_ONES):
            break
        value = operations.operands[giver][0]
    return value


def _read_term(operations: Operations, terms: list[Term], number: int, node: Node) -> Term:
    kind = operations.kinds[number]
    taken = [_see_through(operations, value) for value in operations.operands[number]]
    found = [_find_term(operations, terms, value) for value in taken]
    if kind in _TOGETHER and len(found) == 1:
        return _put_together(operations, found[0], taken[0], node, _TOGETHER[kind])
    if len(found) == 1:
        (one,) = found
        if kind == "Sqrt" or (kind == "Pow" and operations.scalar(number) == 0.5):
            return (
                Term("deviation", one.of, one.axes, one.shares)
                if one.kind in _VARIANCES
                else _FORMULA
            )
        if kind == "Pow" and operations.scalar(number) == 2.0:
            return _square(one, taken[0])
        if kind in _LEAST and one.kind in (*_VARIANCES, "deviation"):
            return one
        if kind in ("Mul", "Div") and one.kind in _VARIANCES:
            return one
        if kind in ("Mul", "Div") and one.kind in ("sum", "summed squares"):
            averaged = "mean" if one.kind == "sum" else "variance"
            return Term(averaged, one.of, one.axes) if _divides(operations, number) else _FORMULA
        return _FORMULA
    if len(found) != 2:
        return _FORMULA
    one, two = found
    if kind == "Mul" and taken[0] is taken[1]:
        return _square(one, taken[0])
    if kind == "Mul":
        return _weight(found, taken)
    if kind == "Sub":
        return _subtract(one, two, taken[0])
    if kind == "Div" and one.kind == "centred" and two.kind == "deviation":
        # what is centred already varies as much
        is_same = two.of in (one.of, taken[0])
        return Term("standard", one.of, one.axes) if is_same else _FORMULA
    return _FORMULA


def _find_term(operations: Operations, terms: list[Term], value: Value) -> Term:
    giver = operations.giver(value)
    return terms[giver] if giver is not None else Term("value", value)


def _put_together(operations: Operations, one: Term, value: Value, node: Node, how: str) -> Term:
    axes = read_axes(node)
    if axes is None:
        return _FORMULA
    if one.kind == "square" and how == "mean":
        return Term("mean square", one.of, axes)
    if one.kind == "squared centred" and how in ("mean", "sum"):
        return Term("variance" if how == "mean" else "summed squares", one.of, axes)
    if one.kind in ("weighted", "weighted square") and how == "sum":
        kind = "weighted mean" if one.kind == "weighted" else "weighted mean square"
        return Term(kind, one.of, axes, one.shares)
    return Term(how, value, axes)


def _square(one: Term, value: Value) -> Term:
    if one.kind == "centred":
        return Term("squared centred", one.of, one.axes)
    if one.kind in ("mean", "weighted mean"):
        return Term(f"squared {one.kind}", one.of, one.axes, one.shares)
    return Term("square", value)


def _weight(found: list[Term], taken: list[Value]) -> Term:
    """Return what a product with shares is, which a softmax made."""
    for place, (term, value) in enumerate(zip(found, taken, strict=True)):
        other, shares = taken[1 - place], find_shares(value)
        if shares is None or term.kind == "square":
            continue
        square = found[1 - place]
        if square.kind == "square":
            return Term("weighted square", square.of, (), shares)
        return Term("weighted", other, (), shares)
    return _FORMULA


def find_shares(value: Value | None) -> Value | None:
    """Return the shares that a softmax gave, which a value is perhaps in another shape."""
    for _ in range(4):
        node = value.producer if value is not None else None
        if node is None:
            return None
        if node.operator.has("distributes") and "Log" not in node.operator.form:
            return value
        if not node.operator.has("reshapes", "permutes", "casts", "copies", "broadcasts"):
            return None
        value = node.input(0)
    return None


def _subtract(one: Term, two: Term, first: Value) -> Term:
    if two.kind == "mean" and two.of is first:
        return Term("centred", first, two.axes)
    for prefix, whole in (("", "variance"), ("weighted ", "weighted variance")):
        is_whole = one.kind == f"{prefix}mean square" and two.kind == f"squared {prefix}mean"
        if is_whole and one.of is two.of and one.shares is two.shares:
            return Term(whole, one.of, one.axes, one.shares)
    return _FORMULA


def _divides(operations: Operations, number: int) -> bool:
    """Return whether a sum is divided by something that is the same for all inputs."""
    scalar = operations.scalar(number)
    if operations.kinds[number] == "Div":
        return scalar is None or scalar > 1
    return scalar is not None and 0 < scalar < 1
