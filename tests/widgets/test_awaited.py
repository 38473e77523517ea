"""What the inspector shows at each moment is of one element: no change of a trait comes between.

Each trait reaches the page by itself, and whatever lies between two of them can be seen. The tests
look at the whole inspector after each change, and at the moment when elements are read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import ipywidgets
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from traitlets import All

import netloupe
from netloupe.explorer.describe import describe_path
from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Model
from netloupe.widgets import tensor_panel
from netloupe.widgets.inspector import Inspector
from netloupe.widgets.reading import Reading
from netloupe.widgets.tensor_panel import TensorPanel

#: elements of all kinds: of those in capitals elements are shown
PATHS = ("main", "main/add", "main/%x", *(f"main/%{name}" for name in "ABLOSGP"))
SECONDS = 300.0


@pytest.fixture
def model() -> Model:
    random = np.random.default_rng(2)
    arrays = {
        "A": random.normal(size=(20, 30)).astype(np.float32),
        "B": random.normal(size=400).astype(np.float32),
        "L": random.normal(size=(50, 60)).astype(np.float32),  # large: read in a thread
        "O": np.float32(3),  # a single one
    }
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]
    tensors.append(helper.make_tensor("S", TensorProto.STRING, [3], [b"p", b"q", b"q"]))
    gone = TensorProto(name="G", data_type=1, dims=[4], data_location=TensorProto.EXTERNAL)
    gone.external_data.add(key="location", value="/gone")
    tensors.append(gone)
    values = helper.make_tensor("P", TensorProto.FLOAT, [2], [4.25, -8.5])
    indices = helper.make_tensor("", TensorProto.INT64, [2], [3, 7])
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "O"], ["y"], "add")],
        "g",
        [x],
        [y],
        tensors,
        sparse_initializer=[helper.make_sparse_tensor(values, indices, [9])],
    )
    return netloupe.load(helper.make_model(graph))


def walk(widget: ipywidgets.Widget) -> Iterator[ipywidgets.Widget]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


def list_after_each_other(paths: Sequence[str]) -> Iterator[str]:
    """Yield paths so that each comes right after each, and after itself."""
    for place, one in enumerate(paths):
        yield from (one, one)
        for other in paths[place + 1 :]:
            yield from (other, one)


class Watch:
    """Looks at an inspector after every change of a trait of anything in it.

    Pictures and statistics are marked with the tensor of which they are.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, inspector: Inspector) -> None:
        self.inspector = inspector
        self.seen: list[tuple[str, set[str], bool]] = []
        self.faults: list[str] = []
        self._watched: set[int] = set()
        read = tensor_panel.look_at_tensor

        def look(whole: Any, *given: Any, **more: Any) -> Reading:
            self.look()
            reading = read(whole, *given, **more)
            marked = replace(reading.section, title=f"Statistics of %{whole.name}")
            return replace(reading, section=marked)

        def draw_marked(*_given: Any, **_more: Any) -> bytes:
            self.look()
            reading = inspector._panel and inspector._panel._reading
            assert reading is not None
            return f"picture of %{reading.tensor.name}".encode()

        monkeypatch.setattr(tensor_panel, "look_at_tensor", look)
        monkeypatch.setattr(tensor_panel, "draw_plot_png", draw_marked)
        self.follow()

    def follow(self) -> None:
        """Watch what is in the inspector now, too."""
        for widget in [*walk(self.inspector), *self.inspector._inside]:
            if id(widget) not in self._watched:
                self._watched.add(id(widget))
                widget.observe(self._changed, All)

    def _changed(self, _change: Any) -> None:
        self.follow()
        self.look()

    def look(self) -> None:
        """Note what is shown now: the name, of which tensors, and whether one is awaited."""
        shown = [*walk(self.inspector)]
        name = self.inspector._above.html
        texts = [
            bytes(widget.value).decode() if isinstance(widget, ipywidgets.Image) else widget.value
            for widget in shown
            if isinstance(widget, ipywidgets.HTML | ipywidgets.Image)
        ]
        of = {each for each in "ABLOSGP" if any(f"of %{each}" in text for text in texts)}
        if any(f"main/%{each}" not in name for each in of):
            self.faults.append(f"{sorted(of)} below {name}")
        panel = self.inspector._panel
        awaited = panel is not None and panel.awaited in shown
        if awaited and of:
            self.faults.append(f"{sorted(of)} while another is awaited")
        self.seen.append((name, of, awaited))


def test_nothing_of_an_element_stands_below_the_name_of_another(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensor_panel, "AT_ONCE", 1000)
    inspector = Inspector()
    watch = Watch(monkeypatch, inspector)
    for path in list_after_each_other(PATHS):
        inspector.show(describe_path(model, path))
        if inspector._panel is not None:
            assert inspector._panel.wait(SECONDS)
        assert watch.faults == []
    assert {name for _, of, _ in watch.seen for name in of} == set("ABLOSP")


@pytest.mark.parametrize("name", ["A", "L", "O", "S", "G"])
def test_while_elements_are_read_it_is_said(
    model: Model, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whether it is the first tensor that is shown or not, and whether it can be read or not."""
    monkeypatch.setattr(tensor_panel, "AT_ONCE", 1000)
    told: list[str] = []
    read = tensor_panel.look_at_tensor

    def look(*given: Any, **more: Any) -> Reading:
        panel = inspector._panel
        assert panel is not None
        assert f"main/%{name}" in inspector._above.html
        assert panel in inspector.children
        if not told:  # of a large one the sample
            assert panel.awaited in panel.children
            assert panel.picture not in panel.children
            assert panel.statistics not in panel.children
            assert panel.read_all not in panel.children
            told.append(panel.awaited.value)
        return read(*given, **more)

    inspector = Inspector()
    for before in (None, "main/%B", "main/add"):
        if before is not None:
            inspector.show(describe_path(model, before))
        described = describe_path(model, f"main/%{name}")
        assert described.tensor is not None
        with monkeypatch.context() as patched:
            patched.setattr(tensor_panel, "look_at_tensor", look)
            inspector.show(described)
            panel = inspector._panel
            assert panel is not None
            assert panel.wait(SECONDS)
        size = described.tensor.size
        assert told == [f"Reading {size:,} element{'s' * (size != 1)} …"]
        assert panel.awaited not in panel.children
        told.clear()


def test_what_is_interrupted_is_not_said_to_be_read(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_given: object, **_more: object) -> Reading:
        raise KeyboardInterrupt

    monkeypatch.setattr(tensor_panel, "look_at_tensor", interrupt)
    inspector = Inspector()
    with pytest.raises(KeyboardInterrupt):
        inspector.show(describe_path(model, "main/%A"))
    panel = inspector._panel
    assert panel is not None
    assert panel.awaited not in panel.children
    assert panel.read_all in panel.children


def test_cancelled_before_its_sample_nothing_is_awaited(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensor_panel, "AT_ONCE", 1000)
    asked, let = threading.Event(), threading.Event()

    def hold(*_given: object, **_more: object) -> Reading:
        asked.set()
        assert let.wait(SECONDS)
        raise TensorDataError("too late")

    monkeypatch.setattr(tensor_panel, "look_at_tensor", hold)
    tensor = describe_path(model, "main/%L").tensor
    assert tensor is not None
    panel = TensorPanel(tensor)
    panel.read()
    assert asked.wait(SECONDS)
    background = panel._background
    assert background is not None
    panel.stop.click()
    assert panel.awaited not in panel.children
    assert panel.read_all in panel.children
    let.set()
    assert background.wait(SECONDS)
    assert panel.message.value == ""
