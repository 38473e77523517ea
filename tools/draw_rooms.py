"""Print the rooms of netloupe and what each imports, as CONTRIBUTING.md shows it.

Rooms are the folders and leaf modules that the contract of layers in pyproject.toml lists, from
top to bottom. Imports for types alone and imports inside functions count.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp

_ROOT = Path(__file__).resolve().parent.parent
#: the only module that may import from rooms above its own
UPPER_ROOMS = "netloupe.explorer.model.upper_rooms"


def list_rooms() -> list[str]:
    """Return the modules that are rooms, the highest first."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())
    (contract,) = (c for c in project["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    return [room.strip() for layer in contract["layers"] for room in layer.split(":")]


def build_graph(*, types: bool = True) -> grimp.ImportGraph:
    """Return which module imports which; with ``types`` also where only type checkers do."""
    if str(_ROOT) not in sys.path:
        sys.path.insert(0, str(_ROOT))  # this tree, and not one that is installed
    return grimp.build_graph("netloupe", exclude_type_checking_imports=not types, cache_dir=None)


def find_room(module: str, rooms: list[str]) -> str:
    """Return the room that a module is in; "" for what is around them."""
    return next((r for r in rooms if module == r or module.startswith(f"{r}.")), "")


def list_imports(graph: grimp.ImportGraph) -> Iterator[tuple[str, str]]:
    """Yield the pairs of modules of which the first imports the second, without upper_rooms."""
    for module in sorted(graph.modules):
        if module != UPPER_ROOMS:
            for imported in sorted(graph.find_modules_directly_imported_by(module)):
                yield module, imported


def draw_rooms() -> str:
    """Return one line for each room: its name, and the rooms that it imports."""
    rooms = list_rooms()
    arrows: dict[str, set[str]] = {room: set() for room in rooms}
    for module, imported in list_imports(build_graph()):
        room, other = find_room(module, rooms), find_room(imported, rooms)
        if room and other and room != other:
            arrows[room].add(other)
    names = {room: room.removeprefix("netloupe.").removeprefix("explorer.") for room in rooms}
    width = max(map(len, names.values()))
    lines = []
    for room in rooms:
        below = ", ".join(names[other] for other in rooms if other in arrows[room])
        lines.append(f"{names[room]:{width}}  ->  {below}" if below else names[room])
    return "\n".join(lines)


if __name__ == "__main__":
    print(draw_rooms())
