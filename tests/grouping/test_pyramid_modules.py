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


def _find_decoder(joining: str) -> list[str]:
    """Return the labels at the top of an encoder of stages with a decoder that takes each map."""
    acts = ("Relu", "Sigmoid", "Erf", "Softplus")  # so that they are no stack
    stages = "".join(
        f"""
        [layer{n}__conv__Conv] c{n} = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (m{n}, w)
        [layer{n}__act__A] r{n} = {acts[n]} (c{n})
        [layer{n}__bend__Tanh] m{n + 1} = Tanh (r{n})
        """
        for n in range(4)
    )
    ups = "".join(
        f"""
        [decoder__up{n}__conv__ConvTranspose] u{n} = ConvTranspose <strides = [2, 2]> (d{n}, t)
        [decoder__Join_{n}] j{n} = {joining.format(n=n, skip=3 - n)}
        [decoder__block{n}__conv__Conv] k{n} = Conv <pads = [1, 1, 1, 1]> (j{n}, v{n})
        [decoder__block{n}__act__A] d{n + 1} = {acts[n]} (k{n})
        """
        for n in range(3)
    )
    taken = 6 if joining.startswith("Concat") else 3
    text = f"""
        unet (float[1, 3, 64, 64] m0) => (float[1, 3, 32, 32] y)
        <int64[4] kernel = {{3, 3, 3, 3}}, int64[4] small = {{3, 3, 2, 2}},
         int64[4] wide = {{3, {taken}, 3, 3}}>
        {{ [w] w = ConstantOfShape (kernel) [t] t = ConstantOfShape (small)
           {"".join(f"[v{n}] v{n} = ConstantOfShape (wide)" for n in range(3))} {stages}
           [decoder__begin__Erf] d0 = Erf (m4) {ups} [end__Tanh] y = Tanh (d3) }}
    """
    groups = build_group_tree(read(text).graph).root.inner_groups()
    return [one.label for one in groups]


@pytest.mark.parametrize("joins", [True, False])
def test_a_decoder_that_joins_three_resolutions_stands_beside_the_encoder(joins: bool) -> None:
    joining = "Concat <axis = 1> (u{n}, m{skip})" if joins else "Add (u{n}, m{skip})"
    labels = _find_decoder(joining)
    assert ("decoder" in labels) is not joins
    assert any(label.startswith("block0") for label in labels) is joins
