"""What repeats of named siblings, and the blocks in them, are called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

_NUMBER_AT_END = re.compile(r"(.*?)(\d+)", re.DOTALL)
_CALL_BEHIND_NUMBER = re.compile(r"(?<=\d)_\d+$")
#: numbers of modules in a list, and of calls
_NUMBERS_AT_END = re.compile(r"(?:[._]\d+)+$|^\d+$")
#: what is called after one module has such a share of its weights there
_LEAST_OF_ONE = 0.9
#: so many modules are named, each with such a share of the weights
_MOST_NAMED, _LEAST_NAMED = 3, 0.1


class Member(NamedTuple):
    """A child of a block.

    Parameters
    ----------
    label
        What is shown: ``layer.0``, or ``model / layers`` where chains collapsed.
    name
        The last part of its path.
    size
        How many children it has itself.
    """

    label: str
    name: str
    size: int

    @property
    def outer_label(self) -> str:
        """The outermost name of a collapsed chain."""
        return self.label.split(" / ", 1)[0]


def name_repeat(blocks: Sequence[Sequence[Member]]) -> tuple[str, str, list[str]]:
    """Return the name of a repeat for its path, its label, and the labels of its blocks.

    A block is called after its largest member, and those that are numbered like it:
    ``blocks.0–1``. The repeat goes from the first of them to the last: ``layers.0 … layers.5``,
    or, where each block has several, ``blocks.0–1 … blocks.4–5``.
    """
    heads = [max(block, key=lambda member: member.size) for block in blocks]
    shown, named = _name_ends(_order_mixed(heads))
    families = [_list_family(block, head) for block, head in zip(blocks, heads, strict=True)]
    labels = [_name_span(family) for family in families]
    if any(len(family) > 1 for family in families):
        first, last = families[0][0], families[-1][-1]
        return _join_names(first, last), f"{labels[0]} … {labels[-1]}", labels
    return _join_names(*named), " … ".join(shown), [head.label for head in heads]


def _order_mixed(heads: Sequence[Member]) -> Sequence[Member]:
    """Return heads by their numbers where these stand neither in order nor in reverse.

    Of members side by side a file may hold the nodes of the fourth first.
    """
    prefix = _strip(heads[0].outer_label)
    if prefix is None or any(_strip(head.outer_label) != prefix for head in heads):
        return heads
    ends = [head.outer_label[len(prefix) :] for head in heads]
    if not all(end.isascii() and end.isdecimal() for end in ends):
        return heads
    numbers = [*map(int, ends)]
    ordered = sorted(numbers)
    if numbers in (ordered, ordered[::-1]):
        return heads
    return [head for _, head in sorted(zip(numbers, heads, strict=True), key=itemgetter(0))]


def _name_ends(heads: Sequence[Member]) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the labels of the first and the last head, and their names for a path.

    Of collapsed chains only the outer names, where these are numbered and not both collapsed.
    """
    first, last = heads[0], heads[-1]
    outer = first.outer_label, last.outer_label
    if (first.label, last.label) != outer and _strip(outer[0]) == _strip(outer[1]) is not None:
        inner = first.label.removeprefix(outer[0]), last.label.removeprefix(outer[1])
        if inner[0] != inner[1]:
            return outer, outer
    return (first.label, last.label), (first.name, last.name)


def _list_family(block: Sequence[Member], head: Member) -> list[str]:
    """Return the labels in a block that are numbered like that of its head, in order."""
    prefix = _strip(head.outer_label)
    if prefix is None:
        return [head.label]
    return [member.outer_label for member in block if _strip(member.outer_label) == prefix]


def _name_span(family: Sequence[str]) -> str:
    """Return ``blocks.0–1`` for ``blocks.0`` and ``blocks.1``."""
    if len(family) == 1:
        return family[0]
    return f"{family[0]}–{family[-1][len(_strip(family[-1]) or '') :]}"


def name_span(labels: Sequence[str]) -> tuple[str, str]:
    """Return what several modules together are called, and their name for a path.

    Of the last one only what is not as in the first: ``inc.0–2``, ``conv1–relu``, and for
    ``conv.0 / conv`` and ``conv.0 / norm``, which stand in one scope, ``conv.0 / conv–norm``.
    """
    first, last = labels[0], labels[-1]
    if first == last:
        return first, first.rsplit(" / ", 1)[-1]
    number = _strip(first)
    if number is not None and number == _strip(last):
        end = last[len(number) :]
    else:
        shared = max(first.rfind(sign) for sign in "./ ") + 1
        end = last[shared:] if last.startswith(first[:shared]) else last
    return f"{first}–{end}", f"{first}-{end}"


def name_calls(labels: Sequence[str]) -> str:
    """Return the name of the one module that labels are calls of: ``cell``, ``cell_1`` and so on.

    Nothing where they are not numbered so.
    """
    first = f"{labels[0]}_"
    numbers = [label.removeprefix(first) for label in labels[1:] if label.startswith(first)]
    are_calls = len(numbers) == len(labels) - 1 and all(map(str.isdecimal, numbers))
    return labels[0] if are_calls else ""


def name_several(counts: Mapping[str, int], head: str) -> tuple[str, list[str]]:
    """Return what blocks are called that hold several modules, and which members these are.

    ``attention, mlp`` where neither of them has nearly all layers with weights. Nothing where the
    head has, or where those that have many are too many to be named, or have no name.

    Parameters
    ----------
    counts
        The labels of the members of a block in order, and how many layers with weights each has.
    head
        The label of the one that the block would be called after.
    """
    families: dict[str, list[str]] = {}
    for label in counts:
        families.setdefault(_find_list(label), []).append(label)
    total = sum(counts.values())
    weights = {name: sum(map(counts.__getitem__, each)) for name, each in families.items()}
    if weights.get(_find_list(head), 0) >= _LEAST_OF_ONE * total:
        return "", []
    named = [name for name, weight in weights.items() if weight >= _LEAST_NAMED * total]
    held = sum(weights[name] for name in named)
    if "" in named or len(named) > _MOST_NAMED or held < _LEAST_OF_ONE * total:
        return "", []
    return ", ".join(named), [label for label in counts if _find_list(label) in named]


def join_several(name: str, other: str) -> str:
    """Return what a stack of blocks of several modules is called, by the names of two of them.

    Numbers that are others in each block are left out: ``up, down`` for ``up3, down3``.
    """
    if name == other:
        return name
    stems = [each.rstrip("0123456789") for each in name.split(", ")]
    return ", ".join(stems) if len({*stems}) == len(stems) and all(stems) else name


def _find_list(label: str) -> str:
    """Return the outermost name of a label without the numbers of a list or of calls."""
    return _NUMBERS_AT_END.sub("", label.split(" / ", 1)[0])


def read_list(label: str) -> str:
    """Return the name of the list that a module is of: ``down_blocks.1.`` of ``down_blocks.1.2``.

    Of a module without a number it is its own. The number of a call, as in ``cell_1``, says
    nothing.
    """
    outer = _CALL_BEHIND_NUMBER.sub("", label.split(" / ", 1)[0])
    return (_strip(outer) or outer).rstrip("_")


def _strip(label: str) -> str | None:
    """Return a label without the number at its end; None where it has none."""
    match = _NUMBER_AT_END.fullmatch(label)
    return match[1] if match else None


def _join_names(first: str, last: str) -> str:
    """Return ``layers.0-11`` for ``layers.0`` and ``layers.11``."""
    prefix = _strip(first)
    if prefix is not None and prefix == _strip(last):
        return f"{first}-{last[len(prefix) :]}"
    return f"{first}-{last}"
