"""Numbers that differ over the members of a fold, with which member has which, in words.

Nodes of members correspond where they compute the same of the same. Of these every attribute and
every small constant is compared, whatever the operator: how many neighbours count, dilations,
bounds, exponents, factors. ``18, 20, 22, 24 neighbours``; ``slope 0.1, 0.2``.

Not compared are what arranges, which follows sizes, and what is a width, of which it is told
elsewhere; nor numbers that nobody wrote, as learned ones and scales that were measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Node, Value, constant_tensor
from netloupe.explorer.operators import HANDING_TRAITS
from netloupe.explorer.operators.vocabulary import ARRANGING_ROLES, kind_of
from netloupe.explorer.patterns import find_graph_context, find_ingredients, read_numbers
from netloupe.explorer.roles import find_weight

from .member_differences import MemberReader

#: a fact of more numbers is no small constant
_MOST_OF_FACT = 4
#: so many different numbers are told of a fold
_MOST_TOLD = 4
#: so many members are told one by one; of more that rise or fall all along the ends
_MOST_EACH, _LEAST_ELIDED = 8, 4
#: what only names, types or seeds something, and what is the same layout for another operator
_SILENT = frozenset(
    (
        *("activations", "domain", "dtype", "epsilon", "equation", "keepdims", "momentum"),
        *(
            "num_outputs",
            "output_dtype",
            "perm",
            "saturate",
            "seed",
            "stash_type",
            "to",
            "training_mode",
        ),
    )
)
#: widths, of which it is told how they run
_WIDTHS = ("hidden_size",)
#: how attributes are called in the field
_NAMES = {
    "dilations": "dilation",
    "group": "groups",
    "kernel_shape": "kernel",
    "num_heads": "heads",
    "strides": "stride",
}
#: what follows from other attributes of a window
_FOLLOWING, _WINDOW = ("pads", "auto_pad", "output_padding"), ("kernel", "dilation", "stride")
#: signs of arithmetic with one number, by the trait of the operator
_SIGNS = {"adds": "+", "divides": "÷", "multiplies_elements": "×", "subtracts": "−"}
#: roles of operands that arrange, but for those that say what is computed, or choose places
_UNTOLD_ROLES = ARRANGING_ROLES - {"count", "scales", "steps"} | {"ids", "indices", "mask"}
#: how else the size of a window, and by how much it moves, are told
_SAID_SO = {
    "kernel": re.compile(r"\d×\d|kernel \d"),
    "pool": re.compile(r"pool \d"),
    "stride": re.compile(r"\d [/×]\d|the size"),
}
#: a number that was written has so many digits, or its square has
_DIGITS = 4
_EXACT = 1e-5
_ROUNDING = 1e-6
#: numbers from here on stand for no bound at all
_NO_BOUND = 1e18
_NEIGHBOURS = "Nearest neighbours"
#: so many nodes before a search are looked at
_MOST_BEFORE = 60

Fact = tuple[object, ...]
Course = tuple[Fact, ...]


class MemberNumber(NamedTuple):
    """A number that differs over members.

    Parameters
    ----------
    name
        What it is, in words.
    course
        The number of each member.
    node
        Whose number it is in the first one.
    """

    name: str
    course: Course
    node: Node


def tell_numbers(
    members: Sequence[Sequence[Node]],
    said: Sequence[str] = (),
    numbers: Iterable[MemberNumber] | None = None,
) -> list[str]:
    """Return which numbers differ over members, and which member has which.

    Parameters
    ----------
    members
        The nodes of each, producers first.
    said
        What is told besides of how members differ.
    numbers
        Those that differ, where they were listed before.
    """
    listed = list_numbers(members) if numbers is None else numbers
    found = [one for one in listed if not _is_said(one, said)]
    courses: dict[tuple[str, Course], MemberNumber] = {}
    for one in found:
        courses.setdefault((one.name, one.course), one)
    texts = [*dict.fromkeys(_write(one, members) for one in courses.values())]
    if len(texts) > _MOST_TOLD:
        return [*texts[: _MOST_TOLD - 1], "other numbers differ, too"]
    return texts


def list_numbers(members: Sequence[Sequence[Node]]) -> Iterator[MemberNumber]:
    """Yield the numbers that differ over members.

    Notes
    -----
    Linear in the nodes.
    """
    alike = [MemberReader(nodes).list_alike() for nodes in members]
    for key, firsts in alike[0].items():
        rows = [each.get(key, []) for each in alike]
        if len({*map(len, rows)}) > 1:
            continue
        facts = [[_read_facts(node) for node in row] for row in rows]
        names = dict.fromkeys(name for row in facts for one in row for name in one)
        differing = {name: _list_courses(name, facts) for name in names}
        told = {name for name, courses in differing.items() if courses}
        for name, courses in differing.items():
            if name in _FOLLOWING and not told.isdisjoint(_WINDOW):
                continue
            for place, course in courses:
                if name not in _SIGNS.values() or not _are_sizes(course, members):
                    yield MemberNumber(name, course, firsts[place])


def _are_sizes(course: Course, members: Sequence[Sequence[Node]]) -> bool:
    """Return whether all numbers of a course are sizes in their members, or roots of such.

    So a mean divides by a length, and scores of attention by the root of a width.
    """
    return all(
        all(map(_list_sizes(nodes).__contains__, _list_forms(fact)))
        for fact, nodes in zip(course, members, strict=True)
    )


def _list_forms(fact: Fact) -> list[int]:
    """Return which size a number may come from; 0 where none."""
    forms = []
    for number in fact:
        if not isinstance(number, (int, float)) or not number:
            return [0]
        sizes = (number, 1 / number, number**2, number**-2)
        forms.append(next((round(one) for one in sizes if _is_size(one)), 0))
    return forms


def _is_size(number: float) -> bool:
    return number > 1 and abs(number - round(number)) < _EXACT * number


def _list_sizes(nodes: Sequence[Node]) -> frozenset[object]:
    facts = find_value_facts(nodes[0].graph.model)
    values = {value for node in nodes for value in node.inputs if value is not None}
    return frozenset(size for value in values for size in facts.find_dims(value) or ())


def _list_courses(
    name: str, facts: Sequence[Sequence[Mapping[str, Fact]]]
) -> list[tuple[int, Course]]:
    """Return the courses of a fact that differ, with the places of their nodes."""
    given = [[one.get(name, ()) for one in row] for row in facts]
    if len({tuple(sorted(map(repr, row))) for row in given}) < 2:
        return []  # branches only stand in another order
    courses = enumerate(zip(*given, strict=True))
    return [(place, course) for place, course in courses if len({*course}) > 1 and all(course)]


def _read_facts(node: Node) -> dict[str, Fact]:
    """Return what is written of a node in numbers and words, by name."""
    facts: dict[str, Fact] = {}
    if node.operator.weight_kind == "ml":
        return facts  # its attributes are what it has learned
    weight = find_weight(node)
    for name, attribute in node.attributes.items():
        value = attribute.value
        listed = value if isinstance(value, tuple) else (value,)
        if name in _SILENT or name in _WIDTHS or len(listed) > _MOST_OF_FACT:
            continue
        if not all(map(_is_written, listed)):
            continue
        if name == "group" and weight is not None and weight.dims and 1 in weight.dims[:2]:
            continue  # of a depthwise convolution they are its width
        facts[_name_attribute(node, name)] = _shorten(listed)
    for place, operand in enumerate(node.inputs):
        if operand is None or (weight is not None and weight.value is operand):
            continue
        role = node.operator.operands.at(place)
        if "." in role or kind_of(role) in _UNTOLD_ROLES:
            continue
        numbers = _read_constant(operand)
        if numbers and all(map(_is_written, numbers)):
            if _is_by_places(node, role, numbers):
                numbers = numbers[2:]
            facts[_name_operand(node, place, kind_of(role))] = _shorten(numbers)
    return facts


def _is_by_places(node: Node, role: str, numbers: Sequence[float]) -> bool:
    """Return whether factors of sizes leave examples and channels as many as they are."""
    return node.operator.has("resamples") and role == "scales" and numbers[:2] == (1, 1)


def _read_constant(value: Value) -> tuple[float, ...]:
    source = find_source(value, *HANDING_TRAITS)
    return read_numbers(constant_tensor(source), _MOST_OF_FACT) if source is not None else ()


def _is_written(number: object) -> bool:
    """Return whether somebody wrote a number: it, or its square, has few digits.

    Learned numbers and measured scales have many.
    """
    if isinstance(number, (str, int)):
        return not isinstance(number, bool) and (isinstance(number, str) or abs(number) < _NO_BOUND)
    if not isinstance(number, float) or not math.isfinite(number) or abs(number) > _NO_BOUND:
        return False
    forms = (number, number * number, 1 / (number * number) if number else number)
    return any(_is_near(one, float(f"{one:.{_DIGITS}g}")) for one in forms)


def _is_near(number: float, written: float) -> bool:
    return number == written or abs(number - written) <= _ROUNDING * abs(written)


def _shorten(numbers: Sequence[Hashable]) -> Fact:
    """Return the one number that all are, or one half where both are equal, as of pads."""
    if len({*numbers}) == 1:
        return (numbers[0],)
    half = len(numbers) // 2
    return tuple(numbers[:half] if half > 1 and numbers[:half] == numbers[half:] else numbers)


def _name_attribute(node: Node, name: str) -> str:
    known = _NAMES.get(name)
    if known and node.operator.has("pools") and name == "kernel_shape":
        return "pool"
    if known or name in _FOLLOWING:
        return known or name
    return f"{node.op_type} {name.replace('_', ' ')}"


def _name_operand(node: Node, place: int, role: str) -> str:
    operator = node.operator
    for trait, sign in _SIGNS.items():
        if operator.has(trait):
            return sign
    if operator.form == "Clip":
        return "at least" if place == 1 else "at most"
    if operator.form == "Pow":
        return "exponent"
    if operator.form == "TopK":
        return "top"
    if operator.has("joins"):
        return "joined with"
    if operator.has("resamples") and role == "scales":
        return "resized by"
    return f"{node.op_type} {role or 'constant'}"


def _is_said(one: MemberNumber, said: Sequence[str]) -> bool:
    """Return whether something is told of how a number differs."""
    texts = [text for text in said if not text.startswith("different ")]
    whole = ", ".join(texts)
    if one.name in ("kernel", "pool", "stride", "dilation"):
        if any(text.startswith(one.name) for text in texts):
            return True
        if one.name in _SAID_SO and _SAID_SO[one.name].search(whole):
            return True
    if one.name in (*_WINDOW, *_FOLLOWING, "pool"):
        return (_is_of_end(one.course[1:]) and "the first" in whole) or (
            _is_of_end(one.course[:-1]) and "the last" in whole
        )
    return one.name == "heads" and "head" in whole


def _is_of_end(others: Course) -> bool:
    return len({*others}) == 1


def _write(one: MemberNumber, members: Sequence[Sequence[Node]]) -> str:
    values = _write_course(one.course)
    if one.name == "top" and _finds_neighbours(one.node, members[0]):
        return f"{values} neighbours"
    return f"{one.name} {values}"


def _finds_neighbours(search: Node, nodes: Sequence[Node]) -> bool:
    """Return whether a search is for the nearest ones, by what leads to it in a member."""
    inside = {*nodes}
    seen = {search}
    pending = [search]
    while pending and len(seen) < _MOST_BEFORE:
        for value in pending.pop().inputs:
            giver = value.producer if value is not None else None
            if giver in inside and giver is not None and giver not in seen:
                seen.add(giver)
                pending.append(giver)
    before = [node for node in nodes if node in seen]
    parts = find_ingredients(before, find_graph_context(search.graph))
    return any(part.name == _NEIGHBOURS for part in parts)


def _write_course(course: Course) -> str:
    """Return a number of each member, so that a reader knows which member has which."""
    texts = [*map(_write_fact, course)]
    runs = [(text, len([*run])) for text, run in groupby(texts)]
    if len(runs) == 2 and len(texts) > 2:
        (first, count), (second, other) = runs
        return (
            f"{first}, then {second}" if count == 1 else f"{first} in {count}, {second} in {other}"
        )
    numbers = [one[0] for one in course if len(one) == 1 and isinstance(one[0], (int, float))]
    if len(numbers) == len(course) > _LEAST_ELIDED:
        signs = {(after > before) - (after < before) for before, after in pairwise(numbers)}
        if len(signs) == 1:
            return f"{texts[0]} … {texts[-1]}"
    period = _find_period(texts)
    if period < len(texts):
        often = "in turns" if period == 2 else f"in {len(texts) // period} cycles"
        return f"{_write_course(course[:period])} {often}"
    if len(texts) <= _MOST_EACH:
        return ", ".join(texts)
    return ", ".join(text if count == 1 else f"{text} in {count}" for text, count in runs)


def _find_period(texts: Sequence[str]) -> int:
    count = len(texts)
    return next(
        period
        for period in range(2, count + 1)
        if period == count
        or (count % period == 0 and [*texts] == [*texts[:period]] * (count // period))
    )


def _write_fact(fact: Fact) -> str:
    return "×".join(f"{one:,.{_DIGITS}g}" if isinstance(one, float) else str(one) for one in fact)
