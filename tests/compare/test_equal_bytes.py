"""What files say in the same bytes is the same, and is not read again; all else is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.compare import diff
from netloupe.explorer.compare import parameters as parameters_module
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx.value_infos import OnnxGraphLoader

_COUNT = 5


def make_model(
    nodes: list[onnx.NodeProto], initializers: list[TensorProto], inputs: int = 1
) -> bytes:
    """Return a model that takes so many inputs, the first of which is ``x0``."""
    value = helper.make_tensor_value_info
    taken = [value(f"x{number}", TensorProto.FLOAT, [4, 4]) for number in range(inputs)]
    given = [value(nodes[-1].output[0], TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", taken, given, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return bytes(model.SerializeToString())


def make_sum(weights: list[TensorProto]) -> bytes:
    """Return a model that adds its input and weights."""
    names = [weight.name for weight in weights]
    return make_model([helper.make_node("Sum", ["x0", *names], ["y"])], weights)


def make_weights() -> list[TensorProto]:
    """Return weights that differ from one another."""
    return [
        numpy_helper.from_array(np.full((4, 4), number, np.float32), f"w{number}")
        for number in range(_COUNT)
    ]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the places of the initializers of which all that is said is read."""
    places: list[int] = []
    state = OnnxGraphLoader.state_tensor

    def note(finder: OnnxGraphLoader, place: int) -> object:
        places.append(place)
        return state(finder, place)

    monkeypatch.setattr(OnnxGraphLoader, "state_tensor", note)
    return places


def test_initializers_of_equal_bytes_are_not_read(read: list[int]) -> None:
    data = make_sum(make_weights())
    found = diff(data, data)
    assert (found.verdict, found.equal_tensors, read) == ("identical", _COUNT, [])


def test_initializers_of_other_bytes_are_read(read: list[int]) -> None:
    weights = make_weights()
    left = make_sum(weights)
    weights[2].doc_string = "two"
    weights[3].raw_data = bytes(64)
    found = diff(left, make_sum(weights))
    assert found.verdict == "weights"
    assert {one.left.name for one in found.tensors} == {"w2", "w3"}
    assert found.equal_tensors == _COUNT - 1  # another text leaves it equal
    assert {*read} == {2, 3}


def write_external(folder: Path, number: float) -> Path:
    """Write a model whose weight is in a file beside it."""
    folder.mkdir()
    weight = numpy_helper.from_array(np.full((4, 4), number, np.float32), "w")
    (folder / "w.bin").write_bytes(weight.raw_data)
    onnx.external_data_helper.set_external_data(weight, "w.bin", 0, 64)
    weight.ClearField("raw_data")
    path = folder / "model.onnx"
    path.write_bytes(make_sum([weight]))
    return path


def test_equal_bytes_that_name_another_file_are_read(tmp_path: Path) -> None:
    numbers = {"left": 1.0, "right": 2.0, "same": 1.0}
    left, right, same = (write_external(tmp_path / name, n) for name, n in numbers.items())
    assert left.read_bytes() == right.read_bytes()
    assert diff(left, right).verdict == "weights"
    assert diff(left, same).verdict == "identical"


def test_equal_bytes_that_are_read_otherwise_are_compared() -> None:
    weight = numpy_helper.from_array(np.arange(16, dtype=np.float32).reshape(4, 4), "w")
    sides = (
        make_model([helper.make_node("Gemm", ["x0", "w"], ["y"], transB=turned)], [weight])
        for turned in (0, 1)
    )
    found = diff(*sides)
    assert found.verdict in ("weights", "structure")


def test_what_many_nodes_take_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    says_only = parameters_module._says_only

    def note(value: object) -> bool:
        asked.append(getattr(value, "name", ""))
        return says_only(value)  # type: ignore[arg-type]

    monkeypatch.setattr(parameters_module, "_says_only", note)
    nodes = [
        helper.make_node("Reshape", [f"x{number}", "shape"], [f"x{number + 1}"])
        for number in range(20)
    ]
    data = make_model(nodes, [numpy_helper.from_array(np.array([2, 8]), "shape")])
    found = diff(data, data)
    assert found.verdict == "identical"
    assert asked.count("shape") == 2  # once in each model


def test_a_model_that_is_given_as_it_is_is_noted_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    from netloupe.explorer.readers import load as load_module

    noted: list[object] = []
    monkeypatch.setattr(load_module, "note_inputs_later", noted.append)
    model = load(make_sum(make_weights()))
    assert load(model) is model
    assert len(noted) == 1
