"""What a written formula computes: read by the rules of arithmetic, and evaluated with NumPy."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_TOKEN = re.compile(
    r"\s*(\d+(?:\.\d+)?(?:e−?\d+)?|logsumexp|LeakyReLU|softplus|arc\w+|[A-Za-z]{2,}|[A-Za-zσεπΣΠ]"
    r"|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|[()|‖√+−·/^,=<>≥≤])"
)
_POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_CALLS: dict[str, Callable[..., Any]] = {
    "σ": lambda x: 1 / (1 + np.exp(-x)),
    "ReLU": lambda x: np.maximum(x, 0),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "clip": np.clip,
    "round": np.round,
    "not": lambda x: 1 - x,
}
_NAMES = ("ceil", "cos", "cosh", "exp", "floor", "log", "sign", "sin", "sinh", "tan", "tanh")
_CALLS |= {name: getattr(np, name) for name in _NAMES}
_RELATIONS = {"=": np.equal, ">": np.greater, "≥": np.greater_equal}
_RELATIONS |= {"<": np.less, "≤": np.less_equal}


class FormulaReader:
    """Reads a formula once, from its beginning to its end.

    Parameters
    ----------
    text
        A formula.
    values
        What its letters stand for, and ε.
    axes
        Along which axes it reduces.
    """

    def __init__(self, text: str, values: Mapping[str, Array], axes: tuple[int, ...]) -> None:
        self._tokens = [*_TOKEN.findall(text), ""]
        assert "".join(self._tokens) == text.replace(" ", ""), text
        self._values, self._axes, self._at = values, axes, 0

    def evaluate(self) -> Array:
        """Return what the formula gives."""
        found = self._read_choice()
        assert not self._next, self._tokens[self._at :]
        return found

    @property
    def _next(self) -> str:
        return self._tokens[self._at]

    def _take(self, *wanted: str) -> str:
        token = self._next
        if wanted and token not in wanted:
            return ""
        self._at += 1
        return token

    def _expect(self, token: str) -> None:
        assert self._take(token), (token, self._tokens[self._at :])

    def _read_choice(self) -> Array:
        found = self._read_relation()
        while sign := self._take("and", "or", "if"):
            other = self._read_relation()
            if sign == "if":
                self._expect("else")
                found = np.where(other, found, self._read_relation())
            else:
                found = (np.minimum if sign == "and" else np.maximum)(found, other)
        return found

    def _read_relation(self) -> Array:
        found = self._read_sum()
        if sign := self._take(*_RELATIONS):
            found = _RELATIONS[sign](found, self._read_sum()) * 1.0
        return found

    def _read_sum(self) -> Array:
        found = self._read_product()
        while sign := self._take("+", "−"):
            other = self._read_product()
            found = found + other if sign == "+" else found - other
        return found

    def _read_product(self) -> Array:
        if self._take("−"):
            return -self._read_product()
        found = self._read_prefixed()
        while sign := self._take("·", "/"):
            other = self._read_prefixed()
            found = found * other if sign == "·" else found / other
        return found

    def _read_prefixed(self) -> Array:
        if self._take("√"):
            return np.sqrt(self._read_atom())
        if sign := self._take("Σ", "Π"):
            inner = self._read_prefixed()
            return self._reduce(np.sum if sign == "Σ" else np.prod, inner)
        found = self._read_atom()
        if re.fullmatch("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", self._next):
            found = found ** float(self._take().translate(_POWERS))
        if self._take("^"):
            found = found ** self._read_atom()
        return found

    def _read_atom(self) -> Array:
        token = self._take()
        if token == "(":
            found = self._read_choice()
            self._expect(")")
            return found
        if token in ("|", "‖"):
            found = self._read_sum()
            self._expect(token)
            if token == "|":
                return np.abs(found)
            return np.sqrt(self._reduce(np.sum, found**2))
        if token[0].isdigit():
            return np.array(float(token.replace("−", "-")))
        if self._next == "(" and token not in self._values:
            return self._call(token)
        return self._values[token]

    def _call(self, name: str) -> Array:
        self._expect("(")
        operands = [self._read_choice()]
        while self._take(","):
            operands.append(self._read_choice())
        self._expect(")")
        if name in ("max", "min") and len(operands) > 1:
            together = np.maximum if name == "max" else np.minimum
            found = operands[0]
            for other in operands[1:]:
                found = together(found, other)
            return found
        if name == "logsumexp":
            return np.log(self._reduce(np.sum, np.exp(operands[0])))
        if name in ("max", "min", "mean"):
            return self._reduce(getattr(np, name), operands[0])
        return np.asarray(_CALLS[name](*operands))

    def _reduce(self, how: Callable[..., Any], value: Array) -> Array:
        # a value that lacks the reduced axes is the same along them
        return np.asarray(how(value, axis=self._axes, keepdims=True))
