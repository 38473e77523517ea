"""Stages end where an author's lists do, though blocks go on alike behind it."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.authored_lists import AuthoredLists
from netloupe.explorer.architecture.clause import Clause
from netloupe.explorer.architecture.list_ends import end_with_lists
from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.pieces import Piece, list_pieces

from .test_modules import Named


def _end(lists: tuple[int, ...], text: str, *, is_flat: bool = False, other: str = "") -> str:
    """Return a text of blocks as lists of so many end it; one list may have another name."""
    net = Named()
    x = net.take("x", (1, 8, 16, 16))
    paths = []
    for number, count in enumerate(lists):
        for block in range(count):
            start = len(net.nodes)
            x = net.add("Relu", net.conv(x, 8, 8))
            name = f"blocks/blocks.{number}/blocks.{number}.{block}"
            if is_flat:
                name = f"blocks/blocks.{len(paths)}"
            if other and number == 1:
                name = name.replace("blocks", other)
            net.within(start, name)
            paths.append(tuple(name.split("/")[-1].split(".")))
    graph = net.finish(x).graph
    outline = Outline(graph, graph.nodes)
    pieces: list[Piece] = list_pieces(outline, [])
    assert len(pieces) == len(paths)
    known = {id(piece): path for piece, path in zip(pieces, paths, strict=True)}
    authored = AuthoredLists([node for node in graph.nodes if node.op_type == "Conv"])
    return end_with_lists(authored, known, Clause(text, tuple(pieces))).text


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ((1, 2, 2, 4), "stages of 1, 2, 2, 4 blocks"),
        ((1, 2, 6), "stages of 1, 2, 6 blocks"),
        ((1, 1, 1, 3, 3), "stages of 1, 1, 1, 3, 3 blocks"),
        ((3, 6), "stages of 1, 2, 6 blocks"),  # none ends where the first stage does
        ((2, 1, 6), "stages of 1, 2, 6 blocks"),
    ],
)
def test_each_list_is_a_stage(lists: tuple[int, ...], said: str) -> None:
    assert _end(lists, "stages of 1, 2, 6 blocks") == said


def test_blocks_of_one_list_end_as_they_are() -> None:
    assert _end((1, 2, 2, 4), "stages of 1, 2, 6 blocks", is_flat=True).startswith(
        "stages of 1, 2, 6"
    )


def test_lists_of_several_names_are_no_stages() -> None:
    text = "stages of 1, 2, 6 blocks"
    assert _end((1, 2, 2, 4), text, other="others") == text


@pytest.mark.parametrize("text", ["9 blocks", "stages of 1, 2, 5 blocks", "each of 9"])
def test_what_counts_otherwise_stays(text: str) -> None:
    assert _end((1, 2, 2, 4), text) == text
