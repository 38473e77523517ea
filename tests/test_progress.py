"""Long work tells its steps, and whoever ends it at one of them leaves nothing half done."""

from __future__ import annotations

from itertools import count

import onnx
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Model
from netloupe.explorer.progress import Cancelled, Watch, is_watched, part, step, watched
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx import model as reader
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.view import View, ViewOptions
from tests.model_check import list_facts

LAYERS = 6


def make_model(*, named: bool = True) -> onnx.ModelProto:
    nodes = []
    for layer in range(LAYERS):
        for number, op_type in enumerate(("Relu", "Neg", "Abs", "Exp")):
            place = 4 * layer + number
            name = f"/layers.{layer}/{op_type}" if named else ""
            nodes.append(helper.make_node(op_type, [f"v{place}"], [f"v{place + 1}"], name))
    types = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
        for name in ("v0", f"v{4 * LAYERS}")
    ]
    return helper.make_model(helper.make_graph(nodes, "g", types[:1], types[1:]))


def paths_of(view: View) -> list[str]:
    return sorted(view.items)


def end_at(number: int) -> Watch:
    steps = count(1)

    def watch(_what: str, _share: float | None) -> None:
        if next(steps) == number:
            raise Cancelled

    return watch


def test_nobody_needs_to_watch() -> None:
    step("something")


def test_who_watches_outside_is_told_first() -> None:
    told: list[str] = []
    with watched(lambda what, _share: told.append(f"outside {what}")):
        step("a")
        with watched(lambda what, _share: told.append(f"inside {what}")):
            step("b")
        step()
    step("c")
    assert told == ["outside a", "outside b", "inside b", "outside "]


def test_shares_of_a_part_are_shares_of_the_whole() -> None:
    told: list[tuple[str, float | None]] = []
    with watched(lambda what, share: told.append((what, share))):
        assert is_watched()
        with part(0.5, 1.0):
            step("b", 0.0)
            step(share=0.5)
            with part(0.5, 1.0):
                step(share=1.0)
            step("without a share")
        step(share=0.25)
    assert told == [("b", 0.5), ("", 0.75), ("", 1.0), ("without a share", None), ("", 0.25)]
    with part(0.0, 0.5):  # nobody watches
        assert not is_watched()
        step(share=1.0)


def test_who_cancels_reports_no_error() -> None:
    assert not issubclass(Cancelled, NetloupeError)
    with pytest.raises(Cancelled), watched(end_at(1)):
        step()
    step("and nobody watches any more")


@pytest.mark.parametrize("named", [True, False])
def test_the_steps_to_a_view(*, named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MANY_NODES", 1)
    told: list[str] = []
    with watched(lambda what, _share: told.append(what)):
        make_view(load(make_model(named=named)), ViewOptions())
    steps = [what for what in dict.fromkeys(told) if what]
    steps.remove("counting operations")  # where the size of a value is first asked for
    assert steps == [
        "reading nodes",
        "reading values",
        "grouping nodes",
        "looking for repeats",
        "reading edges",
        "laying out",
    ]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("least", [1, 1000])
@pytest.mark.parametrize("expand", ["auto", "all"])
def test_work_that_is_ended_can_be_begun_again(
    expand: str, least: int, *, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MANY_NODES", least)
    source, options = make_model(named=named), ViewOptions(expand=expand)
    expected = load(source)
    paths = paths_of(make_view(expected, options)[0])
    ended = 0
    for number in count(1):
        model: Model = load(source)
        try:
            with watched(end_at(number)):
                make_view(model, options)
        except Cancelled:
            ended += 1
        else:
            break
        assert paths_of(make_view(model, options)[0]) == paths
        assert list_facts(model) == list_facts(expected)
    assert ended >= 10
