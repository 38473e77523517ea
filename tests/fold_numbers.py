"""An independent judge of folds: numbers that differ from member to member, and how members hang.

It reads the ONNX file itself (:mod:`tests.fold_graph`) and takes nothing from the explorer. Nodes
of members correspond where they compute the same of the same, whatever their attributes; of these
every attribute and every small constant is compared, of any operator: what is in no list of
operators is not overlooked. A number that differs is to be read from the box: all its values in
the order of the members, the ends of values that rise or fall all along, or that an end differs.

Members are a row, each taking from the one before, or stand side by side, none taking from
another; a fold of neither is to say so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise

import onnx

from tests.fold_graph import LAYOUT, RawGraph
from tests.fold_judge import Fault, Members

#: numbers of one fact
_MOST_OF_FACT = 4
#: what only names, seeds or types something, and what holds a number for each feature or layer
_NOT_COMPARED = frozenset(
    (
        *("perm", "to", "seed", "dtype", "stash_type", "epsilon", "momentum", "training_mode"),
        *(
            "equation",
            "activations",
            "num_outputs",
            "output_dtype",
            "value",
            "keepdims",
            "saturate",
            "domain",
        ),
    )
)
#: what is a width: of these it is told how widths run
_WIDTHS = frozenset(("group", "hidden_size", "num_heads", "q_num_heads", "kv_num_heads"))
_WIDTHS_SAID = re.compile(r"→|channels|takes |rows|widths|\bgroups?\b|heads")
#: operands that only say of which size, or which part, something is
_SIZES = {
    "Reshape": (1,),
    "Expand": (1,),
    "Unsqueeze": (1,),
    "Squeeze": (1,),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Resize": (1, 3),
    "Tile": (1,),
    "Pad": (1,),
    "Range": (0, 1, 2),
    "ConstantOfShape": (0,),
    "Gather": (1,),
    "ScatterND": (1,),
}
_END = re.compile(r"the first|the last|only |every second|in some|\d of \d")


def judge_numbers(raw: RawGraph, members: Members, text: str) -> list[Fault]:
    """Return the numbers in which members differ and of which a text does not say the values."""
    found: dict[tuple[str, tuple[object, ...]], Fault] = {}
    for what, course in list_courses(raw, members):
        if not _is_told(what.partition(" ")[2], course, text):
            values = ", ".join(map(_write, course[:10]))
            usual = Counter(course).most_common(1)[0][0]
            odd = tuple(place for place, one in enumerate(course) if one != usual)
            found[what, course] = Fault("numbers", f"{what} {values}", odd)
    return [*found.values()]


def list_courses(raw: RawGraph, members: Members) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield the numbers that differ: of which operator and which fact, and of each member."""
    alike = [_list_alike(raw, sorted(member & raw.computing)) for member in members]
    for colour, nodes in alike[0].items():
        rows = [each.get(colour, []) for each in alike]
        if len({*map(len, rows)}) > 1:
            continue
        facts = [[_read_facts(raw, number) for number in row] for row in rows]
        for name in dict.fromkeys(name for row in facts for one in row for name in one):
            told = [[one.get(name, ()) for one in row] for row in facts]
            if name == "pads" and _changes(facts, "kernel_shape", "dilations", "strides"):
                continue  # they follow the window
            if len({tuple(sorted(map(repr, row))) for row in told}) < 2:
                continue
            for course in zip(*told, strict=True):
                if len({*course}) > 1 and all(course):
                    yield f"{raw.nodes[nodes[0]].op_type} {name}", course


def _changes(facts: Sequence[Sequence[Mapping[str, tuple[object, ...]]]], *names: str) -> bool:
    """Return whether any of some facts differs over members."""
    told = {tuple(one.get(name, ()) for one in row for name in names) for row in facts}
    return len(told) > 1


def _list_alike(raw: RawGraph, own: Sequence[int]) -> dict[int, list[int]]:
    """Return the nodes of a member by what they compute of what, attributes left out."""
    colours: dict[int, int] = {}
    alike: dict[int, list[int]] = {}
    for number in own:
        node = raw.nodes[number]
        operands: list[object] = []
        for name in node.input:
            source = _find_source(raw, name)
            is_stored = source is None and _find_stored(raw, name) in raw.stored
            operands.append(
                "stored" if is_stored else colours.get(-1 if source is None else source, "outside")
            )
        if node.op_type in ("Add", "Mul", "Concat"):
            operands = sorted(
                {*map(str, operands)} if node.op_type == "Concat" else operands, key=str
            )
        colours[number] = hash((node.op_type, *map(str, operands)))
        alike.setdefault(colours[number], []).append(number)
    return alike


def _find_source(raw: RawGraph, name: str) -> int | None:
    for _ in range(1_000):
        number = raw.producers.get(name)
        if number is None or number in raw.computing:
            return number
        node = raw.nodes[number]
        if node.op_type not in LAYOUT or not node.input:
            return None
        name = node.input[0]
    return None


def _read_facts(raw: RawGraph, number: int) -> Mapping[str, tuple[object, ...]]:
    """Return the attributes of a node and its small constants, by name."""
    node = raw.nodes[number]
    facts: dict[str, tuple[object, ...]] = {}
    if node.domain == "ai.onnx.ml" or "QLinear" in node.op_type or "Integer" in node.op_type:
        return facts  # what is learned, and measured
    for attribute in node.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        listed = tuple(value) if isinstance(value, (list, tuple)) else (value,)
        if attribute.name not in _NOT_COMPARED and _is_short(listed):
            facts[attribute.name] = _shorten(listed)
    for place, name in enumerate(node.input):
        numbers = raw.numbers.get(_find_stored(raw, name))
        if numbers is not None and place not in _SIZES.get(node.op_type, ()) and _is_short(numbers):
            facts[f"constant {place}"] = _shorten(numbers)
    return facts


def _find_stored(raw: RawGraph, name: str) -> str:
    """Return what a value was before what hands it on."""
    for _ in range(1_000):
        number = raw.producers.get(name)
        if name in raw.numbers or number is None or raw.nodes[number].op_type not in LAYOUT:
            return name
        name = raw.nodes[number].input[0]
    return name


def _is_short(numbers: Sequence[object]) -> bool:
    return len(numbers) <= _MOST_OF_FACT and all(map(_is_written, numbers))


def _is_written(number: object) -> bool:
    """Return whether a number has few digits, or is a root of one that has."""
    if not isinstance(number, float):
        return isinstance(number, (int, bytes))
    if not 1e-18 < abs(number) < 1e18:
        return number == 0
    forms = (number, number**2, number**-2)
    return any(abs(float(f"{one:.3e}") - one) <= 1e-6 * abs(one) for one in forms)


def _shorten(numbers: Sequence[object]) -> tuple[object, ...]:
    """Return numbers as they are told: of four that are equal in two and two, or all, one."""
    told = [one.decode() if isinstance(one, bytes) else one for one in numbers]
    if len({*told}) == 1:
        return (told[0],)
    half = len(told) // 2
    return tuple(told[:half]) if half > 1 and told[:half] == told[half:] else tuple(told)


def _write(numbers: object) -> str:
    assert isinstance(numbers, tuple)
    return "×".join(f"{one:.4g}" if isinstance(one, float) else str(one) for one in numbers)


def _is_told(name: str, course: Sequence[object], text: str) -> bool:
    """Return whether a text says which member has which value of a fact."""
    if name in _WIDTHS and _WIDTHS_SAID.search(text):
        return True
    if len(course) > 1 and len({*course[1:]}) == 1 and "the first" in text:
        return True
    if len(course) > 1 and len({*course[:-1]}) == 1 and "the last" in text:
        return True
    values = [*map(_write, course)]
    plain = text.replace(",", "")
    if re.search(rf"(?<![\d.]){'[^0-9.]+'.join(map(re.escape, values))}(?![\d.])", plain):
        return True
    if len({*values[1:]}) == 1 and f"{values[0]}, then {values[1]}" in text:
        return True
    runs = [(value, len([*run])) for value, run in groupby(values)]
    if any(
        sign.join(f"{value} in {count}" for value, count in runs) in text
        for sign in (", then ", ", ")
    ):
        return True
    period = next(p for p in range(1, len(values) + 1) if _repeats(values, p))
    if period < len(values) and ("cycles" in text or "turns" in text):
        return _is_told(name, course[:period], text)
    numbers = [one[0] for one in course if isinstance(one, tuple) and len(one) == 1]
    if len(numbers) == len(course) and not any(isinstance(one, str) for one in numbers):
        signs = {(after > before) - (after < before) for before, after in pairwise(numbers)}  # type: ignore[operator]
        return len(signs) == 1 and f"{values[0]} … {values[-1]}" in text
    return False


def _repeats(values: Sequence[str], period: int) -> bool:
    return len(values) % period == 0 and [*values] == [*values[:period]] * (len(values) // period)


def judge_links(raw: RawGraph, members: Members, text: str) -> Fault | None:
    """Return that members are neither a row nor side by side, where a text does not say so."""
    own = [member & raw.computing for member in members]
    holders = {number: place for place, each in enumerate(own) for number in each}
    taken: list[set[int]] = []
    for place, each in enumerate(own):
        sources = {_find_source(raw, name) for number in each for name in raw.nodes[number].input}
        taken.append({holders[s] for s in sources if s is not None and s in holders} - {place})
    links = [place - 1 in taken[place] for place in range(1, len(own))]
    if not any(taken) or all(links) or "summed" in text or "side by side" in text:
        return None
    apart = [place for place, link in enumerate(links, 1) if not link]
    return Fault("links", f"{apart} take nothing of the one before, others do", tuple(apart))


def judge_takes(raw: RawGraph, members: Members) -> Fault | None:
    """Return that steps of a loop take from other steps before them, as states taken by turns.

    A loop is what uses the same matrices in each step and takes from the step before. The first
    step takes from around, and the last one may lack something.
    """
    own = [member & raw.computing for member in members]
    matrices = [
        {name for n in each for name in raw.nodes[n].input if len(raw.stored.get(name, ())) > 1}
        for each in own
    ]
    inner = range(2, len(own) - 1)
    if len(inner) < 2:
        return None
    common = set[str].intersection(*matrices[1:-1])
    if not common or 2 * len(common) < len(matrices[1]):  # as tables of angles are
        return None
    holders = {number: place for place, each in enumerate(own) for number in each}
    taken = {place: _list_distances(raw, own[place], place, holders) for place in inner}
    usual = Counter(taken.values()).most_common(1)[0][0]
    odd = tuple(place for place in inner if taken[place] != usual)
    if not odd or not any(1 in one for one in taken.values()):
        return None
    told = ", ".join(f"[{place}] {sorted(taken[place])}" for place in inner[:6])
    return Fault("takes", f"from steps before: {told}", odd)


def _list_distances(
    raw: RawGraph, own: frozenset[int], place: int, holders: Mapping[int, int]
) -> frozenset[int]:
    """Return how many steps before those are that a step takes from."""
    sources = {_find_source(raw, name) for number in own for name in raw.nodes[number].input}
    places = {holders[source] for source in sources if source in holders and source is not None}
    return frozenset(place - one for one in places - {place})
