"""After which block a value leaves a closed stack stands beside its line."""

from __future__ import annotations

import pytest

from netloupe.explorer.view import View
from netloupe.explorer.view.inner_exits import name_inner_exits
from tests.view.test_value_names import Row, make_model


def _stack(names: list[str], taps: list[int], *, in_series: bool = True) -> dict[str, str]:
    """Return what is said of lines out of a stack of blocks, some of which are also read out."""
    rows: list[Row] = [("MatMul", "embed", ["x", "w"], "y0")]
    for number, name in enumerate(names):
        taken = f"y{number}" if in_series else "y0"
        rows += [
            ("MatMul", f"{name}/a", [taken, f"u{number}"], f"a{number}"),
            ("Relu", name, [f"a{number}"], f"b{number}"),
            ("MatMul", f"{name}/b", [f"b{number}", f"v{number}"], f"c{number}"),
            ("Add", name, [f"c{number}", taken], f"y{number + 1}"),
        ]
    given = []
    for place, tap in enumerate(taps):  # heads of several kinds, which are no row
        for step in range(place + 1):
            taken = f"h{tap}_{step - 1}" if step else f"y{tap}"
            row: Row = (("Tanh", "Exp", "Sin")[place], f"head{tap}", [taken], f"h{tap}_{step}")
            rows.append(row)
        given.append(f"h{tap}_{place}")
    own = {f"{kind}{number}": float(number) for number in range(len(names)) for kind in "uv"}
    view = View(make_model(rows, ["x"], given, **own))
    links = view.links(view.root)
    found = name_inner_exits(view, view.root, links)
    assert any(child.repeat is not None for child in view.root.children)
    return {links[number].value.name: name for number, name in found.items()}


@pytest.mark.parametrize("count", [4, 6, 9])
def test_lines_of_inner_blocks_say_so(count: int) -> None:
    # A. Hatamizadeh and others, UNETR, 2022, figure 2
    names = [f"blocks.{number}" for number in range(count)]
    assert _stack(names, [1, count - 1, count]) == {
        "y1": "after blocks.0",
        f"y{count - 1}": f"after blocks.{count - 2}",
    }


def test_blocks_of_long_names_are_told_by_their_place() -> None:
    names = [f"encoder_of_the_whole_image.{number}" for number in range(5)]
    assert _stack(names, [2, 5]) == {"y2": "after 2 of 5"}


def test_of_blocks_beside_each_other_none_is_after_another() -> None:
    names = [f"branches.{number}" for number in range(6)]
    assert _stack(names, [1, 3, 6], in_series=False) == {}
