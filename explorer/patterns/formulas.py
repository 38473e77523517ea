"""Formulas of a few functions, written as people write them: ``tanh(x) · σ(y)``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.notation import write_number

from .formula_axes import AxisNumbers, FormulaAxes, UnwrittenError
from .operations import Operations
from .readings import read_scalar

#: how functions of one operand are written; ``@`` stands for it
_FUNCTIONS = {
    "Abs": "|@|",
    "Acos": "arccos(@)",
    "Asin": "arcsin(@)",
    "Ceil": "ceil(@)",
    "Cos": "cos(@)",
    "Cosh": "cosh(@)",
    "Elu": "ELU(@)",
    "Erf": "erf(@)",
    "Exp": "exp(@)",
    "Floor": "floor(@)",
    "Gelu": "GELU(@)",
    "LeakyRelu": "LeakyReLU(@)",
    "Log": "log(@)",
    "Relu": "ReLU(@)",
    "Round": "round(@)",
    "Sigmoid": "σ(@)",
    "Sign": "sign(@)",
    "Sin": "sin(@)",
    "Sinh": "sinh(@)",
    "Softplus": "softplus(@)",
    "Tan": "tan(@)",
    "Tanh": "tanh(@)",
}
#: how what makes one element of many is written
_REDUCTIONS = {
    "ReduceL1": "Σ|@|",
    "ReduceL2": "‖@‖",
    "ReduceLogSumExp": "logsumexp(@)",
    "ReduceMax": "max(@)",
    "ReduceMean": "mean(@)",
    "ReduceMin": "min(@)",
    "ReduceProd": "Π@",
    "ReduceSum": "Σ@",
    "ReduceSumSquare": "Σ@²",
}
_LISTS = {"Max": "max", "Min": "min"}
_RELATIONS = {
    "Equal": "=",
    "Greater": ">",
    "GreaterOrEqual": "≥",
    "Less": "<",
    "LessOrEqual": "≤",
}
_LOGIC = {"And": "and", "Or": "or"}
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Neg", "Reciprocal", "Pow", "Sqrt")
#: what are functions of their own, of which there is not room for many
_COUNTED = (*_FUNCTIONS, *_REDUCTIONS, *_LISTS, "Clip", "Sqrt", "Where")

#: how strongly what is written holds together: a name, or what encloses itself; a power; what
#: stands behind √ or Σ; a product; one behind a minus; a sum; a relation; a choice
_ATOM, _POWER, _PREFIX, _PRODUCT, _NEGATIVE, _SUM, _RELATION, _CHOICE = range(8, 0, -1)
_LETTERS, _STORED_LETTERS = "xyz", "cwk"
#: where another input of the graph is called so
_OTHER_LETTERS = "abd"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: what is added so that nothing is divided by 0, and how it is written
_MOST_EPSILON, _EPSILON = 1e-3, "ε"
#: roots that constants are of, as float32 tells them
_ROOTS, _SAME = (2, 3), 1e-6
#: what a share of one of two values comes from, and its letter
_SHARING = ("Sigmoid", "HardSigmoid")
_GATE = "g"
_BOTH = 2
#: beyond are limits of types
_UNLIMITED = 1e37
#: a formula has so many characters at most, and is written from so many results, each as often as
#: it is taken
_MOST_LONG, _MOST_WRITTEN = 40, 40


class _Part(NamedTuple):
    """Something written, how strongly it holds together, and along which axes it lies."""

    text: str
    binds: int
    axes: AxisNumbers | None = ()

    def enclosed(self, least: int) -> str:
        """Return the text, in brackets where it does not hold together as much as that."""
        return self.text if self.binds >= least else f"({self.text})"


def write_formula(operations: Operations, end: int, most: int) -> str:
    """Return what some operations compute from each element: ``tanh(x) · σ(y)``.

    A reduction goes along the same axes in all of it, and what it gives stands beside what it is
    of. A stored number that is added and very small is ε, and stored ones that differ are c and w.

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
        "" where a part of it has no sign of its own, it is not sure that this is what is computed,
        or there are more functions or values.
    """
    gate = find_mixing_gate(operations, end)
    writer = _Writer(operations, most, gate)
    try:
        text = writer.write_whole(end)
        if writer.is_mistaken():
            text = _Writer(operations, most, gate, _OTHER_LETTERS).write_whole(end)
    except UnwrittenError:
        return ""
    return text if len(text) <= _MOST_LONG else ""


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
    def __init__(
        self, operations: Operations, most: int, gate: Value | None, letters: str = _LETTERS
    ) -> None:
        self._operations, self._room = operations, most
        self._axes = FormulaAxes(operations)
        self._letters: dict[Value, str] = {} if gate is None else {gate: _GATE}
        #: what arranges a value that a letter stands for
        self._arranged: dict[Value, list[Node]] = {}
        self._free, self._stored = iter(letters), iter(_STORED_LETTERS)
        self._written: set[int] = set()
        self._count = 0

    def write_whole(self, end: int) -> str:
        """Return what the last operation gives, computed of all others."""
        part = self._write(end)
        operations = self._operations
        if len(self._written) != len(operations) or len(operations.scaled) > 1:
            raise UnwrittenError
        for node in operations.scaled:
            part = self._scale(node, part)
        return part.text

    def is_mistaken(self) -> bool:
        """Return whether a letter is the name of an input of the graph, and stands for another."""
        named = {value.name: value for value in self._operations.nodes[0].graph.inputs}
        return any(
            letter in _LETTERS and named.get(letter, value) is not value
            for value, letter in self._letters.items()
        )

    def _scale(self, node: Node, part: _Part) -> _Part:
        """Return a part multiplied by what multiplies the result of all in the end."""
        numbers = [
            _Part(*_write_number(n)) for v in node.inputs if (n := read_scalar(v)) is not None
        ]
        is_divided = node.operator.has("divides")
        if len(numbers) != 1 or (is_divided and read_scalar(node.input(1)) is None):
            raise UnwrittenError
        return _divide(part, numbers[0]) if is_divided else _multiply(numbers[0], part)

    def _write(self, number: int) -> _Part:
        """Return what an operation gives."""
        operations = self._operations
        self._count += 1
        if self._count > _MOST_WRITTEN:
            raise UnwrittenError
        kind, node = operations.kinds[number], operations.nodes[number]
        if kind in _COUNTED and number not in self._written:
            self._room -= 1
            if self._room < 0:
                raise UnwrittenError
        self._written.add(number)
        if kind in _REDUCTIONS:
            return self._reduce(node, self._take(number, 0), _REDUCTIONS[kind])
        if kind == "Clip":
            return self._write_limits(number)
        places = [place for place, value in enumerate(node.inputs) if value is not None]
        if kind not in (*_FUNCTIONS, *_LISTS, *_RELATIONS, *_LOGIC, *_ARITHMETIC, "Not", "Where"):
            raise UnwrittenError
        parts = [self._take(number, place) for place in places]
        part = self._compute(kind, node, parts)
        return part._replace(axes=self._axes.combine([one.axes for one in parts]))

    def _reduce(self, node: Node, part: _Part, form: str) -> _Part:
        axes = self._axes.reduce(node, part.axes)
        if form[0] in "ΣΠ":
            least = _ATOM if form.endswith("²") else _POWER
            inner = part.text if "|" in form else part.enclosed(least)
            return _Part(form.replace("@", inner), _PREFIX, axes)
        return _Part(form.replace("@", part.text), _ATOM, axes)

    def _compute(self, kind: str, node: Node, parts: Sequence[_Part]) -> _Part:
        if kind in _FUNCTIONS and len(parts) == 1:
            return _Part(_FUNCTIONS[kind].replace("@", parts[0].text), _ATOM)
        if kind in _LISTS and len(parts) > 1:
            return _Part(f"{_LISTS[kind]}({', '.join(part.text for part in parts)})", _ATOM)
        if len(parts) == 1:
            return self._compute_one(kind, node, parts[0])
        if kind == "Where" and len(parts) > _BOTH:
            choice, one, other = parts
            taken = (one.enclosed(_SUM), choice.enclosed(_RELATION), other.enclosed(_SUM))
            return _Part("{} if {} else {}".format(*taken), _CHOICE)
        if len(parts) != _BOTH:
            raise UnwrittenError
        return self._compute_two(kind, node, *parts)

    def _compute_one(self, kind: str, node: Node, part: _Part) -> _Part:
        if kind == "Not":
            return _Part(f"not({part.text})", _ATOM)
        if kind == "Neg":
            return _negate(part)
        if kind == "Sqrt":
            return _Part(f"√{part.enclosed(_ATOM)}", _PREFIX)
        if kind != "Reciprocal":
            raise UnwrittenError
        self._axes.check_real(node)
        return _divide(_Part("1", _ATOM), part)

    def _compute_two(self, kind: str, node: Node, one: _Part, other: _Part) -> _Part:
        if kind in _RELATIONS:
            sides = one.enclosed(_SUM), other.enclosed(_SUM)
            return _Part(f"{sides[0]} {_RELATIONS[kind]} {sides[1]}", _RELATION)
        if kind in _LOGIC:
            sides = one.enclosed(_PREFIX), other.enclosed(_PREFIX)
            return _Part(f"{sides[0]} {_LOGIC[kind]} {sides[1]}", _CHOICE)
        if kind == "Pow":
            return self._raise(node, one, other)
        if kind == "Mul":
            first, second = (self._operations.source(v) for v in node.inputs if v is not None)
            if first is second and one.text == other.text:
                return _Part(f"{one.enclosed(_ATOM)}²", _POWER)
            if read_scalar(node.input(1)) is not None:
                one, other = other, one  # numbers stand first
            return _multiply(one, other)
        if kind == "Div":
            self._axes.check_real(node)
            return _divide(one, other)
        return _add(one, other) if kind == "Add" else _subtract(one, other)

    def _raise(self, node: Node, base: _Part, exponent: _Part) -> _Part:
        power = read_scalar(node.input(1))
        if power is None:
            return _Part(f"{base.enclosed(_ATOM)}^{exponent.enclosed(_ATOM)}", _PREFIX)
        if abs(power) == 0.5:
            self._axes.check_real(node)
            root = _Part(f"√{base.enclosed(_ATOM)}", _PREFIX)
            return root if power > 0 else _divide(_Part("1", _ATOM), root)
        if power == -1:
            self._axes.check_real(node)
            return _divide(_Part("1", _ATOM), base)
        if power.is_integer():
            raised = f"{power:.0f}".translate(_SUPERSCRIPTS)
            return _Part(f"{base.enclosed(_ATOM)}{raised}", _POWER)
        return _Part(f"{base.enclosed(_ATOM)}^{exponent.enclosed(_ATOM)}", _PREFIX)

    def _write_limits(self, number: int) -> _Part:
        """Return ``max(x, 0.1)``, ``min(x, 6)`` or ``clip(x, 0, 6)``."""
        node = self._operations.nodes[number]
        inner = self._take(number, 0)
        limits: list[str] = []
        for name, place in (("min", 1), ("max", 2)):
            attribute = node.attributes.get(name)
            limit = read_scalar(node.input(place)) if attribute is None else attribute.value
            if node.input(place) is not None and limit is None:
                raise UnwrittenError
            if isinstance(limit, int | float) and abs(limit) < _UNLIMITED:
                limits.append(_write_number(float(limit), is_added=True)[0])
            else:
                limits.append("")
        least, most = limits
        if least and most:
            return _Part(f"clip({inner.text}, {least}, {most})", _ATOM, inner.axes)
        if not least and not most:
            return inner
        text = f"max({inner.text}, {least})" if least else f"min({inner.text}, {most})"
        return _Part(text, _ATOM, inner.axes)

    def _take(self, number: int, place: int) -> _Part:
        """Return what an operation takes at a place."""
        operations = self._operations
        node = operations.nodes[number]
        value = node.input(place)
        if value is None:
            raise UnwrittenError
        if operations.is_fixed(value):
            return self._write_fixed(number, value)
        source = operations.source(value)
        giver = operations.giver(source)
        if giver is not None:
            if operations.nodes[giver].output(0) is not source:
                raise UnwrittenError
            part = self._write(giver)
            return part._replace(axes=self._axes.arrange(part.axes, value))
        arranging = self._axes.list_arranging(value)
        if self._arranged.setdefault(source, arranging) != arranging:
            raise UnwrittenError  # one letter would stand for two values
        return _Part(self._name(source, self._free), _ATOM, self._axes.start(value))

    def _write_fixed(self, number: int, value: Value) -> _Part:
        operations = self._operations
        scalar = read_scalar(value)
        if scalar is None and len(operations.fixed(number)) == 1:
            scalar = operations.scalar(number)
        if scalar is not None:
            is_added = operations.kinds[number] in ("Add", "Max")
            return _Part(*_write_number(scalar, is_added=is_added))
        if not is_constant(value):
            raise UnwrittenError
        letter = self._name(value, self._stored)
        return _Part(letter, _ATOM, self._axes.start(value))

    def _name(self, value: Value, free: Iterator[str]) -> str:
        if value not in self._letters:
            letter = next(free, None)
            if letter is None:
                raise UnwrittenError
            self._letters[value] = letter
        return self._letters[value]


def _write_number(number: float, *, is_added: bool = False) -> tuple[str, int]:
    """Return a number with three digits, √2 or π where it is that, or ε, and how it binds."""
    if is_added and 0 < number <= _MOST_EPSILON:
        return _EPSILON, _ATOM
    for root in _ROOTS:
        if abs(abs(number) - root**0.5) < _SAME:
            return (f"√{root}", _PREFIX) if number > 0 else (f"−√{root}", _NEGATIVE)
    if abs(abs(number) - math.pi) < _SAME:
        return ("π", _ATOM) if number > 0 else ("−π", _NEGATIVE)
    text = write_number(abs(number), 3).replace("-", "−")
    return (text, _ATOM) if number >= 0 else (f"−{text}", _NEGATIVE)


def _negate(part: _Part) -> _Part:
    if part.binds == _NEGATIVE:
        return _Part(part.text[1:], _PRODUCT)
    return _Part(f"−{part.enclosed(_PRODUCT)}", _NEGATIVE)


def _multiply(one: _Part, other: _Part) -> _Part:
    if other.binds == _NEGATIVE:
        other = _Part(f"({other.text})", _ATOM)
    if one.text == "−1":
        return _negate(other)
    if other.text.startswith("1 / ") and one.binds >= _PREFIX:
        return _Part(f"{one.text}{other.text[1:]}", _PRODUCT)
    # a minus in front is that of the whole product
    left = one.text if one.binds == _NEGATIVE else one.enclosed(_PRODUCT)
    binds = _NEGATIVE if one.binds == _NEGATIVE else _PRODUCT
    return _Part(f"{left} · {other.enclosed(_PRODUCT)}", binds)


def _divide(one: _Part, other: _Part) -> _Part:
    left = one.text if one.binds == _NEGATIVE else one.enclosed(_PRODUCT)
    binds = _NEGATIVE if one.binds == _NEGATIVE else _PRODUCT
    return _Part(f"{left} / {other.enclosed(_PREFIX)}", binds)


def _add(one: _Part, other: _Part) -> _Part:
    if other.binds == _NEGATIVE:
        return _subtract(one, _Part(other.text[1:], _PRODUCT))
    if one.binds == _NEGATIVE:
        return _subtract(other, _Part(one.text[1:], _PRODUCT))
    right = f"({other.text})" if other.text.startswith("−") else other.enclosed(_SUM)
    return _Part(f"{one.enclosed(_SUM)} + {right}", _SUM)


def _subtract(one: _Part, other: _Part) -> _Part:
    if other.binds == _NEGATIVE:
        return _add(one, _Part(other.text[1:], _PRODUCT))
    return _Part(f"{one.enclosed(_SUM)} − {other.enclosed(_PRODUCT)}", _SUM)
