"""What only lays one value out anew, or crops it, is one box with its sizes."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group

from .test_spilled_ideas import build, find_blocks, list_operators

_FILE = """
    windows (float[{before}] x) => (float[{behind}] y)
    <int64[{rank}] parts = {{{parts}}}, int64[{behind_rank}] joined = {{{joined}}},
     int64[1] zero = {{0}}, int64[1] four = {{4}}, int64[1] second = {{2}}, int64[1] third = {{3}},
     int64[1] step = {{{step}}}>
    {{
      [first__Relu] r = Relu (x)
      {body}
      [last__Relu] y = Relu (o)
    }}
"""
_TURNED = """
      [Reshape] a = Reshape (r, parts)
      [Transpose] b = Transpose <perm = [{perm}]> (a)
      [Reshape_1] o = Reshape (b, joined)
"""
_CROPPED = """
      [Slice] a = Slice (r, zero, four, second, step)
      [Slice_1] o = Slice (a, zero, four, third, step)
"""


def _find(body: str, **parts: object) -> list[Group]:
    text = _FILE.format(body=body, **{"step": 1, "parts": "1", "rank": 1, **parts})
    return [one for one in find_blocks(build(text)) if one.type_name in ("Rearrangement", "Crop")]


def _turn(before: str, parts: str, perm: str, behind: str) -> list[Group]:
    ranks = {"rank": parts.count(",") + 1, "behind_rank": behind.count(",") + 1}
    body = _TURNED.format(perm=perm)
    return _find(body, before=before, parts=parts, behind=behind, joined=behind, **ranks)


@pytest.mark.parametrize(
    ("before", "parts", "perm", "behind", "fact"),
    [
        ("1,16,8,12", "1,16,2,4,3,4", "0,2,4,3,5,1", "6,16,16", "into windows 4×4"),
        ("1,8,12,16", "1,4,2,4,3,16", "0,1,3,2,4,5", "16,6,16", "into windows 2×3"),
        ("16,6,16", "1,4,4,2,3,16", "0,1,3,2,4,5", "1,8,12,16", "windows 2×3 to an image"),
        # far places of an image come together, and channels are shuffled: these are no windows
        ("1,8,12,16", "1,4,2,4,3,16", "0,2,4,1,3,5", "6,16,16", "8 × 12 × 16 → 6 × 16 × 16"),
        ("1,16,8,12", "1,4,4,8,12", "0,2,1,3,4", "1,16,8,12", "16 × 8 × 12 → 16 × 8 × 12"),
    ],
)
def test_layouts_in_a_row_are_one_box(
    before: str, parts: str, perm: str, behind: str, fact: str
) -> None:
    (block,) = _turn(before, parts, perm, behind)
    assert list_operators(block) == ["Reshape", "Reshape", "Transpose"]
    assert (block.type_name, block.facts) == ("Rearrangement", (fact,))


def test_a_value_that_is_taken_on_the_way_parts_a_row() -> None:
    body = _TURNED.format(perm="0,1,3,2,4,5") + "[Relu] other = Relu (b)\n"
    sizes = {"before": "1,8,12,16", "parts": "1,4,2,4,3,16", "behind": "16,6,16"}
    (block,) = _find(body, **sizes, joined="16,6,16", rank=6, behind_rank=3)
    assert list_operators(block) == ["Reshape", "Transpose"]


def test_slices_of_several_axes_are_one_crop() -> None:
    sizes = {"before": "1,3,6,8", "behind": "1,3,4,4", "behind_rank": 1, "joined": "1"}
    (block,) = _find(_CROPPED, **sizes)
    assert (block.type_name, block.facts) == ("Crop", ("6 × 8 → 4 × 4",))
    assert not _find(_CROPPED, **sizes, step=2)
