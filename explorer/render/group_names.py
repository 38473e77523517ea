"""What groups are called, and what they are said to be."""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.patterns import Recognition

#: between the parts of a name that lists what stands in a group
AND = " · "


def name_group(group: Group, label: str, recognition: Recognition | None) -> tuple[str, str]:
    """Return a group's title and its quiet second part: what it is, else its module's class.

    What was found by structure has no name of its own but what it is.
    """
    if group.facts:
        return label, ", ".join(group.facts)
    if recognition is None:
        return label, "" if says_the_same(label, group.type_name) else group.type_name
    if group.type_name and label.startswith(group.type_name) and group.kind != "scope":
        return recognition.name + label.removeprefix(group.type_name), ""
    name = fold_chain(recognition.name)
    return label, "" if says_the_same(label, name) else name


def says_the_same(title: str, quiet: str) -> bool:
    """Return whether two names differ in case and in signs between words at most."""
    return _keep_letters(title) == _keep_letters(quiet)


def begins_the_same(title: str, quiet: str) -> bool:
    """Return whether a name begins with another one, as ``Conv2d`` does with ``Conv``."""
    return bool(quiet) and _keep_letters(title).startswith(_keep_letters(quiet))


def _keep_letters(name: str) -> str:
    return "".join(filter(str.isalnum, name[:200])).casefold()


def fold_chain(name: str) -> str:
    """Return ``(Conv · ReLU) ×2`` for ``Conv · ReLU · Conv · ReLU``."""
    parts = name.split(AND)
    for length in range(2, len(parts) // 2 + 1):
        times, rest = divmod(len(parts), length)
        if not rest and parts == parts[:length] * times:
            return f"({AND.join(parts[:length])}) ×{times}"
    return name
