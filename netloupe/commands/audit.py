"""``netloupe audit``: what it prints of each model."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from netloupe.explorer.audit import audit
from netloupe.explorer.describe.audits import encode_audit, format_audit
from netloupe.explorer.errors import OutputError

from .operands import expand_operands
from .running import load_named, most_entries, tell_each
from .streams import STANDARD
from .tables import SummaryPrinter


def run_audit(parsed: argparse.Namespace) -> int:
    """Audit each model, alone or beside the float model that it was made of, and print it."""
    if [*parsed.models, parsed.init, parsed.twin].count(STANDARD) > 1:
        raise OutputError(
            "- stands for the standard input, which can be read only once. Give files."
        )
    if parsed.csv and parsed.json:
        raise OutputError("--csv prints a table of models. Leave --json out.")
    models = expand_operands(parsed.models)
    several = len(models) > 1 or models != parsed.models
    if parsed.twin == STANDARD and len(models) > 1:
        raise OutputError(
            "--float - reads the standard input, which can be read only once. Give a file for "
            "several models."
        )
    work = AuditWork(
        init=parsed.init,
        twin=parsed.twin,
        bind=tuple(parsed.bind),
        most=most_entries(parsed),
        is_encoded=parsed.json or parsed.csv,
    )
    printer = SummaryPrinter(
        _COLUMNS if parsed.csv else None,
        _make_row,
        is_json=parsed.json,
        several=several,
        schema=_SCHEMA,
    )
    return tell_each(models, work, printer.tell, printer.tell_error, jobs=parsed.jobs)


@dataclass(frozen=True, slots=True)
class AuditWork:
    """What is done for each model: reading it, and auditing how it is quantized.

    Parameters
    ----------
    init, twin, bind, most
        What the options say; ``twin`` is the name of the float model.
    is_encoded
        Whether the audit is returned as JSON has it, not as text.
    """

    init: str | None = None
    twin: str | None = None
    bind: tuple[tuple[str, int | tuple[int, ...]], ...] = ()
    most: int | None = None
    is_encoded: bool = False

    def __call__(self, name: str) -> dict[str, Any] | str:
        """Return the audit of a model, as text or as JSON has it."""
        twin = None if self.twin is None else load_named(self.twin, None)
        found = audit(load_named(name, self.init), twin, bind=dict(self.bind))
        return encode_audit(found, most=self.most) if self.is_encoded else format_audit(found)


#: of the JSON
_SCHEMA = 1
#: of the table: a row for each model; shares are from 0 to 1, of multiplications and of weights
_COLUMNS = (
    "model",
    "error",
    "verdict",
    "integer_share",
    "weight_only_share",
    "macs",
    "macs_are_lower_bound",
    "quantized_weights",
    "float_weights",
    "bits_per_weight",
    "schemes",
    "signs",
    "errors",
    "warnings",
    "defects",
    "islands",
)


def _make_row(told: dict[str, Any]) -> dict[str, object]:
    """Return the row of a model."""
    coverage, defects = told["coverage"], told["defects"]
    counts = [sum(one["severity"] == bad for one in defects) for bad in ("error", "warning")]
    return {
        "model": told["source"],
        "schemes": " ".join(f"{name}={count}" for name, count in coverage["schemes"].items()),
        "errors": counts[0],
        "warnings": counts[1],
        "defects": " ".join(dict.fromkeys(one["id"] for one in defects)),
        "islands": len(told["islands"]),
        "verdict": told["verdict"],
        **{name: coverage[name] for name in _COLUMNS if name in coverage and name != "schemes"},
    }
