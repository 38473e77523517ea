"""What is done with every mutant: it is opened, and looked at in each way that a user has."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from netloupe.commands.info import format_summary, summarize_model
from netloupe.explorer.audit import audit
from netloupe.explorer.checks import check
from netloupe.explorer.compare import diff
from netloupe.explorer.describe import add_statistics, describe_element, format_text, to_json
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

from .mutants import ODD
from .seeds import Files

#: what measurements may be where something went wrong while they were taken
_MEASURED = (0.0, -1.0, 5e-324, 1e308, -1e308, 1.7e308, 1e-300, 3.0, float("inf"), float("nan"))
_SCALES = ("auto", "linear", "log", "quantile", "diverging", "share")
_MOST_ELEMENTS = 200
_MOST_FILLED = 2**20


class OversightError(Exception):
    """An error that no reader foresaw; in place of a ReadingError, which many would catch."""


def try_files(reader: str, files: Files, *, draws: bool) -> bool:
    """Open files as a reader's user would, and look at everything; return whether they opened.

    Parameters
    ----------
    reader
        Its name says how to open them: ``onnx scanned`` reads even small files as large ones,
        with the scanner and by columns.
    files
        The model first.
    draws
        Whether a picture is made, too, which takes longer than all else.

    Raises
    ------
    BaseException
        Whatever comes out that is no NetloupeError, or that no reader foresaw; none should.
    """
    with _as_reader(reader, files), patch.object(failing, "ReadingError", OversightError):
        try:
            model = _open(reader, files)
        except NetloupeError as error:
            _check_message(error)
            return False
        examine(model, draws=draws)
        if reader in ODD:
            compare(model, load([*files.values()][1]), draws=draws)
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


def _open(reader: str, files: Files) -> Model:
    contents = list(files.values())
    if reader in ODD:
        return load(contents[0])
    if reader == "caffe2 with init net":
        return load(contents[0], contents[1])
    if len(files) == 1:
        return load(contents[0])
    with tempfile.TemporaryDirectory(prefix="netloupe-fuzz-") as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        model = load(Path(folder) / next(iter(files)))
        examine(model, draws=False)
        return model


def _check_message(error: NetloupeError) -> None:
    if "\n" in str(error) or not str(error):
        raise AssertionError(f"the message is not one line: {str(error)!r}")


def examine(model: Model, *, draws: bool) -> None:
    """Look at a model: summary, descriptions, statistics, findings, audit, skeleton, picture."""
    summary = summarize_model(model)
    format_summary(summary, model.dialect)
    json.dumps(summary).encode("utf-8")
    repr(model)
    model._repr_html_()
    for element in list_elements(model):
        description = describe_element(model, element)
        format_text(description).encode("utf-8")
        if _is_huge(description.tensor):
            continue
        format_text(add_statistics(description)).encode("utf-8")
        json.dumps(to_json(description)).encode("utf-8")
        if isinstance(element, Tensor):
            with suppress(NetloupeError):
                element.statistics()
    found = check(model)
    format_findings(found).encode("utf-8")
    json.dumps([encode_findings(found), encode_sarif([found], "0")], allow_nan=False).encode(
        "utf-8"
    )
    audited = audit(model, model)
    format_audit(audited).encode("utf-8")
    json.dumps(encode_audit(audited), allow_nan=False).encode("utf-8")
    if model.can_infer_shapes:
        try:
            write_skeleton(model)
        except NetloupeError as error:
            _check_message(error)
    if draws:
        picture = make_picture(model, ViewOptions.parse({}))
        for format in ("svg", "html", "dot"):
            render_picture(picture, format)


def compare(model: Model, twin: Model, *, draws: bool) -> None:
    """Look at what needs two models or numbers: differences, notes, scales, reports."""
    found = diff(twin, model)
    format_diff(found).encode("utf-8")
    format_markdown(found).encode("utf-8")
    json.dumps(encode_diff(found), allow_nan=False).encode("utf-8")
    with tempfile.TemporaryDirectory(prefix="netloupe-fuzz-") as folder:
        for each in (model, twin):
            each.notes.open(Path(folder) / f"{id(each)}.jsonl")
        for node in model.graph.nodes[:3]:
            model.notes.add(node, "odd")
        [repr(note) for note in model.notes]
        twin.notes.carry_from(model)
    audited = audit(model, twin)
    format_audit(audited).encode("utf-8")
    for name in BUILT_IN:
        _lay_over(model, name)
    places = range(len(model.graph.nodes))
    shift = len(twin.graph.nodes)
    numbers = [_MEASURED[(place * 7 + shift) % len(_MEASURED)] for place in places]
    paths = [node.path for node in model.graph.nodes]
    for scale in _SCALES:
        _lay_over(model, dict(zip(paths, numbers, strict=True)), scale=scale)
    write_report(model, "md", against=twin, float_twin=twin)
    if draws:
        write_report(model, "html", against=twin, color_by=["macs"])
        picture = make_picture(found.merged, ViewOptions.parse({"expand": "all"}))
        render_picture(picture, "svg")
        found.to_panes()


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
