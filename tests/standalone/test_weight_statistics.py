"""What a page says of weights is what is counted of them; none of their elements is in it."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model

from netloupe.explorer.describe import list_statistics
from netloupe.explorer.model import Model
from netloupe.explorer.page.description_html import write_section
from netloupe.explorer.quantization import find_quantization, measure_saturation
from netloupe.explorer.readers.load import load
from netloupe.explorer.standalone import weight_statistics as weights_module
from netloupe.explorer.standalone.histograms import record_histogram
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.standalone.weight_statistics import WeightBudget, WeightContent, WeightWriter
from netloupe.explorer.tensors import (
    Histogram,
    compute_histogram,
    compute_statistics,
    open_elements,
)
from netloupe.explorer.view import ViewOptions
from tests.standalone.composing import open_script
from tests.standalone.reading import read_block

_RANDOM = np.random.default_rng(11)
ARRAYS = {
    "normal": _RANDOM.normal(0, 0.02, (64, 64)).astype(np.float32),
    "copy": np.full((8, 8), 0.5, np.float32),
    "constant": np.full((8, 8), 0.5, np.float32),
    "odd": np.array([np.nan, np.inf, -np.inf, 1, 2, 3, 4], np.float32),
    "nans": np.full(5, np.nan, np.float32),
    "empty": np.zeros((0, 4), np.float32),
    "one": np.float32(3.25),
    "flags": _RANDOM.random(50) > 0.3,
    "tiny": (_RANDOM.normal(size=300) * 1e-7).astype(np.float32),
    "far": 1e6 + _RANDOM.random(300),
    "huge": _RANDOM.normal(size=90) * 1e300,
    "indices": np.arange(2000) * 12345,
    "complex": np.arange(40).astype(np.complex64) * 1j,
    "stored": _RANDOM.integers(-128, 127, (32, 16)).astype(np.int8),
    "scale": np.float32(0.01),
    "zero": np.int8(3),
}


def make_model(folder: Path) -> Model:
    """Return a model with a weight of each kind; data of ``away`` are in a file that is gone."""
    stored = [numpy_helper.from_array(np.asarray(array), name) for name, array in ARRAYS.items()]
    stored.append(helper.make_tensor("names", TensorProto.STRING, [2], [b"<secret>", b"x"]))
    codes = _RANDOM.integers(-8, 7, 64).tolist()
    stored.append(helper.make_tensor("packed", TensorProto.INT4, [64], codes))
    away = TensorProto(name="away", data_type=TensorProto.FLOAT, dims=[4])
    away.data_location = TensorProto.EXTERNAL
    away.external_data.add(key="location", value="gone.bin")
    stored.append(away)
    nodes = [helper.make_node("DequantizeLinear", ["stored", "scale", "zero"], ["real"])]
    nodes += [
        helper.make_node("Identity", [tensor.name], [f"{tensor.name}_out"]) for tensor in stored
    ]
    names = ["real", *(f"{tensor.name}_out" for tensor in stored)]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
    graph = helper.make_graph(nodes, "weights", [], outputs, stored)
    path = folder / "weights.onnx"
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), path)
    return load(path)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return make_model(tmp_path_factory.mktemp("weights"))


def write_weights(
    model: Model, content: WeightContent = "histograms", budget: WeightBudget | None = None
) -> tuple[list[bytes], list[int], list[str], list[str]]:
    """Return what is written of all weights of a model, and their names."""
    writer = WeightWriter(content, budget, model.source)
    names = []
    for name, value in model.graph.values.items():
        if value.initializer is not None:
            assert writer.number(value.initializer, value) == len(names)
            names.append(name)
    return *writer.write(), names


def read_in_browser(folder: Path, blocks: list[bytes], counts: list[int]) -> list[Any]:
    """Return what the front end reads of blocks."""
    asked = {"blocks": [base64.b64encode(block).decode() for block in blocks], "counts": counts}
    with open_script(folder, "read_weights") as script:
        (answer,) = script.ask(asked)
    found: list[Any] = json.loads(answer)
    return found


def test_the_browser_reads_what_is_counted(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights_module, "_MOST_IN_BLOCK", 5)
    blocks, counts, notices, names = write_weights(model)
    found = dict(zip(names, read_in_browser(tmp_path, blocks, counts), strict=True))
    assert len(blocks) == 4
    for name, told in found.items():
        if name == "away":
            assert "gone.bin" in told["words"]
            continue
        tensor = model.graph.values[name].initializer
        elements = open_elements(tensor)
        section = list_statistics(compute_statistics(elements), elements, shows_elements=False)
        assert told["words"] == write_section(section), name
        if name == "names" or elements.size < 2:
            assert told["counts"] is None, name
            continue
        histogram = compute_histogram(elements, 64)
        assert told["counts"] == histogram.counts.tolist(), name
        facts = told["facts"]
        unit = 1e300 if name == "huge" else 1
        low, high = histogram.edges[[0, -1]] / unit
        assert facts["edges"] == pytest.approx([low, high], abs=2e-4 * (high - low)), name
        assert facts["bins"] == histogram.counts.size
    assert found["odd"]["facts"]["rest"] == "1 NaN · 1 +Inf · 1 −Inf"
    assert found["nans"]["facts"]["rest"] == "5 NaN · no finite elements"
    assert found["complex"]["facts"]["of"] == "magnitude"
    assert found["flags"]["facts"]["kind"] == "bool"
    assert len(notices) == 1
    assert notices[0].startswith("Statistics of 1 of 19 weights is not in the page: main/%away: ")


def test_quantization_is_told_as_plots_tell_it(model: Model, tmp_path: Path) -> None:
    blocks, counts, _, names = write_weights(model)
    told = read_in_browser(tmp_path, blocks, counts)[names.index("stored")]["facts"]
    value = model.graph.values["stored"]
    quantization = find_quantization(value)
    assert quantization is not None
    saturation = measure_saturation(open_elements(value.initializer), quantization, (32, 16))
    assert saturation is not None
    assert told["zero_point"] == 3
    assert told["note"] == f"zero point 3 · {saturation.describe()}"


def test_what_is_equal_is_written_once(model: Model) -> None:
    (block,), _, _, names = write_weights(model)
    columns, values = read_block(block)
    record = dict(zip(names, columns["records"], strict=True))
    assert record["copy"] == record["constant"] != record["normal"]
    assert len(values["histograms"]) == len(set(columns["records"]))


def test_the_largest_that_fit_are_read(model: Model, tmp_path: Path) -> None:
    blocks, counts, notices, names = write_weights(model, budget=WeightBudget(size=20_000))
    found = dict(zip(names, read_in_browser(tmp_path, blocks, counts), strict=True))
    absent = {name for name, told in found.items() if "Not in this file" in told["words"]}
    # 16,384 bytes are those of the first; 16,000 and then 2,400 do not fit, what is smaller does
    assert absent == {"indices", "far"}
    assert "it takes 16.0 kB, and at most 20.0 kB of weights were read" in found["indices"]["words"]
    assert notices[0].startswith("Statistics of 2 of 19 weights are not in the page: at most 20.0 ")


def test_no_time_and_no_wish_leave_out_all(model: Model, tmp_path: Path) -> None:
    *late, notices, _ = write_weights(model, budget=WeightBudget(seconds=0))
    assert len(notices) == 1
    assert notices[0].endswith("not in the page: at most 0 s are spent on reading weights.")
    *unwanted, no_notices, _ = write_weights(model, "none")
    assert no_notices == []
    for written, reason in (
        (late, "at most 0 s were spent on reading weights, and larger ones came first"),
        (unwanted, "the file was written without statistics of weights"),
    ):
        for told in read_in_browser(tmp_path, *written):
            assert f"Not in this file: {reason}." in told["words"]


def test_a_page_has_no_element_of_a_weight(model: Model) -> None:
    page, notices = make_page(model, ViewOptions())
    assert len(notices) == 1
    texts = []
    for name, packed in re.findall(
        r'<script type="text/plain" data-block="(.*)">(.*)</', page.decode()
    ):
        texts.append(f"{name} {read_block(base64.b64decode(packed))}")
    told = "".join(texts)
    assert "weights-0" in told
    assert "secret" not in told
    ordinary = [f"{number:.7g}" for number in np.sort(ARRAYS["normal"].ravel())[1:-1]]
    assert not [number for number in ordinary if number in told]
    assert str(Path(model.source).parent) not in told


def test_counts_beyond_a_column_are_written_as_parts(model: Model) -> None:
    dtype = model.graph.values["normal"].initializer.dtype
    drawn = record_histogram(Histogram(np.array([0.0, 1.0, 2.0]), np.array([2**40, 1])), dtype)
    assert drawn.counts[0] < 2**31
    assert drawn.counts[1] == 1
    assert drawn.facts["times"] * drawn.counts[0] == pytest.approx(2**40, rel=1e-6)
