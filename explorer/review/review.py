"""A review: everything there is to look at in a model, in one order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from netloupe.explorer.checks import Findings
from netloupe.explorer.compare import Diff
from netloupe.explorer.dataframes import make_dataframe
from netloupe.explorer.describe.differences import write_compatibility, write_verdict
from netloupe.explorer.errors import ViewError
from netloupe.explorer.notation import write_count

from .differences import FindShown, find_right, list_diff_items
from .findings import list_finding_items
from .item import ReviewItem, sort_items
from .wording import write_message

if TYPE_CHECKING:
    import pandas

#: why rules were skipped that read weights nobody has asked to read
UNREAD_WEIGHTS = "weights were not read"

#: what is counted, by kind and level of the items, and how it is called
_COUNTED = (
    ("error", lambda item: item.level == "error"),
    ("warning", lambda item: item.level == "warning"),
    ("difference", lambda item: item.kind == "difference"),
    ("minor finding", lambda item: item.level == "minor"),
    ("note", lambda item: item.kind == "note"),
)


@dataclass(frozen=True, slots=True)
class Review(Sequence[ReviewItem]):
    """What there is to look at in a model: a sequence of items, the worst first.

    Parameters
    ----------
    items
        All of them.
    headline
        What is so as a whole, in a sentence; "" where nothing was compared or audited.
    summary
        More of the same, in sentences.
    unchecked
        What was not looked at, and why: a reason, and to what it applies.
    lacks_weights
        Whether rules were left out since they read weights.
    """

    items: tuple[ReviewItem, ...] = ()
    headline: str = ""
    summary: str = ""
    unchecked: tuple[tuple[str, str], ...] = ()
    lacks_weights: bool = False

    @overload
    def __getitem__(self, index: int) -> ReviewItem: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[ReviewItem, ...]: ...

    def __getitem__(self, index: int | slice) -> ReviewItem | tuple[ReviewItem, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[ReviewItem]:
        return iter(self.items)

    @property
    def verdict(self) -> str:
        """How much there is, in a line: ``1 error, 2 warnings, 10 differences, 2 notes``."""
        open_ones = [item for item in self.items if not item.accepted]
        counts = [(sum(map(is_one, open_ones)), noun) for noun, is_one in _COUNTED]
        told = [write_count(count, noun) for count, noun in counts if count]
        accepted = len(self.items) - len(open_ones)
        if accepted:
            told.append(f"{accepted:,} accepted")
        return ", ".join(told) or "nothing found"

    def to_dataframe(self) -> pandas.DataFrame:
        """Return a row for each item; evidence is text.

        Raises
        ------
        MissingPackageError
            Where pandas is not installed.
        """
        rows = self.items
        return make_dataframe(
            {
                "kind": [item.kind for item in rows],
                "level": [item.level for item in rows],
                "id": [item.id for item in rows],
                "title": [item.title for item in rows],
                "where": [item.where for item in rows],
                "count": [item.count for item in rows],
                "paths": [item.paths for item in rows],
                "evidence": ["; ".join(f"{a}: {b}" for a, b in item.evidence) for item in rows],
                "why": [item.why for item in rows],
                "remedy": [item.remedy for item in rows],
                "accepted": [item.accepted for item in rows],
            }
        )

    def __repr__(self) -> str:
        return f"<Review: {self.verdict}>"


def make_review(
    findings: Findings | None = None,
    diff: Diff | None = None,
    others: Iterable[ReviewItem] = (),
    find_shown: FindShown = find_right,
) -> Review:
    """Return one list of all that is known.

    Parameters
    ----------
    findings
        Of a check; None where rules were not applied.
    diff
        Against another model; None for none.
    others
        Further items, such as those of an audit and notes.
    find_shown
        Tells where the picture shows elements of the two models of ``diff``.
    """
    items = list(others)
    headline = summary = ""
    if diff is not None:
        items += list_diff_items(diff, find_shown)
        headline, summary = write_compatibility(diff), write_verdict(diff)
    if findings is None:
        unchecked: tuple[tuple[str, str], ...] = (("rules were not applied", "all rules"),)
        return Review(tuple(sort_items(items)), headline, summary, unchecked)
    items += list_finding_items(findings)
    reasons: dict[str, list[str]] = {}
    for skipped in findings.skipped_rules:
        reasons.setdefault(skipped.reason, []).append(skipped.id)
    return Review(
        tuple(sort_items(items)),
        headline,
        summary,
        tuple((write_message(reason), ", ".join(ids)) for reason, ids in reasons.items()),
        UNREAD_WEIGHTS in reasons,
    )


#: what a review can be made of
Reviewable = Review | Findings | Diff


def take_review(given: Reviewable | Iterable[Reviewable]) -> Review:
    """Return one review of what somebody gives: a review, findings, a difference, or several.

    Raises
    ------
    ViewError
        For anything else, and for two of the same kind.
    """
    parts = [given] if isinstance(given, Reviewable) else given
    if not isinstance(parts, Iterable):
        raise _refuse(given)
    found: dict[type, Any] = {}
    for part in parts:
        kind = next((each for each in (Review, Findings, Diff) if isinstance(part, each)), None)
        if kind is None:
            raise _refuse(part)
        if kind in found:
            raise ViewError(f"a review is made of one {kind.__name__} at most. Leave one out.")
        found[kind] = part
    made = make_review(found.get(Findings), found.get(Diff))
    before: Review | None = found.get(Review)
    if before is None:
        return made
    if len(found) == 1:
        return before
    return Review(
        tuple(sort_items((*before.items, *made.items))),
        " ".join(filter(None, (before.headline, made.headline))),
        " ".join(filter(None, (before.summary, made.summary))),
        before.unchecked if Findings not in found else (*before.unchecked, *made.unchecked),
        before.lacks_weights or made.lacks_weights,
    )


def _refuse(given: object) -> ViewError:
    return ViewError(
        f"a review is made of a {type(given).__name__}. Give what netloupe.check or netloupe.diff "
        "gives, or the review of an explorer."
    )
