"""Layers of towers that are computed in turns are told tower by tower."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from netloupe.explorer.architecture.interleaved import gather_lists
from netloupe.explorer.architecture.modules import Module
from netloupe.explorer.architecture.pieces import Piece
from tests.architecture.test_modules import Named


class _Part:
    """A part of a graph that follows some others."""

    def __init__(self, *before: _Part) -> None:
        self._before = {*before}.union(*(one._before for one in before))

    def follows(self, other: _Part) -> bool:
        return other in self._before


def _module(label: str, *before: Module) -> Module:
    parts = [cast("Any", piece.part) for one in before for piece in one.pieces]
    return Module(cast("Any", True), label, [cast("Piece", SimpleNamespace(part=_Part(*parts)))])


def test_members_of_a_list_come_together_unless_what_is_between_leads_to_them() -> None:
    words, images = [_module("text.layer.0")], [_module("image.layer.0")]
    for number in (1, 2):
        words.append(_module(f"text.layer.{number}", words[-1]))
        images.append(_module(f"image.layer.{number}", images[-1]))
    in_turns = [one for pair in zip(words, images, strict=True) for one in pair]
    joint = _module("joint.0", words[0], images[0])
    assert gather_lists([*in_turns[:2], joint, *in_turns[2:]]) == [*words, *images, joint]
    beside = _module("text.layer.1", images[0])  # not all members lead to the last one
    kept = [words[0], images[0], beside, _module("text.layer.2", words[0])]
    assert gather_lists(kept) == kept
    bridged = _module("text.layer.1", words[0], images[0])
    last = _module("text.layer.2", bridged)
    kept = [words[0], images[0], bridged, images[1], last, images[2]]
    assert gather_lists(kept) == [words[0], *images, bridged, last]


@pytest.mark.parametrize("in_turns", [True, False])
def test_layers_are_told_the_same_in_whatever_order_they_are_written(*, in_turns: bool) -> None:
    net = Named()
    ends = {"text_model.encoder.layer": net.embed(), "vision_model.blocks": net.embed("pixels")}
    given = []
    steps = [(number, name) for number in range(4) for name in ends]
    for number, name in steps if in_turns else sorted(steps, key=lambda step: step[1]):
        start = len(net.nodes)
        ends[name] = net.block(ends[name])
        net.within(start, f"{name}.{number}")
        given.append(net.add("Tanh", ends[name]))
    sentence = net.finish(net.add("Concat", *ends.values(), axis=1), *given).architecture.sentence
    assert "text models" not in sentence
    assert "vision models" not in sentence
    assert "transformer block" in sentence
