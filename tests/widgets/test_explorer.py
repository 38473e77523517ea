"""The explorer without a browser: what it sends, what it selects, what it survives."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ipywidgets
import pytest
import traitlets
from onnx import TensorProto, helper

import netloupe
from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.layout import LayoutEngine
from netloupe.explorer.session import views as views_module
from netloupe.explorer.session.lookup import MOST_HITS
from netloupe.explorer.view import View, borders_by_graph
from netloupe.widgets import Explorer
from tests.recorder import Recorder

MODELS = Path(__file__).parents[2] / "demo_notebooks" / "models"
CNN = MODELS / "digits_cnn.onnx"
REFINE = MODELS / "digits_refine.onnx"


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    explorer = netloupe.explore(CNN)
    yield Recorder(explorer)
    explorer.close()


def test_first_scene_comes_on_request(recorder: Recorder) -> None:
    answer = recorder.ask(type="scene")
    assert answer["type"] == "scene"
    assert answer["fit"] is True
    assert "main/blocks/0-3/" in recorder.paths


def test_toggle_opens_and_closes(recorder: Recorder) -> None:
    inside = "main/node_conv2d_2"
    recorder.ask(type="scene")
    assert inside not in recorder.paths
    recorder.ask(type="toggle", path="main/blocks/0/first/")
    assert inside in recorder.paths
    recorder.ask(type="toggle", path="main/blocks/0/first/")
    assert inside not in recorder.paths
    recorder.ask(type="toggle", path="main/blocks/0-3/")
    recorder.ask(type="toggle", path="main/blocks/0/first/")  # and what hides it
    assert inside in recorder.paths
    answer = recorder.ask(type="toggle", path="main/blocks/0/first/")
    assert answer["anchor"] == "main/blocks/0/first/"
    assert inside not in recorder.paths


def test_reveal_selects_and_describes(recorder: Recorder) -> None:
    explorer = recorder.explorer
    seen: list[Any] = []
    explorer.observe(lambda change: seen.append(change.new), "selection")
    answer = recorder.ask(type="reveal", path="main/node_conv2d_5")
    assert answer["select"] == "main/node_conv2d_5"
    assert explorer.selection == explorer.canvas.selection == "main/node_conv2d_5"
    assert seen == ["main/node_conv2d_5"]
    assert explorer.inspector.description is not None
    assert explorer.inspector.description.path == "main/node_conv2d_5"
    assert isinstance(explorer.selected, netloupe.Node)


def test_select_from_python_opens_and_centres(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.select("node_conv2d_5")
    assert explorer.selection == "main/node_conv2d_5"
    scene = recorder.scene
    assert scene["center"] == scene["select"] == "main/node_conv2d_5"
    assert "main/node_conv2d_5" in recorder.paths
    explorer.selection = None
    assert explorer.canvas.selection == ""


def test_setting_the_selection_is_selecting(recorder: Recorder) -> None:
    recorder.explorer.selection = "main/node_conv2d_5"
    assert recorder.scene["center"] == "main/node_conv2d_5"


def test_unknown_selection_raises_and_changes_nothing(recorder: Recorder) -> None:
    with pytest.raises(netloupe.NotFoundError, match="nothing_like_it"):
        recorder.explorer.select("nothing_like_it")
    assert recorder.explorer.selection is None


def test_open_and_close_from_python(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.open("blocks/0")
    assert "main/blocks/0/first/" in recorder.paths
    explorer.close("main/blocks/0/")
    assert "main/blocks/0/first/" not in recorder.paths
    with pytest.raises(netloupe.ViewError):
        explorer.close("main/blocks/0/")
    assert "main/blocks/0/first/" not in recorder.paths


def test_repeats_are_unrolled_and_folded_from_python(recorder: Recorder) -> None:
    explorer = recorder.explorer
    everyone = {f"main/blocks/{block}/" for block in range(4)}
    explorer.unroll("main/blocks/2/")
    assert everyone <= recorder.paths
    explorer.fold("main/blocks/0-3/")
    assert everyone & recorder.paths == {"main/blocks/2/"}  # named as the one that is shown
    explorer.open("main/blocks/3/")
    assert "main/blocks/3/excite/" in recorder.paths
    with pytest.raises(netloupe.ViewError, match="repeat"):
        explorer.unroll("main/stem/")
    with pytest.raises(netloupe.NotFoundError):
        explorer.fold("main/nowhere/")


def test_closing_takes_names_and_opens_nothing(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.open("stem/1")
    assert "main/node_conv2d_1" in recorder.paths
    explorer.close("stem/1")
    assert "main/node_conv2d_1" not in recorder.paths
    with pytest.raises(netloupe.ViewError, match="not an open group"):
        explorer.close("blocks/3/")  # not the repetition that is shown
    assert "main/blocks/0/first/" in recorder.paths
    for path in ("nothing", "main", "main/node_relu"):
        with pytest.raises(netloupe.ViewError, match="not an open group"):
            explorer.close(path)


def test_search_lists_what_is_shown(recorder: Recorder) -> None:
    answer = recorder.ask(type="search", text="gemm", regex=False)
    assert answer["total"] == 1
    assert answer["hits"][0]["path"] == "main/node_linear"
    assert answer["hits"][0]["shown"] is not None
    assert recorder.explorer.search("gemm") == ["main/node_linear"]


def test_search_finds_groups_which_can_be_gone_to(recorder: Recorder) -> None:
    answer = recorder.ask(type="search", text="blocks 2", regex=False)
    found = [hit["path"] for hit in answer["hits"]]
    explorer = recorder.explorer
    assert explorer.search("blocks 2") == explorer.model.search("2 blocks")
    assert found == explorer.search("blocks 2")[:MOST_HITS]
    groups = [hit["path"] for hit in answer["hits"] if hit["kind"] == "group"]
    assert groups
    assert found[: len(groups)] == groups
    for path in groups:
        reply = recorder.ask(type="reveal", path=path)
        assert (reply["type"], explorer.selection) == ("scene", reply["select"])


def test_groups_outside_of_a_neighbourhood_are_found_and_gone_to(recorder: Recorder) -> None:
    everything = recorder.explorer.search("blocks")
    recorder.ask(type="focus", path="main/node_linear", hops=1)
    assert recorder.explorer.search("blocks") == everything
    answer = recorder.ask(type="reveal", path=everything[0])
    assert answer["type"] == "scene"
    assert everything[0] == "main/blocks/"  # no frame of its own: the stack stands in for it
    assert recorder.explorer.selection == answer["select"] == "main/blocks/0-3/"


def test_invalid_expression_is_an_error_message(recorder: Recorder) -> None:
    answer = recorder.ask(type="search", text="(", regex=True)
    assert answer["type"] == "error"
    assert "not valid" in answer["message"]


@pytest.mark.parametrize("message", [{"type": "nonsense"}, {"type": "toggle"}, {}])
def test_odd_requests_are_answered_with_errors(recorder: Recorder, message: dict[str, Any]) -> None:
    assert recorder.ask(**message)["type"] == "error"


def test_entering_a_graph_and_going_back() -> None:
    explorer = netloupe.explore(REFINE)
    recorder = Recorder(explorer)
    loop = explorer.model.find("Loop")[0]
    body = loop.subgraphs[0]
    recorder.ask(type="enter", path=body.path)
    trail = [path for path, _ in explorer.canvas.breadcrumb]
    assert trail == ["main", body.path]
    recorder.ask(type="enter", path="main")
    assert [path for path, _ in explorer.canvas.breadcrumb] == ["main"]
    # a function's body is shown by itself when something in it is selected
    function = explorer.model.functions[0]
    explorer.select(function.nodes[0].path)
    assert explorer.canvas.breadcrumb[-1][0] == function.path
    explorer.close()


def test_killed_layout_leaves_a_simpler_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    real = LayoutEngine._ensure_worker

    def start_and_kill(self: LayoutEngine) -> subprocess.Popen[bytes]:
        process = real(self)
        process.kill()
        return process

    # killed before, it would be started again
    monkeypatch.setattr(LayoutEngine, "_ensure_worker", start_and_kill)
    explorer = netloupe.explore(CNN)
    recorder = Recorder(explorer)
    answer = recorder.ask(type="scene")
    assert answer["type"] == "scene"
    assert answer["header"]["counts"]["boxes"] == 10
    assert any("simpler layout" in notice for notice in answer["header"]["notices"])
    monkeypatch.undo()
    recorder.ask(type="toggle", path="main/blocks/0/")
    explorer.close()


def test_layout_that_takes_too_long_leaves_a_simpler_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = LayoutEngine.place
    # each node with all behind it: many seconds, however busy the machine is
    edges = (f"{one} -> {two} [id={one}{two:03}]" for two in range(150) for one in range(two))
    slow = f"digraph {{ {'; '.join(edges)} }}"
    monkeypatch.setattr(LayoutEngine, "place", lambda self, dot, timeout: real(self, slow, 0.01))
    explorer = netloupe.explore(CNN)
    notices = Recorder(explorer).ask(type="scene")["header"]["notices"]
    assert any("took too long" in notice for notice in notices), notices
    explorer.close()


def test_bad_sources_raise_in_the_cell(tmp_path: Path) -> None:
    with pytest.raises(netloupe.SourceError, match=r"nothing\.onnx"):
        netloupe.explore(tmp_path / "nothing.onnx")
    picture = tmp_path / "picture.onnx"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(netloupe.ModelFormatError, match="PNG"):
        netloupe.explore(picture)
    with pytest.raises(netloupe.ViewError, match="thema"):
        netloupe.explore(CNN, thema="dark")


def test_direction_is_turned_by_the_canvas(recorder: Recorder) -> None:
    recorder.explorer.canvas.direction = "LR"
    scene = recorder.scene
    assert scene["header"]["direction"] == "LR"


def test_an_explorer_focuses_on_elements() -> None:
    model = netloupe.load(CNN)
    for element in (model.node("node_conv2d_6"), model.tensor("blocks.1.first.conv.weight")):
        explorer = netloupe.explore(model, focus=element, hops=0)
        try:
            assert explorer.canvas.focus == element.path
            assert "main/node_conv2d_6" in explorer.to_svg()
        finally:
            explorer.close()


def test_svg_of_what_is_open(recorder: Recorder, tmp_path: Path) -> None:
    recorder.explorer.open("main/blocks/0/")
    svg = recorder.explorer.to_svg(tmp_path / "now.svg")
    assert "main/blocks/0/first/" in svg
    assert (tmp_path / "now.svg").read_text() == svg


def test_png_and_pdf_of_what_is_open(recorder: Recorder, tmp_path: Path) -> None:
    recorder.explorer.open("main/blocks/0/")
    opened = recorder.explorer.to_png()
    recorder.explorer.close("main/blocks/0/")
    png = recorder.explorer.to_png(tmp_path / "now.png")
    assert png.startswith(b"\x89PNG")
    assert png != opened
    assert (tmp_path / "now.png").read_bytes() == png
    pdf = recorder.explorer.to_pdf(tmp_path / "now.pdf")
    assert pdf.startswith(b"%PDF")
    assert (tmp_path / "now.pdf").read_bytes() == pdf


@pytest.mark.parametrize(
    ("method", "name", "words"),
    [
        ("to_svg", "x.pdf", r"Call to_pdf\("),
        ("to_png", "x.svg", r"Call to_svg\("),
        ("to_pdf", "x.jpg", "draws no .jpg"),
        ("to_svg", "none/x.svg", "the folder .*none does not exist"),
    ],
)
def test_pictures_of_what_is_open_are_not_written_under_other_names(
    recorder: Recorder, tmp_path: Path, method: str, name: str, words: str
) -> None:
    with pytest.raises(netloupe.OutputError, match=words):
        getattr(recorder.explorer, method)(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_opening_everything_is_cancelled_before_the_layout(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.ask(type="scene")
    before = recorder.paths
    session = recorder.explorer._session
    real = views_module.expand_view

    def expand(view: View, mode: str) -> str | None:
        session.cancel()  # as the browser does while this goes on
        return real(view, mode)

    monkeypatch.setattr(views_module, "expand_view", expand)
    answer = recorder.ask(type="expand", mode="all")
    assert answer["type"] == "error"
    assert answer["cancelled"] is True
    monkeypatch.undo()
    recorder.ask(type="scene")
    assert recorder.paths == before


def test_grouping_is_cancelled(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder.ask(type="scene")
    before = recorder.paths
    session = recorder.explorer._session
    real = borders_by_graph.build_group_tree

    def group(*given: Any) -> GroupTree:
        session.cancel()
        return real(*given)

    monkeypatch.setattr(borders_by_graph, "build_group_tree", group)
    answer = recorder.ask(type="group", grouping="repeats")
    assert answer["type"] == "error"
    assert answer["cancelled"] is True
    monkeypatch.undo()
    recorder.ask(type="scene")
    assert recorder.paths == before
    assert recorder.ask(type="group", grouping="repeats")["type"] == "scene"


# ------------------------------------------------------------------ several values at once


def make_bundle(count: int = 12) -> bytes:
    """Return a model in which one group gives so many values to another."""
    nodes = [
        helper.make_node("Relu", ["x"], [f"v{number}"], name=f"/give/r{number}")
        for number in range(count)
    ]
    nodes += [
        helper.make_node("Neg", [f"v{number}"], [f"n{number}"], name=f"/take/n{number}")
        for number in range(count)
    ]
    nodes.append(
        helper.make_node("Sum", [f"n{number}" for number in range(count)], ["y"], name="/take/sum")
    )
    floats = TensorProto.FLOAT
    x, y = (helper.make_tensor_value_info(name, floats, [4]) for name in "xy")
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y])).SerializeToString()


@pytest.fixture
def bundled() -> Iterator[Recorder]:
    explorer = netloupe.explore(make_bundle(), expand="none")
    recorder = Recorder(explorer)
    recorder.ask(type="scene")
    yield recorder
    explorer.close()


def choose(explorer: Explorer, paths: list[str]) -> None:
    """Select as the browser does."""
    explorer.canvas.set_state({"selection": paths[0] if paths else "", "selected_paths": paths})


def test_an_edge_of_several_values_is_sent_with_all_their_paths(bundled: Recorder) -> None:
    assert bundled.reader.bundles() == [[f"main/%v{number}" for number in range(12)]]
    for path in bundled.reader.bundles()[0]:
        assert bundled.explorer.model[path].path == path


def test_several_values_are_selected_together(bundled: Recorder) -> None:
    explorer = bundled.explorer
    seen: list[Any] = []
    explorer.observe(lambda change: seen.append(change.new), "selected_paths")
    paths = [f"main/%v{number}" for number in range(12)]
    choose(explorer, paths)
    assert explorer.selection == paths[0]
    assert explorer.selected_paths == tuple(paths)
    assert [element.path for element in explorer.selected_elements] == paths
    assert explorer.selected is explorer.selected_elements[0]
    assert seen == [tuple(paths)]
    description = explorer.inspector.description
    assert description is not None
    assert (description.kind, description.subtitle) == (
        "values",
        "12 values, 12 producers, 12 consumers",
    )
    values = description.sections[0].rows
    assert [row.path for row in values] == paths
    assert values[3].note == "main/give/r3 → main/take/n3"
    assert "unknown" in values[3].value or "float32" in values[3].value
    # one of them alone is another selection, though its path is the same
    explorer.select(paths[0])
    assert explorer.selected_paths == (paths[0],)
    assert explorer.canvas.selected_paths == [paths[0]]
    assert explorer.inspector.description is not None
    assert explorer.inspector.description.kind == "value"
    choose(explorer, [])
    assert (explorer.selection, explorer.selected_paths) == (None, ())
    assert explorer.selected is None


def test_several_values_are_selected_from_python(bundled: Recorder) -> None:
    explorer = bundled.explorer
    explorer.select(["v3", "main/%v5", "main/%v3"])
    wanted = ["main/%v3", "main/%v5"]
    assert explorer.selected_paths == tuple(wanted)
    assert bundled.scene["select"] == wanted
    assert bundled.scene["center"] == wanted
    assert explorer.canvas.selected_paths == wanted
    # a page that is loaded later shows the same
    assert bundled.ask(type="scene")["select"] == wanted
    with pytest.raises(netloupe.NotFoundError):
        explorer.select(["main/%v3", "main/%nothing"])
    assert explorer.selected_paths == tuple(wanted)
    explorer.select([])
    assert explorer.selected_paths == ()


def test_the_rest_counts_only_with_its_first(bundled: Recorder) -> None:
    explorer = bundled.explorer
    choose(explorer, ["main/%v1", "main/%v2"])
    explorer.canvas.selection = "main/%y"
    assert explorer.selected_paths == ("main/%y",)
    explorer.selection = "main/%v7"
    assert explorer.selected_paths == ("main/%v7",)
    with pytest.raises(traitlets.TraitError):
        explorer.selected_paths = ("main/%v1",)


# ------------------------------------------------------------------ repetitions


def test_one_repetition_is_selected_by_its_own_path(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.select("blocks/2")
    assert explorer.selection == "main/blocks/2/"
    assert explorer.selected.path == "main/blocks/2/"
    assert "main/blocks/2/" in recorder.paths  # told of the box of the repeat
    assert explorer.inspector.description is not None
    rows = {row.name: row for row in explorer.inspector.description.sections[0].rows}
    assert rows["repetition"].value == "3 of 4"
    assert rows["repetition"].path == "main/blocks/0-3/"
    explorer.select("main/blocks/0-3/")
    assert explorer.selection == "main/blocks/0-3/"
    assert explorer.selected.kind == "repeat"
    explorer.unroll("main/blocks/0-3/")
    explorer.select("main/blocks/1/")
    assert explorer.selection == "main/blocks/1/"


def test_stepping_takes_the_selected_repetition_along(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.select("main/blocks/0/")
    answer = recorder.ask(type="shown", path="main/blocks/0-3/", index=3)
    assert answer["select"] == explorer.selection == "main/blocks/3/"
    # what else is selected stays
    explorer.select("main/blocks/0-3/")
    answer = recorder.ask(type="shown", path="main/blocks/0-3/", index=1)
    assert "select" not in answer
    assert explorer.selection == "main/blocks/0-3/"


def test_folding_shows_the_repetition_that_is_selected(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.unroll("main/blocks/0-3/")
    explorer.select("main/blocks/2/")
    recorder.ask(type="fold", path="main/blocks/0-3/")
    assert explorer.selection == "main/blocks/2/"
    with explorer._requests.lock:  # what is prepared opens groups for a moment
        items = explorer._views.current.open_items()
    (repeat,) = [item for item in items if item.repeat is not None]
    assert repeat.repetition_path == "main/blocks/2/"


def test_paint_reaches_the_canvas_and_the_pictures() -> None:
    explorer = netloupe.explore(MODELS / "digits_cnn.onnx")
    node = explorer.model.graph.nodes[0]
    explorer.open("stem/0")
    explorer.paint = {node: netloupe.Paint("warning", "slow")}
    assert explorer.canvas.paints == {node.path: ["warning", "slow"]}
    assert explorer.paint == {node.path: netloupe.Paint("warning", "slow")}
    assert "slow" in explorer.to_svg()
    with pytest.raises(netloupe.ViewError, match=r"Give a netloupe\.Paint"):
        explorer.paint = {node: "red"}  # type: ignore[dict-item]
    assert explorer.canvas.paints == {node.path: ["warning", "slow"]}
    explorer.paint = {}
    assert explorer.canvas.paints == {}
    assert "slow" not in explorer.to_svg()


def test_close_all_closes_groups_and_no_other_widget(recorder: Recorder) -> None:
    explorer = recorder.explorer
    recorder.ask(type="scene")
    recorder.ask(type="toggle", path="main/blocks/0/first/")
    other = ipywidgets.Label("another widget of the kernel")
    explorer.close_all()
    assert not any(path.startswith("main/blocks/0/first/") for path in recorder.paths)
    assert explorer.canvas.comm is not None
    assert other.comm is not None
    assert recorder.ask(type="undo")["history"]["redo"] is True


def test_the_boxes_of_what_is_selected_are_told_with_each_scene(recorder: Recorder) -> None:
    recorder.ask(type="scene")
    recorder.explorer.select("main/node_conv2d_5")
    assert recorder.scene["places"] == {"main/node_conv2d_5": ["main/node_conv2d_5"]}
    answer = recorder.ask(type="expand", mode="none")
    (key,) = answer["places"]["main/node_conv2d_5"]
    assert key in recorder.paths
    assert key.endswith("/")
