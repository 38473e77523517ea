"""Models that hold very many of one thing: nothing asked of them takes the square of the time.

``tests/benchmarks/hostile_models.py`` measures them at their full size.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from netloupe.commands.cli import main
from netloupe.commands.info import summarize_model
from netloupe.explorer.costs import analysis, constants
from netloupe.explorer.costs.fact_table import FactTable
from netloupe.explorer.describe import attributes as describe_attributes
from netloupe.explorer.describe import describe_node
from netloupe.explorer.describe.description import MOST_ROWS
from netloupe.explorer.grouping import cutting
from netloupe.explorer.grouping.found_repeat import FoundRepeat
from netloupe.explorer.model import Node
from netloupe.explorer.model.filling import FilledLater
from netloupe.explorer.model.reading import get_model_reading
from netloupe.explorer.quantization import record, summarize_quantization
from netloupe.explorer.readers.freed_memory import give_back_memory
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx import model as onnx_model
from netloupe.explorer.readers.onnx import nodes as onnx_nodes
from netloupe.explorer.readers.onnx import parts as onnx_parts
from netloupe.explorer.readers.onnx import value_infos
from netloupe.explorer.readers.onnx.graph import GraphReader
from netloupe.explorer.readers.onnx.nodes import OnnxNodeLoader
from netloupe.explorer.readers.onnx.packed import PackedTensors
from netloupe.explorer.readers.onnx.tensors import TensorReader
from netloupe.explorer.render import value_faces
from netloupe.explorer.render.rows import MOST_ATTRIBUTES
from netloupe.explorer.render.rows import describe_attributes as list_attribute_rows
from netloupe.explorer.view.repetitions import Repetitions
from netloupe.proto import onnx_pb2
from tests import hostile_models
from tests.steps import count_calls

#: of four times the model at most so many times the functions are called; the square would be 16
MOST_GROWTH = 6.0
COMMANDS = ("info", "inspect", "svg")
#: how many of its thing the smaller model of each kind holds, and what is inspected
SIZES: dict[Callable[[int], bytes], tuple[int, str]] = {
    hostile_models.graph_inputs: (1_500, "main/join"),
    hostile_models.undefined_inputs: (4_000, "main/join"),
    hostile_models.equal_inputs: (20_000, "main/join"),
    hostile_models.outputs: (1_500, "main/join"),
    hostile_models.empty_nodes: (3_000, "main"),
    hostile_models.functions: (1_500, "main/join"),
    hostile_models.graph_attribute: (800, "main/join"),
    hostile_models.attributes: (1_500, "main/join"),
    hostile_models.equal_attributes: (1_000, "main/join"),
    hostile_models.metadata: (4_000, "main/join"),
    hostile_models.initializers: (2_500, "main/join"),
    hostile_models.opset_imports: (5_000, "main/join"),
    hostile_models.op_types: (1_000, "main"),
    hostile_models.annotations: (2_000, "main"),
    hostile_models.consumers: (2_000, "main/%x"),
    hostile_models.redefined_values: (1_500, "main"),
    hostile_models.captures: (1_500, "main/branch"),
    hostile_models.long_names: (20_000, "main"),
}


def run(command: str, model: Path, name: str) -> None:
    if command == "svg":
        arguments = ["render", str(model), "-o", str(model.with_suffix(".svg"))]
    else:
        arguments = [command, str(model), "--json", *([name] if command == "inspect" else [])]
    assert main(arguments) == 0


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("make", SIZES, ids=lambda make: make.__name__)
def test_work_grows_with_the_model(
    make: Callable[[int], bytes],
    command: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    count, name = SIZES[make]
    warm = tmp_path / "warm.onnx"
    warm.write_bytes(make(20))
    run(command, warm, name)  # everything is imported now
    calls, lengths = [], []
    for size in (count, 4 * count):
        model = tmp_path / f"model_{size}.onnx"
        model.write_bytes(make(size))
        capsys.readouterr()
        calls.append(count_calls(lambda model=model: run(command, model, name)))
        svg = model.with_suffix(".svg")
        lengths.append(
            len(capsys.readouterr().out) + (len(svg.read_bytes()) if svg.exists() else 0)
        )
    assert calls[1] < MOST_GROWTH * calls[0]
    assert lengths[1] < 2_000_000


@pytest.mark.parametrize("make", [hostile_models.graph_inputs, hostile_models.outputs])
def test_types_of_inputs_and_outputs_are_read_when_they_are_asked_for(
    make: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    read_type = value_infos.read_type
    monkeypatch.setattr(value_infos, "read_type", lambda proto: read.append(1) or read_type(proto))
    graph = load(make(30)).graph
    assert len(graph.inputs) + len(graph.outputs) >= 30
    assert not read
    value = graph.values["x7"] if "x7" in graph.values else graph.values["y7"]
    assert [str(value.type), str(value.type)] == ["float32[2]", "float32[2]"]
    assert len(read) == 1


def test_costs_read_no_types_of_more_results_than_may_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[object] = []
    read_type = FactTable.read_type
    monkeypatch.setattr(
        FactTable, "read_type", lambda *given, **how: read.append(1) or read_type(*given, **how)
    )
    monkeypatch.setattr(analysis, "MOST_READ", 30)
    for count, expected in ((30, 31), (31, 1)):  # that of the input, and those of the results
        read.clear()
        costs = load(hostile_models.outputs(count)).costs()
        assert len(read) == expected
        assert costs.activation_bytes_is_lower_bound == (expected == 1)


def test_of_very_many_attributes_the_first_are_described_and_the_rest_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[object] = []
    write = describe_attributes.write_attribute_value
    monkeypatch.setattr(
        describe_attributes,
        "write_attribute_value",
        lambda value: written.append(1) or write(value),
    )
    node = load(hostile_models.attributes(MOST_ROWS + 50)).graph.nodes[0]
    rows = next(
        section for section in describe_node(node).sections if section.title == "Attributes"
    ).rows
    assert len(written) == MOST_ROWS
    assert (rows[-2].name, rows[-1].value) == (f"a{MOST_ROWS - 1}", "50 more")


@pytest.mark.parametrize("make", [hostile_models.consumers, hostile_models.empty_nodes])
def test_looking_for_warnings_reads_no_details_of_plain_nodes(
    make: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(make(30))
    expected = [warning for node in model.graph.nodes for warning in node.details.warnings]
    model = load(make(30))
    monkeypatch.setattr(OnnxNodeLoader, "details", lambda *_: pytest.fail("details were read"))
    assert [warning for node in model.graph.nodes for warning in node.warnings] == expected


@pytest.mark.parametrize("make", list(SIZES), ids=lambda make: make.__name__)
def test_filling_a_graph_asks_it_as_often_whatever_it_holds(
    make: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph that is being filled takes long to answer for what it will hold."""
    asked = []
    answer = FilledLater.__getattr__

    def count(graph: FilledLater, name: str) -> object:
        asked.append(name)
        return answer(graph, name)

    monkeypatch.setattr(FilledLater, "__getattr__", count)
    counts = []
    for size in (20, 60):
        asked.clear()
        assert load(make(size)).graph.values is not None
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_a_summary_reads_no_more_of_sound_tensors_than_it_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = load(hostile_models.initializers(30))
    monkeypatch.setattr(TensorReader, "read_facts", lambda *_: pytest.fail("facts were read"))
    totals = summarize_model(model)["totals"]
    assert (totals["initializers"], totals["elements"], totals["bytes"]) == (30, 30, 120)


def test_tensors_that_are_not_sound_are_judged() -> None:
    """Too few bytes, two storages, an unknown type: what is looked at first does not hide them."""
    model = onnx_pb2.ModelProto.FromString(hostile_models.initializers(4))
    short, double, unknown, _ = model.graph.initializer
    short.raw_data = b"123"
    double.float_data.append(1)
    unknown.data_type = 77
    graph = load(model.SerializeToString()).graph
    assert [[warning.message for warning in tensor.warnings] for tensor in graph.initializers] == [
        ["3 bytes are stored where 4 are claimed"],
        ["also holds float_data, which is not read beside raw_data"],
        ["the element type is unknown(77)"],
        [],
    ]


def test_a_face_reads_the_first_of_very_many_attributes_and_counts_the_rest() -> None:
    node = load(hostile_models.attributes(3000)).graph.nodes[0]
    names = [row.name for row in list_attribute_rows(node)]
    assert names == [*(f"a{number}" for number in range(MOST_ATTRIBUTES)), "… 2995 more"]


def test_a_box_says_the_type_of_as_many_values_as_may_be_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = load(hostile_models.graph_inputs(300))
    monkeypatch.setattr(value_faces, "MOST_TYPES_COMPARED", 300)
    assert "float32[2]" in model.to_svg()
    monkeypatch.setattr(value_faces, "MOST_TYPES_COMPARED", 299)
    compare = value_faces.list_types
    monkeypatch.setattr(
        value_faces,
        "list_types",
        lambda values: compare(values) if len(values) == 1 else pytest.fail("compared"),
    )
    picture = model.to_svg()
    assert "300 inputs" in picture
    assert "type unknown" not in picture


def test_quantization_is_looked_for_at_no_value_where_nothing_may_state_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = load(hostile_models.graph_inputs(50))
    monkeypatch.setattr(record, "find_statement", lambda _: pytest.fail("a value was asked"))
    assert summarize_quantization(model) == {"tensors": 0, "sources": {}, "not_quantized": 0}


def test_very_many_attributes_of_one_name_have_one_warning() -> None:
    node = load(hostile_models.equal_attributes(1_500)).graph.nodes[0]
    assert [warning.message for warning in node.warnings] == ["has attribute 'axis' 1,500 times"]
    assert len(node.attributes) == 1_500


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (hostile_models.redefined_values, "defines %x, which is defined before"),
        (hostile_models.empty_nodes, "has no op_type"),
    ],
)
def test_of_very_many_nodes_with_one_warning_the_first_are_named_and_the_rest_counted(
    make: Callable[[int], bytes], message: str
) -> None:
    model = load(make(1_500))
    alike = [warning for warning in model.all_warnings() if message in warning.message]
    assert len(alike) == 101
    assert {warning.message for warning in alike[:100]} == {message}
    assert alike[100] == ("main", f"1,400 more nodes have the same warning: {message}")
    node = model.graph.nodes[-1]
    assert node.warnings == ((node.path, message),)


def test_nodes_that_give_one_name_are_read_by_columns_and_not_kept_as_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(onnx_parts, "MOST_MESSAGES", 1_000)
    monkeypatch.setattr(GraphReader, "_read_nodes", lambda *_: pytest.fail("read one by one"))
    graph = load(hostile_models.redefined_values(1_500)).graph
    assert [value.key for value in graph.nodes[-1].outputs] == ["x#1501"]
    assert graph.nodes[-1].inputs == graph.nodes[-2].outputs
    assert not get_model_reading(graph.model).parts.proto.graph.node


def test_of_very_many_repetitions_only_those_are_aligned_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aligned: list[int] = []
    align = Repetitions._align
    monkeypatch.setattr(
        Repetitions, "_align", lambda self, index: aligned.append(index) or align(self, index)
    )
    picture = load(hostile_models.redefined_values(1_500)).to_svg()
    assert "1,500" in picture or "1500" in picture
    assert 0 < len(set(aligned)) < 10


def test_very_many_attributes_are_read_with_the_garbage_collector_standing_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(onnx_nodes, "_MANY_ATTRIBUTES", 40)
    collecting: list[bool] = []
    read = onnx_nodes.read_attribute
    monkeypatch.setattr(
        onnx_nodes,
        "read_attribute",
        lambda *given: collecting.append(gc.isenabled()) or read(*given),
    )
    for count in (40, 41):
        assert len(load(hostile_models.attributes(count)).graph.nodes[0].attributes) == count
    assert collecting == [True] * 40 + [False] * 41
    assert gc.isenabled()


def test_memory_is_given_back_once_very_many_nodes_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given_back: list[int] = []
    monkeypatch.setattr(onnx_model, "give_back_memory", lambda: given_back.append(1))
    for least, times in ((1_000, 2), (2_000, 2)):  # the second graph has fewer nodes
        monkeypatch.setattr(onnx_parts, "MOST_MESSAGES", least)
        assert load(hostile_models.consumers(1_500)).graph.nodes
        assert len(given_back) == times
    give_back_memory()


def test_very_many_initializers_are_not_kept_as_messages_and_asked_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = load(hostile_models.initializers(1_500))
    monkeypatch.setattr(onnx_parts, "MOST_MESSAGES", 1_000)
    model = load(hostile_models.initializers(1_500))
    made: list[int] = []
    find = PackedTensors.__getitem__
    with monkeypatch.context() as patch:
        patch.setattr(PackedTensors, "__getitem__", lambda *given: made.append(1) or find(*given))
        assert model.totals == expected.totals
        assert list(model.all_warnings()) == list(expected.all_warnings())
        assert not made
        tensor = model.graph.initializers[7]
        assert (tensor.name, tensor.path, tensor.shape) == ("w7", "main/%w7", (1,))
        assert tensor.numpy().tobytes() == b"1234"
        assert len(made) == 1
    assert not get_model_reading(model).parts.proto.graph.initializer


def test_single_numbers_that_one_node_takes_are_judged_by_one_look_at_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[Node] = []
    judge = constants._takes_learned
    monkeypatch.setattr(
        constants, "_takes_learned", lambda node: looked.append(node) or judge(node)
    )
    assert load(hostile_models.initializers(1_500)).totals.parameters == 0
    assert len(looked) == 1


def test_a_repeat_of_very_many_single_nodes_is_one_array(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[FoundRepeat] = []
    cut = cutting._cut
    monkeypatch.setattr(cutting, "_cut", lambda *given: found.append(cut(*given)) or found[-1])
    model = load(hostile_models.redefined_values(1_500))
    assert [group.kind for group in model.groups.groups] == ["repeat"]
    largest = max(found, key=lambda repeat: repeat.node_count)
    assert isinstance(largest.blocks, np.ndarray)
    assert largest.node_count == len(largest.blocks) == 1_500
    assert largest.places.tolist() == largest.firsts.tolist() == list(range(1, 1_501))
    assert largest.copy().blocks is largest.blocks
