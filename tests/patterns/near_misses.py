"""What differs from the example of a pattern so that it is none: how that is written, and read."""

from __future__ import annotations

from typing import NamedTuple

from netloupe.explorer.model import Node

from .example_models import list_block, read_example


class ChangedExample(NamedTuple):
    """An example with one part changed.

    Parameters
    ----------
    change
        What is other than in the example, as a part that is not there any more.
    told
        What the block is told to be then; "" for nothing, or for what the example is.
    edits
        Texts of the example, each with what stands there instead.
    """

    change: str
    told: str
    edits: list[tuple[str, str]]

    def read(self, example: str) -> list[Node]:
        """Return the nodes that are left of an example, or were put in their place."""
        for old, new in self.edits:
            assert old in example, old
            example = example.replace(old, new)
        return list_block(read_example(example))


def read_changes(text: str) -> dict[str, list[ChangedExample]]:
    """Return changed examples of each pattern.

    Below the id of a pattern stands for each what is changed, perhaps with what the block is told
    to be then, and the texts of the example with what stands there instead.
    """
    found: dict[str, list[ChangedExample]] = {}
    for line in text.replace("\n      ", " ").replace("\n    =>", " =>").strip().splitlines():
        if line.startswith("["):
            several = found.setdefault(line.strip("[]"), [])
        elif line.startswith("  "):
            old, _, new = line.strip().partition(" =>")
            several[-1].edits.append((old, new.strip()))
        else:
            change, _, told = line.partition(" = ")
            several.append(ChangedExample(change, told, []))
    return found
