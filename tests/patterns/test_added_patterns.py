"""Patterns that installed packages add: found, coloured and boxed; what fails is a warning."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netloupe import watched
from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.patterns import FoundBlock, FoundBlocks, Pattern, recognise
from netloupe.explorer.patterns.known_patterns import PATTERNS
from netloupe.explorer.patterns.registry import PLUGINS, find_block_family, forget_added
from netloupe.explorer.progress import Cancelled
from tests.installed import install_entry_points
from tests.onnx_text import load_text


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[str]]]:
    """Give a function that installs what entry points give, and forget that afterwards."""

    def install(**given: object) -> list[str]:
        forget_added()
        return install_entry_points(monkeypatch, PLUGINS.group, **given)

    yield install
    forget_added()


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Give a function that returns the lines of the warnings so far."""
    caplog.set_level(logging.WARNING, "netloupe")
    return lambda: [line for record in caplog.records for line in record.getMessage().split("\n")]


def find_twins(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the product of the tangent and the arctangent of a value."""
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        givers = operations.givers(number)
        if kind == "Mul" and [operations.kinds[giver] for giver in givers] == ["Tan", "Atan"]:
            numbers = frozenset({number, *givers})
            yield FoundBlock("twins", "Twins", numbers, number, ("of two",))


def find_all(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find twins, all of them."""
    twins = [entry for entry in blocks.list_outermost() if isinstance(entry, FoundBlock)]
    numbers = frozenset(range(len(blocks.operations)))
    if len(twins) > 1 and all(one.kind == "twins" for one in twins):
        yield FoundBlock("family", "Family", numbers, max(numbers), parts=tuple(twins))


TWINS = Pattern("twins", find_twins, "part", ("twins",), "generator")
FAMILY = Pattern("whole-family", find_all, "whole", ("family",), "logic")


def twins(count: int = 1, *, tail: str = "") -> Graph:
    """Return a graph of twins, each of what the one before gives."""
    body = "".join(
        f"a{n} = Tan (v{n})  b{n} = Atan (v{n})  v{n + 1} = Mul (a{n}, b{n})\n"
        for n in range(count)
    )
    text = f"g (float[4] v0) => (float[4] {'y' if tail else f'v{count}'}) {{ {body} {tail} }}"
    return load_text(text).graph


def tell(graph: Graph) -> str:
    found = recognise(graph.nodes)
    return found.text if found is not None else ""


def test_part_and_whole_of_a_package_are_found_and_coloured(
    install: Callable[..., list[str]], warned: Callable[[], list[str]]
) -> None:
    asked = install(one=TWINS, several=[FAMILY])
    part, whole = recognise(twins().nodes), recognise(twins(3).nodes)
    assert part is not None
    assert (part.text, part.family) == ("Twins, of two", "generator")
    assert whole is not None
    assert (whole.text, whole.family) == ("Family", "logic")
    assert find_block_family("none of both") == "group"
    assert asked == [PLUGINS.group]
    assert warned() == []


def test_nothing_of_that_is_known_without_the_package(install: Callable[..., list[str]]) -> None:
    install()
    assert recognise(twins().nodes) is None
    assert find_block_family("twins") == "group"


def test_a_part_that_is_all_of_a_group_comes_before_what_is_told_of_it_otherwise(
    install: Callable[..., list[str]],
) -> None:
    def find_waves(blocks: FoundBlocks) -> Iterator[FoundBlock]:
        """Find a sine and a cosine."""
        if {"Cos", "Sin"} <= {*blocks.operations.kinds}:
            yield FoundBlock("our waves", "Our waves", frozenset({0, 1}), 1)

    body = "y = Cos (x)  z = Sin (x)"
    text = f"g (float[4] x) => (float[4] y, float[4] z) {{ {body} }}"
    install()
    assert tell(load_text(text).graph) == "Rotary cos, sin"
    install(one=Pattern("our-waves", find_waves, "part", ("our waves",)))
    assert tell(load_text(text).graph) == "Our waves"
    assert tell(load_text(text.replace("z =", "a = Abs (x)  z =")).graph) == ""


def test_a_part_is_boxed_by_its_name_where_nodes_have_none(
    install: Callable[..., list[str]],
) -> None:
    install(one=TWINS)
    graph = twins(tail="a = HardSwish (v1)  y = Neg (a)")
    (box,) = build_group_tree(graph).root.inner_groups()
    assert (box.kind, box.label) == ("block", "Twins")
    assert [node.op_type for node in box.nodes_alone()] == ["Tan", "Atan", "Mul"]
    assert box.recognised is not None
    assert (box.recognised.text, box.recognised.family) == ("Twins, of two", "generator")


def test_what_a_block_is_put_together_from_is_boxed_inside(
    install: Callable[..., list[str]],
) -> None:
    def find_pairs(blocks: FoundBlocks) -> Iterator[FoundBlock]:
        """Find twins, and what turns them around."""
        for number, kind in enumerate(blocks.operations.kinds):
            inner = blocks.ending(next(iter(blocks.operations.givers(number)), None), "twins")
            if kind == "Neg" and inner is not None:
                numbers = inner.numbers | {number}
                yield FoundBlock("pair", "Pair", numbers, number, parts=(inner,))

    install(one=[TWINS, Pattern("two-pairs", find_pairs, "part", ("pair",))])
    graph = twins(tail="a = Neg (v1)  b = HardSwish (a)  y = Ceil (b)")
    (box,) = build_group_tree(graph).root.inner_groups()
    assert box.label == "Pair"
    assert [child.label for child in box.children if isinstance(child, Group)] == ["Twins"]


def test_a_block_of_one_operation_gets_no_box(install: Callable[..., list[str]]) -> None:
    def find_signs(blocks: FoundBlocks) -> Iterator[FoundBlock]:
        """Find signs."""
        for number, kind in enumerate(blocks.operations.kinds):
            if kind == "Sign":
                yield FoundBlock("sign", "Signum", frozenset({number}), number)

    install(one=Pattern("sign", find_signs, "part", ("sign",), "logic"))
    graph = load_text("g (float[4] x) => (float[4] y) { a = Sign (x)  y = Abs (a) }").graph
    assert build_group_tree(graph).root.inner_groups() == []
    assert tell(load_text("g (float[4] x) => (float[4] y) { y = Sign (x) }").graph) == "Signum"


def give(**other: Any) -> Pattern:
    """Return a pattern whose blocks are right but for what is given."""
    right = {"kind": "odd", "name": "Odd", "numbers": frozenset({0, 1, 2}), "end": 2}

    def find(blocks: FoundBlocks) -> Iterator[FoundBlock]:
        """Find what is odd."""
        yield FoundBlock(**(right | other))

    return Pattern("odd-one", find, "part", ("odd",))


def raise_error(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find nothing."""
    raise ArithmeticError("first\nsecond")


INNER = FoundBlock("odd", "Odd", frozenset({0, 9}), 0)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        (Pattern("odd-one", raise_error, "part", ("odd",)), "first second (ArithmeticError)"),
        (Pattern("odd-one", raise_error, "whole", ("odd",)), "(ArithmeticError)"),
        (Pattern("odd-one", lambda: iter(()), "part", ("odd",)), "(TypeError)"),
        (Pattern("odd-one", lambda blocks: None, "part", ("odd",)), "(TypeError)"),
        (Pattern("odd-one", lambda blocks: iter([3]), "part", ("odd",)), "yields a int. Let it"),
        (give(kind="even"), "yields the kind 'even'. Name it among its kinds"),
        (give(numbers=frozenset({0, 9})), "yields numbers of no operations"),
        (give(numbers=frozenset({-1, 2})), "yields numbers of no operations"),
        (give(numbers=frozenset()), "yields numbers of no operations"),
        (give(end=7), "or an end that is none of them"),
        (give(numbers=[0, 1, 2]), "yields numbers in a list. Give a frozenset"),
        (give(name=None), "yields the name None. Give a text"),
        (give(facts="two"), "yields the facts 'two'. Give texts in a tuple"),
        (give(facts=(2,)), "yields the facts (2,). Give texts in a tuple"),
        (give(details={"in": 8}), "yields details in a dict. Give BlockDetails"),
        (give(parts=[INNER]), "yields parts in a list. Give a tuple"),
        (give(parts=("Tan",)), "yields a str among parts. Give FoundBlocks"),
        (give(parts=(INNER,)), "yields numbers of no operations"),
        (
            Pattern("odd-one", find_twins, "whole", ("twins",)),
            "yields a block of some operations. Let its extent be part",
        ),
    ],
)
def test_a_pattern_that_fails_is_left_out_and_told_of_once(
    install: Callable[..., list[str]],
    warned: Callable[[], list[str]],
    pattern: Pattern,
    told: str,
) -> None:
    install(odd=pattern, right=TWINS)
    graph = twins(tail="y = Neg (v1)")
    tree = build_group_tree(graph)
    assert [group.label for group in tree.root.inner_groups()] == ["Twins"]
    assert tell(twins()) == "Twins, of two"
    assert tell(graph) == ""
    (line,) = warned()
    assert line.startswith("netloupe: warning: pattern odd-one fails and is left out: ")
    assert told in line


def test_a_pattern_that_fails_in_one_graph_is_asked_in_no_other(
    install: Callable[..., list[str]], warned: Callable[[], list[str]]
) -> None:
    asked: list[int] = []

    def find(blocks: FoundBlocks) -> Iterator[FoundBlock]:
        """Find twins where there are few of them."""
        asked.append(len(blocks.operations))
        if len(blocks.operations) > 3:
            raise ValueError("too many")
        yield from find_twins(blocks)

    install(one=Pattern("few-twins", find, "part", ("twins",)))
    assert tell(twins()) == "Twins, of two"
    assert tell(twins(2)) == ""
    assert tell(twins()) == ""
    assert tell(twins(2)) == ""
    assert asked == [3, 6]
    assert warned() == [
        "netloupe: warning: pattern few-twins fails and is left out: too many (ValueError)"
    ]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        (Pattern("Twins", find_twins, "part", ("twins",)), "small letters, digits and hyphens"),
        (Pattern("", find_twins, "part", ("twins",)), "small letters, digits and hyphens"),
        (Pattern(3, find_twins, "part", ("twins",)), "small letters, digits and hyphens"),
        *(
            (Pattern(pattern.id, find_twins, "part", ("twins",)), "there is one of this id already")
            for pattern in (PATTERNS[0], PATTERNS[-1])
        ),
        (Pattern("right", find_twins, "part", ("twins",)), "there is one of this id already"),
        (Pattern("odd", find_twins, "half", ("twins",)), "extent is 'half'. It may be part or"),
        (Pattern("odd", find_twins, "part", ()), "kinds is to be a tuple of texts"),
        (Pattern("odd", find_twins, "part", "twins"), "kinds is to be a tuple of texts"),
        (Pattern("odd", find_twins, "part", (3,)), "kinds is to be a tuple of texts"),
        (Pattern("odd", find_twins, "part", ("twins",), "twins"), "family is 'twins'. It may be"),
        (Pattern("odd", "find", "part", ("twins",)), "find is to be a function"),
        (None, "gives a NoneType. Let it give a Pattern, or several in a list"),
        ("twins", "gives a str. Let it give a Pattern, or several in a list"),
        ([find_twins], "number 0 is a function, no Pattern"),
        (ImportError("no module named\nodd"), "no module named odd (ImportError)"),
    ],
)
def test_what_is_no_pattern_is_a_warning_and_the_rest_holds(
    install: Callable[..., list[str]],
    warned: Callable[[], list[str]],
    pattern: object,
    told: str,
) -> None:
    install(a=Pattern("right", find_twins, "part", ("twins",), "generator"), b=pattern)
    assert tell(twins()) == "Twins, of two"
    assert tell(twins()) == "Twins, of two"
    (line,) = warned()
    assert line.startswith("netloupe: warning: entry point b of netloupe.patterns: ")
    assert told in line


def test_of_several_in_a_list_those_that_are_right_hold(
    install: Callable[..., list[str]], warned: Callable[[], list[str]]
) -> None:
    install(one=[TWINS, None, Pattern("odd", find_twins, "half", (), "twins")])
    assert tell(twins()) == "Twins, of two"
    name = "netloupe: warning: entry point one of netloupe.patterns: "
    assert [line.removeprefix(name)[:24] for line in warned()] == [
        "number 1 is a NoneType, ",
        "pattern 'odd': extent is",
        "pattern 'odd': kinds is ",
        "pattern 'odd': family is",
    ]


def test_somebody_who_watches_can_end_what_patterns_do(
    install: Callable[..., list[str]], warned: Callable[[], list[str]]
) -> None:
    """That is no failure of theirs: they are asked again afterwards."""

    def find_forever(blocks: FoundBlocks) -> Iterator[FoundBlock]:
        """Find the same again and again."""
        while True:
            yield FoundBlock("odd", "Odd", frozenset({0, 1}), 1)

    calls = 0

    def watch(what: str, share: float | None) -> None:
        nonlocal calls
        calls += 1
        if calls > 100:
            raise Cancelled

    install(one=Pattern("endless", find_forever, "part", ("odd",)))
    for _ in range(2):
        calls = 0
        with pytest.raises(Cancelled), watched(watch):
            recognise(twins().nodes)
    assert warned() == []
