"""Costs in words, the same everywhere: ``4.09 G``, ``86 G · batch``, ``≥ 1.2 M``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from netloupe.explorer.notation import MOST_DIMS, clip_text, join_parts, write_bytes

from .polynomial import Amount, Atom, Monomial, Polynomial, list_terms, walk_symbols

if TYPE_CHECKING:
    from .bound_inputs import Replaced
    from .costs import Costs
    from .totals import Totals
    from .work import Work

_UNITS = ("", " k", " M", " G", " T", " P", " E")
_MOST_TERMS = 4
#: the same of bytes of activations, which have many
_MOST_BYTE_TERMS = 2
_MOST_NAME = 40
_MOST_REASONS = 3
_NAME = r"[^\W\d][\w.:]*"
_LONE = r"\(\((\w+)\)//"  # ((c)//2) reads as (c//2)
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def write_amount(amount: Amount, most: int = _MOST_TERMS, *, has_letters: bool = True) -> str:
    """Return an amount with three digits: ``4.09 G``, ``885 k · batch · seq + …``.

    Parameters
    ----------
    amount
        The amount.
    most
        So many terms are written out, those of the highest degree.
    has_letters
        Whether symbols that a tool has named are written by their letters, which
        :func:`explain_letters` explains.
    """
    if isinstance(amount, int):
        return _write_number(amount)
    terms = list_terms(amount)
    texts = [_write_term(monomial, factor, has_letters) for monomial, factor in terms[:most]]
    text = " + ".join(texts) + (" + …" if len(terms) > len(texts) else "")
    return text.replace("+ -", "− ").replace("-", "−")


def _write_number(number: int) -> str:
    size = abs(number)
    if size < 1000:
        return str(number)
    sign = "-" if number < 0 else ""
    for power, unit in enumerate(_UNITS):
        # in integers: amounts can be larger than a float can count
        for digits in (2, 1, 0):
            if 2 * size * 10**digits < 1999 * 1000**power:  # 999.5 would need a digit more
                step = 10 ** (3 * power - digits)
                whole, rest = divmod((2 * size + step) // (2 * step), 10**digits)
                return f"{sign}{whole}{f'.{rest:0{digits}}' if digits else ''}{unit}"
    return f"{sign}{size:.2e}" if size < 10**300 else f"{sign}over 10³⁰⁰"


def _write_term(monomial: Monomial, factor: int, has_letters: bool) -> str:
    parts = [_write_atom(atom, power, has_letters) for atom, power in monomial]
    return " · ".join([_write_number(factor), *parts] if factor != 1 or not parts else parts)


def _write_atom(atom: Atom, power: int, has_letters: bool) -> str:
    text = atom.text
    if has_letters:
        letters = {one.text: one.letter for one in walk_symbols(atom.numerator) if one.letter}
        text = atom.letter or re.sub(_NAME, lambda name: letters.get(name[0], name[0]), text)
    name = clip_text(re.sub(_LONE, r"(\1//", text), _MOST_NAME)
    return name + (str(power).translate(_SUPERSCRIPTS) if power > 1 else "")


def explain_letters(*amounts: Amount) -> str:
    """Return what the letters are that amounts are written with: ``a: s48, axis 0 of x``."""
    return _explain(_find_letters(amounts, _MOST_TERMS))


def _find_letters(amounts: Iterable[Amount], most: int) -> dict[str, Atom]:
    """Return the symbols that have letters in the terms that :func:`write_amount` writes out."""
    found: dict[str, Atom] = {}
    for amount in amounts:
        for monomial, _ in list_terms(amount)[:most]:
            symbols = walk_symbols(Polynomial({monomial: 1})) if monomial else ()
            found |= {atom.letter: atom for atom in symbols if atom.letter}
    return found


def _explain(found: Mapping[str, Atom]) -> str:
    return "; ".join(
        ", ".join(
            [f"{letter}: {clip_text(atom.text, _MOST_NAME)}"]
            + ([clip_text(atom.origin, _MOST_NAME)] if atom.origin else [])
        )
        for letter, atom in sorted(found.items())
    )


def _work_of(costs: Costs) -> Work:
    return costs._work  # noqa: SLF001 - users have its numbers and expressions instead


def explain_costs(costs: Costs) -> str:
    """Return what the letters are that :func:`write_macs` and activations are written with."""
    work = _work_of(costs)
    found = _find_letters((work.macs, work.least), _MOST_TERMS)
    return _explain(found | _find_letters((work.activations,), _MOST_BYTE_TERMS))


def explain_macs(costs: Costs) -> str:
    """Return what the letters are that :func:`write_macs` is written with."""
    work = _work_of(costs)
    return explain_letters(work.macs, work.least)


def write_macs(costs: Costs) -> str:
    """Return MACs: ``4.09 G``, ``≥ 1.2 M``, ``2.1 M to 4.2 M`` where branches differ."""
    work = _work_of(costs)
    text = write_amount(work.macs)
    if work.least != work.macs:
        return f"{write_amount(work.least)} to {text}"
    return f"≥ {text}" if costs.macs_is_lower_bound else text


def name_amount(amount: str, noun: str) -> str:
    """Return an amount that is written already with what it is of: ``1 MAC``, ``4.09 G MACs``."""
    return f"{amount} {noun}{'' if amount == '1' else 's'}"


def describe_costs(costs: Costs) -> tuple[str, ...]:
    """Return what something costs in one line, for which shapes, and what else is to know."""
    has_macs = costs.macs != 0 or costs.macs_is_lower_bound
    parts = [name_amount(write_macs(costs), "MAC")] if has_macs else []
    if costs.activation_bytes != 0:
        parts.append(f"activations {write_activations(costs)}")
    reason = describe_unknown_costs(costs)
    lines = (
        "; ".join(parts) or "no multiplications",
        write_replaced(costs.replaced_shapes),
        explain_costs(costs),
        f"not counted: {reason}" if reason else "",
        write_ties(costs),
    )
    return tuple(line for line in lines if line)


def write_replaced(replaced: Replaced) -> str:
    """Return which shapes are counted in place of stated ones; "" where none is."""
    shown = [
        f"{clip_text(name, _MOST_NAME)} {_write_shape(taken)} in place of {_write_shape(stated)}"
        for name, (stated, taken) in [*replaced.items()][:_MOST_REASONS]
    ]
    if not shown:
        return ""
    told = join_parts(shown, len(replaced))
    return f"counted for {told}, which the model states; runtimes refuse other sizes"


def _write_shape(shape: Sequence[int | str | None]) -> str:
    return f"[{join_parts([_write_dim(dim) for dim in shape[:MOST_DIMS]], len(shape))}]"


def _write_dim(dim: int | str | None) -> str:
    return "?" if dim is None else clip_text(str(dim), _MOST_NAME)


def write_ties(costs: Costs) -> str:
    """Return how many parameters are stored twice: ``38.6 M parameters are stored twice``."""
    if not costs.tied_parameters:
        return ""
    tied, left = write_amount(costs.tied_parameters), write_amount(costs.parameters)
    return f"{tied} parameters are stored twice; {left} are different"


def list_apart(totals: Totals | Costs) -> dict[str, int]:
    """Return the real numbers beside the parameters and how many there are, by their name."""
    counts = {
        "running statistics": totals.running_statistics,
        "attention biases": totals.attention_biases,
        "values in attributes": totals.attribute_values,
    }
    return {name: count for name, count in counts.items() if count}


def write_activations(costs: Costs) -> str:
    """Return the bytes of activations, and how many are alive at once where that is known."""
    work, peak = _work_of(costs), costs.peak_activation_bytes
    text = _write_bytes(work.activations)
    if costs.activation_bytes_is_lower_bound:
        return f"≥ {text}"
    return f"{text}, peak {write_bytes(peak)}" if peak else text


def _write_bytes(amount: Amount) -> str:
    return (
        write_bytes(amount)
        if isinstance(amount, int)
        else f"{write_amount(amount, _MOST_BYTE_TERMS)} bytes"
    )


def describe_unknown_costs(costs: Costs) -> str:
    """Return why MACs are a lower bound: ``SVMClassifier ×2: no rule counts this operator``."""
    reasons: dict[str, list[str]] = {}
    for one in costs.unknown:
        if one.affects == "macs":
            text = clip_text(one.what, _MOST_NAME) + (f" ×{one.count:,}" if one.count > 1 else "")
            reasons.setdefault(one.reason, []).append(text)
    texts = [
        f"{join_parts(names[:_MOST_REASONS], len(names))}: {reason}"
        for reason, names in reasons.items()
    ]
    return "; ".join(texts)


def write_share(part: Amount, whole: Amount) -> str:
    """Return how much of a whole a part is: ``63 %``; the empty string where that depends."""
    if not isinstance(part, int) or not isinstance(whole, int):
        ratio = divide_terms(part, whole)
        return "" if ratio is None else _write_percent(*ratio)
    return _write_percent(part, whole) if whole else ""


def divide_terms(part: Amount, whole: Amount) -> tuple[int, int] | None:
    """Return numerator and denominator of a quotient that depends on no symbol; else None."""
    one, two = dict(list_terms(part)), dict(list_terms(whole))
    if not two or one.keys() - two.keys():
        return None
    monomial = next(iter(two))
    above, below = one.get(monomial, 0), two[monomial]
    if any(one.get(key, 0) * below != above * factor for key, factor in two.items()):
        return None
    return above, below


def _write_percent(part: int, whole: int) -> str:
    if part <= 0 or whole <= 0:
        return "" if part else "0 %"
    percent = 100 * part / whole
    return "< 1 %" if percent < 1 else f"{percent:.0f} %"
