"""``netloupe check``: its settings, and what it prints for each model."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from netloupe import __version__
from netloupe.explorer.checks import RULES, Findings, check, find_rules
from netloupe.explorer.describe.findings import encode_findings, format_findings
from netloupe.explorer.describe.sarif import encode_sarif
from netloupe.explorer.errors import OutputError
from netloupe.explorer.model import Model

from .running import FOUND, load_named, run_each
from .settings import read_settings
from .streams import write_standard_output
from .terminal import TerminalProgress


def run_check(parsed: argparse.Namespace) -> int:
    """Apply rules to each model and print what they find, or explain a rule."""
    if parsed.explain is not None:
        write_standard_output(explain_rules(parsed.explain))
        return 0
    if not parsed.models:
        raise OutputError("check needs a model, or --explain ID. Give the name of a file.")
    work = CheckRun(parsed)

    def run(name: str) -> int:
        with TerminalProgress() as progress:
            progress.step("reading")
            findings = work.check(load_named(name, parsed.init))
        return work.tell(findings)

    status = run_each(parsed.models, run)
    work.finish(parsed.models)
    return status


class CheckRun:
    """One run of the command over some models.

    Parameters
    ----------
    parsed
        The words of the command; what they leave out, the project's settings say.

    Raises
    ------
    CheckError
        Where these cannot be read.
    """

    def __init__(self, parsed: argparse.Namespace) -> None:
        settings = read_settings(Path.cwd())
        self._is_json: bool = parsed.json
        self._is_sarif: bool = parsed.sarif
        self._has_several = len(parsed.models) > 1
        self._select = (parsed.select,) if parsed.select is not None else settings.select
        self._ignore = (parsed.ignore,) if parsed.ignore is not None else settings.ignore
        self._target: str | None = parsed.target or settings.target
        self._fail_on: str | None = parsed.fail_on or settings.fail_on
        self._baseline = parsed.baseline or settings.baseline
        self._with_notes: bool = parsed.with_notes
        self._checked: list[Findings] = []

    def check(self, model: Model) -> Findings:
        """Return what is found in a model."""
        return check(
            model,
            select=self._select,
            ignore=self._ignore,
            target=self._target,
            baseline=self._baseline,
            with_notes=self._with_notes,
        )

    def tell(self, findings: Findings) -> int:
        """Print what was found, SARIF excepted, and return the exit status."""
        if self._is_sarif:
            self._checked.append(findings)
        elif self._is_json:
            told = encode_findings(findings)
            write_standard_output(json.dumps(told, indent=None if self._has_several else 2))
        else:
            write_standard_output(format_findings(findings) + "\n" * self._has_several)
        return FOUND if self._fail_on and findings.reaches(self._fail_on) else 0

    def finish(self, models: list[str]) -> None:
        """Print the SARIF of all models, in which those are named that could not be read."""
        if self._is_sarif:
            told = encode_sarif(self._checked, __version__, models)
            write_standard_output(json.dumps(told, indent=2))


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
