"""Making the report on a model, as a page or as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from netloupe.explorer.arguments import explain_arguments
from netloupe.explorer.audit import QuantizationAudit, audit
from netloupe.explorer.checks import Findings, check
from netloupe.explorer.compare import Diff, diff
from netloupe.explorer.costs import Bindings
from netloupe.explorer.describe.file_text import write_line
from netloupe.explorer.errors import OutputError
from netloupe.explorer.files.output import check_place, write_file
from netloupe.explorer.model import Model
from netloupe.explorer.overlays import Overlay, make_overlays
from netloupe.explorer.page import PAGE
from netloupe.explorer.progress import part, step
from netloupe.explorer.quantization import summarize_quantization
from netloupe.explorer.readers.load import ModelSource, load
from netloupe.explorer.review import Review, make_review
from netloupe.explorer.review.differences import find_right
from netloupe.explorer.standalone.enclosing_page import EnclosingPage, enclose_page
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.view import ViewOptions

from .audited import tell_audit
from .coloured import make_fidelity_overlay, tell_overlays
from .content import (
    ReportCell,
    ReportColumn,
    ReportContent,
    ReportRow,
    ReportSection,
    make_report_table,
)
from .document import read_report_style, write_report_article, write_report_head
from .facts import tell_architecture, tell_costs, tell_model
from .markdown import write_report_markdown
from .reviewed import tell_differences, tell_findings, tell_notes

ReportFormat = Literal["html", "md"]
_ENDINGS: dict[str, ReportFormat] = {
    ".html": "html",
    ".htm": "html",
    ".md": "md",
    ".markdown": "md",
}
_LONGEST_NAME, _LONGEST_VERDICT = 120, 2_000

#: what is so of every report
_CONTENTS = (
    "This file holds no array of more than 16 numbers of a weight; histograms and statistics aside."
)
_REACH = "It needs no network, sends nothing, and its content policy lets it ask for nothing."


@dataclass(frozen=True, slots=True)
class _Known:
    """All that was found out for a report."""

    model: Model
    findings: Findings
    review: Review
    diff: Diff | None
    audit: QuantizationAudit | None
    overlays: Sequence[Overlay] = ()

    @property
    def shown(self) -> Model:
        """What the picture shows: beside the model what only the older version has."""
        return self.model if self.diff is None else self.diff.merged


@explain_arguments
def report(
    model: ModelSource,
    path: str | PathLike[str] | None = None,
    *,
    against: ModelSource | None = None,
    float_twin: ModelSource | None = None,
    color_by: Any = (),
    bind: Bindings | None = None,
    target: str | None = None,
    format: ReportFormat | None = None,
) -> str:
    """Return the report on a model; write it to ``path`` where given.

    Parameters
    ----------
    model
        The model, or its path: what :func:`netloupe.load` gives or takes. So are ``against`` and
        ``float_twin``.
    path
        A file ending in ``.html`` or ``.md``.
    against
        An older version: what differs from it is told.
    float_twin
        The float model that a quantized one was made of: its weights are compared with it.
    color_by
        What boxes can be coloured by, one or several in a list: see :func:`netloupe.overlay`. How
        near weights are to a float twin is always among it.
    bind
        Sizes of symbols for costs, as :meth:`~netloupe.Model.costs` takes them.
    target
        A runtime that the model is meant for, as :func:`netloupe.check` takes it.
    format
        ``html``: a page with the interactive picture, in which a place that a table names is
        shown; ``md``: Markdown as GitHub shows it, without a picture. What the name of the file
        ends in where None, ``html`` without a file.

    Returns
    -------
    str
        HTML or Markdown.

    Raises
    ------
    OutputError
        Where the file cannot be written, or its name ends in something else.
    BindingError, CheckError, OverlayError
        For sizes of what the model does not have, a target that is not known, and what nothing can
        be coloured by.

    Examples
    --------
    >>> netloupe.report(model, "report.html", against="last_week.onnx")
    """
    kind = choose_report_format(path, format)
    if path is not None:
        check_place(path)
    data, _ = write_report(
        load(model),
        kind,
        against=None if against is None else load(against),
        float_twin=None if float_twin is None else load(float_twin),
        color_by=color_by,
        bind=bind,
        target=target,
    )
    if path is not None:
        write_file(path, data)
    return data.decode()


def choose_report_format(path: str | PathLike[str] | None, format: str | None) -> ReportFormat:
    """Return the format of a report: what is asked for, else what a file's name ends in.

    Raises
    ------
    OutputError
        Where it is none, or the name promises another one.
    """
    ending = None if path is None else Path(path).suffix.lower()
    named = None if ending is None else _ENDINGS.get(ending)
    if format is None:
        if path is not None and named is None:
            raise OutputError(
                f"{path}: a report is written as HTML or Markdown. Use .html or .md, or say which."
            )
        return named or "html"
    if format not in get_args(ReportFormat):
        raise OutputError(f"a report cannot be written as {format[:60]!r}. Give html or md.")
    if named is not None and named != format:
        raise OutputError(f"{path}: the ending promises {named}, and {format} is asked for.")
    return format  # type: ignore[return-value] # it is one of them


def write_report(
    model: Model,
    format: ReportFormat,
    *,
    against: Model | None = None,
    float_twin: Model | None = None,
    color_by: Any = (),
    bind: Bindings | None = None,
    target: str | None = None,
    **settings: Any,
) -> tuple[bytes, list[str]]:
    """Return a report in UTF-8, and notices about it; the parameters are those of :func:`report`.

    ``settings`` say how numbers of ``color_by`` become colours, as :func:`netloupe.overlay` takes
    them.

    Raises
    ------
    BindingError, CheckError, OverlayError
        As :func:`report`.
    """
    with part(0.0, 0.4):
        known = _find_out(model, against, float_twin, bind, target)
        step("colouring")
        known = replace(known, overlays=_lay_over(known, color_by, bind, settings))
    page, notices = b"", list[str]()
    if format == "html":
        with part(0.4, 0.95):
            page, notices = make_page(
                known.shown,
                ViewOptions(title=_name(model)),
                review=known.review,
                follows_system=True,
                overlays=known.overlays,
            )
    step("writing the report", 0.97)
    content = _collect(known, bind, [*notices], is_page=format == "html")
    if format == "md":
        return write_report_markdown(content).encode("utf-8", "replace"), notices
    around = EnclosingPage(
        before=write_report_head(content),
        behind=write_report_article(content),
        style=read_report_style(),
        script=(PAGE / "report.js").read_text("utf-8"),
        body_class="nlr",
        place_class="nlr-explorer",
        still_class="nlr-picture",
    )
    return enclose_page(page, around), notices


def review_model(model: Model, float_twin: Model | None = None) -> Review:
    """Return what a report lists of a model: findings, where it is quantized an audit, and notes.

    Parameters
    ----------
    model
        The model; its weights are read.
    float_twin
        The float model that a quantized one was made of: its weights are compared with it.
    """
    return _find_out(model, None, float_twin, None, None).review


def _find_out(
    model: Model,
    against: Model | None,
    float_twin: Model | None,
    bind: Bindings | None,
    target: str | None,
) -> _Known:
    found = check(model, target=target)
    difference = None if against is None else diff(against, model)
    audited = None
    if float_twin is not None or summarize_quantization(model)["tensors"]:
        audited = audit(model, float_twin, bind=bind)
    shown = find_right if difference is None else difference.merging.find_shown
    review = make_review(found, difference, audited, model.notes, shown)
    return _Known(model, found, review, difference, audited)


def _lay_over(
    known: _Known, color_by: Any, bind: Bindings | None, settings: Mapping[str, Any]
) -> list[Overlay]:
    """Return what boxes can be coloured by; what is asked for stands first."""
    given = [*color_by] if isinstance(color_by, list | tuple) else [color_by]
    found = make_overlays(known.shown, given, bind=bind, **settings) if given else []
    if known.audit is not None:
        found += make_fidelity_overlay(known.shown, known.audit)
    return found


def _collect(
    known: _Known, bind: Bindings | None, notices: Sequence[str], *, is_page: bool
) -> ReportContent:
    model = known.model
    sections = [
        tell_architecture(model, bind),
        tell_findings(known.review, known.findings),
    ]
    verdict = [f"{known.review.verdict[:1].upper()}{known.review.verdict[1:]}."]
    subtitle = []
    if known.diff is not None:
        sections.append(tell_differences(known.review, known.diff))
        subtitle.append(f"compared with {_name(known.diff.left)}")
        verdict.append(known.review.headline)
    if known.audit is not None:
        sections.append(tell_audit(known.audit))
        verdict.append(write_line(known.audit.verdict, _LONGEST_VERDICT))
        if known.audit.reference:
            subtitle.append("weights compared with those of the float model")
    sections += [
        tell_notes(model.notes),
        tell_overlays(known.overlays),
        tell_costs(model, bind),
        tell_model(model),
        _tell_unchecked(known),
        ReportSection(
            "contents",
            "About this file",
            (_CONTENTS, *([_REACH] if is_page else []), *notices),
        ),
    ]
    architecture = sections[0].text[:1]
    return ReportContent(
        f"Review of {_name(model)}",
        "; ".join(subtitle),
        (*verdict, *architecture),
        tuple(sections),
    )


def _name(model: Model) -> str:
    return write_line(model.source.replace("\\", "/").rpartition("/")[2], _LONGEST_NAME)


def _tell_unchecked(known: _Known) -> ReportSection:
    """Return what was not looked at, and why."""
    told: Mapping[tuple[str, str], Any] = dict.fromkeys(
        [(what, reason) for reason, what in known.review.unchecked] + _list_not_done(known)
    )
    rows = [ReportRow((ReportCell(what), ReportCell(reason))) for what, reason in told]
    columns = (ReportColumn("What"), ReportColumn("Why"))
    table = make_report_table("Not looked at", columns, rows)
    return ReportSection("unchecked", "Not checked", (), (table,))


def _list_not_done(known: _Known) -> list[tuple[str, str]]:
    told = [("accuracy, and how fast it runs", "the model was read, and not run")]
    if known.diff is None:
        told.append(("differences from another version", "none was given"))
    if known.audit is not None and not known.audit.reference:
        told.append(("quantized weights beside those of the float model", "none was given"))
    return told
