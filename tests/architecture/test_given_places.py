"""For what outputs are is said: numbers of a whole input are not those of each of its places."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.architecture.given_places import place_outputs, write_outputs
from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load

from .networks import Network

_IDS, _REAL = TensorProto.INT64, TensorProto.FLOAT
Taken = tuple[int, Sequence[int | str]]
_TOKENS: Taken = (_IDS, ["batch", "sequence"])
_IMAGE: Taken = (_REAL, [1, 3, 64, 64])


def make(taken: Sequence[Taken], given: Sequence[int | str] | None, count: int = 1) -> Graph:
    """Return a graph of which only the ends matter."""
    inputs = [helper.make_tensor_value_info(f"x{n}", *one) for n, one in enumerate(taken)]
    outputs = [helper.make_tensor_value_info(f"y{n}", _REAL, given) for n in range(count)]
    nodes = [helper.make_node("Cast", ["x0"], [one.name], to=_REAL) for one in outputs]
    return load(helper.make_model(helper.make_graph(nodes, "g", inputs, outputs))).graph


@pytest.mark.parametrize(
    ("taken", "given", "expected"),
    [
        ([_TOKENS], ["batch", 10], "10 outputs"),
        ([_TOKENS], ["batch", "sequence", 10], "10 outputs for each token"),
        ([_TOKENS, _TOKENS], ["batch", "sequence", 10], "10 outputs for each token"),
        ([_TOKENS], ["batch", "other", 10], "10 outputs at each place"),
        # of other rows, too: three of them may be one step
        ([_TOKENS, (_REAL, ["batch", "sequence", 6])], ["batch", "sequence", 10], "at each place"),
        ([(_IDS, [1, 12])], [1, 12, 10], "10 outputs for each token"),
        ([(_IDS, [1, 1])], [1, 1, 10], "10 outputs"),
        ([(_REAL, [2, 9, 16])], [2, 9, 10], "10 outputs at each place"),
        ([(_REAL, [1, 1, 32, 100])], [26, 1, 10], "10 outputs at each place"),  # steps first
        ([_IMAGE], [1, 10], "10 outputs"),
        ([_IMAGE], [1, 10, 1, 1], "10 outputs"),
        ([_IMAGE], [1, 10, 16, 16], "10 channels out"),
        ([_IMAGE], ["n", 10, "h", "w"], "10 channels out"),
        ([_IMAGE], [1, 4, 16, 16], "10 outputs"),
        ([_IMAGE], None, "10 outputs"),
    ],
)
def test_outputs_are_for_what_their_shape_says(
    taken: Sequence[Taken], given: Sequence[int | str] | None, expected: str
) -> None:
    assert write_outputs(make(taken, given), 10).endswith(expected)


def test_one_output_may_lack_its_axis() -> None:
    assert write_outputs(make([_TOKENS], ["batch", "sequence"]), 1) == "1 output for each token"
    assert write_outputs(make([_TOKENS], ["batch", 1]), 1) == "1 output"
    assert write_outputs(make([_TOKENS], ["batch", "sequence"]), 2) == "2 outputs"
    assert write_outputs(make([_IMAGE], [1, 1, 8, 8]), 1) == "one map out"


def test_several_outputs_are_not_told_apart() -> None:
    assert write_outputs(make([_TOKENS], ["batch", "sequence", 10], count=2), 10) == "10 outputs"


def test_only_a_clause_of_outputs_is_changed() -> None:
    graph = make([_IMAGE], [1, 1000, 16, 16])
    clauses = ("12 blocks", "1,000 outputs", "2 outputs of 3 and 1 features", "10 classes")
    assert place_outputs(graph, clauses) == ("12 blocks", "1,000 channels out", *clauses[2:])


def test_a_sentence_says_so() -> None:
    def tell(shape: Sequence[int | str]) -> str:
        net = Network()
        x = net.block(net.block(net.embed()))
        return net.finish(net.linear(x, 8, 5), shape=shape).architecture.sentence

    assert tell(["batch", "sequence", 5]).endswith(", 5 outputs for each token.")
    assert tell(["batch", 5]).endswith(", 5 outputs.")
