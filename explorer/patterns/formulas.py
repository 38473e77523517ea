"""Formulas of a few functions, written as people write them: ``tanh(x) · σ(y)``."""

from __future__ import annotations

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_number

from .operations import Operations

#: how functions of one operand are written; ``@`` stands for it
_FUNCTIONS = {
    "Abs": "|@|",
    "Ceil": "ceil(@)",
    "Clip": "clip(@)",
    "Cos": "cos(@)",
    "Elu": "ELU(@)",
    "Erf": "erf(@)",
    "Exp": "exp(@)",
    "Floor": "floor(@)",
    "Gelu": "GELU(@)",
    "LeakyRelu": "LeakyReLU(@)",
    "Log": "log(@)",
    "Neg": "−@",
    "Reciprocal": "1 / @",
    "Relu": "ReLU(@)",
    "Round": "round(@)",
    "Sigmoid": "σ(@)",
    "Sign": "sign(@)",
    "Sin": "sin(@)",
    "Softplus": "softplus(@)",
    "Sqrt": "√@",
    "Tanh": "tanh(@)",
}
#: how strongly a sign binds what stands beside it
_SIGNS = {"Add": ("+", 1), "Sub": ("−", 1), "Mul": ("·", 2), "Div": ("/", 2)}
#: what encloses its operand, and what follows a sign that binds as strongly
_WHOLE = 4
_LETTERS = "xyz"
#: what a share of one of two values comes from, and its letter
_SHARING = ("Sigmoid", "HardSigmoid")
_GATE = "g"
_BOTH = 2
#: a formula has so many characters at most
_MOST_LONG = 34


class _UnwrittenError(Exception):
    """A part of a formula has no sign."""


def write_formula(operations: Operations, end: int, most: int) -> str:
    """Return what some operations compute from each element: ``tanh(x) · σ(y)``.

    Parameters
    ----------
    operations
        Few; all of them are part of it.
    end
        The last one.
    most
        So many functions are written at most.

    Returns
    -------
    str
        "" where a part of it has no sign of its own, a result is taken twice, or there are more
        functions or values.
    """
    writer = _Writer(operations, most, find_mixing_gate(operations, end))
    try:
        text, _ = writer.write(end)
    except _UnwrittenError:
        return ""
    return text if writer.written == len(operations) and len(text) <= _MOST_LONG else ""


def find_mixing_gate(operations: Operations, end: int) -> Value | None:
    """Return the g of a sum g · x + (1 - g) · y, where a Sigmoid gives it; None of other sums.

    How much of a layer's result counts, and how much of what it takes (R. Srivastava and others,
    Highway Networks, 2015, equation 3).
    """
    products = [operations.given_by(value, "Mul") for value in operations.operands[end]]
    if operations.kinds[end] != "Add" or len(products) != _BOTH:
        return None
    first, second = products
    if first is None or second is None:
        return None
    for plain, rest in ((first, second), (second, first)):
        for value in operations.operands[rest]:
            less = operations.given_by(value, "Sub")
            taken = operations.operands[less] if less is not None else []
            if less is None or len(taken) != 1 or operations.scalar(less) != 1.0:
                continue
            gate = taken[0]
            last = operations.nodes[less].input(1)  # 1 - g, and not g - 1
            is_rest = last is not None and operations.source(last) is gate
            maker = gate.producer
            if is_rest and gate in operations.operands[plain] and maker is not None:
                return gate if maker.operator.form in _SHARING else None
    return None


class _Writer:
    def __init__(self, operations: Operations, most: int, gate: Value | None) -> None:
        self._operations, self._room = operations, most
        self._letters: dict[Value, str] = {} if gate is None else {gate: _GATE}
        self._free = iter(_LETTERS)
        self.written = 0

    def write(self, number: int) -> tuple[str, int]:
        """Return what an operation gives, and how strongly its last sign binds."""
        operations = self._operations
        self.written += 1
        if self.written > len(operations):
            raise _UnwrittenError
        kind, taken = operations.kinds[number], operations.operands[number]
        form = _FUNCTIONS.get(kind)
        is_square = kind == "Pow" and operations.scalar(number) == _BOTH
        is_product = kind == "Mul" and len(taken) == _BOTH and taken[0] is taken[1]
        if (is_square and len(taken) == 1) or is_product:
            form = "@²"
        if form is not None and taken:
            self._room -= kind not in ("Mul", "Neg", "Pow", "Reciprocal")
            if self._room < 0:
                raise _UnwrittenError
            inner, binds = self._write_value(taken[0])
            is_enclosed = form[-1] in ")|"
            if not is_enclosed and binds < _WHOLE:
                inner = f"({inner})"
            return form.replace("@", inner), 2 if kind in ("Neg", "Reciprocal") else _WHOLE
        if kind not in _SIGNS:
            raise _UnwrittenError
        sign, own = _SIGNS[kind]
        (left, first), (right, second) = (self._write_side(number, place) for place in (0, 1))
        left = left if first >= own else f"({left})"
        is_plain = second > own or (second == own and kind in ("Add", "Mul"))
        return f"{left} {sign} {right if is_plain else f'({right})'}", own

    def _write_side(self, number: int, place: int) -> tuple[str, int]:
        operations = self._operations
        node = operations.nodes[number]
        value = node.input(place)
        if value is None or len(node.inputs) != _BOTH:
            raise _UnwrittenError
        if operations.is_fixed(value):
            scalar = operations.scalar(number)
            if scalar is None:
                raise _UnwrittenError
            return write_number(scalar, 3).replace("-", "−"), _WHOLE if scalar >= 0 else 0
        return self._write_value(operations.source(value))

    def _write_value(self, value: Value) -> tuple[str, int]:
        number = self._operations.giver(value)
        if number is not None:
            return self.write(number)
        if value not in self._letters:
            letter = next(self._free, None)
            if letter is None:
                raise _UnwrittenError
            self._letters[value] = letter
        return self._letters[value], _WHOLE
