"""The dimensions that a file writes as text: symbols, and what it computes from symbols."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from string import ascii_lowercase

from netloupe.explorer.errors import BindingError
from netloupe.explorer.notation import clip_text, join_parts

from .polynomial import Amount, TooLargeError, divide_down, symbol

#: sizes of symbols, and whole shapes of inputs
Bindings = Mapping[str, "int | Sequence[int]"]

_MOST_TEXT = 200
_MOST_DEPTH = 20
_MOST_SHOWN = 12
#: names that tools make up: s48 and u0 (torch.export), x_dynamic_axes_1 (torch.onnx, where axes are
#: numbers), MatMullogits_dim_0 (torch.onnx, of a result by its operator), unk__5 (tf2onnx, onnx),
#: p2o.DynamicDimension.0 (Paddle)
_GENERATED = (
    r"[su]\d+|.+_dynamic_axes_\d+|[A-Z][A-Za-z]+.*_dim_\d+|unk_+\d+"
    r"|(?:p2o\.)?DynamicDimension\.\d+"
)
#: these, and expressions that are left
_MADE_UP = re.compile(rf"{_GENERATED}|.*[()*+].*", re.DOTALL)
_GENERATED_NAME = re.compile(_GENERATED, re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w.:/]*")
_TOKEN = re.compile(r"\s*(?:(\d+)|([^\W\d][\w.:]*)|(//|[-+*/()]))")


def is_generated_dim(text: str) -> bool:
    """Return whether a dimension's text is, or has in it, a name that a tool has made up."""
    names = _NAME.findall(text[:_MOST_TEXT])
    return any(map(_GENERATED_NAME.fullmatch, names)) or bool(_GENERATED_NAME.fullmatch(text))


class Symbols:
    """Reads dimensions; knows the sizes that symbols are given.

    Parameters
    ----------
    bind
        By name the size of a symbol, or the shape of an input.

    Attributes
    ----------
    seen
        The symbols met so far, with those that have a size.
    """

    def __init__(self, bind: Bindings | None = None) -> None:
        self.sizes: dict[str, int] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for name, given in (bind or {}).items():
            if isinstance(given, int):
                self.sizes[name] = _check_size(name, given)
            else:
                self.shapes[name] = tuple(_check_size(name, size) for size in given)
        self.seen: dict[str, None] = {}
        self._known: dict[str, Amount] = {}
        self._made: dict[str, Amount] = {}
        self._letters = [*ascii_lowercase]
        self._origin = ""

    def reserve(self, letters: Collection[str]) -> None:
        """Let letters that are names of the model's own stand for no other symbol."""
        self._letters = [letter for letter in self._letters if letter not in letters]

    def read(self, text: str, origin: str = "") -> Amount:
        """Return the amount that a dimension's text means; ``origin`` is where the model has it.

        Sums, products and quotients of symbols are understood as exporters write them
        (``past + 1``, ``floor(height/2 - 1/2) + 1``); any other text is a symbol as it stands.
        """
        found = self._known.get(text)
        if found is None:
            self._origin = origin
            found = self._known[text] = self._read(text)
        return found

    def name(self, name: str) -> Amount:
        """Return the size of a symbol where it has one, else the symbol."""
        self.seen[name] = None
        size = self.sizes.get(name)
        if size is not None:
            return size
        made = self._made.get(name)
        if made is None:
            letter = ""
            if _MADE_UP.fullmatch(name) and self._letters:
                letter = self._letters.pop(0)
            made = self._made[name] = symbol(name, letter, self._origin)
        return made

    def _read(self, text: str) -> Amount:
        if text not in self.sizes and len(text) <= _MOST_TEXT:
            parsed = _Parser(text).parse()
            if parsed is not None:
                before = {**self._made}, [*self._letters]
                try:
                    return parsed.evaluate(self)
                except (TooLargeError, _NotWholeError):
                    self._made, self._letters = before  # of what is not said no letter is used
        return self.name(clip_text(text, _MOST_TEXT))


def _check_size(name: str, size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**63:
        raise BindingError(f"{name} cannot have the size {size!r}. Give a whole number from 0.")
    return size


def explain_names(source: str, wrong: Sequence[str], known: Sequence[str]) -> BindingError:
    """Return the error for names that are bound and that a model does not have."""
    shown = join_parts([clip_text(name, 60) for name in known[:_MOST_SHOWN]], len(known))
    has = f"Names to bind are {shown}." if known else "Its costs depend on no names."
    names = ", ".join(repr(clip_text(name, 60)) for name in wrong)
    return BindingError(f"{source}: no dimension and no input is called {names}. {has}")


class _NotWholeError(ArithmeticError):
    """A dimension is no whole number, as far as can be told."""


class _Expression:
    """An operation and its operands: ``+``, ``-``, ``*``, ``/``, a name or a number."""

    def __init__(self, operation: str, *operands: _Expression, text: str = "") -> None:
        self.operation = operation
        self.operands = operands
        self.text = text

    def evaluate(self, symbols: Symbols) -> Amount:
        amount, divisor = self.divide(symbols)
        if divisor != 1:
            raise _NotWholeError
        return amount

    def divide(self, symbols: Symbols) -> tuple[Amount, int]:
        """Return numerator and denominator."""
        if self.operation == "number":
            return int(self.text), 1
        if self.operation == "name":
            return symbols.name(self.text), 1
        parts = [operand.divide(symbols) for operand in self.operands]
        (left, under), (right, beneath) = parts[0], parts[-1]
        if self.operation in ("floor", "ceil"):
            return divide_down(left + (under - 1 if self.operation == "ceil" else 0), under), 1
        if self.operation == "*":
            return left * right, under * beneath
        if self.operation in ("/", "//"):
            if not isinstance(right, int) or right <= 0:
                raise _NotWholeError
            divided = left * beneath, under * right
            return divided if self.operation == "/" else (divide_down(*divided), 1)
        sign = -1 if self.operation == "-" else 1
        return left * beneath + right * under * sign, under * beneath


class _Parser:
    """Reads sums of products; None for everything else."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        position, self._place, self._is_read = 0, 0, False
        text = text.rstrip()
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                return
            number, name, sign = found.groups()
            kind = "number" if number else "name" if name else sign
            self._tokens.append((kind, found.group().strip()))
            position = found.end()
        self._is_read = bool(self._tokens)

    def parse(self) -> _Expression | None:
        if not self._is_read:
            return None
        found = self._sum(0)
        return found if self._place == len(self._tokens) else None

    def _take(self, *kinds: str) -> tuple[str, str] | None:
        if self._place < len(self._tokens) and self._tokens[self._place][0] in kinds:
            self._place += 1
            return self._tokens[self._place - 1]
        return None

    def _sum(self, depth: int) -> _Expression | None:
        left = self._product(depth)
        while left is not None and (sign := self._take("+", "-")) is not None:
            right = self._product(depth)
            left = None if right is None else _Expression(sign[0], left, right)
        return left

    def _product(self, depth: int) -> _Expression | None:
        left = self._factor(depth)
        while left is not None and (sign := self._take("*", "/", "//")) is not None:
            right = self._factor(depth)
            left = None if right is None else _Expression(sign[0], left, right)
        return left

    def _factor(self, depth: int) -> _Expression | None:
        if depth > _MOST_DEPTH:
            return None
        name = ""
        if (taken := self._take("number", "name")) is not None:
            kind, name = taken
            if kind == "number" or not self._take("("):
                return _Expression(kind, text=name)
            if name not in ("floor", "ceil"):
                return None
        elif not self._take("("):
            return None
        inner = self._sum(depth + 1)
        if inner is None or not self._take(")"):
            return None
        return _Expression(name, inner) if name else inner
