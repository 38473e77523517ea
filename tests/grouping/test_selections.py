"""A search for the largest, with what picks elements by the places it found, is one box."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, GroupTree

from .test_spilled_ideas import build, find_blocks, list_operators

_QUERIES = """
    queries (float[1, 30, 16] x) => (float[1, 5, 16] y, float[1, 5, 16] z)
    <int64[2] square = {16, 16}, int64[1] classes = {2}, int64[1] few = {5}, int64[1] last = {2},
     int64[3] wide = {1, 5, 16}>
    {
      [a] w = ConstantOfShape (square)
      [body__MatMul] m = MatMul (x, w)  [body__Relu] r = Relu (m)
      [score__MatMul] s = MatMul (r, w)  [score__Relu] score = Relu (s)
      [box__MatMul] b = MatMul (r, w)  [box__Relu] box = Relu (b)
      [ReduceMax] best = ReduceMax <keepdims = 0> (score, classes)
      [TopK] values, places = TopK <axis = 1> (best, few)
      [Unsqueeze] column = Unsqueeze (places, last)
      [Expand] index = Expand (column, wide)
      [GatherElements] query = GatherElements <axis = 1> (r, index)
      [GatherElements_1] where = GatherElements <axis = 1> (box, index)
      [one__MatMul] o = MatMul (query, w)  [one__Relu] y = Relu (o)
      [two__MatMul] t = MatMul (where, w)  [two__Relu] z = Relu (t)
    }
"""


def _list_selections(tree: GroupTree) -> list[Group]:
    return [block for block in find_blocks(tree) if block.type_name == "Top-k selection"]


def test_what_ranks_places_and_what_picks_them_is_one_box() -> None:
    (block,) = _list_selections(build(_QUERIES))
    assert block.facts == ("the best 5",)
    assert list_operators(block) == sorted(
        ["Expand", "GatherElements", "GatherElements", "ReduceMax", "TopK", "Unsqueeze"]
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<axis = 1> (best", "<axis = 1, largest = 0> (best"),  # the nearest are no best
        ("int64[1] few = {5}", "int64[1] few = {30}"),  # all of them are only sorted
        ("GatherElements <axis = 1> (r, index)", "Add (r, r)"),  # nothing is picked
    ],
)
def test_what_is_no_choice_of_the_best_stays_apart(old: str, new: str) -> None:
    text = _QUERIES.replace(old, new)
    if "Add" in new:
        text = text.replace("GatherElements <axis = 1> (box, index)", "Add (box, box)")
    assert text != _QUERIES
    assert not _list_selections(build(text))


def test_what_is_picked_of_a_layer_behind_the_choice_stays_behind_it() -> None:
    text = _QUERIES.replace("(box, index)", "(deep, index)").replace(
        "[one__MatMul]",
        "[deep__MatMul] d = MatMul (query, w) [deep__Relu] deep = Relu (d) [one__MatMul]",
    )
    where = "[GatherElements_1] where = GatherElements <axis = 1> (deep, index)"
    text = text.replace(where, "").replace("[two__MatMul]", where + "\n[two__MatMul]")
    (block,) = _list_selections(build(text))
    assert list_operators(block).count("GatherElements") == 1
