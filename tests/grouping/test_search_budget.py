"""The search for repeats ends soon, however a sequence of nodes is made."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest

from netloupe.explorer.grouping import Group, build_group_tree, structure
from netloupe.explorer.grouping.search_budget import SearchBudget
from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2
from tests.corpus import corpus_file
from tests.steps import count_calls

from .test_tree import check_tree

_COUNT = 20_000
_OPERATORS = ("Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Exp", "Sqrt", "Log")


def chain(word: list[int]) -> Graph:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="v0")
    proto.graph.output.add(name=f"v{len(word)}")
    for number, letter in enumerate(word):
        proto.graph.node.add(
            op_type=_OPERATORS[letter], input=[f"v{number}"], output=[f"v{number + 1}"]
        )
    return load(proto.SerializeToString()).graph


def plain(count: int) -> list[int]:
    return [number % 8 for number in range(count)]


def fibonacci(count: int) -> list[int]:
    """Write Fibonacci's word: it repeats in every place, with a length that grows."""
    first, second = [0], [0, 1]
    while len(second) < count:
        first, second = second, second + first
    return second[:count]


def thue_morse(count: int) -> list[int]:
    """Write a word in which nothing is said three times."""
    return [number.bit_count() % 2 for number in range(count)]


def two_runs(count: int) -> list[int]:
    return [0] * (count // 2) + [1] * (count // 2)


def growing_runs(count: int) -> list[int]:
    word: list[int] = []
    length = 1
    while len(word) < count:
        word += [0] * length + [1] * length
        length += 1
    return word[:count]


def de_bruijn(letters: int) -> Callable[[int], list[int]]:
    """Return a writer of words in which no stretch of a certain length is said twice.

    By Lyndon words in order (H. Fredricksen and J. Maiorana, 1978; J.-P. Duval, 1988).
    """

    def write(count: int) -> list[int]:
        order = 1
        while letters**order < count:
            order += 1

        def list_letters() -> object:
            word = [-1]
            while word:
                word[-1] += 1
                if order % len(word) == 0:
                    yield from word
                length = len(word)
                while len(word) < order:
                    word.append(word[-length])
                while word and word[-1] == letters - 1:
                    word.pop()

        return [*islice(list_letters(), count)]  # type: ignore[call-overload]

    return write


def count_calls_to_group(graph: Graph) -> int:
    assert len(graph.nodes)
    trees = []
    calls = count_calls(lambda: trees.append(build_group_tree(graph, "repeats")))
    assert len(trees[0].order) == len(graph.nodes)
    return calls


@pytest.fixture(scope="module")
def plain_calls() -> int:
    return count_calls_to_group(chain(plain(_COUNT)))


@pytest.mark.parametrize(
    "write", [fibonacci, thue_morse, two_runs, growing_runs, de_bruijn(2), de_bruijn(3)]
)
def test_words_that_are_made_to_take_long(
    write: Callable[[int], list[int]], plain_calls: int
) -> None:
    # measured: 16 times as many calls at most; without a bound 68 times for Fibonacci's word
    assert count_calls_to_group(chain(write(_COUNT))) < 40 * plain_calls


def test_what_is_found_is_the_same_each_time() -> None:
    found = [
        [
            group.path
            for group in build_group_tree(chain(fibonacci(3_000)), "repeats").groups.values()
        ]
        for _ in range(2)
    ]
    assert found[0] == found[1]


def test_without_effort_nothing_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    word = [*range(5)] * 40
    (repeat,) = build_group_tree(chain(word), "repeats").root.children
    assert isinstance(repeat, Group)
    assert len(repeat.children) == 40
    monkeypatch.setattr(structure, "SearchBudget", lambda _: SearchBudget(-1_000_000_000))
    tree = build_group_tree(chain(word), "repeats")
    check_tree(tree)
    assert not any(group.kind == "repeat" for group in tree.groups.values())


@pytest.mark.parametrize("name", ["unet.dynamo", "detr.legacy", "rtdetr.legacy", "yolov8.legacy"])
def test_networks_take_a_part_of_the_effort(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[SearchBudget] = []

    class Half(SearchBudget):
        def __init__(self, nodes: int) -> None:
            super().__init__(nodes)
            self.spend(self._left // 2)
            made.append(self)

    monkeypatch.setattr(structure, "SearchBudget", Half)
    build_group_tree(load(corpus_file(f"exported/{name}.onnx")).graph, "repeats")
    assert made
    assert not any(budget.is_spent for budget in made)
