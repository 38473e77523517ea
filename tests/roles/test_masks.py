"""Truth values of what comes in: masks that several others are made of, and masks of choices."""

from __future__ import annotations

import pytest

from netloupe.explorer.roles import Purpose, find_roles
from tests.onnx_text import load_text

_NINE = "{1,2,3,4,5,6,7,8,9}"


def _attend(number: int, mask: str) -> str:
    return f"""
        q{number} = MatMul (x{number}, w)
        t{number} = Transpose <perm = [0, 2, 1]> (q{number})
        s{number} = MatMul (q{number}, t{number})
        m{number} = Add (s{number}, {mask})
        a{number} = Softmax (m{number})
        x{number + 1} = MatMul (a{number}, q{number})
    """


def _find_purposes(graph: str) -> dict[str, Purpose | None]:
    """Return what each piece of preparation is for, by the last value that it gives."""
    found = load_text(graph).graph
    return {
        value.name: piece.purpose
        for piece in find_roles(found).pieces
        for value in found.nodes[piece.nodes[-1]].outputs
        if value is not None
    }


def _write_two_masks(use: str) -> str:
    """Write an encoder whose mask is made of padding, and a second mask of the same."""
    return f"""
        net (int64[1, 4] padding, float[1, 4, 3] x0, bool[1, 4, 4] causal) => (float[1, 4, 3] y)
        <float[3, 3] w = {_NINE}, float zero = {{0}}, float much = {{-1000}},
         int64[1, 4, 1] places = {{0, 1, 2, 3}}>
        {{
            given = Cast <to = 9> (padding)
            kept = GatherND <batch_dims = 1> (given, places)
            one = And (kept, causal)
            {use}
            mask = Where (one, zero, much)
            {_attend(0, "mask")}
            other = Where (two, zero, much)
            {_attend(1, "other")}
            y = Tanh (x2)
        }}
    """


def test_what_is_combined_to_several_masks_is_one() -> None:
    purposes = _find_purposes(_write_two_masks("two = Not (kept)"))
    assert purposes["kept"] == Purpose("attention mask", ("padding",))


def test_what_is_counted_besides_is_no_mask() -> None:
    use = """two = Not (kept)
            number = Cast <to = 1> (kept)
            z = MatMul (number, w4)"""
    graph = _write_two_masks(use).replace("int64[1, 4, 1]", "float[4, 3] w4 = {},\n int64[1, 4, 1]")
    graph = graph.replace("w4 = {}", "w4 = {1,2,3,4,5,6,7,8,9,10,11,12}")
    graph = graph.replace("=> (float[1, 4, 3] y)", "=> (float[1, 4, 3] y, float[1, 3] z)")
    assert _find_purposes(graph).get("kept") is None


def _write_choice(condition: str, chosen: str) -> str:
    return f"""
        net (int64[1, 4] ids, float[1, 4, 3] x) => (float[1, 4, 3] y)
        <float[3, 3] w = {_NINE}, float much = {{-1000}}, int64 none = {{0}},
         int64[1] last = {{2}}>
        {{
            h = MatMul (x, w)
            {condition}
            y = Where ({chosen})
        }}
    """


_COMPARED = "e = Equal (ids, none)  n = Not (e)  c = Unsqueeze (n, last)"


@pytest.mark.parametrize("chosen", ["c, h, much", "c, much, h"])
def test_what_tells_where_a_number_stands_is_a_mask(chosen: str) -> None:
    assert _find_purposes(_write_choice(_COMPARED, chosen))["c"] == Purpose("mask")


@pytest.mark.parametrize(
    ("condition", "chosen"),
    [
        (_COMPARED + "  g = Tanh (h)", "c, h, g"),  # both are computed
        ("a = Abs (ids)  b = Neg (a)  c = Cast <to = 9> (b)", "c, h, much"),
    ],
)
def test_what_chooses_otherwise_is_none(condition: str, chosen: str) -> None:
    purpose = _find_purposes(_write_choice(condition, chosen)).get("c")
    assert purpose is None


@pytest.mark.parametrize(("rows", "is_padding"), [(1, True), (3, True), (4, False)])
def test_a_square_tells_which_places_see_each_other_and_no_padding(
    rows: int, is_padding: bool
) -> None:
    graph = f"""
        net (int64[{rows}, 4] seen, float[1, 4, 3] x0) => (float[1, 4, 3] y)
        <float[3, 3] w = {_NINE}, float zero = {{0}}, float much = {{-1000}}>
        {{
            given = Cast <to = 9> (seen)
            other = Not (given)
            mask = Where (other, much, zero)
            {_attend(0, "mask")}
            {_attend(1, "mask")}
            y = Tanh (x2)
        }}
    """
    purpose = _find_purposes(graph)["mask"]
    assert purpose is not None
    assert purpose == Purpose("attention mask", ("padding",) if is_padding else ())
