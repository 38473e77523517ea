"""A review: everything there is to look at in a model, in one order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from netloupe.explorer.audit import QuantizationAudit
from netloupe.explorer.audit.result import Unchecked
from netloupe.explorer.checks import RULES, Findings, tell_skipped
from netloupe.explorer.compare import REAL_LEVELS, Diff
from netloupe.explorer.dataframes import make_dataframe
from netloupe.explorer.describe.difference_summary import write_compatibility, write_verdict
from netloupe.explorer.errors import ViewError
from netloupe.explorer.model import Model
from netloupe.explorer.notation import write_count
from netloupe.explorer.notes import Note, Notes
from netloupe.explorer.render.differences import write_difference_counts

from .audits import list_audit_items
from .differences import FindShown, find_right, list_diff_items
from .findings import list_finding_items
from .item import ReviewItem, sort_items
from .noted import list_note_items
from .wording import write_message

if TYPE_CHECKING:
    import pandas

#: why rules were skipped that read weights nobody has asked to read
UNREAD_WEIGHTS = "weights were not read"

#: what is counted, by kind and level of the items, and how it is called
_COUNTED = (
    ("error", lambda item: item.level == "error"),
    ("warning", lambda item: item.level == "warning"),
    ("difference", lambda item: item.kind == "difference" and item.level in REAL_LEVELS),
    ("moved", lambda item: item.level == "moved"),
    ("could not be read", lambda item: item.level == "unread"),
    ("minor finding", lambda item: item.level == "minor"),
    ("equal by calculation", lambda item: item.level == "equal"),
    ("other version", lambda item: item.level == "version"),
    ("only written otherwise", lambda item: item.level == "written"),
    ("note", lambda item: item.kind == "note"),
)
#: what is said of some, and is no noun
_SAID = frozenset({"moved", "could not be read", "equal by calculation", "only written otherwise"})


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
        told = [
            f"{count:,} {noun}" if noun in _SAID else write_count(count, noun)
            for count, noun in counts
            if count
        ]
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
    audit: QuantizationAudit | None = None,
    notes: Iterable[Note] = (),
    find_shown: FindShown = find_right,
) -> Review:
    """Return one list of all that is known.

    Parameters
    ----------
    findings
        Of a check; None where rules were not applied.
    diff
        Against another model; None for none.
    audit
        Of a quantized model; None for none. Its defects are not told again as findings.
    notes
        On elements of the model.
    find_shown
        Tells where the picture shows elements of the two models of ``diff``.
    """
    items = [*list_note_items(notes)]
    headlines, summaries = [], []
    unchecked: list[tuple[str, str]] = []
    if diff is not None:
        items += list_diff_items(diff, find_shown)
        headlines.append(write_verdict(diff))
        summaries.append(write_compatibility(diff))
        summaries.append(f"{write_difference_counts(diff)}.")
    told = set()
    if audit is not None:
        items += list_audit_items(audit, {rule.id: rule for rule in RULES})
        summaries.append(audit.verdict)
        told = {(defect.id, defect.fingerprint) for defect in audit.defects}
        unchecked += [_tell_unaudited(each) for each in audit.unchecked]
    if findings is None:
        unchecked.append(("rules were not applied", "all but those of an audit" if audit else ""))
    else:
        left = [each for each in findings if (each.id, each.fingerprint) not in told]
        items += list_finding_items(left, findings.rules)
        told_skipped = tell_skipped(findings.skipped_rules)
        unchecked += [(write_message(reason), rules) for reason, rules in told_skipped]
    return Review(
        tuple(sort_items(items)),
        " ".join(headlines),
        " ".join(summaries),
        tuple(unchecked),
        any(reason == UNREAD_WEIGHTS for reason, _ in unchecked),
    )


def _tell_unaudited(unchecked: Unchecked) -> tuple[str, str]:
    count = f" ({unchecked.count:,})" if unchecked.count > 1 else ""
    return write_message(unchecked.reason), f"{write_message(unchecked.what)}{count}"


#: what a review can be made of
Reviewable = Review | Findings | Diff | QuantizationAudit | Notes


def take_review(given: Reviewable | Iterable[Reviewable], shown: Model | None = None) -> Review:
    """Return one review of what somebody gives: a review, findings, a difference, or several.

    Parameters
    ----------
    given
        What it is made of.
    shown
        The model of the picture: where that is of two models, differences are where it shows them.

    Raises
    ------
    ViewError
        For anything else, for two of the same kind, and for a review with anything beside it.
    """
    if isinstance(given, Review):
        return given
    parts = [given] if isinstance(given, Reviewable) else given
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise _refuse(given)
    kinds = (Findings, Diff, QuantizationAudit, Notes)
    found: dict[type, Any] = {}
    for part in parts:
        kind = next((each for each in kinds if isinstance(part, each)), None)
        if kind is None:
            raise _refuse(part)
        if kind in found:
            raise ViewError(f"a review is made of one {kind.__name__} at most. Leave one out.")
        found[kind] = part
    findings, diff, audit, notes = (found.get(kind) for kind in kinds)
    compared = None if shown is None else shown.comparison
    find_shown: FindShown = find_right
    if compared is not None and any(compared is part for part in found.values()):
        find_shown = compared.merging.find_shown
    return make_review(findings, diff, audit, notes if notes is not None else (), find_shown)


def _refuse(given: object) -> ViewError:
    return ViewError(
        f"a review is made of a {type(given).__name__}. Give what netloupe.check, netloupe.diff or "
        "netloupe.audit gives, notes of a model, several of these, or the review of an explorer."
    )
