"""Blocks of a stack that are like one in which nothing was found are not looked into."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.like_blocks import LikeBlocks
from netloupe.explorer.grouping.spilled_arithmetic import list_searched
from netloupe.explorer.model import Model
from tests.corpus import shared_model
from tests.unrolled import WIDTH, Writer

_LAYERS = 6


def _make_stack(*, odd: int | None = None, own: str = "Relu") -> Model:
    """Return layers one behind the other; one of them, where asked, has another operator inside."""
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    stream = "x"
    for layer in range(_LAYERS):
        scope = f"layers.{layer}"
        weight = writer.weight(f"{layer}", WIDTH, WIDTH)
        inner = writer.add(f"{scope}/up", "MatMul", stream, weight)
        inner = writer.add(f"{scope}/act", own if layer == odd else "Tanh", inner)
        inner = writer.add(f"{scope}/act", "Neg", inner)
        stream = writer.add(scope, "Add", stream, inner)
    writer.outputs = [stream]
    return writer.load()


def _find_stack(model: Model) -> Group:
    tree = build_group_tree(model.graph)
    (stack,) = [group for group in tree.groups.values() if group.kind == "repeat"]
    assert len(stack.children) == _LAYERS
    return stack


def _look(stack: Group) -> list[int]:
    """Return which blocks of a stack are to be looked into."""
    like = LikeBlocks()
    return [n for n, block in enumerate(stack.inner_groups()) if not like.is_like_one_left(block)]


def test_like_blocks_are_looked_into_once() -> None:
    assert _look(_find_stack(_make_stack())) == [0, 5]  # the last one feeds no other


def test_another_operator_and_another_child_make_another_block() -> None:
    assert _look(_find_stack(_make_stack(odd=2))) == [0, 2, 5]
    stack = _find_stack(_make_stack())
    third = stack.inner_groups()[3]
    third.children = third.children[::-1]
    assert _look(stack) == [0, 3, 5]


def test_blocks_like_one_that_is_changed_are_looked_into() -> None:
    stack = _find_stack(_make_stack())
    like = LikeBlocks()
    first, second, third, *_ = stack.inner_groups()
    assert not like.is_like_one_left(first)
    first.children = first.children[::-1]
    assert not like.is_like_one_left(second)
    assert not like.is_like_one_left(third)
    assert not like.is_like_one_left(first), "the answer is kept"


def test_what_stands_in_no_stack_is_looked_into() -> None:
    stack = _find_stack(_make_stack())
    around = stack.parent
    assert around is not None
    assert not LikeBlocks().is_like_one_left(around)
    assert not LikeBlocks().is_like_one_left(stack)


def test_groups_of_like_blocks_are_searched_once() -> None:
    stack = _find_stack(_make_stack())
    assert stack.parent is not None
    searched = [*list_searched(stack.parent, 1, 300)]
    blocks = stack.inner_groups()
    # from the end on, and the last one feeds no other
    assert [group for group in searched if group in blocks] == [blocks[5], blocks[4]]
    assert [group.parent for group in searched if group.parent in blocks] == [blocks[5], blocks[4]]


@pytest.mark.parametrize(
    "name", ["bert.dynamo", "conformer.legacy", "gpt2.legacy", "llama.dynamo", "swin.legacy"]
)
def test_trees_are_as_if_all_blocks_were_looked_into(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = shared_model(f"exported/{name}.onnx").graph
    told = _tell(build_group_tree(graph))
    monkeypatch.setattr(LikeBlocks, "is_like_one_left", lambda *_: False)
    assert _tell(build_group_tree(graph)) == told


def _tell(tree: GroupTree) -> list[tuple[object, ...]]:
    return [
        (path, one.kind, one.label, one.type_name, one.facts, one.low, one.high)
        for path, one in tree.groups.items()
    ]
