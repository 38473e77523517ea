"""Modules that give maps of several resolutions are taken away at the top."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree

from .test_spilled_ideas import read


def _find_groups(*, levels: int, scale: int = 2) -> list[str]:
    """Return the labels of the groups at the top of a backbone of stages with a head for each.

    Parameters
    ----------
    levels
        How many of its four stages give their maps to heads.
    scale
        By how much each stage makes maps smaller.
    """
    acts = ("Relu", "Sigmoid", "Erf", "Softplus")  # so that they are no stack
    stages = "".join(
        f"""
        [backbone__layer{n}__conv__Conv] c{n} = Conv <pads = [1, 1, 1, 1],
            strides = [{scale}, {scale}]> (m{n}, w)
        [backbone__layer{n}__act__A] r{n} = {acts[n]} (c{n})
        [backbone__layer{n}__bend__Tanh] m{n + 1} = Tanh (r{n})
        """
        for n in range(4)
    )
    heads = "".join(
        f"""
        [head{n}__a__Conv] h{n} = Conv <pads = [1, 1, 1, 1]> (m{n + 1}, w)
        [head{n}__b__Sigmoid] y{n} = Sigmoid (h{n})
        """
        for n in range(4 - levels, 4)
    )
    given = ", ".join(f"float[1, 3, a, b] y{n}" for n in range(4 - levels, 4))
    text = f"""
        pyramid (float[1, 3, 64, 64] m0) => ({given}) <int64[4] kernel = {{3, 3, 3, 3}}>
        {{ [w] w = ConstantOfShape (kernel) {stages} {heads} }}
    """
    groups = build_group_tree(read(text).graph).root.inner_groups()
    return [one.label for one in groups if isinstance(one, Group)]


def test_what_gives_three_resolutions_leaves_its_place_to_its_stages() -> None:
    labels = _find_groups(levels=3)
    assert "backbone" not in labels
    assert any(label.startswith("layer") for label in labels)


@pytest.mark.parametrize(("levels", "scale"), [(2, 2), (3, 1)])
def test_fewer_resolutions_are_no_pyramid(levels: int, scale: int) -> None:
    labels = _find_groups(levels=levels, scale=scale)
    assert "backbone" in labels or any(label.startswith("backbone /") for label in labels)
