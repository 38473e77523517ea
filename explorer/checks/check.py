"""Applying rules to a model: which ones, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, overload

from netloupe.explorer.arguments import explain_arguments, explain_methods
from netloupe.explorer.dataframes import make_dataframe
from netloupe.explorer.errors import CheckError, NetloupeError
from netloupe.explorer.progress import is_ending, part, step
from netloupe.explorer.readers.load import ModelSource, load

from .accepted import mark_accepted
from .baseline import read_baseline, suppress_known
from .folding import Finding, fold_hits
from .rule import SEVERITIES, Occurrence, Rule
from .rules import RULES
from .runtimes import find_runtime
from .subject import Subject

if TYPE_CHECKING:
    import pandas


class SkippedRule(NamedTuple):
    """A rule that did not see everything, and why.

    Parameters
    ----------
    id
        Of the rule.
    reason
        In a sentence.
    """

    id: str
    reason: str


@explain_methods()
@dataclass(frozen=True, slots=True)
class Findings(Sequence[Finding]):
    """What a check found: a sequence of findings, the worst first.

    Parameters
    ----------
    source
        What the user calls the model.
    findings
        All of them, those included that a baseline has or a note accepts.
    skipped_rules
        Rules that did not see everything: what they would find there is not known.
    rules
        The rules that were applied.
    notices
        What is odd about the notes that accept findings.
    """

    source: str
    findings: tuple[Finding, ...]
    skipped_rules: tuple[SkippedRule, ...] = ()
    rules: tuple[Rule, ...] = ()
    notices: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Finding, ...]: ...

    def __getitem__(self, index: int | slice) -> Finding | tuple[Finding, ...]:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def reaches(self, severity: str) -> bool:
        """Return whether a finding is as bad as a severity, or worse.

        Those count not that a baseline has or a note accepts.

        Parameters
        ----------
        severity
            ``error``, ``warning`` or ``note``.

        Raises
        ------
        CheckError
            For anything else.
        """
        if severity not in SEVERITIES:
            raise CheckError(
                f"there is no severity {severity!r}. Give one of {', '.join(SEVERITIES)}."
            )
        bad = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return any(each.severity in bad for each in self.findings if not each.suppressed)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return a row for each finding.

        Raises
        ------
        MissingPackageError
            Where pandas is not installed.
        """
        rows = self.findings
        return make_dataframe(
            {
                "id": [each.id for each in rows],
                "name": [each.name for each in rows],
                "severity": [each.severity for each in rows],
                "message": [each.message for each in rows],
                "count": [each.count for each in rows],
                "paths": [each.paths for each in rows],
                "evidence": [dict(each.evidence) for each in rows],
                "remedy": [each.remedy for each in rows],
                "fingerprint": [each.fingerprint for each in rows],
                "suppressed": [each.suppressed for each in rows],
            }
        )

    def __repr__(self) -> str:
        counts = [(name, sum(f.severity == name for f in self.findings)) for name in SEVERITIES]
        told = ", ".join(f"{n:,} {name}{'' if n == 1 else 's'}" for name, n in counts if n)
        return f"<Findings: {told or 'nothing found'}>"


@explain_arguments
def check(
    model: ModelSource,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    target: str | None = None,
    baseline: str | PathLike[str] | None = None,
    with_notes: bool = True,
) -> Findings:
    """Apply the rules to a model.

    Parameters
    ----------
    model
        A model, or its path: what :func:`netloupe.load` gives or takes.
    select
        Rules to apply: ids (``NL-G02``), beginnings of ids (``NL-G``) or names
        (``unused-initializer``). Without any, all but those that are opt-in.
    ignore
        Rules not to apply, in the same words.
    target
        The runtime that the model is meant for: ``ort-1.17``.
    baseline
        A file with the JSON of an earlier check; findings that it has are marked as suppressed.
        Of a check of several models that of the same name counts.
    with_notes
        Whether notes beside the model (``model.notes.accept``) mark findings as accepted.

    Returns
    -------
    Findings
        All findings, alike places told as one, the worst first; and which rules did not see
        everything.

    Raises
    ------
    CheckError
        For a rule or a target that is not known, and a baseline that cannot be read.
    SourceError, ModelFormatError
        Where the model cannot be read.

    Examples
    --------
    >>> for finding in netloupe.check(model, target="ort-1.17"):
    ...     print(finding)
    """
    runtime = None if target is None else find_runtime(target)
    rules = choose_rules(select, ignore, has_target=runtime is not None)
    loaded = load(model)
    known = {} if baseline is None else read_baseline(baseline).find_known(loaded.source)
    return apply_rules(Subject(loaded, runtime), rules, known, with_notes=with_notes)


def apply_rules(
    subject: Subject,
    rules: Sequence[Rule],
    known: Mapping[str, int] | None = None,
    *,
    with_notes: bool = True,
) -> Findings:
    """Apply some rules to what they look at, and return what they find, the worst first.

    Parameters
    ----------
    subject
        The model, and what has been worked out of it already.
    rules
        The rules.
    known
        Counts of known findings by fingerprint.
    with_notes
        Whether notes beside the model mark findings as accepted.
    """
    found: list[Finding] = []
    skipped: list[SkippedRule] = []
    for place, rule in enumerate(rules):
        with part(place / len(rules), (place + 1) / len(rules)):
            step("applying rules", 0.0)
            found += fold_hits(rule, _list_places(rule, subject, skipped))
        if rule.reads_values and subject.gap:
            skipped.append(SkippedRule(rule.id, subject.gap))
        skipped += (SkippedRule(rule.id, reason) for reason in subject.take_left_out())
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))  # else in the rules' order
    if known:
        found = suppress_known(found, known)
    model = subject.model
    found, notices = mark_accepted(model, found) if with_notes else (found, [])
    return Findings(model.source, tuple(found), tuple(skipped), tuple(rules), tuple(notices))


def _list_places(rule: Rule, subject: Subject, skipped: list[SkippedRule]) -> Iterator[Occurrence]:
    """Yield what a rule finds; what it cannot read, or gives up at, is noted."""
    try:
        yield from rule.find(subject)
    except NetloupeError as error:
        if is_ending(error):
            raise
        skipped.append(SkippedRule(rule.id, str(error)))


def choose_rules(
    select: Iterable[str] = (), ignore: Iterable[str] = (), *, has_target: bool = False
) -> list[Rule]:
    """Return the rules that some words choose, in their order.

    Raises
    ------
    CheckError
        For a word that chooses none.
    """
    wanted = [word for text in select for word in _split(text)]
    chosen = [rule for rule in RULES if not rule.is_opt_in]
    if wanted:
        matched = {word: find_rules(word) for word in wanted}
        exact = {rule.id for rules in matched.values() if len(rules) == 1 for rule in rules}
        named = {rule.id for rules in matched.values() for rule in rules}
        chosen = [r for r in RULES if r.id in named and (not r.is_opt_in or r.id in exact)]
    left_out = {rule.id for text in ignore for word in _split(text) for rule in find_rules(word)}
    return [r for r in chosen if r.id not in left_out and (has_target or not r.needs_target)]


def find_rules(word: str) -> list[Rule]:
    """Return the rules that a word chooses: by id, beginning of an id, or name.

    Raises
    ------
    CheckError
        Where it chooses none.
    """
    text = word.strip().lower()
    found = [rule for rule in RULES if text in (rule.id.lower(), rule.name)]
    if not found and text.startswith("nl-"):
        found = [rule for rule in RULES if rule.id.lower().startswith(text)]
    if not found:
        names = [name for rule in RULES for name in (rule.id.lower(), rule.name)]
        near = get_close_matches(text[:60], names, 1)
        hint = (
            f"Did you mean {near[0].upper() if near[0][:3] == 'nl-' else near[0]}? " if near else ""
        )
        raise CheckError(
            f"no rule is called {word.strip()[:60]!r}. {hint}"
            "Give ids such as NL-G02, beginnings such as NL-G, or names, with commas between."
        )
    return found


def _split(text: str) -> list[str]:
    return [word for word in text.split(",") if word.strip()]
