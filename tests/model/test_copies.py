"""Copies and pickles of a model and its parts are refused with what to do instead."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe import CopyError, NetloupeError
from netloupe.explorer.model import DataType, Model
from tests.onnx_text import load_text

CNN = Path(__file__).parents[2] / "demo_notebooks" / "models" / "digits_cnn.onnx"
WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": pickle.dumps}


def parts_of(model: Model) -> dict[str, Any]:
    graph = model.graph
    return {
        "Model": model,
        "Graph": graph,
        "Node": graph.nodes[0],
        "Value": graph.inputs[0],
        "Tensor": graph.initializers[0],
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["Model", "Graph", "Node", "Value", "Tensor"])
def test_the_message_says_how_to_load_it_anew(way: str, kind: str) -> None:
    element = parts_of(netloupe.load(CNN))[kind]
    with pytest.raises(CopyError, match=f"a {kind} cannot be copied or pickled") as caught:
        WAYS[way](element)
    assert isinstance(caught.value, NetloupeError)
    assert isinstance(caught.value, TypeError)  # what Python itself raises in such cases
    advice = str(caught.value).rpartition("anew where it is needed: ")[2].removesuffix(".")
    if kind == "Tensor":  # which does not know its file
        advice = advice.replace("the file", repr(str(CNN)))
    again = eval(advice, {"netloupe": netloupe})
    assert type(again).__name__.strip("_").removeprefix("Onnx") in (kind, "Value")
    assert again.path == element.path


def test_a_graph_that_is_not_read_yet_stays_so() -> None:
    model = netloupe.load(CNN)
    for way in WAYS.values():
        with pytest.raises(CopyError):
            way(model.graph)
    assert model.graph._filler is not None


def test_a_model_from_bytes_names_no_file() -> None:
    model = netloupe.load(CNN.read_bytes())
    with pytest.raises(CopyError, match=r"<bytes>: a Model .*: netloupe.load\(the file\)\."):
        pickle.dumps(model)


def test_a_copy_of_what_holds_a_model_is_refused_too() -> None:
    with pytest.raises(CopyError):
        copy.deepcopy({"model": load_text("g () => () { }")})


def test_plain_facts_are_copied_and_pickled() -> None:
    model = netloupe.load(CNN)
    value, tensor = model.graph.inputs[0], model.graph.initializers[0]
    for fact in (value.type, tensor.dtype, tensor.statistics(), model.graph.nodes[0].attributes):
        assert repr(pickle.loads(pickle.dumps(fact))) == repr(fact)
        assert repr(copy.deepcopy(fact)) == repr(fact)
    assert copy.copy(tensor.dtype) == DataType("float32", 32)
