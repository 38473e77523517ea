"""A review as JSON for a browser: what is said of many items stands in it once.

``frontend/src/review/items.ts`` reads it.
"""

from __future__ import annotations

from typing import Any

from .item import KINDS, LEVELS, ReviewItem
from .review import Review

#: so many paths are written in all; beyond them the first few of each item
_MOST_PATHS = 100_000
_FEW_PATHS = 20


class _Texts:
    """Numbers texts; equal ones have one number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def list(self) -> list[str]:
        return list(self._numbers)


def encode_review(review: Review) -> dict[str, Any]:
    """Return a review as JSON can hold it.

    ``items`` has a list for each: number of its kind and level, then numbers of texts (title,
    where, id, why, remedy, source, accepted), the number of places, the evidence as numbers of
    texts, label and text in turn, the paths, and the number of the fingerprint.
    """
    texts = _Texts()
    kinds = {kind: number for number, kind in enumerate(KINDS)}
    levels = {level: number for number, level in enumerate(LEVELS)}
    left = _MOST_PATHS
    items = []
    for item in review:
        paths = item.paths if len(item.paths) <= left else item.paths[:_FEW_PATHS]
        left = max(0, left - len(paths))
        numbers = [kinds[item.kind], levels[item.level], *_list_texts(item, texts)]
        items.append([*numbers, list(paths), texts.number(item.fingerprint)])
    return {
        "headline": review.headline,
        "summary": review.summary,
        "unchecked": [list(each) for each in review.unchecked],
        "lacks_weights": review.lacks_weights,
        "kinds": list(KINDS),
        "levels": [[name, style.sign, style.tone, style.meaning] for name, style in LEVELS.items()],
        "texts": texts.list(),
        "items": items,
    }


def _list_texts(item: ReviewItem, texts: _Texts) -> list[Any]:
    named = (item.title, item.where, item.id, item.why, item.remedy, item.source, item.accepted)
    evidence = [texts.number(text) for row in item.evidence for text in row]
    return [*map(texts.number, named), item.count, evidence]
