"""Ways side by side of which the same is told, told once."""

from __future__ import annotations

from collections.abc import Sequence

from .counted_words import SMALL_NUMBERS, join_with_and


def tell_ways(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return what each of several ways is, behind its name; alike ones together.

    ``class: linear layer`` and ``boxes and masks: each two convolutions``; of those without names
    ``two of two convolutions``.
    """
    rows: dict[str, list[str]] = {}
    for name, text in zip(names, texts, strict=True):
        rows.setdefault(text, []).append(name)
    told = []
    for text, own in rows.items():
        if len(own) == 1 or not text:
            told += [f"{name}: {text}" if name and text else name or text for name in own]
        elif all(own):
            told.append(f"{join_with_and(own)}: each {text}")
        else:
            told.append(f"{SMALL_NUMBERS[len(own)]} of {text}")
    return told
