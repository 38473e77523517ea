"""The first view is chosen for the canvas that there is, as long as nobody has changed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import netloupe
from netloupe.explorer.readers.load import load
from netloupe.explorer.session import Session
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file
from tests.grouping.test_tree import make_chain
from tests.recorder import Recorder

NAMES = [
    f"{scope}/n{index}" for number, scope in enumerate("abcdefghij") for index in range(3 + number)
]

#: operators of many kinds, so that opening a group shows what no other box does
KINDS = (
    *("Relu", "Softmax", "GlobalAveragePool", "Sigmoid", "LogSoftmax", "GlobalMaxPool", "Tanh"),
    *("Hardmax", "LpNormalization", "Elu", "Selu", "Softplus", "Softsign", "HardSigmoid"),
    *("HardSwish", "Mish", "Gelu", "LeakyRelu", "Celu", "MeanVarianceNormalization"),
)


@pytest.fixture
def make() -> Iterator[Callable[..., Recorder]]:
    made: list[Recorder] = []

    def explore(op_types: Sequence[str] = ("Neg",), **view: Any) -> Recorder:
        model = make_chain(*NAMES, op_type=op_types).model
        made.append(Recorder(netloupe.explore(model, **view)))
        return made[-1]

    yield explore
    for recorder in made:
        recorder.explorer.close()


def opened(recorder: Recorder) -> set[str]:
    """Return what is open while nothing is laid out ahead."""
    explorer = recorder.explorer
    with explorer._requests.lock:
        return {item.key for item in explorer._session.views.current.open_items()}


def boxes(recorder: Recorder) -> int:
    return len(recorder.paths)


def test_more_is_open_in_a_larger_canvas(make: Callable[..., Recorder]) -> None:
    found = []
    for window in ([500, 300], [1100, 1000], [2000, 3000]):
        recorder = make(op_types=KINDS)
        answer = recorder.ask(type="scene", window=window)
        assert (answer["type"], answer["fit"]) == ("scene", True)
        assert answer["history"]["undo"] is False
        found.append(boxes(recorder))
    assert found == sorted(found)
    assert found[0] < found[-1], found


@pytest.mark.parametrize(
    "window", [None, 7, [0, 0], [1100], ["a", "b"], [float("nan"), 600], [1e9, 1e9], [True, 1]]
)
def test_a_canvas_without_a_size_gets_the_usual_view(
    make: Callable[..., Recorder], window: object
) -> None:
    usual, odd = make(), make()
    usual.ask(type="scene")
    assert odd.ask(type="scene", window=window)["type"] == "scene"
    assert odd.paths == usual.paths


def test_what_somebody_has_opened_stays(make: Callable[..., Recorder]) -> None:
    recorder = make()
    recorder.explorer.open("main/c/")
    before = opened(recorder)
    assert "main/c/" in before
    recorder.ask(type="scene", window=[2000, 3000])
    assert opened(recorder) == before


def test_what_was_asked_for_stays(make: Callable[..., Recorder]) -> None:
    for expand in ("none", "all", 1):
        small, large = make(expand=expand), make(expand=expand)
        small.ask(type="scene", window=[300, 200])
        large.ask(type="scene", window=[2000, 3000])
        assert small.paths == large.paths


def test_a_second_browser_changes_nothing(make: Callable[..., Recorder]) -> None:
    recorder = make()
    recorder.ask(type="scene", window=[500, 300])
    before = recorder.paths
    recorder.ask(type="scene", window=[2000, 3000])
    assert recorder.paths == before


def test_later_views_are_chosen_for_the_same_canvas() -> None:
    explorer = netloupe.explore(corpus_file("exported/vit.dynamo.onnx"), expand="none")
    recorder = Recorder(explorer)
    try:
        recorder.ask(type="scene", window=[400, 300])
        recorder.ask(type="expand", mode="auto")
        few = boxes(recorder)
        recorder = Recorder(netloupe.explore(corpus_file("exported/vit.dynamo.onnx")))
        recorder.ask(type="scene", window=[1200, 3000])
        assert few < boxes(recorder)
    finally:
        explorer.close()
        recorder.explorer.close()


def test_bars_are_chosen_in_the_menu_and_nothing_moves(make: Callable[..., Recorder]) -> None:
    recorder = Recorder(netloupe.explore(corpus_file("exported/vit.dynamo.onnx")))
    try:
        first = recorder.ask(type="scene")
        text = recorder.explorer.to_svg()
        assert " parameters · " in text
        answer = recorder.ask(type="share", share="bytes")
        assert answer["header"]["since"] is None
        bars = [face["bar"] for face in answer["header"]["faces"] if face["bar"]]
        assert {bar[0] for bar in bars} == {"bytes"}
        assert recorder.explorer.canvas.share == "bytes"
        recorder.ask(type="share", share="none")
        assert " of the model</title>" not in recorder.explorer.to_svg()
        assert recorder.ask(type="share", share="much")["type"] == "error"
        last = recorder.ask(type="share", share="parameters")
        sizes = [(one["header"]["width"], one["header"]["height"]) for one in (first, last)]
        assert sizes[0] == sizes[1]
        assert recorder.explorer.to_svg() == text
    finally:
        recorder.explorer.close()


def test_after_a_reload_bars_tell_shares_of_the_model_that_is_there() -> None:
    session = Session(load(corpus_file("exported/gpt2.legacy.onnx")), ViewOptions())
    model = load(corpus_file("exported/vit.dynamo.onnx"))
    session.reload(model)
    assert session._labels.shares is not None
    assert session._labels.shares.model is model


def test_details_are_chosen_in_the_menu(make: Callable[..., Recorder]) -> None:
    recorder = Recorder(netloupe.explore(corpus_file("exported/vit.dynamo.onnx")))
    try:
        recorder.ask(type="scene")
        before, text = opened(recorder), recorder.explorer.to_svg()
        answer = recorder.ask(type="details", details="all")
        assert answer["type"] == "scene"
        assert recorder.explorer.canvas.details == "all"
        assert opened(recorder) == before
        assert recorder.explorer.to_svg() != text
        assert "epsilon" in recorder.explorer.to_svg()
        assert recorder.ask(type="details", details="many")["type"] == "error"
        recorder.ask(type="details", details="facts")
        assert recorder.explorer.to_svg() == text
    finally:
        recorder.explorer.close()
