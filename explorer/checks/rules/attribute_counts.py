"""How many entries attributes have, and what is said where lists do not go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netloupe.explorer.checks.uses import Case
from netloupe.explorer.model import SparseTensor, Tensor
from netloupe.explorer.notation import write_count


def count_entries(case: Case, name: str) -> int | None:
    """Return how long an attribute is, a list or a tensor; None without it."""
    value: Any = case.numbers(name)
    if value is None:
        value = case.tensor(name)
    if isinstance(value, Tensor | SparseTensor):
        return value.size
    return None if value is None else len(value)


def judge_lengths(case: Case, *names: str) -> Iterator[str]:
    """Say which lists have not as many entries as the first that is there."""
    first: tuple[str, int] | None = None
    for name in names:
        count = count_entries(case, name)
        if count is None:
            continue
        if first is None:
            first = name, count
        elif count != first[1]:
            told = f"{name} of {case.op_type} has {write_count(count, 'entry', 'entries')}"
            yield f"{told}, but {first[0]} {first[1]:,}"
            return


def judge_choice(case: Case, *names: str, may_be_empty: bool = True) -> Iterator[str]:
    """Say whether none or several are given of attributes of which one must be.

    Where they may be empty, such a list is as good as none.
    """
    given = [name for name in names if case.is_stated(name)]
    filled = [name for name in given if count_entries(case, name) != 0]
    told = ", ".join(names[:-1]) + f" or {names[-1]}"
    if len(filled) > 1 or (len(given) > 1 and not (filled and may_be_empty)):
        yield f"{case.op_type} has {' and '.join(given[:4])}, but must have one of {told}"
    elif not filled:
        yield f"{case.op_type} has none of {told}, one of which it must have"


def judge_presence(case: Case, *names: str) -> Iterator[str]:
    """Say which lists are empty, or missing where the schema does not demand them anyway."""
    for name in names:
        declared = case.schema.attributes.get(name) if case.schema is not None else None
        count = count_entries(case, name)
        is_missing = not case.is_stated(name) and declared is not None and not declared.required
        if count == 0 or is_missing:
            yield f"{case.op_type} has no entries in {name}, which it must have"
            return
