"""A review as JSON for a browser."""

from __future__ import annotations

import json

from netloupe.explorer.review import Review, ReviewItem, encode_review
from netloupe.explorer.review.item import KINDS, LEVELS
from netloupe.explorer.review.wire import _FEW_PATHS, _MOST_PATHS

ITEM = ReviewItem(
    "difference",
    "changed",
    "Weight differs",
    "a and 1 more",
    "diff",
    ("main/a", "main/b"),
    (("relative L2", "0.8 %"), ("cosine", "0.99")),
    why="why",
    remedy="remedy",
    source="source",
    count=2,
    accepted="by somebody",
    fingerprint="f1",
)


def decode(review: Review) -> tuple[dict[str, object], list[list[object]]]:
    """Return what a browser reads, each item with its texts."""
    told = json.loads(json.dumps(encode_review(review)))
    texts = told["texts"]
    items = [
        [
            told["kinds"][row[0]],
            told["levels"][row[1]][0],
            *(texts[number] for number in row[2:9]),
            row[9],
            [texts[number] for number in row[10]],
            row[11],
            texts[row[12]],
        ]
        for row in told["items"]
    ]
    return told, items


def test_all_of_an_item_arrives() -> None:
    told, (item,) = decode(Review((ITEM,), "head", "sum", (("not read", "NL-N01"),), True))
    assert item == [
        "difference",
        "changed",
        *("Weight differs", "a and 1 more", "diff", "why", "remedy", "source", "by somebody"),
        2,
        ["relative L2", "0.8 %", "cosine", "0.99"],
        ["main/a", "main/b"],
        "f1",
    ]
    assert (told["headline"], told["summary"]) == ("head", "sum")
    assert (told["unchecked"], told["lacks_weights"]) == ([["not read", "NL-N01"]], True)
    assert told["kinds"] == list(KINDS)
    assert [level[0] for level in told["levels"]] == list(LEVELS)  # type: ignore[index]


def test_what_is_said_of_many_items_is_written_once() -> None:
    told, _ = decode(Review((ITEM,) * 5_000))
    assert len(told["texts"]) == 12  # type: ignore[arg-type]


def test_very_many_paths_are_cut_but_counted() -> None:
    paths = tuple(f"main/{number}" for number in range(_MOST_PATHS - 10))
    first = ReviewItem("finding", "error", "t", "w", "i", paths, count=len(paths))
    second = ReviewItem("finding", "error", "t", "w", "i", paths[:500], count=500)
    _, items = decode(Review((first, second)))
    assert len(items[0][11]) == len(paths)  # type: ignore[arg-type]
    assert (len(items[1][11]), items[1][9]) == (_FEW_PATHS, 500)  # type: ignore[arg-type]
