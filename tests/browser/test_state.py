"""What is open, selected and looked at, in Chromium: kept, taken back, gone to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import onnx
import pytest
from onnx import helper

import netloupe
from tests.layered import make_layers

from .stand import CANVAS, Stand

pytestmark = pytest.mark.browser

Open = Callable[..., Stand]
STACK = "main/layers.0-3/"


@pytest.fixture(scope="module")
def motion() -> str:
    """What is drawn moves to where it goes, as for most people."""
    return "no-preference"


@pytest.fixture
def show(page: Any) -> Iterator[Open]:
    opened: list[netloupe.Explorer] = []

    def open_model(model: Any, height: int = 700, **view: Any) -> Stand:
        explorer = netloupe.explore(model, height=height, **view)
        opened.append(explorer)
        return Stand(page, explorer)

    yield open_model
    for explorer in opened:
        explorer.close()


def opened(stand: Stand) -> list[str]:
    """Return what is open, without the root."""
    return [item.key for item in stand.explorer._views.current.open_items()][1:]


def bounds(stand: Stand, path: str) -> dict[str, float]:
    """Return what a box takes of the page."""
    found: dict[str, float] | None = stand.call("bounds", path)
    assert found is not None, f"{path} is not drawn"
    return found


def is_whole(stand: Stand, path: str) -> bool:
    """Return whether nothing of a box is outside of the canvas or under what lies over it."""
    covered: bool = stand.page.evaluate(
        """([host, part]) => {
          const canvas = document.querySelector(host);
          const at = canvas.shadowRoot.querySelector(".nl-picture").getBoundingClientRect();
          const [right, bottom] = [part.x + part.width, part.y + part.height];
          if (part.x < at.left || part.y < at.top || right > at.right || bottom > at.bottom)
            return true;
          const over = canvas.shadowRoot.querySelectorAll(
            ".nl-toolbar, .nl-search-line, .nl-search-panel, .nl-chip, .nl-breadcrumb");
          return [...over].map((each) => each.getBoundingClientRect()).some((each) =>
            each.width > 0 && each.left < right && each.right > part.x
              && each.top < bottom && each.bottom > part.y);
        }""",
        [CANVAS, bounds(stand, path)],
    )
    return not covered


def has_keyboard(stand: Stand) -> bool:
    found: bool = stand.page.evaluate(
        f"() => document.activeElement === document.querySelector('{CANVAS}')"
    )
    return found


def make_trees(depth: int = 5, stem: int = 40) -> onnx.ModelProto:
    """Return two trees, far apart and each with a long stem: nothing is between their roots."""
    nodes, leaves = [], []
    for tree in "ab":
        last = tree
        for number in range(stem):
            nodes.append(helper.make_node("Relu", [last], [f"{tree}s{number}"]))
            last = f"{tree}s{number}"
        row = [last]
        for _ in range(depth):
            row = [f"{name}{side}" for name in row for side in "lr"]
            nodes += [helper.make_node("Neg", [name[:-1]], [name]) for name in row]
        leaves += row
    nodes.append(helper.make_node("Sum", leaves, ["y"]))
    inputs = [helper.make_tensor_value_info(name, 1, [4]) for name in "ab"]
    y = helper.make_tensor_value_info("y", 1, [4])
    return helper.make_model(helper.make_graph(nodes, "trees", inputs, [y]))


def make_chain(count: int = 40) -> onnx.ModelProto:
    """Return a chain in one group, higher than any window."""
    nodes, last = [helper.make_node("Abs", ["x"], ["a"], name="/before")], "a"
    for number in range(count):
        name = f"/long/r{number}"
        nodes.append(helper.make_node("Relu", [last], [name], name=name))
        last = name
    nodes.append(helper.make_node("Neg", [last], ["y"], name="/after"))
    x, y = (helper.make_tensor_value_info(name, 1, [4]) for name in "xy")
    return helper.make_model(helper.make_graph(nodes, "chain", [x], [y]))


# ------------------------------------------------------------------ what is in the window


def test_a_flat_picture_begins_with_something(page: Any, show: Open) -> None:
    page.set_viewport_size({"width": 700, "height": 900})
    stand = show(make_trees())
    stand.button("More")
    stand.choose("Show everything as it stands in the file")
    assert stand.call("stats")["nodes"] > 200
    assert stand.call("stats")["visible"] > 0
    stand.button("Close all groups")
    assert stand.call("stats")["visible"] > 0


def test_what_is_opened_is_seen_whole(show: Open) -> None:
    stand = show(make_layers(), expand="none")
    # at the lower edge of the window, where what is opened would reach out of it
    x, y = stand.locate(STACK)
    stand.page.mouse.move(x + 200, y)
    stand.page.mouse.down()
    stand.page.mouse.move(x + 200, y + 280, steps=4)
    stand.page.mouse.up()
    stand.double_click(STACK)
    assert is_whole(stand, STACK)
    stand.double_click("main/layers.0/mlp/")
    assert is_whole(stand, "main/layers.0/mlp/")


def test_what_is_too_high_is_seen_from_its_beginning(show: Open) -> None:
    stand = show(make_chain(), expand="none", grouping="names")
    stand.explorer.open("main/long/")
    stand.settle()
    at = bounds(stand, "main/long/")
    picture = stand.page.locator(".nl-picture").bounding_box()
    assert at["height"] > picture["height"]
    assert picture["y"] < at["y"] < picture["y"] + 40
    assert at["x"] > picture["x"]
    assert is_whole(stand, "main/long/r0")
    assert stand.call("stats")["zoom"] >= 0.35


def test_a_hit_stands_beside_the_list(show: Open) -> None:
    stand = show(make_layers(12), expand="all")
    stand.press("/")
    stand.page.keyboard.type("attn/Tanh")
    stand.settle()
    stand.page.keyboard.press("Enter")
    stand.settle()
    assert stand.page.locator(".nl-search-panel").is_visible()
    assert is_whole(stand, stand.explorer.selection)


def test_several_nodes_are_marked_and_seen_together(show: Open) -> None:
    stand = show(make_layers(), expand="none")
    paths = ["main/layers.0/attn/Relu", "main/layers.0/attn/Tanh"]
    stand.explorer.select([stand.explorer.model[path] for path in paths])
    stand.settle()
    assert all(is_whole(stand, path) for path in paths)
    assert stand.page.locator(CANVAS).get_attribute("data-selected") == paths[0]
    spoken = stand.page.locator('[aria-live="polite"]').inner_text()
    assert spoken.startswith("2 elements")


def test_all_repetitions_are_shown_around_the_one_before(show: Open) -> None:
    stand = show(make_layers(60), expand="none")
    stack = "main/layers.0-59/"
    stand.explorer._requests.session.views.current.show_repetition(stack, 40)
    stand.explorer.select("main/layers.40/")
    stand.settle()
    before = stand.locate("main/layers.40/")
    stand.page.get_by_title("Show all repetitions").first.click()
    stand.settle()
    assert stand.locate("main/layers.40/") == pytest.approx(before, abs=2)
    assert stand.call("stats")["visible"] > 1


def test_who_leaves_a_graph_sees_where_it_hangs(show: Open) -> None:
    then = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["t"])],
        "then",
        [],
        [helper.make_tensor_value_info("t", 1, [4])],
    )
    nodes, last = [], "x"
    for number in range(60):
        nodes.append(helper.make_node("Relu", [last], [f"r{number}"], name=f"r{number}"))
        last = f"r{number}"
    nodes.append(
        helper.make_node("If", ["c"], ["y"], name="choice", then_branch=then, else_branch=then)
    )
    x, y = (helper.make_tensor_value_info(name, 1, [4]) for name in "xy")
    c = helper.make_tensor_value_info("c", 9, [])
    graph = helper.make_graph(nodes, "g", [x, c], [y])
    stand = show(helper.make_model(graph), grouping="none")
    branch = stand.explorer.model["main/choice"].subgraphs[0].path
    stand.explorer._requests.receive({"id": "0", "type": "enter", "path": branch}, [])
    stand.settle()
    stand.page.locator(".nl-breadcrumb button", has_text="main").click()
    stand.settle()
    assert is_whole(stand, "main/choice")


# ------------------------------------------------------------------ keys


def test_keys_enter_a_group_and_close_those_around_one_by_one(show: Open) -> None:
    stand = show(make_layers(), expand="none")
    stand.click(STACK)
    stand.press("Enter")
    stand.press("ArrowDown")
    assert stand.explorer.selection == "main/layers.0/attn/"
    stand.press("Enter")
    stand.press("ArrowDown")
    assert stand.explorer.selection == "main/layers.0/attn/Relu"
    stand.press("ArrowUp")
    assert stand.explorer.selection == "main/layers.0/attn/"
    stand.press("ArrowDown")
    stand.press("Escape")
    assert opened(stand) == [STACK]
    stand.press("Escape")
    assert opened(stand) == []
    stand.press("Escape")
    assert stand.explorer.selection is None


def test_escape_pressed_twice_at_once_closes_two_groups(show: Open) -> None:
    stand = show(make_layers())
    stand.explorer.open("main/layers.0/attn/")
    stand.explorer.select("main/layers.0/attn/Tanh")
    stand.settle()
    stand.press("Escape", "Escape")
    assert opened(stand) == []
    assert not stand.page.locator(".nl-error").is_visible()


def test_escape_closes_the_group_around_a_value(show: Open) -> None:
    stand = show(make_layers())
    stand.explorer.open("main/layers.0/attn/")
    stand.settle()
    node = stand.explorer.model["main/layers.0/attn/Relu"]
    stand.explorer.select(node.outputs[0])
    stand.settle()
    for _ in range(2):  # what is lit is put out first
        if "main/layers.0/attn/" in opened(stand):
            stand.press("Escape")
    assert "main/layers.0/attn/" not in opened(stand)
    assert stand.explorer.selection == "main/layers.0/attn/"


@pytest.mark.parametrize("keys", [("Control+z", "Control+Shift+Z"), ("Control+z", "Control+y")])
def test_opening_is_taken_back_at_its_place(show: Open, keys: tuple[str, str]) -> None:
    stand = show(make_layers())
    back, forth = keys
    stand.explorer.open(STACK)
    stand.settle()
    stand.press("+")
    stand.page.mouse.move(300, 300)
    stand.page.mouse.down()
    stand.page.mouse.move(340, 390, steps=3)
    stand.page.mouse.up()
    stand.settle()
    before = bounds(stand, STACK)
    stand.double_click("main/layers.0/attn/")
    after = bounds(stand, STACK)
    assert after != pytest.approx(before)
    stand.press(back)
    assert "main/layers.0/attn/" not in opened(stand)
    assert bounds(stand, STACK) == pytest.approx(before, abs=1)
    stand.press(forth)
    assert "main/layers.0/attn/" in opened(stand)
    assert bounds(stand, STACK) == pytest.approx(after, abs=1)
    # and from the menu
    stand.button("More")
    stand.choose("Undo")
    assert "main/layers.0/attn/" not in opened(stand)
    stand.button("More")
    stand.choose("Redo")
    assert "main/layers.0/attn/" in opened(stand)


def test_only_the_canvas_with_the_keyboard_takes_back(show: Open) -> None:
    stand = show(make_layers(), expand="none")
    stand.double_click(STACK)
    assert opened(stand) == [STACK]
    stand.press("/")
    stand.page.keyboard.type("Ab")
    stand.page.keyboard.press("Control+z")
    stand.settle()
    assert opened(stand) == [STACK]
    stand.page.evaluate(
        "() => { const field = document.createElement('textarea');"
        " document.body.append(field); field.focus(); }"
    )
    stand.page.keyboard.press("Control+z")
    stand.settle()
    assert opened(stand) == [STACK]
    stand.press("Control+z")
    assert opened(stand) == []


def test_the_keyboard_stays_after_menus_and_chips(show: Open) -> None:
    stand = show(make_layers())
    stand.button("More")
    stand.choose("Close all groups")
    assert has_keyboard(stand)
    stand.press("Home")
    assert stand.explorer.selection is not None
    # a chip that is put away with a click, and one whose button is switched off
    stand.explorer.select("main/layers.0/attn/Tanh")
    stand.settle()
    stand.press("h")
    assert stand.chip("focus") is not None
    stand.page.get_by_title("A hop less").click()
    stand.settle()
    assert stand.page.get_by_title("A hop less").is_disabled()
    assert has_keyboard(stand)
    stand.page.keyboard.press("Home")
    stand.settle()
    assert stand.explorer.selection != "main/layers.0/attn/Tanh"
    stand.page.get_by_title("Back to the whole graph (Esc)").click()
    stand.settle()
    assert stand.chip("focus") is None
    assert has_keyboard(stand)
    before = stand.explorer.selection
    stand.page.keyboard.press("ArrowDown")
    stand.settle()
    assert stand.explorer.selection != before


def test_the_button_that_steps_keeps_the_keyboard(show: Open) -> None:
    stand = show(make_layers(), expand="none")
    stand.double_click(STACK)
    stand.double_click("main/layers.0/mlp/")
    stand.explorer.select(STACK)  # its buttons stand below the canvas where it has no room for them
    stand.settle()
    stand.page.get_by_title("Next repetition").locator("visible=true").first.click()
    stand.settle()
    stand.page.keyboard.press("Enter")
    stand.settle()
    assert stand.explorer._views.current.items[STACK].shown == 2
    stand.page.keyboard.press("Control+z")
    stand.settle()
    assert stand.explorer._views.current.items[STACK].shown == 1
    assert "main/layers.1/mlp/" in opened(stand)


# ------------------------------------------------------------------ what stays and what goes


def test_regrouping_deselects_what_is_gone(show: Open) -> None:
    stand = show(make_layers())
    stand.explorer.select("main/layers.0/attn/")
    stand.settle()
    stand.button("More")
    stand.choose("Show everything as it stands in the file")
    assert stand.page.locator(CANVAS).get_attribute("data-selected") == ""
    assert stand.explorer.selected is None
    stand.explorer.select("main/layers.3/mlp/Exp")
    stand.settle()
    stand.button("More")
    stand.choose("Groups by names")
    assert stand.page.locator(CANVAS).get_attribute("data-selected") == "main/layers.3/mlp/Exp"


def test_wrapping_stays_on_while_groups_are_opened(show: Open) -> None:
    stand = show(make_layers(40), expand="all")

    def is_on() -> bool:
        stand.button("More")
        entry = stand.page.locator(".nl-menu-entry", has_text="Wrap into columns")
        checked = entry.get_attribute("aria-checked") == "true"
        stand.page.keyboard.press("Escape")
        return checked

    assert not is_on()
    stand.button("More")
    stand.choose("Wrap into columns")
    assert is_on()
    stand.explorer.close("main/layers.0-39/")
    stand.settle()
    assert is_on()
    stand.explorer.open("main/layers.0-39/")
    stand.settle()
    assert is_on()
    stand.button("More")
    stand.choose("Wrap into columns")
    assert not is_on()
