"""A module that is inside of itself is drawn level by level, and not as frames in frames."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import GroupTree, build_group_tree
from netloupe.explorer.model import Node
from tests.grouping.test_tree import check_tree, make_chain


def make_nested(depth: int, *, is_again: bool = True) -> GroupTree:
    """Return the tree of levels, each with what goes down, the next level, and what goes up."""
    down, up = [], []
    scope = "/stem"
    for level in range(depth):
        inner = "submodule" if is_again else "abcdefgh"[level] * 3
        scope = f"{scope if level else '/net'}/{inner}"
        down += [f"{scope}/down/{name}" for name in ("conv", "norm", "act")]
        up.append([f"{scope}/up/{name}" for name in ("conv", "norm", "act")])
    names = [*down, *(name for names in reversed(up) for name in names)]
    tree = build_group_tree(make_chain("/stem/a", "/stem/b", *names, "/head/a", "/head/b"))
    check_tree(tree)
    return tree


@pytest.mark.parametrize("depth", [4, 5, 7])
def test_levels_inside_of_levels_stand_one_behind_the_other(depth: int) -> None:
    tree = make_nested(depth)
    labels = [child.label for child in tree.root.children if not isinstance(child, Node)]
    assert labels.count("down") == labels.count("up") == depth
    assert not any("submodule" in label for label in labels)
    # they are still found by their paths
    assert tree.find("net/submodule/submodule") is not None


def test_few_levels_and_those_of_other_names_stay() -> None:
    for tree in (make_nested(2), make_nested(5, is_again=False)):
        assert "down" not in [child.label for child in tree.root.inner_groups()]
