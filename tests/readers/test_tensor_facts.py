"""Whatever is asked of a tensor first, however its file was read, the answer is the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Tensor
from netloupe.explorer.readers.load import load
from tests.readers.every_way import NEVER
from tests.readers.test_columns import columns_from

#: what every tensor has; the rest is private
FACTS = [name for name in Tensor.__slots__ if not name.startswith("_")]


def make_sound() -> TensorProto:
    return numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3))


def make_listed() -> TensorProto:
    return helper.make_tensor("", TensorProto.INT64, [3], [1, 2, 3])


def make_short() -> TensorProto:
    return TensorProto(data_type=TensorProto.FLOAT, dims=[4], raw_data=b"1234")


def make_told() -> TensorProto:
    tensor = make_sound()
    tensor.doc_string = "told"
    tensor.metadata_props.add(key="k", value="v")
    return tensor


def make_external() -> TensorProto:
    tensor = TensorProto(data_type=TensorProto.FLOAT, dims=[2], data_location=1)
    tensor.external_data.add(key="location", value="w.bin")
    return tensor


KINDS = [make_sound, make_listed, make_short, make_told, make_external]


def make_model(make: Callable[[], TensorProto]) -> bytes:
    """Return a model of three initializers of a kind."""
    tensors = []
    for number in range(3):
        tensor = make()
        tensor.name = f"w{number}"
        tensors.append(tensor)
    node = helper.make_node("Concat", [tensor.name for tensor in tensors], ["y"], axis=0)
    graph = helper.make_graph([node], "g", [], [], tensors)
    return bytes(helper.make_model(graph).SerializeToString())


def tell(tensor: Tensor, fact: str) -> str:
    return repr(getattr(tensor, fact))


@pytest.mark.parametrize("packed", [0, NEVER], ids=["packed", "messages"])
@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_each_fact_is_the_same_when_it_is_asked_first(
    make: Callable[[], TensorProto], packed: int
) -> None:
    data = make_model(make)
    expected = {}
    with columns_from(NEVER):
        tensor = load(data).graph.initializers[1]
        tensor.storage  # noqa: B018 - all is read now
        expected = {fact: tell(tensor, fact) for fact in FACTS}
    with columns_from(0, packed):
        for fact in FACTS:
            tensor = load(data).graph.initializers[1]
            assert tell(tensor, fact) == expected[fact], fact
            assert {fact: tell(tensor, fact) for fact in FACTS} == expected
