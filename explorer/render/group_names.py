"""What groups are called, and what they are said to be."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.stage_numbers import number_stage
from netloupe.explorer.patterns import Recognition

from .rows import RANGE

#: between the parts of a name that lists what stands in a group
AND = " · "


#: modules that only list others: torch's, and classes derived from them
_CONTAINER = re.compile(r"Sequential|Module(?:List|Dict)")
#: what repeats in a chain has so many parts at most
_MOST_REPEATED = 4
#: as lists of modules call what is in them: ``4``, ``4–6``, ``0 … 29``
_NUMBERS = re.compile(rf"\d+(?:–\d+)?(?:{RANGE}(?:\d+–)?\d+)?")
_CHAIN = " / "


def name_group(group: Group, label: str, recognition: Recognition | None) -> tuple[str, str]:
    """Return a group's title and its quiet second part: what it is, else its module's class.

    What was found by structure has no name of its own but what it is. Where the name is only a
    number of a list, what the group is leads, and the number stands behind it; stages are called
    so.
    """
    if group.facts:
        return label, ", ".join(group.facts)
    stage = number_stage(group) if label == group.label else 0
    label = f"Stage {stage}" if stage else drop_numbers(label)
    if recognition is None:
        kind = name_class(group)
        return order_names(label, "" if says_the_same(label, kind) else kind)
    if group.type_name and label.startswith(group.type_name) and group.kind != "scope":
        return recognition.name + label.removeprefix(group.type_name), ""
    name = fold_chain(recognition.name)
    return order_names(label, "" if says_the_same(label, name) else name)


def name_class(group: Group) -> str:
    """Return the class of a group's module; "" for one that is a list of modules."""
    return "" if _CONTAINER.search(group.type_name) else group.type_name


def is_number(label: str) -> bool:
    """Return whether a name is only a number, as in a list, or several of them."""
    return _NUMBERS.fullmatch(label) is not None


def drop_numbers(label: str) -> str:
    """Return ``conv`` for ``4 / 0 / conv``: of a chain of names those from the first word on."""
    parts = label.split(_CHAIN)
    while len(parts) > 1 and parts[0].isdecimal() and not is_number(_CHAIN.join(parts[1:])):
        parts = parts[1:]
    return _CHAIN.join(parts)


def order_names(label: str, kind: str) -> tuple[str, str]:
    """Return a name and what has it in their order: what is called by a number comes first."""
    return (kind, label) if kind and is_number(label) else (label, kind)


def says_the_same(title: str, quiet: str) -> bool:
    """Return whether two names differ in case and in signs between words at most."""
    return _keep_letters(title) == _keep_letters(quiet)


def begins_the_same(title: str, quiet: str) -> bool:
    """Return whether a name begins with another one, as ``Conv2d`` does with ``Conv``."""
    return bool(quiet) and _keep_letters(title).startswith(_keep_letters(quiet))


def _keep_letters(name: str) -> str:
    return "".join(filter(str.isalnum, name[:200])).casefold()


def fold_chain(name: str) -> str:
    """Return ``(Conv · ReLU) ×2 · MaxPool`` for a chain that says what repeats in it each time."""
    return name if "(" in name else join_folded(fold_parts(name.split(AND)))


def fold_parts(names: Sequence[str]) -> list[str]:
    """Return a sequence with what repeats in it counted: ``["(Conv · ReLU) ×3", "Linear"]``."""
    folded: list[str] = []
    place = 0
    while place < len(names):
        length, times = 1, 1
        for size in range(1, min(_MOST_REPEATED, (len(names) - place) // 2) + 1):
            unit = names[place : place + size]
            count = 1
            while names[place + count * size : place + (count + 1) * size] == unit:
                count += 1
            if count > 1 and count * size > length * times:
                length, times = size, count
        folded.append(_count(names[place : place + length], times))
        place += length * times
    return folded


def join_folded(folded: Sequence[str]) -> str:
    """Return counted parts as a chain; what repeats and has parts is in brackets."""
    return AND.join(re.sub(r"^([^(].* · .*?)( ×\d+)$", r"(\1)\2", part) for part in folded)


def _count(names: Sequence[str], times: int) -> str:
    text = AND.join(names)
    if times == 1:
        return text
    return f"({text}) ×{times}" if AND in text else f"{text} ×{times}"
