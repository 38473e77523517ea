"""Exact amounts that depend on dimensions without a size: polynomials of their symbols.

An amount is an int or, where a symbol takes part, a :class:`Polynomial`; both are added and
multiplied with the operators of Python, exactly. What grows beyond all sense raises
:class:`TooLargeError`, so that no file makes this slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import gcd
from typing import TypeAlias

#: terms of a sum, characters of a quotient, and bits of a factor that are not exceeded
_MOST_TERMS = 64
_MOST_TEXT = 160
_MOST_BITS = 256

#: powers of atoms, sorted by the texts of these; the empty one is the constant term
Monomial: TypeAlias = "tuple[tuple[Atom, int], ...]"
Amount: TypeAlias = "int | Polynomial"


class TooLargeError(ArithmeticError):
    """An amount has more terms, or larger numbers, than any real model has."""


class Atom:
    """What polynomials are made of: a symbol, or a quotient that is rounded down.

    Parameters
    ----------
    text
        The symbol's name; of a quotient how Python writes it. Atoms of equal text are equal.
    numerator, divisor
        Of a quotient.
    letter, origin
        Of a symbol that a tool has named: a letter that is short to say instead, and where the
        model has it, ``axis 0 of x``.
    """

    __slots__ = ("divisor", "letter", "numerator", "origin", "text")

    def __init__(
        self,
        text: str,
        numerator: Amount = 0,
        divisor: int = 1,
        *,
        letter: str = "",
        origin: str = "",
    ) -> None:
        self.text = text
        self.numerator = numerator
        self.divisor = divisor
        self.letter = letter
        self.origin = origin

    @property
    def is_quotient(self) -> bool:
        """Whether this is a quotient and no symbol."""
        return self.divisor != 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"<Atom {self.text}>"


class Polynomial:
    """A sum of products of atoms with integer factors, with one atom at least; see :func:`symbol`.

    Parameters
    ----------
    terms
        Factors that are not 0, by monomial.
    """

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = terms
        self._hash = 0

    def __add__(self, other: Amount) -> Amount:
        found = dict(self.terms)
        for monomial, factor in _list_terms(other):
            found[monomial] = total = found.get(monomial, 0) + factor
            if not total:
                del found[monomial]
            elif total.bit_length() > _MOST_BITS:
                raise TooLargeError
        return _simplify(found)

    __radd__ = __add__

    def __neg__(self) -> Amount:
        return Polynomial({monomial: -factor for monomial, factor in self.terms.items()})

    def __sub__(self, other: Amount) -> Amount:
        return self + (-other)

    def __rsub__(self, other: Amount) -> Amount:
        return -self + other

    def __mul__(self, other: Amount) -> Amount:
        if isinstance(other, int):
            if other == 1:
                return self
            return _collect((monomial, factor * other) for monomial, factor in self.terms.items())
        return _collect(
            (_multiply(one, two), factor * times)
            for one, factor in self.terms.items()
            for two, times in other.terms.items()
        )

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        if not self._hash:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __str__(self) -> str:
        return write_expression(self)

    def __repr__(self) -> str:
        return f"<Polynomial {self}>"


def symbol(name: str, letter: str = "", origin: str = "") -> Polynomial:
    """Return the polynomial that is one symbol; for its letter and origin see :class:`Atom`."""
    return Polynomial({((Atom(name, letter=letter, origin=origin), 1),): 1})


def _list_terms(amount: Amount) -> Iterable[tuple[Monomial, int]]:
    return amount.terms.items() if isinstance(amount, Polynomial) else (((), amount),)


def _collect(terms: Iterator[tuple[Monomial, int]]) -> Amount:
    """Return the sum of some terms."""
    found: dict[Monomial, int] = {}
    for monomial, factor in terms:
        found[monomial] = found.get(monomial, 0) + factor
    found = {monomial: factor for monomial, factor in found.items() if factor}
    if any(n.bit_length() > _MOST_BITS for n in found.values()):
        raise TooLargeError
    return _simplify(found)


def _simplify(found: dict[Monomial, int]) -> Amount:
    """Return an amount of some terms, as an int where no atom is left."""
    if len(found) > _MOST_TERMS:
        raise TooLargeError
    if not found:
        return 0
    return found[()] if len(found) == 1 and () in found else Polynomial(found)


def _multiply(one: Monomial, two: Monomial) -> Monomial:
    if not one or not two:
        return one or two
    powers = dict(one)
    for atom, power in two:
        powers[atom] = powers.get(atom, 0) + power
    if max(powers.values()) > _MOST_TERMS or len(powers) > _MOST_TERMS:
        raise TooLargeError
    return tuple(sorted(powers.items(), key=_by_text))


def _by_text(power: tuple[Atom, int]) -> str:
    return power[0].text


def _limit(amount: Amount) -> Amount:
    """Return an amount; raise :class:`TooLargeError` for an int beyond all sense."""
    if isinstance(amount, int) and amount.bit_length() > _MOST_BITS:
        raise TooLargeError
    return amount


def multiply_all(amounts: tuple[Amount, ...]) -> Amount:
    """Return the product of some amounts; of none it is 1."""
    product: Amount = 1
    for amount in amounts:
        product = _limit(product * amount)
    return product


def divide_down(amount: Amount, divisor: int) -> Amount:
    """Return an amount divided by a positive number and rounded down.

    What is divisible leaves the quotient, and a quotient of a quotient is one quotient, so that
    equal amounts look alike: ``(n + 1) // 2 + 1`` however it came about.
    """
    if divisor == 1 or isinstance(amount, int):
        return amount // divisor if isinstance(amount, int) else amount
    whole: Amount = 0
    rest: Amount = 0
    for monomial, factor in amount.terms.items():
        quotient, remainder = divmod(factor, divisor)
        if monomial and remainder:  # 3n // 2 is not n + n // 2 in our form: it stays as it is
            quotient, remainder = 0, factor
        whole = whole + _make_term(monomial, quotient)
        rest = rest + _make_term(monomial, remainder)
    return whole + (rest // divisor if isinstance(rest, int) else _make_quotient(rest, divisor))


def _make_term(monomial: Monomial, factor: int) -> Amount:
    if not monomial or not factor:
        return factor
    return Polynomial({monomial: factor})


def _make_quotient(amount: Polynomial, divisor: int) -> Amount:
    constant = amount.terms.get((), 0)
    others = [monomial for monomial in amount.terms if monomial]
    shared = gcd(divisor, *(amount.terms[monomial] for monomial in others))
    if shared > 1:  # (2n + 3) // 4 is (n + 1) // 2
        terms = {monomial: amount.terms[monomial] // shared for monomial in others}
        return divide_down(Polynomial(terms) + constant // shared, divisor // shared)
    if len(others) == 1 and len(others[0]) == 1 and amount.terms[others[0]] == 1:
        atom, power = others[0][0]
        if atom.is_quotient and power == 1:  # (n // a + c) // b is (n + c·a) // (a·b)
            return divide_down(atom.numerator + constant * atom.divisor, atom.divisor * divisor)
    text = f"(({write_expression(amount)})//{divisor})"
    if len(text) > _MOST_TEXT or divisor.bit_length() > _MOST_BITS:
        raise TooLargeError
    return Polynomial({((Atom(text, amount, divisor), 1),): 1})


def divide_exactly(amount: Amount, divisor: Amount) -> Amount | None:
    """Return the amount that gives another one times a divisor; None where there is none."""
    if isinstance(divisor, int):
        if not divisor:
            return None
        factors = [amount] if isinstance(amount, int) else [*amount.terms.values()]
        if any(factor % divisor for factor in factors):
            return None
        if isinstance(amount, int):
            return amount // divisor
        return Polynomial({key: factor // divisor for key, factor in amount.terms.items()})
    quotient: Amount = 0
    lead, times = max(divisor.terms.items(), key=_order_term)
    for _ in range(_MOST_TERMS):
        if amount == 0:
            return quotient
        first, factor = (
            ((), amount) if isinstance(amount, int) else max(amount.terms.items(), key=_order_term)
        )
        monomial = _take_away(first, lead)
        if monomial is None or factor % times:
            return None
        term = _make_term(monomial, factor // times)
        quotient, amount = quotient + term, amount - term * divisor
    return None


def _order_term(term: tuple[Monomial, int]) -> tuple[int, list[tuple[str, int]]]:
    """Return what terms are ordered by so that products keep the order: degree, then powers."""
    monomial = term[0]
    return sum(power for _, power in monomial), [(_invert(a.text), p) for a, p in monomial]


def _invert(text: str) -> str:
    return "".join(chr(0x10FFFF - ord(letter)) for letter in text) + "\U0010ffff"


def _take_away(monomial: Monomial, factor: Monomial) -> Monomial | None:
    powers = dict(monomial)
    for atom, power in factor:
        powers[atom] = powers.get(atom, 0) - power
        if powers[atom] < 0:
            return None
    return tuple((atom, power) for atom, power in powers.items() if power)


def is_never_less(one: Amount, two: Amount) -> bool:
    """Return whether an amount is at least another one whatever sizes the symbols have."""
    difference = one - two
    if isinstance(difference, int):
        return difference >= 0
    return all(factor > 0 for factor in difference.terms.values())


def find_larger(one: Amount, two: Amount) -> Amount:
    """Return the larger amount; where that depends on symbols, the larger of each term."""
    if is_never_less(one, two):
        return one
    if is_never_less(two, one):
        return two
    terms = dict(_list_terms(one))
    for monomial, factor in _list_terms(two):
        terms[monomial] = max(terms.get(monomial, 0), factor)
    return _collect(iter(terms.items()))


def list_symbols(amount: Amount) -> list[str]:
    """Return the names of the symbols in an amount, sorted."""
    return sorted({atom.text for atom in walk_symbols(amount)})


def walk_symbols(amount: Amount) -> Iterator[Atom]:
    """Yield the symbols in an amount, inside quotients too, each as often as it is written."""
    waiting = [amount]
    while waiting:
        current = waiting.pop()
        for monomial in () if isinstance(current, int) else current.terms:
            for atom, _ in monomial:
                if atom.is_quotient:
                    waiting.append(atom.numerator)
                else:
                    yield atom


def list_terms(amount: Amount) -> list[tuple[Monomial, int]]:
    """Return the terms of an amount, those of the highest degree first; of 0 there are none."""
    if isinstance(amount, int):
        return [((), amount)] if amount else []
    return sorted(amount.terms.items(), key=_order_term, reverse=True)


def write_expression(amount: Amount) -> str:
    """Return an amount as Python writes it: ``4089184256*batch``."""
    if isinstance(amount, int):
        return str(amount)
    text = ""
    for monomial, factor in list_terms(amount):
        parts = [atom.text + (f"**{power}" if power > 1 else "") for atom, power in monomial]
        if abs(factor) != 1 or not parts:
            parts.insert(0, str(abs(factor)))
        sign = "-" if factor < 0 else "+"
        joined = "*".join(parts)
        text += f" {sign} {joined}" if text else f"{'-' if factor < 0 else ''}{joined}"
    return text
