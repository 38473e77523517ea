"""What each member of a fold gives to others than the next one is said on the fold."""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.render.given_words import tell_read_outside
from tests.onnx_text import load_text


def _tell(read: range, *, joined: bool = False) -> str:
    """Return what is told of five layers of which some are read outside."""
    weights = ", ".join(f"float[2, 2] w{n} = {{{n}, 1, 2, 3}}" for n in range(5))
    rows = [f"m{n} = MatMul (e{n}, w{n})  e{n + 1} = Relu (m{n})" for n in range(5)]
    total = "e5"
    for number in () if joined else read:
        rows.append(f"r{number} = Neg (e{number + 1})  t{number} = Add ({total}, r{number})")
        total = f"t{number}"
    if joined:
        rows += [f"c = Concat <axis = 1> ({', '.join(f'e{n + 1}' for n in read)})"]
        rows += ["t = ReduceMean <keepdims = 1> (c)"]
        total = "t"
    text = f"net (float[3, 2] e0) => (float[3, 2] y) <{weights}> {{ {' '.join(rows)}"
    graph = load_text(f"{text} y = Tanh ({total}) }}").graph
    root = Group("graph", graph, "main/", "main")
    repeat = Group("repeat", graph, "main/stack/", "stack", "", root)
    for number in range(5):
        member = Group("scope", graph, f"main/stack/{number}/", str(number), "", repeat)
        member.children = [*graph.nodes[2 * number : 2 * number + 2]]
        repeat.add(member)
    repeat.node_count = 10
    return tell_read_outside(repeat)


def test_what_is_read_of_each_is_told() -> None:
    assert _tell(range(5)) == "each result is used later"


def test_the_last_one_is_read_anyway() -> None:
    assert _tell(range(4)) == "each result is used later"


def test_what_is_read_of_some_is_not_told_of_each() -> None:
    assert not _tell(range(3))
    assert not _tell(range(1, 5))
    assert not _tell(range(0))


def test_what_one_node_joins_is_concatenated() -> None:
    assert _tell(range(5), joined=True) == "all results are concatenated"
    assert not _tell(range(3), joined=True)
