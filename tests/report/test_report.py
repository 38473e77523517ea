"""Reports on models: every part is there, exact, and nothing that is not to be there."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import netloupe
from netloupe.explorer.model import Model
from netloupe.explorer.report.content import ReportCell, ReportRow, ReportTable
from netloupe.explorer.report.facts import tell_architecture, tell_costs, tell_model
from tests.corpus import corpus_file
from tests.notes.networks import make_chain, save_chain

_DEMO = Path(__file__).parents[2] / "demo_notebooks" / "models"


@pytest.fixture(scope="module")
def quantized() -> Model:
    return netloupe.load(_DEMO / "digits_cnn.qdq.onnx")


@pytest.fixture(scope="module")
def original() -> Model:
    return netloupe.load(_DEMO / "digits_cnn.onnx")


def read_cells(row: ReportRow) -> tuple[str, ...]:
    return tuple(cell.text for cell in row.cells)


def find_row(table: ReportTable, text: str) -> ReportRow:
    (row,) = (row for row in table.rows if text in read_cells(row))
    return row


def test_facts_costs_and_architecture(original: Model) -> None:
    architecture = tell_architecture(original)
    assert architecture.text[0].startswith("Residual CNN")
    assert find_row(architecture.tables[0], "Basic block").cells[1] == ReportCell("4", 4)
    parts, operators = tell_costs(original, {"batch": 1}).tables
    convolutions = find_row(operators, "Conv")
    assert convolutions.cells[2].key == int(original.costs({"batch": 1}).macs or 0) - 240
    shares = [row.cells[6].key for row in parts.rows]
    assert all(share is None or 0 <= share <= 1 for share in shares)
    about, interface = tell_model(original).tables
    assert find_row(about, "digits_cnn.onnx").cells[0].text == "File"
    assert [row.cells[0].text for row in interface.rows] == ["input", "output"]
    assert interface.rows[0].cells[1].path == original.graph.inputs[0].path


def test_every_part_is_in_the_page(quantized: Model, original: Model) -> None:
    quantized_page = netloupe.report(quantized, float_twin=original, against=original)
    for title in (
        "Architecture",
        "Findings",
        "Differences",
        "Quantization",
        "Costs",
        "The model",
        "Not checked",
        "About this file",
    ):
        assert f'">{title}</h2>' in quantized_page, title
    assert "NL-Q09" in quantized_page
    assert "SQNR, dB ↑" in quantized_page
    assert "weights compared with those of the float model" in quantized_page
    assert "no array of more than 16 numbers of a weight" in quantized_page
    assert "the model was read, and not run" in quantized_page
    assert 'data-block="review"' in quantized_page


def test_all_that_the_headline_counts_is_in_a_table(quantized: Model, original: Model) -> None:
    text = netloupe.report(quantized, float_twin=original, against=original, format="md")
    (headline,) = re.findall(r"^\*\*(\d.*)\.\*\*$", text, re.MULTILINE)
    told = {
        noun: int(count) for count, noun in re.findall(r"(\d+) (error|warning|minor)", headline)
    }
    assert told["warning"] == 3
    rows = re.findall(r"^\| (error|warning|minor) \|", text, re.MULTILINE)
    assert {"error": told["error"], "warning": told["warning"], "minor": told["minor"]} == {
        "error": rows.count("error"),
        "warning": rows.count("warning"),
        "minor": rows.count("minor"),
    }


def test_without_others_it_says_what_was_not_compared(original: Model) -> None:
    text = netloupe.report(original, format="md")
    assert "| differences from another version | none was given |" in text
    assert "## Quantization" not in text
    assert "## Differences" not in text


def test_notes_are_in_it(tmp_path: Path) -> None:
    model = save_chain(tmp_path / "m.onnx")
    model.notes.add("main/layer.1/Relu", "is it <dead>?", author="ann", tags=["a"])
    model.notes.add("main/layer.1/MatMul", "here")
    model = save_chain(tmp_path / "m.onnx", make_chain(names="b/{0}/{1}", left_out=1))
    page, text = netloupe.report(model), netloupe.report(model, format="md")
    assert "is it &lt;dead&gt;?" in page
    assert "is it &lt;dead&gt;?" not in text
    assert "is it &#60;dead&#62;?" in text
    assert "uncertain" in text
    assert "&#35;a" in text


def test_an_accepted_finding_is_told_apart(tmp_path: Path) -> None:
    model = save_chain(tmp_path / "m.onnx")
    proto = make_chain()
    proto.graph.node.append(helper.make_node("Abs", ["x"], ["dead"], "waste"))
    model = save_chain(tmp_path / "m.onnx", proto)
    (finding,) = netloupe.check(model, select=["NL-G01"])
    model.notes.accept(finding, "kept for the debugger", author="ann")
    text = netloupe.report(model, format="md")
    assert "### Accepted: these do not count" in text
    assert "kept for the debugger" in text


def test_files(original: Model, tmp_path: Path) -> None:
    page = netloupe.report(original, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text("utf-8") == page
    assert page == netloupe.report(original)  # the same bytes every time
    text = netloupe.report(original, tmp_path / "r.md")
    assert text.startswith("# Review of digits")
    for name, words in (("r.pdf", "HTML or Markdown"), ("no/r.html", "does not exist")):
        with pytest.raises(netloupe.OutputError, match=words):
            netloupe.report(original, tmp_path / name)
    with pytest.raises(netloupe.OutputError, match="promises md"):
        netloupe.report(original, tmp_path / "r.md", format="html")
    with pytest.raises(netloupe.OutputError, match="Give html or md"):
        netloupe.report(original, format="pdf")  # type: ignore[arg-type]


def list_texts(page: str) -> list[str]:
    """Return everything that a page holds: what stands in it, and its blocks unpacked."""
    texts = [re.sub(r"<script type=\"text/plain\".*?</script>", "", page, flags=re.DOTALL)]
    for block in re.findall(r'data-block="[^"]*">([^<]*)<', page):
        texts.append(zlib.decompress(b64decode(block), -zlib.MAX_WBITS).decode("utf-8", "replace"))
    return texts


def test_no_array_of_weights_is_in_it(tmp_path: Path) -> None:
    """Numbers that occur nowhere else are looked for in all that the page holds."""
    count = 40
    numbers = np.arange(count, dtype=np.float32) * 3 + 70_001
    nodes = [
        helper.make_node("Mul", ["x", "w"], ["a"], "mul"),
        helper.make_node("Constant", [], ["c"], "constant", value_floats=(numbers + 1).tolist()),
        helper.make_node("Add", ["a", "c"], ["b"], "add"),
        helper.make_node("QuantizeLinear", ["b", "s", "z"], ["q"], "quantize", axis=0),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], "dequantize", axis=0),
    ]
    arrays = {"w": numbers, "s": numbers + 2, "z": np.zeros(count, np.int8)}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [count])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [count])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(proto)
    model = netloupe.load(proto.SerializeToString())
    for kind in ("html", "md"):
        written = netloupe.report(model, format=kind)  # type: ignore[arg-type]
        for text in list_texts(written):
            runs = re.findall(r"(?:\b7\d{4}(?:\.0*)?\b[^\w]{1,12}){17,}", text)
            assert not runs, (kind, runs[:1])


def test_names_are_text_and_nothing_else(tmp_path: Path) -> None:
    proto = make_chain(names='<img src=x onerror="alert(1)">|`{1}`/{0}')
    model = save_chain(tmp_path / "m.onnx", proto)
    model.notes.add(model.graph.nodes[0], "</script><b>", tags=["</style>"])
    page = netloupe.report(model)
    assert "<img src=x" not in page
    assert "</script><b>" not in page
    written = netloupe.report(model, format="md")
    assert "<img src=x" not in re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", written)


def test_a_large_model_makes_a_small_page() -> None:
    model = netloupe.load(corpus_file("exported/gpt2.legacy.onnx"))
    page = netloupe.report(model)
    assert len(page) < 2_000_000
    data = re.search(r'id="nl-data">([^<]*)<', page)
    assert data is not None
    assert json.loads(data[1])["traits"]["theme"] == "auto"


def test_overlays_are_told_with_what_could_be_placed(original: Model) -> None:
    text = netloupe.report(original, color_by=[{"main/node_conv2d": 2.0, "gone": 1.0}], format="md")
    assert "## Colours" in text
    assert "1 of 2 entries placed" in text
    assert "1 not placed" in text
    with pytest.raises(netloupe.NetloupeError, match="neither a file nor a column"):
        netloupe.report(original, color_by="nothing")


def test_what_only_the_older_version_has_is_shown_too(tmp_path: Path) -> None:
    new = save_chain(tmp_path / "new.onnx", make_chain(left_out=1))
    page = netloupe.report(new, against=save_chain(tmp_path / "old.onnx"))
    assert 'data-path="main/layer.1/MatMul"' in page
    assert "nlr-removed" in page
