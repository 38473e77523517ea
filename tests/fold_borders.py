"""The borders of stacks with an author's names, beside those of the same file without any.

What is drawn as ×N must not hang on names: where they are there, they say where a module begins
and ends, and structure alone should cut the same. Compared are the layers with stored weights of
each member, since what has none may stand on either side of a border.

Run ``python tests/fold_borders.py FILE …``; each stack that only one of both has is a line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from netloupe.explorer.grouping import Group  # noqa: E402
from netloupe.explorer.model import Model, Node  # noqa: E402
from netloupe.explorer.readers.load import load  # noqa: E402
from netloupe.explorer.view import nodes_inside  # noqa: E402
from tests.grouping.blank_names import blank  # noqa: E402
from tests.known_stacks import list_stacks  # noqa: E402

#: the layers of each member of a stack, by the indices of their nodes
Members = tuple[frozenset[int], ...]


@dataclass(slots=True)
class Stack:
    """An outermost stack of the main graph."""

    label: str
    members: Members

    def write(self) -> str:
        """Return its name and count, and where its first two members begin."""
        begins = ", ".join(str(min(one)) for one in self.members[:2] if one)
        return f"{self.label} ×{len(self.members)} [{begins} …]"


def list_borders(model: Model) -> list[Stack]:
    """Return the outermost stacks of the main graph that have layers."""
    found = []
    for repeat in list_stacks(model):
        if repeat.graph is model.graph:
            members = tuple(map(_list_layers, repeat.children))
            if any(members):
                found.append(Stack(repeat.label, members))
    return found


def _list_layers(child: Group | Node) -> frozenset[int]:
    nodes = nodes_inside(child) if isinstance(child, Group) else [child]
    return frozenset(node.index for node in nodes if node.operator.weight_kind)


def compare(named: Sequence[Stack], nameless: Sequence[Stack]) -> Iterator[str]:
    """Yield the stacks with names whose borders those without have not, and what is there."""
    same = {stack.members for stack in nameless}
    for stack in named:
        if stack.members in same:
            continue
        inside = frozenset().union(*stack.members)
        met = [one for one in nameless if not inside.isdisjoint(frozenset().union(*one.members))]
        yield f"{stack.write()}: {'; '.join(one.write() for one in met) or 'no stack'}"


def compare_file(path: Path) -> list[str]:
    """Return in which stacks a file and the same without names differ."""
    return [*compare(list_borders(load(path)), list_borders(blank(path)))]


def main(paths: Iterable[str]) -> None:
    """Print the stacks of files that are cut otherwise where no names are."""
    total = 0
    for path in map(Path, paths):
        lines = compare_file(path)
        total += len(lines)
        for line in lines:
            print(f"{path.stem}: {line}", flush=True)
    print(f"{total} stacks")


if __name__ == "__main__":
    main(sys.argv[1:])
