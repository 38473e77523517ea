"""Importing netloupe costs next to nothing; what is heavy loads when it is used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
