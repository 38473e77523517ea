"""Two models that are compared, in one page: what differs is painted from the first picture on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import onnx.parser

import netloupe
from netloupe.explorer.view import ViewOptions
from netloupe.live.exploration import Exploration

from .test_watching import AFTER, BEFORE


class Page:
    """What a page is sent."""

    def __init__(self) -> None:
        self.traits: dict[str, Any] = {}

    def take(self, frame: str | bytes) -> None:
        if isinstance(frame, str):
            self.traits |= json.loads(frame).get("traits", {})

    def wait(self, is_so: Callable[[dict[str, Any]], bool]) -> None:
        end = time.monotonic() + 60
        while not is_so(self.traits):
            assert time.monotonic() < end, self.traits
            time.sleep(0.01)


def compare() -> netloupe.Model:
    old, new = (netloupe.load(onnx.parser.parse_model(text)) for text in (BEFORE, AFTER))
    return netloupe.diff(old, new).merged


def test_what_differs_is_painted() -> None:
    page = Page()
    exploration = Exploration(compare(), ViewOptions.parse({}), page.take)
    painted = page.traits["paints"]
    assert {path for path in painted if path.endswith(("relu", "tanh"))}
    assert "main/add" not in painted
    # it is painted again where the picture is of other models
    exploration.show_again(netloupe.load(onnx.parser.parse_model(AFTER)))
    page.wait(lambda traits: traits["paints"] == {})
    exploration.close()


def test_nothing_is_painted_in_one_model() -> None:
    page = Page()
    model = netloupe.load(onnx.parser.parse_model(BEFORE))
    Exploration(model, ViewOptions.parse({}), page.take).close()
    assert page.traits.get("paints", {}) == {}
