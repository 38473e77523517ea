"""Graphs that resemble what a word of figures means and are none: the word is not said of them.

Each stands beside the graph that it resembles, of which the word is said.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.model import Model
from netloupe.explorer.patterns import FoundBlock, find_graph_context
from netloupe.explorer.patterns.nested_blocks import find_nested_blocks
from netloupe.explorer.patterns.recognise import find_small_blocks
from tests.architecture.networks import Network

from .resembling_blocks import BLOCKS
from .resembling_layers import LAYERS
from .resembling_wholes import WHOLES

_CASES = {**LAYERS.cases, **BLOCKS.cases, **WHOLES.cases}


def list_names(model: Model) -> Iterator[str]:
    """Yield what is said of a model and of each block that is found in it, with facts."""
    yield model.architecture.sentence
    nodes, context = [*model.graph.nodes], find_graph_context(model.graph)
    yield from (name for name, _ in find_small_blocks(nodes, context))
    yield from (block.name for block in find_nested_blocks(nodes, context))
    outline = Outline(model.graph, [*model.graph.nodes])
    pending: list[FoundBlock] = []
    for part in outline.parts:
        if part.operator is None:
            yield ", ".join((part.name, *part.facts))
        pending += part.parts
    while pending:
        one = pending.pop()
        yield ", ".join((one.name, *one.facts))
        pending += one.parts


@pytest.mark.parametrize("name", sorted(_CASES))
def test_a_word_is_said_of_what_it_means_alone(name: str) -> None:
    word, build = _CASES[name]
    said = []
    for is_one in (True, False):
        net = Network()
        said.append(" | ".join(list_names(net.finish(build(net, is_one)))))
    assert word.casefold() in said[0].casefold(), said[0]
    assert word.casefold() not in said[1].casefold(), said[1]
