"""A model whose files change while it is explored: it is said, and read again where one asks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import netloupe
from netloupe.explorer.errors import NetloupeError, SourceError
from netloupe.explorer.progress import Cancelled
from netloupe.widgets import Explorer
from tests.layered import make_layers, make_layers_proto
from tests.recorder import Recorder


def save(path: Path, proto: Any) -> None:
    """Write a model as exporters do, at another time than the last one."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_bytes(proto.SerializeToString())
    os.utime(path, ns=(before + 10**9, before + 10**9))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save(tmp_path / "model.onnx", make_layers_proto())
    return tmp_path / "model.onnx"


@pytest.fixture
def recorder(path: Path) -> Iterator[Recorder]:
    explorer = netloupe.explore(path, expand="none")
    recorder = Recorder(explorer)
    recorder.begin()
    yield recorder
    explorer.close()


def opened(explorer: Explorer) -> list[str]:
    with explorer._requests.lock:  # what is laid out ahead is open meanwhile
        return [item.key for item in explorer._views.current.open_items()][1:]


def edit(path: Path) -> onnx.ModelProto:
    """Give every node a comment, and save."""
    proto = onnx.load(path)
    for node in proto.graph.node:
        node.doc_string = "edited"
    save(path, proto)
    return proto


def test_a_file_that_has_changed_is_said_when_the_user_acts(recorder: Recorder, path: Path) -> None:
    canvas = recorder.explorer.canvas
    recorder.ask(type="expand", mode="auto")
    assert canvas.changed == ""
    edit(path)
    recorder.ask(type="search", text="tanh")
    assert canvas.changed.startswith("model.onnx has changed since it was opened: it has ")
    save(path, make_layers_proto())
    recorder.explorer.select(None)
    recorder.explorer.select(recorder.explorer.model.graph.nodes[0])
    assert canvas.changed == "model.onnx has changed since it was opened: it was written to"
    path.unlink()
    recorder.ask(type="expand", mode="none")
    assert canvas.changed == "model.onnx has changed since it was opened: it is gone"


@pytest.mark.parametrize("asks", ["browser", "python"])
def test_reading_again_keeps_what_is_open_and_selected(
    recorder: Recorder, path: Path, asks: str
) -> None:
    explorer = recorder.explorer
    recorder.ask(type="open", path="main/layers.0/attn/")
    recorder.ask(type="shown", path="main/layers.0-3/", index=1)
    before, was_open, scene = explorer.model, opened(explorer), recorder.paths
    assert "main/layers.1/attn/" in was_open
    explorer.select("main/layers.1/attn/Tanh")
    edit(path)
    if asks == "browser":
        answer = recorder.ask(type="reload")
    else:
        explorer.reload()
        answer = recorder.scene
    assert (answer["type"], answer["header"]["since"]) == ("scene", None)  # all of it is new
    assert not answer.keys() & {"fit", "center", "anchor"}  # the window stays where it is
    assert explorer.model is not before
    assert opened(explorer) == was_open
    assert recorder.paths == scene
    assert explorer.selection == "main/layers.1/attn/Tanh"
    assert explorer.selected.graph.model is explorer.model
    assert explorer.selected.doc == "edited"
    assert "edited" in explorer.inspector._above.html + explorer.inspector._below.html
    assert explorer.canvas.changed == ""
    recorder.ask(type="toggle", path="main/layers.1/attn/")  # and it goes on from there
    assert "main/layers.1/attn/Tanh" not in recorder.paths


def test_reading_again_forgets_what_is_gone(recorder: Recorder, path: Path) -> None:
    explorer = recorder.explorer
    recorder.ask(type="open", path="main/layers.0/attn/")
    recorder.ask(type="shown", path="main/layers.0-3/", index=3)
    explorer.select(explorer._views.current.items["main/layers.3/attn/Tanh"].path)
    graph = helper.make_graph([helper.make_node("Relu", ["a"], ["b"], "other")], "g", [], [])
    save(path, helper.make_model(graph))
    assert recorder.ask(type="reload")["type"] == "scene"
    assert (explorer.selection, explorer.selected_paths) == (None, ())
    assert recorder.paths >= {"main/other"}
    assert explorer.model.graph.nodes[0].op_type == "Relu"
    assert not explorer.undo()


def test_a_shorter_stack_shows_what_it_still_has(recorder: Recorder, path: Path) -> None:
    recorder.ask(type="open", path="main/layers.0-3/")
    recorder.ask(type="shown", path="main/layers.0-3/", index=3)
    save(path, make_layers_proto(3))
    assert recorder.ask(type="reload")["type"] == "scene"
    assert not any("layers.3" in name for name in recorder.paths)


def test_a_neighbourhood_stays_one(recorder: Recorder, path: Path) -> None:
    recorder.ask(type="focus", path="main/layers.1/attn/Tanh", hops=1)
    scene = recorder.paths
    edit(path)
    recorder.ask(type="reload")
    assert recorder.paths == scene
    assert recorder.explorer._views.focused == ("main/layers.1/attn/Tanh", 1)


@pytest.mark.parametrize("what", ["gone", "no model"])
def test_where_reading_again_fails_all_stays(recorder: Recorder, path: Path, what: str) -> None:
    explorer = recorder.explorer
    recorder.ask(type="open", path="main/layers.0/attn/")
    before, was_open = explorer.model, opened(explorer)
    path.unlink() if what == "gone" else path.write_bytes(b"no model at all")
    answer = recorder.ask(type="reload")
    assert (answer["type"], str(path) in answer["message"]) == ("error", True)
    with pytest.raises(NetloupeError):
        explorer.reload()
    assert (explorer.model, opened(explorer)) == (before, was_open)
    assert recorder.ask(type="close", path=was_open[-1])["type"] == "scene"


def test_where_the_layout_is_cancelled_all_stays(
    recorder: Recorder, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = recorder.explorer
    before = explorer.model

    def refuse(*_arguments: Any, **_more: Any) -> Any:
        raise Cancelled("the layout was cancelled")

    with monkeypatch.context() as patch:
        patch.setattr("netloupe.explorer.layout.Composer.compose", refuse)
        assert recorder.ask(type="reload")["cancelled"]
    assert explorer.model is before
    assert recorder.ask(type="expand", mode="all")["type"] == "scene"


def test_weights_that_cannot_be_read_any_more_are_said_with_the_offer(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones(1000, np.float32), "w")
    node = helper.make_node("Relu", ["w"], ["y"], "n")
    proto = helper.make_model(helper.make_graph([node], "g", [], [], [weight]))
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin")
    explorer = netloupe.explore(tmp_path / "m.onnx")
    try:
        assert explorer.model["w"].numpy().sum() == 1000  # type: ignore[union-attr]
        os.truncate(tmp_path / "w.bin", 100)
        explorer.select("main/%w")
        assert explorer.canvas.changed == (
            "w.bin has changed since it was opened: it has 100 bytes instead of 4,000"
        )
        (tmp_path / "w.bin").write_bytes(np.full(1000, 2, np.float32).tobytes())
        explorer.reload()
        assert explorer.canvas.changed == ""
        assert explorer.model["w"].numpy().sum() == 2000  # type: ignore[union-attr]
    finally:
        explorer.close()


def test_what_came_from_no_file_cannot_be_read_again() -> None:
    explorer = netloupe.explore(make_layers())
    with pytest.raises(SourceError, match="was not read from a file"):
        explorer.reload()
    explorer.close()


def test_a_net_is_read_again_with_its_init_net(tmp_path: Path) -> None:
    fill = 'op {{ type: "GivenTensorFill" output: "w" arg {{ name: "shape" ints: 1 }} {} }}'
    init = tmp_path / "other.pbtxt"
    (tmp_path / "net.pbtxt").write_text('op { type: "Relu" input: "w" output: "y" }')
    init.write_text(fill.format('arg { name: "values" floats: 1 }'))
    explorer = netloupe.explore((tmp_path / "net.pbtxt", init))
    init.write_text(fill.format('arg { name: "values" floats: 25 }'))
    explorer.select("main/%w")
    assert explorer.canvas.changed.startswith("other.pbtxt has changed")
    explorer.reload()
    assert explorer.model["w"].numpy().tolist() == [25]  # type: ignore[union-attr]
    explorer.close()
