"""Messages that are mixed with the same first values in each round."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from netloupe.explorer.notation import write_number
from netloupe.explorer.patterns.details import NO_DETAILS

from .composites import Merge, make_part
from .outline import Outline, OutlinePart

_LEAST_ROUNDS = 2
_SAME = 1e-3


def find_teleports(outline: Outline) -> Iterator[Merge]:
    """Find rounds of messages of which each goes back to the first values by a share.

    (1 - a) · A · z + a · h, h being the same in all rounds (J. Gasteiger and others, Predict then
    Propagate: Graph Neural Networks meet Personalized PageRank, 2019, equation 5).
    """
    found: dict[OutlinePart, list[tuple[float, list[OutlinePart], OutlinePart]]] = {}
    for messages in outline.of_kind("message passing"):
        kept = outline.only_user(messages)
        total = outline.only_user(kept) if kept is not None else None
        share = _read_share(outline, kept)
        if kept is None or total is None or not total.has("adds") or not 0 < share < 1:
            continue
        others = [giver for giver in outline.givers(total) if giver is not kept]
        back = others[0] if len(others) == 1 else None
        if back is None or abs(_read_share(outline, back) + share - 1) > _SAME:
            continue
        firsts = outline.givers(back)
        if len(firsts) == 1:
            parts = [messages, kept, total]  # one product may serve all
            found.setdefault(firsts[0], []).append((1 - share, parts, total))
    for rounds in found.values():
        if len(rounds) < _LEAST_ROUNDS or not all(
            two[2].follows(one[2]) for one, two in pairwise(rounds)
        ):
            continue
        for share, parts, total in rounds:
            merged = make_part(parts, "message passing", "Message passing", NO_DETAILS)
            merged.end = total.end
            merged.facts = (f"each with {write_number(round(share, 4))} of the first values",)
            yield parts, merged


def _read_share(outline: Outline, part: OutlinePart | None) -> float:
    """Return the one number that a part multiplies by; 0 where it does not."""
    if part is None or not part.has("multiplies_elements"):
        return 0.0
    return outline.operations.scalar(part.end) or 0.0
