"""Branches side by side that one node takes, each at a place of its own: one is done for all."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from netloupe.explorer.layout.prepared import Preparer
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.standalone import describing, renamed_repetitions
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.standalone.renamed_repetitions import RepetitionComparer
from netloupe.explorer.view import ViewOptions
from netloupe.proto import onnx_pb2
from tests.corpus import corpus_file
from tests.hostile_models import branches

COUNT = 24
#: multiples of the kinds, of as many digits
FEW, MANY = 42, 91


def count_calls(owner: object, name: str, model: Model) -> int:
    """Return how often a function is called while the page of a model is made."""
    count = 0
    usual = getattr(owner, name)

    def call(*arguments: object, **named: object) -> object:
        nonlocal count
        count += 1
        return usual(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, call)
        make_page(model, ViewOptions())
    return count


@pytest.mark.parametrize("kinds", [1, 7])
def test_more_branches_lay_out_no_more(kinds: int) -> None:
    """As long as their numbers, which stand in titles, take as much room."""
    few, many = (count_calls(Preparer, "prepare", load(branches(n, kinds))) for n in (FEW, MANY))
    assert 0 < many <= few


@pytest.mark.parametrize("kinds", [1, 7])
def test_of_more_branches_no_more_nodes_are_described(kinds: int) -> None:
    """What a branch takes and gives is met outside of it."""
    few, many = (
        count_calls(describing, "describe_path", load(branches(n, kinds))) for n in (FEW, MANY)
    )
    assert many - few <= 2 * (MANY - FEW)


@pytest.mark.parametrize("kinds", [1, 7])
def test_each_branch_is_compared_once(kinds: int) -> None:
    assert (
        count_calls(renamed_repetitions, "compare_repetitions", load(branches(MANY, kinds))) < MANY
    )


def test_shown_repetitions_of_layers_are_laid_out_but_for_the_first() -> None:
    """The border of the repeat has the names that the first one gives."""
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    laid_out = count_calls(Preparer, "prepare", model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(renamed_repetitions.RenamedRepetition, "to_sample", lambda _: None)
        assert laid_out < count_calls(Preparer, "prepare", model)


def as_made(model: onnx_pb2.ModelProto) -> None:
    """Leave it as it is."""


def take_twice(model: onnx_pb2.ModelProto) -> None:
    join = model.graph.node[-1]
    join.input[:] = [name for name in join.input for _ in range(2)]


def take_one_twice(model: onnx_pb2.ModelProto) -> None:
    model.graph.node[-1].input.append("y5")


def take_in_another_order(model: onnx_pb2.ModelProto) -> None:
    join = model.graph.node[-1]
    join.input[:] = sorted(join.input, key=lambda name: (int(name[1:]) * 7) % COUNT)


def take_at_one_place_first(model: onnx_pb2.ModelProto) -> None:
    """Each of the first four begins a Sum of its own."""
    names = list(model.graph.node[-1].input)
    del model.graph.node[-1]
    joined = [[names[0]], [names[1]], [names[2]], [names[3], *names[4:]]]
    for number, taken in enumerate(joined):
        model.graph.node.add(
            op_type="Sum", name=f"join{number}", input=taken, output=[f"z{number}"]
        )
    last = [f"z{number}" for number in range(len(joined))]
    model.graph.node.add(op_type="Sum", name="join", input=last, output=["y"])


def take_by_two(model: onnx_pb2.ModelProto) -> None:
    """A value is at another place of each of the two that take it."""
    names = list(model.graph.node[-1].input)
    model.graph.node.add(op_type="Max", name="more", input=["y", *names], output=["z"])


def call_as_operands(model: onnx_pb2.ModelProto) -> None:
    """Values have the names that operands of a Sum have."""
    for node in model.graph.node:
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                if name.startswith("y") and name != "y":
                    names[place] = f"data_0[{(int(name[1:]) * 5) % COUNT}]"


def take_by_what_is_not_known(model: onnx_pb2.ModelProto) -> None:
    model.graph.node[-1].op_type = "Own"


def take_by_places_that_differ(model: onnx_pb2.ModelProto) -> None:
    """Each is the condition, the first or the second choice of a Where."""
    names = list(model.graph.node[-1].input)
    del model.graph.node[-1]
    for number in range(0, COUNT, 3):
        taken = names[number : number + 3]
        model.graph.node.add(op_type="Where", name=f"w{number}", input=taken, output=[f"w{number}"])
    results = [f"w{number}" for number in range(0, COUNT, 3)]
    model.graph.node.add(op_type="Sum", name="join", input=results, output=["y"])


def use_inside_a_loop(model: onnx_pb2.ModelProto) -> None:
    """What a Loop carries on is of any types."""
    names = list(model.graph.node[-1].input)
    del model.graph.node[-1]
    body = onnx_pb2.GraphProto(name="body")
    for name in ("i", "c", *(f"b{number}" for number in range(COUNT))):
        body.input.add(name=name)
    body.node.add(op_type="Identity", name="keep", input=["c"], output=["d"])
    for name in ("d", *(f"b{number}" for number in range(COUNT))):
        body.output.add(name=name)
    node = model.graph.node.add(op_type="Loop", name="join", input=["", "", *names], output=["y"])
    node.attribute.add(name="body", type=5, g=body)


CHANGES = (
    *(as_made, take_twice, take_one_twice, take_in_another_order, take_at_one_place_first),
    *(take_by_two, call_as_operands, take_by_what_is_not_known, take_by_places_that_differ),
    use_inside_a_loop,
)


@pytest.mark.parametrize("kinds", [1, 3])
@pytest.mark.parametrize("change", CHANGES)
def test_a_page_is_the_same_with_each_branch_described_by_itself(
    change: Callable[[onnx_pb2.ModelProto], None], kinds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    proto = onnx_pb2.ModelProto.FromString(branches(COUNT, kinds))
    change(proto)
    model = load(proto.SerializeToString())
    page, _ = make_page(model, ViewOptions())
    monkeypatch.setattr(RepetitionComparer, "find", lambda *_: None)
    expected, _ = make_page(model, ViewOptions())
    assert page == expected
