"""Rooms import downwards only, modules of a room in no circle, in Python and in TypeScript."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from netloupe.explorer.checks import find_cycles
from netloupe.explorer.model import door

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT / "tools"))

from draw_rooms import (  # noqa: E402
    DOOR,
    build_graph,
    draw_rooms,
    find_room,
    list_imports,
    list_rooms,
)


def list_circles(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    pairs = sorted(set(edges))
    names = sorted({name for pair in pairs for name in pair})
    numbers = {name: number for number, name in enumerate(names)}
    successors: list[list[int]] = [[] for _ in names]
    for name, other in pairs:
        successors[numbers[name]].append(numbers[other])
    return [[names[number] for number in circle] for circle in find_cycles(successors)]


def test_a_circle_is_found() -> None:
    assert list_circles([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]) == [["b", "c"]]


def test_every_module_of_the_explorer_is_in_a_room() -> None:
    rooms = list_rooms()
    around = {m for m in build_graph().modules if not find_room(m, rooms)}
    assert around == {"netloupe", "netloupe.__main__", "netloupe.explorer"}
    assert find_room(DOOR, rooms) == "netloupe.explorer.model"


def test_no_circle_between_rooms_types_and_imports_in_functions_included() -> None:
    rooms = list_rooms()
    edges = {
        (find_room(module, rooms) or module, find_room(imported, rooms) or imported)
        for module, imported in list_imports(build_graph())
    }
    # the face of the package names what users need, and a command asks it for the version
    between = {(room, other) for room, other in edges if room != other and other != "netloupe"}
    assert list_circles(between) == []
    for room, other in between:
        if room in rooms and other in rooms:
            assert rooms.index(room) < rooms.index(other), f"{room} imports {other}"


def test_no_circle_of_modules_but_of_imports_for_types() -> None:
    edges = list(list_imports(build_graph(types=False)))
    assert list_circles(edges) == []


def test_only_the_door_imports_by_name() -> None:
    lookups = {
        path.relative_to(_ROOT).as_posix()
        for folder in ("explorer", "proto", "widgets", "netloupe/commands")
        for path in (_ROOT / folder).rglob("*.py")
        if "node_modules" not in path.parts
        and re.search(r"import_module|__import__", path.read_text())
    }
    assert lookups == {"explorer/model/door.py"}


def test_the_door_gives_what_type_checkers_see() -> None:
    text = (_ROOT / "explorer" / "model" / "door.py").read_text()
    seen = re.findall(r"from netloupe\.explorer\.([\w.]+) import (\w+) as \w+", text)
    assert {name: home for home, name in seen} == door._HOMES
    assert all(getattr(door, name) is not None for name in door._HOMES)
    with pytest.raises(AttributeError, match="no_such_name"):
        door.no_such_name  # noqa: B018


def test_the_drawing_in_the_guide_is_what_is_so() -> None:
    assert f"```\n{draw_rooms()}\n```" in (_ROOT / "CONTRIBUTING.md").read_text(), (
        "put the output of tools/draw_rooms.py into CONTRIBUTING.md"
    )


_IMPORT = re.compile(
    r"^(?:import|export)\s+(type\s)?([^;\"']*?)\s*from\s*\"(\.[^\"]+)\"|^import\s*\"(\.[^\"]+)\"",
    re.MULTILINE,
)


def list_typescript_imports(source: Path) -> list[tuple[str, str]]:
    """Return pairs of files of which the first imports more than types from the second."""
    found = []
    for path in sorted(source.rglob("*.ts")):
        for only_types, names, target, alone in _IMPORT.findall(path.read_text()):
            inner = names.strip().removeprefix("{").removesuffix("}").split(",")
            types = all(n.strip().startswith("type ") for n in inner if n.strip())
            if alone or not (only_types or (names and types)):
                other = (path.parent / (target or alone)).resolve()
                other = other.with_suffix(".ts") if other.suffix == ".js" else other
                if not other.suffix:
                    other = other.with_suffix(".ts")
                if other.suffix == ".ts":
                    assert other.exists(), f"{path}: {target or alone}"
                    found.append((path.name, other.name))
    return found


def test_no_circle_of_the_front_end_but_of_imports_for_types() -> None:
    edges = list_typescript_imports(_ROOT / "widgets" / "frontend" / "src")
    assert len(edges) > 50
    assert list_circles(edges) == []
