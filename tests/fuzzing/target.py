"""What is done with a mutant: it is opened, and looked at in the ways that a user has, in turn.

Each way finds faults of its own, and most of them take ten to a hundred times as long as to open a
small model. So every mutant is opened, and a part of its elements described; of the other looks
each has its turn with one mutant of so many, and a second is enough for many different mutants.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch
from zlib import crc32

from netloupe.commands.info import format_summary, summarize_model
from netloupe.explorer.audit import audit
from netloupe.explorer.checks import check
from netloupe.explorer.compare import diff
from netloupe.explorer.describe import (
    Description,
    add_statistics,
    describe_element,
    format_text,
    to_json,
)
from netloupe.explorer.describe.audits import encode_audit, format_audit
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.difference_page import format_markdown
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.describe.findings import encode_findings, format_findings
from netloupe.explorer.describe.sarif import encode_sarif
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Model, SparseTensor, Tensor, failing
from netloupe.explorer.overlays import BUILT_IN, overlay
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx.skeleton import write_skeleton
from netloupe.explorer.render.picture import make_picture, render_picture
from netloupe.explorer.report.report import write_report
from netloupe.explorer.view import ViewOptions

from .mutants import ODD, PAIRS
from .seeds import Files

#: what measurements may be where something went wrong while they were taken
_MEASURED = (0.0, -1.0, 5e-324, 1e308, -1e308, 1.7e308, 1e-300, 3.0, float("inf"), float("nan"))
_SCALES = ("auto", "linear", "log", "quantile", "diverging", "share")
_MOST_ELEMENTS = 200
#: so many of them, about, are described of one mutant, other ones of the next
_DESCRIBED = 8
#: of how many mutants of a reader one has its turn
PERIODS = {
    "summary": 4,
    "values": 4,  # statistics and JSON of the elements that are described
    "findings": 4,
    "sarif": 16,
    "skeleton": 4,
    "audit": 8,
    "again": 8,  # all once more, with the files beside the model gone
    "picture": 32,
    "picture to read": 64,
    # of readers whose mutants have twins
    "differences": 8,
    "notes": 32,
    "overlays": 16,
    "report": 64,
    "pages": 128,
}
_DRAWN = ("picture", "picture to read", "pages")
_MOST_FILLED = 2**20


class OversightError(Exception):
    """An error that no reader foresaw; in place of a ReadingError, which many would catch."""


@dataclass(frozen=True, slots=True)
class Looks:
    """Which looks at a mutant have their turn.

    Parameters
    ----------
    number
        Of the mutant; None for all looks.
    draws
        Whether pictures are among them where all are.
    """

    number: int | None = None
    draws: bool = True

    def include(self, look: str) -> bool:
        """Return whether a look has its turn."""
        if self.number is None:
            return self.draws or look not in _DRAWN
        # not all of them with the same mutant
        return (self.number + crc32(look.encode())) % PERIODS[look] == 0

    def choose(self, elements: list[Any]) -> list[Any]:
        """Return the elements that have their turn."""
        if self.number is None:
            return elements
        step = -(-len(elements) // _DESCRIBED)
        return elements[self.number % step :: step]


def try_files(reader: str, files: Files, *, number: int | None = None) -> bool:
    """Open files as a reader's user would, and look at them; return whether they opened.

    Parameters
    ----------
    reader
        Its name says how to open them: ``onnx scanned`` reads even small files as large ones,
        with the scanner and by columns.
    files
        The model first.
    number
        Chooses the looks; None for all that there are, which takes much longer.

    Raises
    ------
    BaseException
        Whatever comes out that is no NetloupeError, or that no reader foresaw; none should.
    """
    looks = Looks(number)
    with _as_reader(reader, files), patch.object(failing, "ReadingError", OversightError):
        try:
            model = _open(reader, files, looks)
        except NetloupeError as error:
            _check_message(error)
            return False
        if len(files) == 1 or reader in ODD or reader in PAIRS or looks.include("again"):
            look_at(model, looks)
        if reader in ODD:
            look_at_both(model, load([*files.values()][1]), looks)
    return True


@contextmanager
def _as_reader(reader: str, files: Files) -> Iterator[None]:
    if reader != "onnx scanned":
        yield
        return
    small = (1, 64, 512)[len(next(iter(files.values()))) % 3]
    readers = "netloupe.explorer.readers"
    with (
        patch(f"{readers}.protobuf.parts.WHOLE_BYTES", 0),
        patch(f"{readers}.protobuf.parts.SMALL_MESSAGE_BYTES", small),
        patch(f"{readers}.onnx.model.MANY_NODES", 1),
    ):
        yield


def _open(reader: str, files: Files, looks: Looks) -> Model:
    contents = list(files.values())
    if reader in ODD:
        return load(contents[0])
    if reader in PAIRS:
        return load(contents[0], contents[1])
    if len(files) == 1:
        return load(contents[0])
    with tempfile.TemporaryDirectory(prefix="netloupe-fuzz-") as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        model = load(Path(folder) / next(iter(files)))
        look_at(model, looks)
        return model


def _check_message(error: NetloupeError) -> None:
    if "\n" in str(error) or not str(error):
        raise AssertionError(f"the message is not one line: {str(error)!r}")


def examine(model: Model, *, draws: bool) -> None:
    """Look at a model in all ways, and at its pictures where that is wanted."""
    look_at(model, Looks(draws=draws))


def look_at(model: Model, looks: Looks) -> None:
    """Look at a model: summary, descriptions, statistics, findings, audit, skeleton, picture."""
    if looks.include("summary"):
        summary = summarize_model(model)
        format_summary(summary, model.dialect)
        json.dumps(summary).encode("utf-8")
        repr(model)
        model._repr_html_()
    for element in looks.choose(list_elements(model)):
        description = describe_element(model, element)
        format_text(description).encode("utf-8")
        if looks.include("values") and not _is_huge(description.tensor):
            _look_at_values(element, description)
    if looks.include("findings"):
        found = check(model)
        format_findings(found).encode("utf-8")
        json.dumps(encode_findings(found), allow_nan=False).encode("utf-8")
    if looks.include("sarif"):
        json.dumps(encode_sarif([check(model)], "0"), allow_nan=False).encode("utf-8")
    if looks.include("audit"):
        _audit(model, model)
    if model.can_infer_shapes and looks.include("skeleton"):
        try:
            write_skeleton(model)
        except NetloupeError as error:
            _check_message(error)
    if looks.include("picture"):
        render_picture(make_picture(model, ViewOptions.parse({})), "svg")
    if looks.include("picture to read"):
        picture = make_picture(model, ViewOptions.parse({}))
        for format in ("html", "dot"):
            render_picture(picture, format)


def _look_at_values(element: Any, description: Description) -> None:
    format_text(add_statistics(description)).encode("utf-8")
    json.dumps(to_json(description)).encode("utf-8")
    if isinstance(element, Tensor):
        with suppress(NetloupeError):
            element.statistics()


def _audit(model: Model, twin: Model) -> None:
    audited = audit(model, twin)
    format_audit(audited).encode("utf-8")
    json.dumps(encode_audit(audited), allow_nan=False).encode("utf-8")


def look_at_both(model: Model, twin: Model, looks: Looks) -> None:
    """Look at what needs two models or numbers: differences, notes, scales, reports."""
    if looks.include("differences"):
        found = diff(twin, model)
        format_diff(found).encode("utf-8")
        format_markdown(found).encode("utf-8")
        json.dumps(encode_diff(found), allow_nan=False).encode("utf-8")
    if looks.include("notes"):
        _note(model, twin)
    if looks.include("audit"):
        _audit(model, twin)
    if looks.include("overlays"):
        _lay_all_over(model, len(twin.graph.nodes))
    if looks.include("report"):
        write_report(model, "md", against=twin, float_twin=twin)
    if looks.include("pages"):
        write_report(model, "html", against=twin, color_by=["macs"])
        found = diff(twin, model)
        picture = make_picture(found.merged, ViewOptions.parse({"expand": "all"}))
        render_picture(picture, "svg")
        found.to_panes()


def _note(model: Model, twin: Model) -> None:
    with tempfile.TemporaryDirectory(prefix="netloupe-fuzz-") as folder:
        for each in (model, twin):
            each.notes.open(Path(folder) / f"{id(each)}.jsonl")
        for node in model.graph.nodes[:3]:
            model.notes.add(node, "odd")
        [repr(note) for note in model.notes]
        twin.notes.carry_from(model)


def _lay_all_over(model: Model, shift: int) -> None:
    for name in BUILT_IN:
        _lay_over(model, name)
    places = range(len(model.graph.nodes))
    numbers = [_MEASURED[(place * 7 + shift) % len(_MEASURED)] for place in places]
    paths = [node.path for node in model.graph.nodes]
    for scale in _SCALES:
        _lay_over(model, dict(zip(paths, numbers, strict=True)), scale=scale)


def _lay_over(model: Model, column: Any, **settings: Any) -> None:
    try:
        laid = overlay(model, column, **settings)
        laid.describe_placement()
        laid.describe_ranking()
        [laid.measure(node.path) for node in model.graph.nodes[:20]]
        laid.list_legend()
    except NetloupeError as error:
        _check_message(error)


def _is_huge(tensor: Tensor | SparseTensor | None) -> bool:
    """Return whether a tensor rightly has many more elements than the file has bytes."""
    fills = isinstance(tensor, SparseTensor) or (tensor is not None and tensor.storage == "value")
    return fills and tensor is not None and tensor.size > _MOST_FILLED


def list_elements(model: Model) -> list[Any]:
    """Return the model and the first of what it holds, each kind in turn."""
    elements: list[Any] = [model]
    for graph in model.graphs[:20]:
        kinds = [graph.nodes, list(graph.values.values()), graph.initializers]
        kinds.append(graph.sparse_initializers)
        kinds.append([*tensors_of(graph)])
        elements += [graph, *(element for kind in kinds for element in kind[:25])]
    return elements[:_MOST_ELEMENTS]


def tensors_of(graph: Graph) -> Iterator[Tensor | SparseTensor]:
    """Yield the tensors among the attributes of a graph's nodes."""
    for node in graph.nodes:
        for attribute in node.attributes.values():
            held = attribute.value if isinstance(attribute.value, tuple) else (attribute.value,)
            yield from (entry for entry in held if isinstance(entry, Tensor | SparseTensor))
