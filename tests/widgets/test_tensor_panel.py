"""The tensor panel: a sample at once, the rest in the background, cancelled at any moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Payload, Tensor, Value, data_type
from netloupe.explorer.quantization import Quantization
from netloupe.explorer.tensors import elements as elements_module
from netloupe.widgets import tensor_panel
from netloupe.widgets.tensor_panel import TensorPanel

WEIGHTS = np.random.default_rng(3).normal(size=(40, 50)).astype(np.float32)
SECONDS = 300.0


class Gate:
    """Holds the thread that reads, each time it asks for the elements, until it is let through."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.asked = threading.Semaphore(0)
        self._let = threading.Semaphore(0)

    def fetch(self) -> Payload:
        self.asked.release()
        assert self._let.acquire(timeout=SECONDS)
        return Payload("raw", self.array.tobytes())

    def let(self) -> None:
        """Let one reading through."""
        self._let.release()

    def wait(self) -> None:
        """Wait until the elements are asked for."""
        assert self.asked.acquire(timeout=SECONDS)


def make_tensor(array: np.ndarray[Any, Any], fetch: Callable[[], Payload] | None = None) -> Tensor:
    array = np.asarray(array)
    if array.dtype == object:
        payload = Payload("strings", [text.encode() for text in array.reshape(-1)])
        dtype = data_type("string")
    else:
        payload = Payload("raw", array.tobytes())
        dtype = data_type(array.dtype.name)
    take = fetch or (lambda: payload)
    return Tensor("w", "main/%w", dtype, array.shape, "raw_data", None, take)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tensors of a thousand elements count as large, and progress be told after each piece."""
    monkeypatch.setattr(tensor_panel, "AT_ONCE", 1000)
    monkeypatch.setattr(tensor_panel, "SAMPLE", 500)
    monkeypatch.setattr(elements_module, "_REST", 1)


@pytest.fixture
def gate(small_steps: None) -> Iterator[Gate]:
    gate = Gate(WEIGHTS)
    yield gate
    for _ in range(10):  # no thread waits for ever
        gate.let()


def show_tensor(tensor: Tensor, value: Value | None = None) -> TensorPanel:
    panel = TensorPanel(tensor, value)
    panel.read()
    return panel


def make_quantized(**fields: Any) -> Quantization:
    given: dict[str, Any] = {
        "value": None,
        "source": "test",
        "scale": np.float32(0.02).reshape(()),
        "zero_point": np.array(0, np.int8),
        "axis": None,
        "block_size": None,
        "storage": data_type("int8"),
    }
    return Quantization(**{**given, **fields})


def use_quantization(monkeypatch: pytest.MonkeyPatch, quantization: Quantization) -> object:
    monkeypatch.setattr(tensor_panel, "find_quantization", lambda _value: quantization)
    return object()


def test_a_large_tensor_shows_a_sample_and_then_everything(gate: Gate) -> None:
    panel = show_tensor(make_tensor(WEIGHTS, gate.fetch))
    gate.wait()
    assert panel._work in panel.children
    assert panel.picture not in panel.children
    gate.let()
    gate.wait()  # the sample is shown before all elements are asked for
    assert "a sample of 2,000" in panel.statistics.value
    assert "reading all 2,000" in panel.state.value
    assert panel._work in panel.children
    sample = bytes(panel.picture.value)
    assert panel.picture in panel.children
    gate.let()
    assert panel.wait(SECONDS)
    assert "a sample" not in panel.statistics.value
    assert bytes(panel.picture.value) != sample
    assert panel._work not in panel.children
    assert panel.read_all not in panel.children
    assert panel.progress.value == 1.0


def test_cancel_leaves_the_sample_and_offers_the_rest(gate: Gate) -> None:
    panel = show_tensor(make_tensor(WEIGHTS, gate.fetch))
    gate.wait()
    gate.let()
    gate.wait()
    background = panel._background
    assert background is not None
    panel.stop.click()
    sample = bytes(panel.picture.value)
    assert panel._work not in panel.children
    assert panel.read_all in panel.children
    assert panel.read_all.description == "Read all 2,000 elements"
    gate.let()
    assert background.wait(SECONDS)
    assert bytes(panel.picture.value) == sample
    assert "a sample of 2,000" in panel.statistics.value

    panel.read_all.click()
    for _ in range(2):
        gate.wait()
        gate.let()
    assert panel.wait(SECONDS)
    assert "a sample" not in panel.statistics.value


def test_cancel_in_the_middle_of_a_pass(monkeypatch: pytest.MonkeyPatch, small_steps: None) -> None:
    """The second time progress is told the panel is cancelled; it is never told again."""
    told: list[float] = []
    panels: list[TensorPanel] = []
    monkeypatch.setattr("netloupe.explorer.session.background._SECONDS_BETWEEN_REPORTS", 0.0)
    ready = threading.Event()

    def report(self: TensorPanel, background: Any, share: float) -> None:
        assert ready.wait(SECONDS)
        told.append(share)
        if len(told) == 3:
            panels[0].cancel()

    monkeypatch.setattr(TensorPanel, "_report", report)
    panel = show_tensor(make_tensor(WEIGHTS))
    panels.append(panel)
    background = panel._background
    assert background is not None
    ready.set()
    assert background.wait(SECONDS)
    assert len(told) == 3
    assert told[-1] < 1
    assert panel.read_all in panel.children


def test_progress_runs_from_nothing_to_everything(
    monkeypatch: pytest.MonkeyPatch, small_steps: None
) -> None:
    told: list[float] = []
    monkeypatch.setattr("netloupe.explorer.session.background._SECONDS_BETWEEN_REPORTS", 0.0)
    monkeypatch.setattr(TensorPanel, "_report", lambda self, background, share: told.append(share))
    panel = show_tensor(make_tensor(WEIGHTS))
    assert panel.wait(SECONDS)
    assert told[0] == 0.0
    assert told == sorted(told)
    assert any(0 < share < 1 for share in told)
    assert told[-1] == 1.0


def test_closing_ends_the_reading_and_nothing_is_shown_after(gate: Gate) -> None:
    panel = show_tensor(make_tensor(WEIGHTS, gate.fetch))
    gate.wait()
    background = panel._background
    assert background is not None
    panel.close()
    gate.let()
    assert background.wait(SECONDS)
    assert panel.statistics.value == ""
    assert not gate.asked.acquire(blocking=False)  # the rest was never asked for


def test_another_number_of_bins_ends_the_reading_before_it(gate: Gate) -> None:
    panel = show_tensor(make_tensor(WEIGHTS, gate.fetch))
    gate.wait()
    first = panel._background
    assert first is not None
    panel.bins.value = 7
    second = panel._background
    assert second is not None
    assert second is not first
    gate.wait()
    gate.let()
    gate.let()
    assert first.wait(SECONDS)
    gate.wait()
    gate.let()
    assert panel.wait(SECONDS)
    assert panel._reading is not None
    assert len(panel._reading.counts.counts) == 7  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TensorDataError("main/%w: its data are gone."), "its data are gone"),
        (MemoryError(), "not enough memory"),
        (RuntimeError("a <b>defect</b>"), "RuntimeError: a &lt;b&gt;defect&lt;/b&gt;"),
    ],
)
def test_errors_in_the_background_are_shown(
    small_steps: None, error: Exception, words: str
) -> None:
    def fetch() -> Payload:
        raise error

    panel = show_tensor(make_tensor(WEIGHTS, fetch))
    assert panel.wait(SECONDS)
    assert words in panel.message.value
    assert panel.message in panel.children
    assert panel.picture not in panel.children
    assert panel._work not in panel.children


def test_channels_can_be_shown_side_by_side_and_alone() -> None:
    panel = show_tensor(make_tensor(WEIGHTS))
    pictures = [bytes(panel.picture.value)]
    assert [value for _, value in panel.choice.view.options] == ["all", "channels", "channel"]
    panel.choice.view.value = "channels"
    pictures.append(bytes(panel.picture.value))
    assert panel.choice.axis in panel.choice.children
    assert panel.log_scale not in panel._controls.children
    panel.choice.axis.value = 1
    pictures.append(bytes(panel.picture.value))
    panel.choice.view.value = "channel"
    panel.choice.channel.value = 49
    pictures.append(bytes(panel.picture.value))
    assert "channel 49 of axis 1" in panel.statistics.value
    assert f"{WEIGHTS[:, 49].max():.5g}"[:5] in panel.statistics.value
    panel.choice.axis.value = 0  # has 40 channels: the last of them
    assert panel.choice.channel.value == 39
    assert "channel 39 of axis 0" in panel.statistics.value
    assert len(set(pictures)) == 4


def test_channels_side_by_side_show_a_sample_and_then_everything(gate: Gate) -> None:
    panel = show_tensor(make_tensor(WEIGHTS, gate.fetch))
    for _ in range(2):  # the histogram's sample and all of it
        gate.wait()
        gate.let()
    assert panel.wait(SECONDS)
    whole = bytes(panel.picture.value)
    assert not panel._is_stale

    panel.choice.view.value = "channels"
    gate.wait()
    # what is still shown answers the question before
    assert tensor_panel._STALE in panel.picture._dom_classes
    assert bytes(panel.picture.value) == whole
    gate.let()
    gate.wait()  # the sample is shown, and all of it asked for
    sample = bytes(panel.picture.value)
    assert sample != whole
    assert tensor_panel._STALE not in panel.picture._dom_classes
    assert "a sample" in panel.state.value
    assert panel._reading is not None
    assert panel._reading.is_sample
    assert getattr(panel._reading.counts, "is_sample", None) is True
    gate.let()
    assert panel.wait(SECONDS)
    assert not panel._reading.is_sample
    assert getattr(panel._reading.counts, "is_sample", None) is False
    assert bytes(panel.picture.value) != sample


def test_cancelled_before_its_sample_the_picture_stays_marked(gate: Gate) -> None:
    panel = show_tensor(make_tensor(WEIGHTS, gate.fetch))
    for _ in range(2):
        gate.wait()
        gate.let()
    assert panel.wait(SECONDS)
    assert panel.read_all not in panel.children
    panel.choice.view.value = "channels"
    gate.wait()
    panel.cancel()
    assert tensor_panel._STALE in panel.picture._dom_classes
    assert panel.read_all in panel.children  # what is asked for is not read


def test_one_axis_has_no_channels() -> None:
    for array in (WEIGHTS[0], np.array(3.0, np.float32), np.array([["a", "b"]], object)):
        panel = show_tensor(make_tensor(array))
        assert panel.choice not in panel.children


def test_too_many_channels_are_an_error_and_the_choice_stays() -> None:
    array = np.zeros((2**19, 2), np.int8)
    panel = show_tensor(make_tensor(array))
    panel.choice.view.value = "channels"
    assert "more than 16777216 counters" in panel.message.value
    panel.choice.axis.value = 1
    assert panel.message.value == ""
    assert panel.picture in panel.children


def test_grid_and_share_of_the_chosen_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = np.full(40, 1.0, np.float32)
    scale[3] = 0.001  # holds −0.128 … 0.127 only
    quantization = make_quantized(scale=scale, zero_point=np.zeros(40, np.int8), axis=0)
    value = use_quantization(monkeypatch, quantization)
    panel = show_tensor(make_tensor(WEIGHTS), value)  # type: ignore[arg-type]
    panel.choice.view.value = "channel"
    assert panel._reading is not None
    assert panel._reading.saturation is not None
    assert panel._reading.saturation.count == 0
    panel.choice.channel.value = 3
    row = WEIGHTS[3].astype(np.float64)
    low, high = -128 * float(scale[3]), 127 * float(scale[3])
    expected = int(((row < low) | (row > high)).sum())
    assert panel._reading.saturation.count == expected > 0
    marked = bytes(panel.picture.value)
    panel.overlay.value = False
    assert bytes(panel.picture.value) != marked
    panel.choice.view.value = "channels"
    assert panel._reading.counts.outside[3] == expected  # type: ignore[union-attr]


def test_scales_have_a_picture_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = np.linspace(0.01, 0.02, 40).astype(np.float32)
    value = use_quantization(monkeypatch, make_quantized(scale=scale, axis=0))
    panel = show_tensor(make_tensor(WEIGHTS), value)  # type: ignore[arg-type]
    before = bytes(panel.picture.value)
    panel.choice.view.value = "scales"
    assert bytes(panel.picture.value) != before
    assert panel._controls not in panel.children
    assert panel.statistics not in panel.children  # they are not of the scales
    panel.choice.view.value = "all"
    assert panel.statistics in panel.children
    assert bytes(panel.picture.value) == before
