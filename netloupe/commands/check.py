"""``netloupe check``: its settings, and what it prints for each model."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from netloupe import __version__
from netloupe.explorer.checks import RULES, Findings, find_rules
from netloupe.explorer.checks.baseline import read_baseline
from netloupe.explorer.checks.check import apply_rules, choose_rules
from netloupe.explorer.checks.runtimes import find_runtime
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.describe.findings import encode_findings, encode_unread, format_findings
from netloupe.explorer.describe.sarif import encode_sarif
from netloupe.explorer.errors import OutputError

from .operands import expand_operands
from .own_operators import register_own_operators
from .running import FAILED, FOUND, load_named, print_json, tell_each
from .settings import read_settings
from .streams import say, write_standard_output
from .tables import CsvTable


def run_check(parsed: argparse.Namespace) -> int:
    """Apply rules to each model and print what they find, or explain a rule."""
    if parsed.explain is not None:
        write_standard_output(explain_rules(parsed.explain))
        return 0
    if not parsed.models:
        raise OutputError("check needs a model, or --explain ID. Give the name of a file.")
    models = expand_operands(parsed.models)
    settings = read_settings(Path.cwd())
    problems = register_own_operators(Path.cwd())
    for problem in problems:
        say("error", problem)
    if problems:  # as with all settings: what is found without them is not what was asked for
        return FAILED
    several = len(models) > 1 or models != parsed.models
    work = CheckWork(
        settings.select if parsed.select is None else tuple(parsed.select),
        settings.ignore if parsed.ignore is None else tuple(parsed.ignore),
        parsed.target or settings.target,
        parsed.baseline or settings.baseline,
        parsed.init,
        with_notes=parsed.with_notes,
        is_alone=not several,
    )
    work.refuse_mistakes()
    run = CheckRun(parsed, parsed.fail_on or settings.fail_on, several=several)
    status = tell_each(models, work, run.tell, run.tell_error, jobs=parsed.jobs)
    run.finish(models)
    return status


@dataclass(frozen=True, slots=True)
class CheckWork:
    """What is done for each model: reading it, and applying rules to it.

    Parameters
    ----------
    select, ignore, target, baseline, with_notes
        As :func:`netloupe.check` takes them.
    init
        The init net of a Caffe2 net.
    is_alone
        Whether a baseline of one model is for this one, whatever its name is.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    target: str | None = None
    baseline: str | Path | None = None
    init: str | None = None
    with_notes: bool = False
    is_alone: bool = True

    def __call__(self, name: str) -> Findings:
        """Return what is found in a model."""
        runtime = None if self.target is None else find_runtime(self.target)
        rules = choose_rules(self.select, self.ignore, has_target=runtime is not None)
        model = load_named(name, self.init)
        known: Mapping[str, int] = {}
        if self.baseline is not None:
            baseline = read_baseline(self.baseline)
            known = baseline.find_known(model.source, is_alone=self.is_alone)
        return apply_rules(Subject(model, runtime), rules, known, with_notes=self.with_notes)

    def refuse_mistakes(self) -> None:
        """Raise CheckError for what is wrong whatever the model is."""
        runtime = None if self.target is None else find_runtime(self.target)
        choose_rules(self.select, self.ignore, has_target=runtime is not None)
        if self.baseline is not None:
            read_baseline(self.baseline)


#: of the table: a row for each finding, and one for a model without any
_COLUMNS = (
    "model",
    "error",
    "id",
    "name",
    "severity",
    "count",
    "path",
    "message",
    "remedy",
    "suppressed",
    "fingerprint",
    "not_checked",
)


class CheckRun:
    """What one run of the command prints.

    Parameters
    ----------
    parsed
        The words of the command.
    fail_on
        The severity from which on a finding ends the command with 1.
    several
        Whether there are several models, or might have been.
    """

    def __init__(self, parsed: argparse.Namespace, fail_on: str | None, *, several: bool) -> None:
        self._is_json: bool = parsed.json
        self._is_sarif: bool = parsed.sarif
        self._table = CsvTable(_COLUMNS) if parsed.csv else None
        self._has_several = several
        self._fail_on = fail_on
        self._checked: list[Findings] = []

    def tell(self, findings: Findings) -> int:
        """Print what was found, SARIF excepted, and return the exit status."""
        if self._is_sarif:
            self._checked.append(findings)
        elif self._table is not None:
            for row in _list_rows(findings):
                self._table.add(row)
        elif self._is_json:
            print_json(encode_findings(findings), self._has_several)
        else:
            write_standard_output(format_findings(findings) + "\n" * self._has_several)
        return FOUND if self._fail_on and findings.reaches(self._fail_on) else 0

    def tell_error(self, name: str, error: str) -> None:
        """Print that a model cannot be read, where there is a row or line for each."""
        if self._table is not None:
            self._table.add({"model": name, "error": error})
        elif self._is_json and self._has_several:
            print_json(encode_unread(name, error), several=True)

    def finish(self, models: list[str]) -> None:
        """Print the SARIF of all models, in which those are named that could not be read."""
        if self._is_sarif:
            told = encode_sarif(self._checked, __version__, models)
            write_standard_output(json.dumps(told, indent=2))


def _list_rows(findings: Findings) -> Iterator[dict[str, object]]:
    skipped = ", ".join(each.id for each in findings.skipped_rules)
    about: dict[str, object] = {"model": findings.source, "not_checked": skipped}
    for finding in findings:
        yield about | {
            "id": finding.id,
            "name": finding.name,
            "severity": finding.severity,
            "count": finding.count,
            "path": finding.paths[0],
            "message": finding.message,
            "remedy": finding.remedy,
            "suppressed": finding.suppressed,
            "fingerprint": finding.fingerprint,
        }
    if not findings:
        yield about


def explain_rules(word: str) -> str:
    """Return the documentation of the rules that a word chooses; of ``all`` a list of them.

    Raises
    ------
    CheckError
        Where it chooses none.
    """
    if word.strip().lower() != "all":
        return "\n".join(rule.explain() for rule in find_rules(word))
    return "".join(f"{r.id}  {r.severity:7}  {r.name}: {r.title}\n" for r in RULES)
