"""Rooms import downwards only, modules of a room in no circle, in Python and in TypeScript."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from importlib import import_module
from operator import attrgetter
from pathlib import Path, PurePosixPath

import pytest

from netloupe.explorer.checks import find_cycles
from netloupe.explorer.model import upper_rooms

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT / "tools"))

from draw_rooms import (  # noqa: E402
    UPPER_ROOMS,
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
    assert find_room(UPPER_ROOMS, rooms) == "netloupe.explorer.model"


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


def test_only_upper_rooms_and_rooms_that_wait_import_by_name() -> None:
    lookups = {
        path.relative_to(_ROOT).as_posix()
        for folder in ("explorer", "proto", "widgets", "netloupe/commands")
        for path in (_ROOT / folder).rglob("*.py")
        if "node_modules" not in path.parts
        and re.search(r"import_module|__import__", path.read_text())
    }
    assert lookups == {"explorer/model/upper_rooms.py", "explorer/later.py"}


def test_upper_rooms_gives_what_type_checkers_see() -> None:
    text = (_ROOT / "explorer" / "model" / "upper_rooms.py").read_text()
    seen = re.findall(r"from netloupe\.explorer\.([\w.]+) import (\w+) as \w+", text)
    assert {name: home for home, name in seen} == upper_rooms._HOMES
    assert all(getattr(upper_rooms, name) is not None for name in upper_rooms._HOMES)
    with pytest.raises(AttributeError, match="no_such_name"):
        upper_rooms.no_such_name  # noqa: B018


def test_the_drawing_in_the_guide_is_what_is_so() -> None:
    assert f"```\n{draw_rooms()}\n```" in (_ROOT / "CONTRIBUTING.md").read_text(), (
        "put the output of tools/draw_rooms.py into CONTRIBUTING.md"
    )


def test_the_functions_on_the_way_of_a_file_are_where_the_guide_says() -> None:
    guide = (_ROOT / "CONTRIBUTING.md").read_text()
    way = guide.split("## The way of one file")[1].split("\n## ")[0]
    named = re.findall(r"`([\w.]+)` in\s`([\w/]+)\.(py|ts)`", way)
    assert len(named) > 12
    for name, file, kind in named:
        if kind == "ts":
            source = (_ROOT / f"{file}.ts").read_text()
            assert re.search(rf"^export (function|class) {name}\b", source, re.MULTILINE), name
        else:
            module = f"{'' if file.startswith('netloupe') else 'netloupe/'}{file}".replace("/", ".")
            assert callable(attrgetter(name)(import_module(module))), name


def test_what_the_guide_says_a_change_touches_is_there_and_little() -> None:
    guide = (_ROOT / "CONTRIBUTING.md").read_text()
    section = guide.split("## What a change touches")[1].split("\n## ")[0]
    rows = [row.strip("| ").split(" | ") for row in section.splitlines() if row.startswith("| ")]
    changes = {change: (edits, adds) for change, edits, adds in rows[1:]}
    assert list(changes) == [
        "a third format",
        "a file of numbers to colour by",
        "an outline",
        "a new rule",
        "a new operator",
        "a new pattern",
    ]
    for change, (edits, adds) in changes.items():
        edited = re.findall(r"`([\w./]+\.(?:css|json|mjs|py|toml|ts))`", edits)
        assert 1 <= len(edited) <= 6, change
        folders = re.findall(r"`([\w./]+/)`", adds)
        for file in (*edited, *re.findall(r"`([\w/]+/\w+\.\w+)`", adds)):
            assert (_ROOT / file).is_file(), f"{change}: {file}"
        for folder in folders:
            assert (_ROOT / folder).is_dir(), f"{change}: {folder}"


_IMPORT = re.compile(
    r"^(?:import|export)\s+(type\s)?([^;\"']*?)\s*from\s*\"(\.[^\"]+)\"|^import\s*\"(\.[^\"]+)\"",
    re.MULTILINE,
)
_FRONT_END = _ROOT / "widgets" / "frontend" / "src"
#: which folders of the front end each of them may import from; "" are the entries of the bundles
_FOLDERS = {
    "": {"live", "panes", "standalone", "address", "review", "controls", "paint", "host", "scene"},
    "lab": set(),
    "live": {"address", "review", "host", "scene"},
    "panes": {"standalone", "address", "review", "controls", "paint", "host", "scene"},
    "standalone": {"address", "review", "controls", "host", "scene"},
    "address": {"host", "scene"},
    "review": {"controls", "paint", "host", "scene"},
    "controls": {"paint", "host", "scene"},
    "paint": {"scene"},
    "host": {"scene"},
    "scene": set(),
}


def list_typescript_imports(
    source: Path, *, types: bool = True
) -> list[tuple[PurePosixPath, PurePosixPath]]:
    """Return pairs of files below a folder of which the first imports from the second.

    Without ``types`` imports that are of nothing but types are left out.
    """
    found = []
    for path in sorted(source.rglob("*.ts")):
        for only_types, names, target, alone in _IMPORT.findall(path.read_text()):
            inner = names.strip().removeprefix("{").removesuffix("}").split(",")
            all_types = all(n.strip().startswith("type ") for n in inner if n.strip())
            if not types and not alone and (only_types or (names and all_types)):
                continue
            other = (path.parent / (target or alone)).resolve()
            if other.suffix in (".css", ".json"):
                continue
            other = other.with_suffix(".ts")
            assert other.exists(), f"{path}: {target or alone}"
            found.append(
                tuple(PurePosixPath(file.relative_to(source).as_posix()) for file in (path, other))
            )
    return found


def list_against_the_order(pairs: Iterable[tuple[PurePosixPath, PurePosixPath]]) -> list[str]:
    """Return what imports from a folder that is not below its own."""
    return [
        f"{file} imports {other}"
        for file, other in pairs
        if file.parent != other.parent and other.parent.name not in _FOLDERS[file.parent.name]
    ]


def test_folders_of_the_front_end_import_one_way_types_included() -> None:
    pairs = list_typescript_imports(_FRONT_END)
    assert {file.parent.as_posix() for pair in pairs for file in pair} == {
        folder or "." for folder in _FOLDERS
    }
    assert list_against_the_order(pairs) == []


def test_an_import_against_the_order_is_found(tmp_path: Path) -> None:
    for folder in ("scene", "paint"):
        (tmp_path / folder).mkdir()
    (tmp_path / "scene" / "scene.ts").write_text('import type { Theme } from "../paint/theme";\n')
    (tmp_path / "paint" / "theme.ts").write_text('import { Scene } from "../scene/scene";\n')
    pairs = list_typescript_imports(tmp_path)
    assert list_against_the_order(pairs) == ["scene/scene.ts imports paint/theme.ts"]
    assert len(list_typescript_imports(tmp_path, types=False)) == 1


def test_no_circle_of_the_front_end_but_of_imports_for_types() -> None:
    pairs = list_typescript_imports(_FRONT_END, types=False)
    assert len(pairs) > 50
    assert list_circles((str(file), str(other)) for file, other in pairs) == []


#: counterparts: what a format's folder has as the other's has too, and what Python runs
_COUNTERPARTS = {"Scope", "damage", "read_tensor", "main"}


def test_no_two_modules_define_the_same_name() -> None:
    homes: dict[str, list[str]] = {}
    for room in ("explorer", "widgets", "netloupe/live", "netloupe/commands"):
        for path in sorted((_ROOT / room).rglob("*.py")):
            for defined in ast.parse(path.read_text("utf-8")).body:
                if isinstance(defined, ast.ClassDef | ast.FunctionDef):
                    homes.setdefault(defined.name, []).append(str(path.relative_to(_ROOT)))
    twice = {
        name: found
        for name, found in homes.items()
        if len(found) > 1 and not name.startswith("_") and name not in _COUNTERPARTS
    }
    assert twice == {}
