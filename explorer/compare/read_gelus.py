"""Which formula of GELU nodes compute, as one operator or written out.

Sources: D. Hendrycks, K. Gimpel, Gaussian Error Linear Units, 2016: x Φ(x) by the error function,
by tanh and by x σ(1.702 x); onnx/docs/Operators.md: Gelu, Swish; ContribOperators.md of ONNX
Runtime: BiasGelu, FastGelu, Gelu, QuickGelu.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import find_default, find_schema

from .changes import Change
from .pair import Pair
from .read_norms import read_one_float

Numbers = npt.NDArray[np.float64]

_ERF, _TANH, _SIGMOID = "erf", "tanh", "sigmoid"
# local, for only here it is asked by which formula a GELU goes
#: by operator its formula; that of Gelu without ``approximate``
_FORMULAS = {"BiasGelu": _ERF, "FastGelu": _TANH, "Gelu": _ERF, "QuickGelu": _SIGMOID}
_FORMULAS |= {"Swish": _SIGMOID}
# local: the node by which one is known that is written out
_WRITTEN_OUT = {"Erf": _ERF, "Tanh": _TANH, "Sigmoid": _SIGMOID}
#: how ``approximate`` of Gelu calls them
_APPROXIMATE = {"none": _ERF, "tanh": _TANH}
_NEAR, _NEAR_IN_HALF = 1e-5, 1e-2
#: at these numbers what is written out is calculated
_TRIED = np.linspace(-3.0, 3.0, 13)
#: what rounding to 16 bits, or a factor with few digits, leaves
_ROUNDING = 5e-3
# local: how the nodes of one that is written out are calculated
_RESULTS: dict[str, Callable[..., Numbers]] = {
    "Add": np.add,
    "Cast": np.positive,
    "Div": np.divide,
    "Erf": lambda x: np.array([math.erf(each) for each in np.ravel(x)]),
    "Identity": np.positive,
    "Mul": np.multiply,
    "Neg": np.negative,
    "Pow": np.power,
    "Sub": np.subtract,
    "Tanh": np.tanh,
}


class _Gelu(NamedTuple):
    """A formula, and of that by a sigmoid what x is multiplied by in it, where that is known."""

    formula: str
    alpha: float | None = None
    is_half: bool = False


def compare_gelus(pair: Pair) -> Iterator[Change]:
    """Yield in what two GELUs differ, of which either may be written out as several nodes."""
    if not any(node.operator.form in _FORMULAS for node in (*pair.left, *pair.right)):
        return
    one, other = _read(pair.left), _read(pair.right)
    if one is None or other is None:
        return
    if one.formula != other.formula:
        yield Change("formula of GELU", f"by {one.formula}", f"by {other.formula}")
    elif one.alpha is not None and other.alpha is not None:
        near = _NEAR_IN_HALF if one.is_half or other.is_half else _NEAR
        if not math.isclose(one.alpha, other.alpha, rel_tol=near):
            yield Change("alpha of GELU", one.alpha, other.alpha)


def _read(nodes: tuple[Node, ...]) -> _Gelu | None:
    heads = [n for n in nodes if n.operator.form in _FORMULAS and n.function is None]
    if not heads:
        return _read_written_out(nodes)
    if len(heads) > 1:
        return None
    head = heads[0]
    stated = head.attributes.get("approximate")
    if stated is not None:
        formula = _APPROXIMATE.get(str(stated.value))
        return None if formula is None else _Gelu(formula)
    stated = head.attributes.get("alpha")
    schema = find_schema(head.domain, head.op_type, head.opset_version)
    alpha = None if schema is None else find_default(schema, "alpha")
    if stated is not None:
        alpha = stated.value
    return _Gelu(_FORMULAS[head.operator.form], alpha if isinstance(alpha, int | float) else None)


def _read_written_out(nodes: tuple[Node, ...]) -> _Gelu | None:
    marks = [node for node in nodes if node.operator.form in _WRITTEN_OUT]
    if len(marks) != 1 or not marks[0].inputs:
        return None
    formula = _WRITTEN_OUT[marks[0].operator.form]
    if formula != _SIGMOID:
        is_other = _has_other_numbers(nodes, marks[0])
        return _Gelu(f"{formula} with other numbers" if is_other else formula)
    value = marks[0].input(0)
    giver = None if value is None else value.producer
    if giver is None or giver not in nodes:
        return _Gelu(formula, 1.0)
    if not giver.operator.has("divides", "multiplies_elements"):
        return _Gelu(formula)
    numbers = [read_one_float(operand) for operand in giver.inputs]
    is_product = giver.operator.has("multiplies_elements")
    number = numbers[-1] or (numbers[0] if is_product else None)
    if number is None or not number[0]:
        return _Gelu(formula)
    return _Gelu(formula, number[0] if is_product else 1 / number[0], number[1])


@np.errstate(all="ignore")
def _has_other_numbers(nodes: tuple[Node, ...], mark: Node) -> bool:
    """Return whether what is written out certainly gives something else than its formula does.

    It is calculated for some numbers; a bias is left out. False where it cannot be calculated.
    """
    known: dict[Value, Numbers] = {}
    given = {value for node in nodes for value in node.outputs if value is not None}
    taken = {value for node in nodes for value in node.inputs if value is not None} - given
    stored = {value for value in taken if find_stored_tensor(value) is not None}
    if len(taken - stored) != 1:
        return False
    known.update(dict.fromkeys(taken - stored, _TRIED))
    for value in stored:
        is_bias = any(
            node.operator.has("adds") and taken.issuperset(node.inputs)
            for node in nodes
            if value in node.inputs
        )
        number = None if is_bias else read_one_float(value)
        known[value] = np.float64(0.0 if number is None else number[0]) * np.ones_like(_TRIED)
    result = None
    for node in sorted(nodes, key=lambda node: node.index):
        operands = [known.get(value) for value in node.inputs if value is not None]
        calculate = _RESULTS.get(node.operator.form)
        output = node.output(0)
        if calculate is None or output is None or any(one is None for one in operands):
            return False
        try:
            result = known[output] = calculate(*operands)
        except (TypeError, ValueError):  # a file may give too many operands, or too few
            return False
    if result is None:
        return False
    x = _TRIED
    is_exact = _WRITTEN_OUT[mark.operator.form] == _ERF
    inside = x / math.sqrt(2) if is_exact else math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    wanted = 0.5 * x * (1 + _RESULTS[mark.operator.form](inside))
    return not np.allclose(result, wanted, rtol=_ROUNDING, atol=_ROUNDING)
