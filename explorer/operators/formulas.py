"""Names of axes, and what is computed from them: ``N C, M C -> N M`` and ``N*M*C``.

They are read without being run: what is neither a whole number, a name, an operation that is listed
here nor a parenthesis is refused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from keyword import iskeyword
from typing import NamedTuple, TypeAlias

#: stands for any further axes before the others, in a formula for the product of their sizes
LEADING = "..."
#: what a formula is made of, in words
ALLOWED = "whole numbers, names of dims, ..., +, -, *, // and parentheses"

_MOST_TEXT = 400
_MOST_DEPTH = 20
_MOST_NUMBER = 2**53
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
}
_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_FORMULA = r"(?:\s|[0-9]+(?![\w.])|[A-Za-z_][A-Za-z_0-9]*|//|[-+*()]|\.\.\.)+"

#: the axes of an operand: names, sizes, and before them perhaps LEADING; None where nothing is told
AxisNames: TypeAlias = "tuple[str | int, ...] | None"
#: a number, the name of a dimension, or an operation
Formula: TypeAlias = "int | str | Operation"


class FormulaError(ValueError):
    """A text is no list of axes, or no formula; the message says what is wrong with it."""


class Operation(NamedTuple):
    """What is computed from two parts.

    Parameters
    ----------
    sign
        ``+``, ``-``, ``*`` or ``//``.
    """

    sign: str
    left: Formula
    right: Formula


class NamedDims(NamedTuple):
    """What the axes of operands and results are called.

    Parameters
    ----------
    operands, results
        Of each the names of its axes, by place; None where nothing is told of them.
    """

    operands: tuple[AxisNames, ...]
    results: tuple[AxisNames, ...]

    def list_names(self) -> set[str]:
        """Return all names, that of leading axes among them."""
        given = (names or () for names in (*self.operands, *self.results))
        return {name for names in given for name in names if isinstance(name, str)}


def parse_dims(text: str) -> NamedDims:
    """Return what the axes of operands and results are called.

    Parameters
    ----------
    text
        ``N C H W, M C K L -> N M P Q``: commas between operands, which may be empty.

    Raises
    ------
    FormulaError
        Where that is not how it is written.
    """
    if len(text) > _MOST_TEXT:
        raise FormulaError(f"is longer than {_MOST_TEXT} characters")
    sides = text.replace("…", f" {LEADING} ").split("->")
    if len(sides) != 2:
        raise FormulaError("has no single ->, which stands between operands and results")
    operands, results = (tuple(map(_read_axes, side.split(","))) for side in sides)
    return NamedDims(operands, results)


def _read_axes(text: str) -> AxisNames:
    axes = tuple(map(_read_axis, text.split()))
    if LEADING in axes[1:]:
        raise FormulaError(f"has {LEADING} behind another axis: it stands for those before")
    return axes or None


def _read_axis(word: str) -> str | int:
    if word == LEADING:
        return word
    if word.isascii() and word.isdigit():
        return _limit(int(word[:20]))
    if not re.fullmatch(_NAME, word):
        raise FormulaError(f"has {word[:40]!r}, which is neither a name of an axis nor a size")
    if iskeyword(word):
        raise FormulaError(f"has the name {word!r}, a word of Python")
    return word


def parse_formula(text: str) -> Formula:
    """Return a formula.

    Raises
    ------
    FormulaError
        Where the text is none.
    """
    if len(text) > _MOST_TEXT:
        raise FormulaError(f"is longer than {_MOST_TEXT} characters")
    text = text.replace("…", LEADING).strip()
    if not re.fullmatch(_FORMULA, text):
        raise FormulaError("is no formula")
    try:
        parsed = ast.parse(" ".join(text.split()), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise FormulaError("is no formula") from error
    return _read_part(parsed.body, 0)


def _read_part(part: ast.expr, depth: int) -> Formula:
    if depth > _MOST_DEPTH:
        raise FormulaError(f"is nested deeper than {_MOST_DEPTH} levels")
    if isinstance(part, ast.Name):
        return part.id
    if isinstance(part, ast.Constant):
        if part.value is ...:
            return LEADING
        if type(part.value) is int:
            return _limit(part.value)
    if isinstance(part, ast.BinOp) and type(part.op) in _SIGNS:
        left, right = _read_part(part.left, depth + 1), _read_part(part.right, depth + 1)
        if isinstance(part.op, ast.FloorDiv) and right == 0:
            raise FormulaError("divides by 0")
        return Operation(_SIGNS[type(part.op)], left, right)
    raise FormulaError("is no formula")


def _limit(number: int) -> int:
    if number > _MOST_NUMBER:
        raise FormulaError(f"has a number above {_MOST_NUMBER}")
    return number


def list_names(formula: Formula) -> Iterator[str]:
    """Yield the names in a formula, each as often as it is there."""
    if isinstance(formula, str):
        yield formula
    elif isinstance(formula, Operation):
        yield from list_names(formula.left)
        yield from list_names(formula.right)
