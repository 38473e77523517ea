"""Importing netloupe costs next to nothing; what is heavy loads when it is used."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import onnx
import pytest

from netloupe import explorer
from netloupe.explorer import session

_HEAVY = (
    "google.protobuf",
    "anywidget",
    "ipywidgets",
    "IPython",
    "traitlets",
    "numpy",
    "matplotlib",
    "graphviz",
    "pygraphviz",
    "ml_dtypes",
    "onnx",
)


def modules_after(statement: str) -> tuple[set[str], int]:
    """Return the heavy modules that a statement loads, and how many it loads in all."""
    script = (
        # what the interpreter itself loads for typing and importing differs between machines
        "import importlib, json, sys, typing; before = set(sys.modules); "
        f"{statement}; "
        f"print(json.dumps([[m for m in {_HEAVY} if m in sys.modules], "
        "len(set(sys.modules) - before)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
    )
    heavy, count = json.loads(done.stdout.splitlines()[-1])
    return set(heavy), count


def test_import_netloupe() -> None:
    heavy, count = modules_after("import netloupe")
    assert heavy == set()
    assert count <= 2  # itself alone


def test_listing_the_names_loads_nothing() -> None:
    heavy, _ = modules_after("import netloupe; dir(netloupe); netloupe.__version__")
    assert heavy == set()


def test_the_errors() -> None:
    heavy, count = modules_after("from netloupe import NetloupeError")
    assert heavy == set()
    assert count <= 4  # itself, the explorer and its errors


@pytest.mark.parametrize(
    "statement", ["import netloupe; netloupe.load", "import netloupe.commands.cli"]
)
def test_load_and_the_command_line_wait_with_what_they_need(statement: str) -> None:
    heavy, _ = modules_after(statement)
    assert heavy <= {"numpy"}


def test_the_table_of_options() -> None:
    heavy, _ = modules_after("import netloupe.explorer.options")
    assert heavy == set()


def test_a_session_loads_no_widgets_and_no_plots() -> None:
    room = Path(session.__file__).parent
    modules = ", ".join(f"{session.__name__}.{path.stem}" for path in room.glob("[!_]*.py"))
    assert "session.requests" in modules
    heavy, _ = modules_after(f"import {modules}")
    assert heavy.isdisjoint({"ipywidgets", "anywidget", "traitlets", "IPython", "matplotlib"})


def test_reading_a_model_loads_no_user_interface() -> None:
    model = "import netloupe.explorer.readers.pipeline"
    heavy, _ = modules_after(model)
    assert heavy == {"google.protobuf", "numpy"}


def test_the_server_of_a_window_needs_no_widgets_and_no_plots() -> None:
    heavy, _ = modules_after("import netloupe.commands.serve")
    assert not heavy & {"anywidget", "ipywidgets", "IPython", "traitlets", "matplotlib", "onnx"}


#: what no first picture of an ONNX file needs: what is asked for later brings it
_LATER = {
    "netloupe.explorer.architecture",
    "netloupe.explorer.audit",
    "netloupe.explorer.checks",
    "netloupe.explorer.compare",
    "netloupe.explorer.describe",
    "netloupe.explorer.grouping.model_group",
    "netloupe.explorer.layout.cuts",
    "netloupe.explorer.layout.lane_place",
    "netloupe.explorer.layout.u_place",
    "netloupe.explorer.model.device",
    "netloupe.explorer.notes",
    "netloupe.explorer.overlays",
    "netloupe.explorer.patterns.pattern_examples",
    "netloupe.explorer.plots",
    "netloupe.explorer.quantization.saturation",
    "netloupe.explorer.readers.caffe2.model",
    "netloupe.explorer.readers.onnx.data",
    "netloupe.explorer.readers.protobuf.damage",
    "netloupe.explorer.readers.text.protobuf_json",
    "netloupe.explorer.readers.text.protobuf_text",
    "netloupe.explorer.render.legend",
    "netloupe.explorer.render.marks",
    "netloupe.explorer.render.picture",
    "netloupe.explorer.render.svg",
    "netloupe.explorer.render.theme",
    "netloupe.explorer.review",
    "netloupe.explorer.search.search",
    "netloupe.explorer.session.command",
    "netloupe.explorer.session.pictures",
    "netloupe.explorer.tensors.channels",
    "netloupe.explorer.tensors.histogram",
    "netloupe.explorer.tensors.statistics",
    "importlib.resources",
    "matplotlib",
    "numpy.ma",
}
#: explores a model as a page of ``netloupe open`` does, and prints what is loaded when its first
#: scene is sent
_FIRST_PICTURE = """
import json, sys, threading
import netloupe.commands.cli, netloupe.commands.open, netloupe.live.server
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import ViewOptions
from netloupe.live.exploration import Exploration
loaded, is_sent = [], threading.Event()
def send(frame):
    if isinstance(frame, bytes):
        loaded.append(sorted(sys.modules))
        is_sent.set()
shown = Exploration(load(sys.argv[1]), ViewOptions.parse({"wrap": False}), send)
shown.receive({"request": {"type": "scene", "window": [1100, 900], "id": "1"}})
assert is_sent.wait(60)
print(json.dumps(loaded[0]))
shown.close()
"""


def test_the_first_picture_waits_for_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(
        onnx.parser.parse_model(
            """<ir_version: 8, opset_import: ["" : 17]>
            g (float[1, 3, 8, 8] x, float[4, 3, 3, 3] w) => (float[1, 4, 6, 6] z)
            { y = Conv (x, w) z = Relu (y) }"""
        ).SerializeToString()
    )
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_PICTURE, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
    )
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "netloupe.explorer.render.wire" in loaded
    assert loaded & _LATER == set()
    for name in _LATER:
        import_module(name)  # is there


_LATE_ROOMS = [
    path
    for path in sorted(Path(explorer.__file__).parent.glob("*/__init__.py"))
    if "import_later(" in path.read_text()
]


@pytest.mark.parametrize("path", _LATE_ROOMS, ids=lambda path: str(path.parent.name))
def test_a_room_finds_later_what_type_checkers_see_in_it(path: Path) -> None:
    tree = ast.parse(path.read_text())
    (chosen,) = (part for part in tree.body if isinstance(part, ast.If))
    seen = {
        part.module: [name.name for name in part.names]
        for part in chosen.body
        if isinstance(part, ast.ImportFrom) and part.level == 1
    }
    (assigned,) = (part for part in chosen.orelse if isinstance(part, ast.Assign))
    assert isinstance(assigned.value, ast.Call)
    assert ast.literal_eval(assigned.value.args[1]) == seen
    room = import_module(f"netloupe.explorer.{path.parent.name}")
    assert [name for name in room.__all__ if not hasattr(room, name)] == []
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        _ = room.nothing_of_that_name


def test_several_rooms_are_imported_later() -> None:
    assert {path.parent.name for path in _LATE_ROOMS} >= {"costs", "grouping", "layout", "tensors"}
