"""Stacks of alike blocks in a model, beside those that are known of its architecture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Model, Node
from netloupe.explorer.view import View

from .known_architectures import Architecture


def list_stacks(model: Model) -> list[Group]:
    """Return the outermost repeats of a model, as its nodes stand.

    Those inside the bodies of functions and of control flow count where the node is; what is
    inside a repetition does not.
    """
    view = View(model)
    found: list[Group] = []
    called: set[Graph] = set()
    pending: list[Graph | Group | Node] = [model.graph]
    while pending:
        element = pending.pop()
        if isinstance(element, Graph):
            if element not in called:
                called.add(element)
                pending.append(view.borders(element).tree.root)
        elif isinstance(element, Node):
            bodies = [element.function, *element.subgraphs]
            pending += [body for body in reversed(bodies) if body is not None]
        elif element.kind == "repeat":
            found.append(element)
        else:
            pending += reversed(element.children)
    return found


def agrees(found: Sequence[int], known: Architecture) -> bool:
    """Return whether the lengths of stacks are those that a person expects.

    Runs of a single block make no stack; stacks that may be left out may be.
    """
    choices = []
    for blocks in known.blocks:
        counts = tuple(count for count in blocks.counts if count > 1)
        others = [tuple(c for c in other if c > 1) for other in blocks.otherwise]
        choices.append([counts, *others, *([()] if blocks.may_lack else [])])
    for choice in product(*choices):
        expected = [count for counts in choice for count in counts]
        if known.any_order:
            if sorted(expected) == sorted(found):
                return True
        elif expected == list(found):
            return True
    return False
