"""One pipeline for all formats: open, unwrap, identify, read."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
from onnx import helper

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.model import Dialect, Graph, Model, Node, NodeDetails
from netloupe.explorer.readers import pipeline
from netloupe.explorer.readers.format import Around, Certainty, Content, Format, Match, TextForm
from netloupe.explorer.readers.load import load

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "tools"))

from draw_rooms import build_graph  # noqa: E402

READERS = "netloupe.explorer.readers"
ONNX = helper.make_model(
    helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [])
).SerializeToString()


# what imports what


def list_imported(package: str) -> set[str]:
    """Return the modules of the readers that a package of theirs imports, itself left out."""
    graph = build_graph()
    inside = {f"{READERS}.{package}", *graph.find_descendants(f"{READERS}.{package}")}
    return {
        imported.removeprefix(f"{READERS}.")
        for module in inside
        for imported in graph.find_modules_directly_imported_by(module)
        if imported.startswith(f"{READERS}.") and imported not in inside
    }


def test_no_format_imports_another_or_the_pipeline() -> None:
    homes = [format.read.__module__.removeprefix(f"{READERS}.") for format in pipeline.FORMATS]
    formats = {home.split(".")[0] for home in homes}
    assert formats >= {"onnx", "caffe2"}
    for name in formats:
        imported = list_imported(name)
        assert imported, name
        rooms = {module.split(".")[0] for module in imported}
        shared = {"containers", "format", "freed_memory", "protobuf", "source", "text"}
        assert rooms <= shared, f"{name} imports {imported}"


def test_what_formats_share_knows_none_of_them() -> None:
    assert list_imported("protobuf") <= {"source"}
    assert {module.split(".")[0] for module in list_imported("text")} <= {
        "containers",
        "format",
        "impostors",
        "protobuf",
        "source",
    }


# a further format


LINES_DIALECT = Dialect(name="lines", domain="lines", domain_name="lines", has_opsets=False)


def identify_lines(content: Content) -> Match | None:
    return Match(Certainty.SURE, "lines") if content.container.startswith("lines") else None


def read_lines(content: Content, match: Match, around: Around) -> Model:
    model = Model(content.source.name, "lines", "lines", LINES_DIALECT, content.source.files)
    for index, line in enumerate(content.source.data.splitlines()[1:]):
        op_type = json.loads(line)["op"]
        model.graph.nodes.append(Node(model.graph, index, "", op_type, "lines", NoDetails()))
    return model


class NoDetails:
    def details(self, node: Node) -> NodeDetails:
        return NodeDetails()

    def may_have_attributes(self, node: Node) -> bool:
        return True

    def oddities(self, node: Node) -> tuple[()]:
        return ()

    def metadata(self, node: Node) -> dict[str, str]:
        return {}

    def attribute_key(self, node: Node, *, is_whole: bool = False) -> bytes:
        return b""

    def statement_key(self, node: Node) -> bytes:
        return b""

    def unknown_fields(self, node: Node) -> tuple[()]:
        return ()


LINES = Format(
    "lines",
    identify_lines,
    read_lines,
    text_forms=(
        TextForm(
            lambda head: head.startswith(b'{"lines": 1}\n'),
            lambda source, roots: Content(source, "lines"),
        ),
    ),
)
TEXT = b'{"lines": 1}\n{"op": "Relu"}\n{"op": "Abs"}\n'


def test_a_third_format_is_one_more_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelFormatError, match="is JSON that cannot be read"):
        load(TEXT)
    monkeypatch.setattr(pipeline, "FORMATS", (*pipeline.FORMATS, LINES))
    for data, container in ((TEXT, "lines"), (gzip.compress(TEXT), "lines in gzip")):
        model = load(data)
        assert isinstance(model.graph, Graph)
        assert [node.op_type for node in model.graph.nodes] == ["Relu", "Abs"]
        assert (model.source, model.container) == ("<bytes>", container)
        assert [*model.all_warnings()] == []
        assert "Relu" in model.to_svg()
    assert load(ONNX).format == "ONNX"
    assert load(b'op { type: "Relu" input: "x" output: "y" }').format == "Caffe2"


# who is asked


def make_format(name: str, certainty: Certainty | None, asked: list[str]) -> Format:
    def identify(content: Content) -> Match | None:
        asked.append(name)
        return None if certainty is None else Match(certainty, name)

    return Format(name, identify, lambda content, match, around: Model("", name, "", None))


@pytest.mark.parametrize(
    ("certainties", "chosen", "asked"),
    [
        ((Certainty.SURE, Certainty.SURE), 0, 1),
        ((Certainty.LIKELY, Certainty.SURE), 1, 2),
        ((Certainty.LIKELY, Certainty.LIKELY), 0, 2),
        ((Certainty.POSSIBLE, Certainty.LIKELY), 1, 2),
        ((Certainty.POSSIBLE, None), 0, 2),
        ((None, Certainty.POSSIBLE), 1, 2),
    ],
)
def test_the_first_that_is_sure_counts_else_the_surest(
    certainties: tuple[Certainty | None, ...],
    chosen: int,
    asked: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names: list[str] = []
    formats = tuple(make_format(str(n), c, names) for n, c in enumerate(certainties))
    monkeypatch.setattr(pipeline, "FORMATS", formats)
    assert load(b"\x08\x01").format == str(chosen)
    assert len(names) == asked


def test_what_no_format_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "FORMATS", ())
    with pytest.raises(ModelFormatError, match="<bytes>: is no model of a format that netloupe"):
        load(b"\x08\x01")


def test_an_onnx_model_is_not_looked_at_by_another_format(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    onnx = pipeline.FORMATS[0]
    monkeypatch.setattr(pipeline, "FORMATS", (onnx, make_format("other", None, asked)))
    assert load(ONNX).format == "ONNX"
    assert asked == []


def test_a_second_file_belongs_to_caffe2_nets_only(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(ONNX)
    with pytest.raises(ModelFormatError, match=r"without a second file, .* init net of a Caffe2"):
        load(path, init=ONNX)
