"""Hidden boxes: what leads to them leads past them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from netloupe.explorer.errors import ViewError
from netloupe.explorer.view import View, hiding
from netloupe.explorer.view.hiding import hide_items, lead_past
from netloupe.explorer.view.item import BORDER, Link
from tests.onnx_text import load_text

TEXT = """
    <ir_version: 8, opset_import: ["": 17]>
    g (float[4] x) => (float[4] y, float[4] z) {
        [first] a = Relu(x)
        [second] b = Sin(a)
        [third] c = Cos(b)
        [sum] y = Add(c, a)
        [last] z = Tanh(b)
    }
"""


def pairs(view: View) -> set[tuple[str, str]]:
    children = view.root.children
    return {
        (children[link.source].key, children[link.target].key) for link in view.links(view.root)
    }


def hide(view: View, *paths: str) -> None:
    hide_items(view, [view.items[path] for path in paths])


def test_its_producers_lead_to_its_consumers() -> None:
    view = View(load_text(TEXT))
    hide(view, "main/second")
    assert "main/second" not in view.items
    assert ("main/first", "main/third") in pairs(view)
    assert ("main/first", "main/last") in pairs(view)
    assert ("main/first", "main/sum") in pairs(view)


def test_a_chain_of_them_is_passed_at_once_and_no_edge_is_drawn_twice() -> None:
    view = View(load_text(TEXT))
    hide(view, "main/second", "main/third")
    links = view.links(view.root)
    ends = [(link.source, link.target) for link in links]
    assert len({*ends}) == len(ends)
    assert ("main/first", "main/sum") in pairs(view)


def test_what_is_reached_stays_reached() -> None:
    rng = random.Random(7)
    value: Any = object()
    for _ in range(40):
        count = rng.randrange(3, 10)
        values = [object() for _ in range(count)]
        links = [
            Link(a, b, values[a], values[a], values[a])  # type: ignore[arg-type]
            for b in range(count)
            for a in range(b)
            if rng.random() < 0.4
        ]
        links += [
            Link(BORDER, 0, value, value, value),
            Link(count - 1, BORDER, value, value, value),
        ]
        hidden = rng.sample(range(count), count // 3)
        after = lead_past(links, hidden)
        assert not {end for link in after for end in (link.source, link.target)} & {*hidden}
        kept = [number for number in range(count) if number not in hidden]
        assert reach(after, kept) == {
            (one, other) for one, other in reach(links, range(count)) if {one, other} <= {*kept}
        }


def reach(links: Any, boxes: Any) -> set[tuple[int, int]]:
    following = {box: {link.target for link in links if link.source == box} for box in boxes}
    found = set()
    for box in boxes:
        pending, seen = [box], set()
        while pending:
            for other in following.get(pending.pop(), ()):
                if other not in seen and other != BORDER:
                    seen.add(other)
                    pending.append(other)
        found |= {(box, other) for other in seen}
    return found


def test_too_many_edges_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hiding, "MOST_PAIRS", 1)
    view = View(load_text(TEXT))
    with pytest.raises(ViewError, match="'main/second' stands between 1 and 2 others"):
        hide(view, "main/second")


def test_an_open_group_of_which_nothing_remains_is_left_out() -> None:
    view = View(
        load_text("""
            <ir_version: 8, opset_import: ["": 17, "l": 1]>
            g (float[N] x) => (float[N] y) { [call] t = l.F(x) [end] y = Abs(t) }
            <domain: "l", opset_import: ["": 17]> F (a) => (b) { t = Sin(a) b = Elu(t) }
        """)
    )
    view.open("main/call")
    inside = [item.key for item in view.items["main/call"].children]
    hide(view, *inside)
    assert "main/call" not in view.items
    assert any(target == "main/end" for _, target in pairs(view))
