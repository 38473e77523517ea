"""A canvas before a host that can do little offers nothing that the host cannot do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import netloupe
from netloupe.explorer.grouping import Group
from tests.grouping.test_tree import make_chain

from .stand import CANVAS, Stand
from .test_canvas import CNN, make_model

pytestmark = pytest.mark.browser

Open = Callable[..., Stand]
#: what the canvas does by itself
TOOLBAR = [
    *("Zoom in (+)", "Zoom out (−)", "Show all (F)", "Zoom to the selection (Z)"),
    *("Full screen", "Keys (?)", "More"),
]
VIEW = [
    "Show all",
    "Colours of the page",
    "Light",
    "Dark",
    "Full screen",
    "Save picture…",
    "Copy as SVG",
    "Copy as PNG",
    "Keys",
]
BOX = ["Zoom to it", "Light up upstream", "Light up downstream", "Copy path"]


@pytest.fixture
def show(page: Any) -> Iterator[Open]:
    opened: list[netloupe.Explorer] = []

    def open_model(model: Any, abilities: Sequence[str], **view: Any) -> Stand:
        explorer = netloupe.explore(model, height=900, **view)
        opened.append(explorer)
        return Stand(page, explorer, abilities=abilities)

    yield open_model
    for explorer in opened:
        explorer.close()


def list_menu(stand: Stand) -> list[str]:
    """Return what stands in the menu that is open, and put it away."""
    labels = stand.page.locator(".nl-menu-label").all_inner_texts()
    stand.page.keyboard.press("Escape")
    return list(labels)


def buttons(stand: Stand, place: str) -> list[str]:
    """Return the titles of the buttons in a part of the canvas, hidden ones too."""
    found = stand.page.locator(f"{CANVAS} {place} button")
    return list(found.evaluate_all("(all) => all.map((button) => button.title)"))


def test_the_canvas_alone_offers_what_it_does_by_itself(show: Open) -> None:
    stand = show(CNN, [], expand="none")
    view = stand.explorer._views.current
    named = next(
        item.path
        for item in view.root.children
        if isinstance(item.element, Group) and item.element.recognised is not None
    )
    assert buttons(stand, ".nl-toolbar") == TOOLBAR
    assert stand.page.locator(f"{CANVAS} .nl-search").count() == 0
    stand.page.mouse.click(5, 500, button="right")
    assert list_menu(stand) == VIEW
    stand.click(named, button="right")
    assert list_menu(stand) == BOX
    stand.click(named)
    assert stand.selected == named
    stand.double_click(named)
    stand.press("Enter", "h", "/", "Control+z", "Control+y")
    stand.press("?")
    listed = stand.page.locator(".nl-help-keys dt").all_inner_texts()
    assert not {"Enter", "/", "H"} & {*listed}
    assert [keys.split() for keys in listed if "Ctrl" in keys] == [["Ctrl", "C"]]
    stand.press("Escape", "Escape")
    assert stand.selected == ""
    assert [request["type"] for request in stand.asked] == ["scene"]


def test_what_is_shown_is_still_said(show: Open) -> None:
    stand = show(make_model(6), [], grouping="auto", expand="none")
    explorer = stand.explorer
    explorer.open(next(path for path in stand.call("paths") if "layers.0-5" in path))
    stand.settle()
    assert buttons(stand, ".nl-steppers") == []
    explorer.canvas.breadcrumb = [["main", "main"], ["main/If.then", "If.then"]]
    explorer.canvas.focus, explorer.canvas.hops = "main/mask/Relu", 2
    explorer.canvas.changed = "The file has changed"
    stand.settle()
    assert stand.page.locator(f"{CANVAS} .nl-breadcrumb").inner_text().split() == [
        *("main", "›", "If.then")
    ]
    assert buttons(stand, ".nl-breadcrumb") == []
    assert "Focus: Relu" in (stand.chip("focus") or "")
    assert "2 hops" in (stand.chip("focus") or "")
    assert buttons(stand, '[data-netloupe-chip="focus"]') == []
    assert "The file has changed" in stand.page.locator(f"{CANVAS} .nl-strip").inner_text()
    assert buttons(stand, ".nl-strip") == ["Dismiss"]
    assert [request["type"] for request in stand.asked] == ["scene"]


@pytest.mark.parametrize(
    ("abilities", "offered", "unrolled"),
    [
        (["step"], ["Previous repetition", "Next repetition"], []),
        (["unroll"], ["Show all repetitions"], ["Show one repetition"]),
    ],
)
def test_a_repeat_is_stepped_through_or_unrolled(
    show: Open, abilities: list[str], offered: list[str], unrolled: list[str]
) -> None:
    stand = show(make_model(6), abilities, grouping="auto", expand="none")
    explorer = stand.explorer
    repeat = next(path for path in stand.call("paths") if "layers.0-5" in path)
    explorer.open(repeat)
    explorer.select(repeat)
    stand.settle()
    bar = '[data-netloupe-chip="repeat"]'
    assert buttons(stand, ".nl-steppers") == buttons(stand, bar) == offered
    assert "of 6" in (stand.chip("repeat") or "")
    explorer.unroll(repeat)
    stand.settle()
    assert buttons(stand, ".nl-steppers") == unrolled
    assert (stand.chip("repeat") is not None) == bool(unrolled)


def test_each_thing_that_a_host_can_do_is_offered_and_done(show: Open) -> None:
    stand = show(CNN, ["open", "search", "undo", "direction"], expand="none")
    turn = "Run downwards or to the right"
    assert buttons(stand, ".nl-toolbar") == [*TOOLBAR[:4], turn, *TOOLBAR[4:]]
    assert stand.page.locator(f'{CANVAS} [title="Regular expression"]').count() == 0
    group = next(path for path in stand.call("paths") if path.endswith("/"))
    closed = stand.call("paths")
    stand.double_click(group)
    assert len(stand.call("paths")) > len(closed)
    stand.press("Control+z")
    assert set(stand.call("paths")) == set(closed)
    stand.press("/")
    stand.page.keyboard.type("Conv")
    stand.settle(60)
    stand.page.keyboard.press("Enter")
    stand.settle()
    assert stand.selected != ""
    assert {"toggle", "undo", "search", "reveal"} < {request["type"] for request in stand.asked}
    stand.button(turn)
    assert stand.explorer.canvas.direction == "LR"


@pytest.mark.parametrize("abilities", [[], ["wrap"]])
def test_columns_are_offered_where_they_can_be_had(show: Open, abilities: list[str]) -> None:
    stand = show(
        make_chain(*[f"/n{k}" for k in range(150)], op_type="Neg").model, abilities, grouping="none"
    )
    assert stand.headers[-1]["extreme"]
    assert (stand.chip("wrap") is not None) == bool(abilities)
