from __future__ import annotations

import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import unquote

import ipywidgets
import numpy as np
import pytest
from onnx import helper

import netloupe
from netloupe.explorer.describe import (
    Description,
    Row,
    Section,
    describe_element,
    describe_path,
    describe_values,
)
from netloupe.explorer.model import Model
from netloupe.explorer.page.description_html import MOST_LINKS
from netloupe.explorer.progress import step
from netloupe.widgets import tensor_panel
from netloupe.widgets.description_text import DescriptionText
from netloupe.widgets.inspector import Inspector
from netloupe.widgets.tensor_panel import TensorPanel

onnx = pytest.importorskip("onnx")


@pytest.fixture
def model() -> Model:
    from onnx import TensorProto, numpy_helper

    random = np.random.default_rng(1)
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("x", "<b>y</b>")]
    nodes = [
        helper.make_node("DequantizeLinear", ["Wq", "s"], ["w"], "weight", axis=0),
        helper.make_node("MatMul", ["x", "w"], ["m"], "multiply"),
        helper.make_node("Add", ["m", "B"], ["<b>y</b>"], "<script>add"),
        helper.make_node("DequantizeLinear", ["Bq", "scale", "zero"], ["bias"], "bias"),
        helper.make_node("Concat", ["B"] * 50, ["unused"], "many", axis=0),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        ends[:1],
        ends[1:],
        [
            numpy_helper.from_array(random.integers(-99, 99, (16, 16), np.int8), "Wq"),
            numpy_helper.from_array(random.uniform(0.1, 0.2, 16).astype(np.float32), "s"),
            numpy_helper.from_array(random.integers(0, 255, 64, np.uint8), "Bq"),
            numpy_helper.from_array(np.float32(0.5), "scale"),
            numpy_helper.from_array(np.uint8(128), "zero"),
            numpy_helper.from_array(random.normal(size=500).astype(np.float32), "B"),
        ],
    )
    return netloupe.load(helper.make_model(graph))


def walk(widget: ipywidgets.Widget) -> Iterator[ipywidgets.Widget]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


def text_of(inspector: Inspector) -> str:
    return "".join(
        w.html if isinstance(w, DescriptionText) else w.value
        for w in walk(inspector)
        if isinstance(w, (DescriptionText, ipywidgets.HTML))
    )


class Link(NamedTuple):
    """A button in the text of an inspector."""

    text: str
    attributes: dict[str, str]
    owner: DescriptionText

    @property
    def path(self) -> str:
        """Where it leads."""
        return unquote(self.attributes.get("data-path", ""), errors="surrogatepass")

    def click(self) -> None:
        """Press it, as ``description.ts`` does."""
        if "data-path" in self.attributes:
            content: dict[str, Any] = {"follow": self.attributes["data-path"]}
        else:
            content = {"more": int(self.attributes["data-more"])}
        self.owner._handle_custom_msg(content, [])


class _Buttons(HTMLParser):
    def __init__(self, owner: DescriptionText) -> None:
        super().__init__()
        self.owner = owner
        self.found: list[Link] = []
        self.is_inside = False
        self.feed(owner.html)

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        if tag == "button":
            self.is_inside = True
            self.found.append(Link("", dict(attributes), self.owner))

    def handle_endtag(self, tag: str) -> None:
        self.is_inside = self.is_inside and tag != "button"

    def handle_data(self, text: str) -> None:
        if self.is_inside:
            self.found[-1] = self.found[-1]._replace(text=self.found[-1].text + text)


def links_of(inspector: Inspector) -> list[Link]:
    texts = [w for w in walk(inspector) if isinstance(w, DescriptionText)]
    return [link for text in texts for link in _Buttons(text).found]


def panel_of(inspector: Inspector) -> TensorPanel:
    return next(w for w in walk(inspector) if isinstance(w, TensorPanel))


def test_unknown_keyword_is_refused() -> None:
    with pytest.raises(TypeError, match="'colour'"):
        Inspector(colour="red")


def test_node_is_shown_and_its_weight_can_be_followed(model: Model) -> None:
    followed: list[str] = []
    inspector = Inspector(on_navigate=followed.append)
    inspector.show(describe_element(model, model["main/multiply"]))
    text = text_of(inspector)
    assert ">MatMul<" in text
    assert "main/multiply" in text
    weight = next(b for b in links_of(inspector) if b.text.startswith("B\u00a0"))
    weight.click()
    assert followed == ["main/%w"]


def test_names_are_escaped(model: Model) -> None:
    inspector = Inspector()
    inspector.show(describe_element(model, model["main/<script>add"]))
    text = text_of(inspector)
    assert "<script>" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;add" in text


def test_many_links_come_by_pages(model: Model) -> None:
    inspector = Inspector()
    inspector.show(describe_element(model, model["main/many"]))
    inputs = [link for link in links_of(inspector) if "inputs[" in link.text]
    assert len(inputs) == MOST_LINKS
    assert [link.text for link in links_of(inspector)][MOST_LINKS] == "Show 10 more"
    links_of(inspector)[MOST_LINKS].click()
    assert sum("inputs[" in link.text for link in links_of(inspector)) == 50


@pytest.mark.parametrize("name", ['a"b', "a\rb\nc", "a%20b", "ü/ß", "\udcff", "<i>", "a&amp;b"])
def test_a_link_leads_to_the_very_path(name: str) -> None:
    followed: list[str] = []
    inspector = Inspector(on_navigate=followed.append)
    row = Row("name", "value", path=f"main/{name}")
    inspector.show(Description("main/n", "node", "t", "s", (), (Section("Inputs", (row,)),)))
    [link] = links_of(inspector)
    assert link.attributes["data-path"].isascii()
    link.click()
    assert followed == [f"main/{name}"]


class Counted:
    """Counts the widgets that are opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened = 0
        real = ipywidgets.Widget.open

        def count(widget: ipywidgets.Widget) -> None:
            self.opened += widget.comm is None
            real(widget)

        monkeypatch.setattr(ipywidgets.Widget, "open", count)


def test_descriptions_come_and_go_in_the_same_widgets(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspector = Inspector()
    inspector.show(describe_path(model, "main/%Wq"))
    counted = Counted(monkeypatch)
    for path in ("multiply", "%Bq", "many", "%s", "weight", "%B", "bias", "%Wq", "%scale") * 3:
        inspector.show(describe_path(model, f"main/{path}"))
        assert f"main/{path}" in text_of(inspector)
    assert counted.opened == 0


def test_before_the_picture_is_painted_no_widget_is_opened(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspector = Inspector(is_awaited=True)
    counted = Counted(monkeypatch)
    inspector.show(describe_path(model, "main/%Wq"))
    inspector.show(describe_path(model, "main/%B"))
    inspector.show_error("something is wrong")
    assert counted.opened == 0
    inspector.begin()
    assert ">B<" in text_of(inspector)
    assert "something is wrong" in text_of(inspector)
    assert "Statistics" in panel_of(inspector).statistics.value
    opened = counted.opened
    assert opened > 0
    inspector.begin()
    assert counted.opened == opened


def test_the_panel_forgets_the_last_tensor(model: Model) -> None:
    inspector = Inspector()
    inspector.show(describe_path(model, "main/%Wq"))
    panel = panel_of(inspector)
    panel.choice.view.value = "channel"
    panel.choice.axis.value = 1
    panel.choice.channel.value = 9
    panel.bins.value = 12
    inspector.show(describe_path(model, "main/%B"))
    assert panel_of(inspector) is panel
    description = describe_path(model, "main/%B")
    assert description.tensor is not None
    fresh = TensorPanel(description.tensor, description.value)
    fresh.read()
    assert panel.choice.view.options == fresh.choice.view.options == (("all elements", "all"),)
    choice = panel.choice
    assert (choice.view.value, choice.axis.value, choice.channel.max) == ("all", 0, 0)
    assert panel.statistics.value == fresh.statistics.value
    fresh.bins.value = 12  # which stays, for comparing
    assert bytes(panel.picture.value) == bytes(fresh.picture.value)


def test_closing_closes_everything_in_it(model: Model) -> None:
    inspector = Inspector()
    inspector.show(describe_path(model, "main/%B"))
    everything = [*walk(inspector)]
    inspector.close()
    assert all(widget.comm is None for widget in everything)


def test_histogram_follows_its_controls(model: Model) -> None:
    inspector = Inspector()
    inspector.show(describe_element(model, model["B"]))
    panel = panel_of(inspector)
    assert "Statistics" in text_of(inspector)
    pictures = [bytes(panel.picture.value)]
    assert pictures[0].startswith(b"\x89PNG")
    panel.bins.value = 12
    pictures.append(bytes(panel.picture.value))
    panel.log_scale.value = True
    pictures.append(bytes(panel.picture.value))
    inspector.theme = "dark"
    pictures.append(bytes(panel.picture.value))
    assert len(set(pictures)) == 4
    assert panel.overlay not in list(walk(panel))


def test_quantization_can_be_laid_over(model: Model) -> None:
    inspector = Inspector()
    inspector.show(describe_path(model, "main/%s"))
    assert panel_of(inspector).overlay not in list(walk(inspector))
    inspector.show(describe_path(model, "main/%Wq"))
    assert "per channel" in text_of(inspector)
    assert panel_of(inspector).overlay in list(walk(inspector))  # says the share at the ends
    inspector.show(describe_path(model, "main/%Bq"))
    panel = panel_of(inspector)
    assert panel.overlay in list(walk(panel))
    marked = bytes(panel.picture.value)
    panel.overlay.value = False
    assert bytes(panel.picture.value) != marked


def test_another_element_ends_what_is_read(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_panel, "AT_ONCE", 400)
    held, let = threading.Event(), threading.Event()

    def read(*_given: object, **_more: object) -> None:
        held.set()
        assert let.wait(30)
        step(share=0.5)
        raise AssertionError("the reading was not cancelled")

    monkeypatch.setattr(tensor_panel, "look_at_tensor", read)
    inspector = Inspector()
    inspector.show(describe_element(model, model["B"]))
    panel = panel_of(inspector)
    background = panel._background
    assert background is not None
    assert held.wait(30)
    inspector.show(describe_element(model, model))
    let.set()
    assert background.wait(30)
    assert "internal error" not in panel.message.value


def test_elements_that_cannot_be_read_are_an_error_in_the_panel() -> None:
    from onnx import TensorProto, helper

    tensor = TensorProto(name="W", data_type=1, dims=[4], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="/etc/passwd")
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in ("x", "y")]
    node = helper.make_node("Add", ["x", "W"], ["y"], "add")
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], [tensor])
    model = netloupe.load(helper.make_model(graph))
    inspector = Inspector()
    inspector.show(describe_element(model, model["W"]))
    assert "nl-inspector-error" in text_of(inspector)
    assert "external location" in text_of(inspector)


def test_error_stands_above_what_is_shown(model: Model) -> None:
    inspector = Inspector()
    inspector.show(describe_element(model, model))
    inspector.show_error("no such <thing>")
    assert "no such &lt;thing&gt;" in text_of(inspector)
    assert "model" in text_of(inspector)
    inspector.show(describe_element(model, model.graph))
    assert "no such" not in text_of(inspector)


@pytest.mark.parametrize("place", [7, 70], ids=["sound", "outside"])
def test_the_parts_of_a_sparse_tensor_are_shown(place: int) -> None:
    from onnx import helper

    graph = helper.make_graph([], "g", [], [])
    values = helper.make_tensor("s", 1, [2], [4.25, -8.5])
    indices = helper.make_tensor("i", 7, [2], [3, place])
    graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [9]))
    model = netloupe.load(helper.make_model(graph))
    panel = TensorPanel(model.graph.sparse_initializers[0])
    panel.read()
    text = panel.statistics.value + panel.message.value
    assert "[4.25, -8.5]" in text
    assert f"[3, {place}]" in text
    assert ("points outside" in text) == (place == 70)


def test_all_of_many_values_can_be_followed() -> None:
    count = 2 * MOST_LINKS + 7
    names = [f"v{number}" for number in range(count)]
    nodes = [helper.make_node("Split", ["x"], names, name="split")]
    nodes += [helper.make_node("Relu", [name], [f"y{name}"], name=f"r{name}") for name in names]
    graph = helper.make_graph(nodes, "g", [helper.make_empty_tensor_value_info("x")], [])
    model = netloupe.load(helper.make_model(graph))
    followed: list[str] = []
    inspector = Inspector(on_navigate=followed.append)
    paths = [f"main/%{name}" for name in names]
    inspector.show(describe_values(model, paths))
    text = text_of(inspector)
    assert f"{count} values, 1 producer, {count} consumers" in text
    assert [link.path for link in links_of(inspector)[:MOST_LINKS]] == paths[:MOST_LINKS]
    for left in (f"Show {MOST_LINKS} more of {MOST_LINKS + 7}", "Show 7 more"):
        more = next(link for link in links_of(inspector) if "data-more" in link.attributes)
        assert more.text == left
        more.click()
    links = links_of(inspector)[:count]
    assert [link.path for link in links] == paths
    assert [link.attributes["title"] for link in links] == paths
    assert "main/split → main/rv0" in links[0].text
    for link in links:
        link.click()
    assert followed == paths
    next(link for link in links_of(inspector) if link.path == "main/rv0").click()
    assert followed[-1] == "main/rv0"


def test_a_list_that_was_cut_short_ends_in_a_text() -> None:
    nodes = [helper.make_node("Relu", ["x"], [f"y{k}"], name=f"r{k}") for k in range(250)]
    inputs = [helper.make_empty_tensor_value_info(name) for name in ("x", "z")]
    model = netloupe.load(helper.make_model(helper.make_graph(nodes, "g", inputs, [])))
    inspector = Inspector()
    inspector.show(describe_values(model, ["main/%x", "main/%z"]))
    while more := [link for link in links_of(inspector) if link.text.startswith("Show")]:
        more[0].click()
    consumers = [link for link in links_of(inspector) if link.path.startswith("main/r")]
    assert len(consumers) == 200
    assert "50 more" in text_of(inspector).rpartition("</button>")[2]
