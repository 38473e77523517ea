"""Every interaction of the canvas in Chromium, with a real explorer behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import netloupe
from netloupe.explorer.grouping import Group
from netloupe.explorer.render.sizes import TEXT_STYLES
from netloupe.explorer.render.text import measure_text
from tests.view.test_bundles import make_file

from .geometry import find_faults
from .servers import ROOT
from .stand import CANVAS, Stand

pytestmark = pytest.mark.browser

Open = Callable[..., Stand]
CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"


def make_model(layers: int, *, hub: bool = True) -> onnx.ModelProto:
    """Return layers alike, all of which take the same mask."""
    nodes = [helper.make_node("Relu", ["m"], ["mask"], name="/mask/Relu")]
    last = "x"
    for layer in range(layers):
        scope = f"/layers.{layer}"
        names = [f"{scope}/{op}_{layer}" for op in ("MatMul", "Add", "Sigmoid", "Mul")]
        nodes += [
            helper.make_node("MatMul", [last, "w"], [names[0]], name=f"{scope}/MatMul"),
            helper.make_node(
                "Add", [names[0], "mask" if hub else "m"], [names[1]], name=f"{scope}/Add"
            ),
            helper.make_node("Sigmoid", [names[1]], [names[2]], name=f"{scope}/Sigmoid"),
            helper.make_node("Mul", [names[1], names[2]], [names[3]], name=f"{scope}/Mul"),
        ]
        last = names[3]
    nodes.append(helper.make_node("Identity", [last], ["y"], name="/Identity"))
    value = helper.make_tensor_value_info
    return helper.make_model(
        helper.make_graph(
            nodes,
            "tiny",
            [value("x", TensorProto.FLOAT, [4, 4]), value("m", TensorProto.FLOAT, [4, 4])],
            [value("y", TensorProto.FLOAT, [4, 4])],
            [helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [0.5] * 16)],
        )
    )


@pytest.fixture
def show(page: Any) -> Iterator[Open]:
    opened: list[netloupe.Explorer] = []

    def open_model(model: onnx.ModelProto | Path | bytes, **view: Any) -> Stand:
        explorer = netloupe.explore(model, height=900, **view)
        opened.append(explorer)
        return Stand(page, explorer)

    yield open_model
    for explorer in opened:
        explorer.close()


def test_opening_sends_only_what_is_new_and_keeps_the_place(show: Open) -> None:
    stand = show(CNN, expand="none")
    group = next(path for path in stand.call("paths") if path.endswith("/"))
    before = stand.locate(group)
    stand.double_click(group)
    assert stand.asked[-1]["type"] == "toggle"
    header = stand.headers[-1]
    assert header["since"] == stand.headers[-2]["number"]
    assert header["levels"] == 2  # of the group and of what is around it
    after = stand.locate(group)
    assert after == pytest.approx(before, abs=2.0)
    stand.double_click(group)
    assert stand.locate(group) == pytest.approx(before, abs=2.0)


def test_a_second_view_gets_a_whole_scene(show: Open) -> None:
    stand = show(CNN, expand="none")
    # what builds on a scene that this page has not got
    header, buffers = stand.explorer._session.encode(stand.explorer._session.compose())
    header["since"] = 1000
    stand.explorer.canvas.push_scene(header, buffers)
    stand.settle()
    assert stand.asked[-1]["type"] == "scene"
    assert stand.headers[-1]["since"] is None
    assert not stand.page.locator(".nl-error").count()


def test_value_with_many_consumers_lights_up_and_leads_to_each(show: Open) -> None:
    stand = show(make_model(12), grouping="none")
    stand.explorer.select("main/%mask")
    stand.settle()
    assert "mask" in (stand.chip("places") or "")
    assert "12 places" in (stand.chip("places") or "")
    assert stand.stats["lit"] == 12
    stand.press("n")
    assert "1 of 12" in (stand.chip("places") or "")
    assert stand.call("locate", "main/layers.0/Add")
    stand.press("p")
    assert "12 of 12" in (stand.chip("places") or "")
    assert stand.call("locate", "main/layers.11/Add")
    stand.button("Next place (N)")
    assert "1 of 12" in (stand.chip("places") or "")
    stand.press("g")
    assert stand.call("locate", "main/mask/Relu")
    assert stand.selected == "main/%mask"


def test_a_stub_of_several_values_selects_all_of_them(show: Open) -> None:
    stand = show(make_file(30, 10), grouping="names", expand="none")
    explorer = stand.explorer
    names = {"main/%mask", *(f"main/%v{number}" for number in range(30))}
    stand.press("f")
    stand.click("main/%v0")
    assert explorer.selection == stand.selected == "main/%v0"
    assert set(explorer.selected_paths) == names
    assert {value.path for value in explorer.selected_elements} == names
    assert "v0 and 30 more" in (stand.chip("places") or "")
    assert "10 places" in (stand.chip("places") or "")
    assert stand.stats["lit"] == 10
    description = explorer.inspector.description
    assert description is not None
    assert {row.path for row in description.sections[0].rows} == names
    # one of them alone, though it is drawn with the others
    explorer.select("main/%v7")
    stand.settle()
    assert explorer.selected_paths == ("main/%v7",)
    assert "v7 · 10 places" in (stand.chip("places") or "").replace("\n", " · ")
    # and all of them again, from Python; each has its own producer now
    explorer.open("main/give/")
    explorer.select(sorted(names))
    stand.settle()
    assert "31 producers" in (stand.chip("places") or "")
    stand.press("g")
    first = stand.call("locate", "main/give/r0")
    stand.press("g")
    assert stand.call("locate", "main/give/r0") != first
    # a click on nothing ends it
    stand.press("f")
    stand.page.mouse.click(650, 700)
    stand.settle()
    assert explorer.selected_paths == ()
    assert stand.chip("places") is None


def test_upstream_downstream_and_between(show: Open) -> None:
    stand = show(make_model(3, hub=False), grouping="none")
    stand.explorer.select("main/layers.1/Add")
    stand.settle()
    stand.press("u")
    assert "Upstream of Add" in (stand.chip("trace") or "")
    upstream = stand.stats["lit"]
    stand.press("d")
    assert "Up and downstream of Add" in (stand.chip("trace") or "")
    assert stand.stats["lit"] > upstream
    stand.press("u")
    assert "Downstream of Add" in (stand.chip("trace") or "")
    stand.press("Escape")
    assert stand.chip("trace") is None
    assert stand.stats["lit"] is None
    # from the first node of a layer to its last, the second by shift and click
    stand.press("f")
    stand.explorer.select("main/layers.1/MatMul")
    stand.settle()
    stand.press("f")
    stand.page.keyboard.down("Shift")
    stand.click("main/layers.1/Mul")
    stand.page.keyboard.up("Shift")
    assert "MatMul ⇢ Mul · 4 boxes" in (stand.chip("trace") or "")
    assert stand.selected == "main/layers.1/MatMul"


def test_focus_widens_and_leads_back(show: Open) -> None:
    stand = show(make_model(5, hub=False), grouping="none")
    every = set(stand.call("paths"))
    stand.explorer.select("main/layers.2/Add")
    stand.settle()
    stand.press("h")
    assert stand.asked[-1] == stand.asked[-1] | {
        "type": "focus", "path": "main/layers.2/Add", "hops": 2
    }  # fmt: skip
    assert "Focus: Add" in (stand.chip("focus") or "")
    near = set(stand.call("paths"))
    assert "main/layers.2/Add" in near
    assert "main/layers.0/MatMul" not in near
    stand.button("A hop more")
    assert "3 hops" in (stand.chip("focus") or "")
    assert len(stand.call("paths")) > len(near)
    stand.press("Escape")
    assert stand.chip("focus") is None
    assert set(stand.call("paths")) == every


def test_a_wrong_name_is_switched_off_in_the_menu_of_its_group(show: Open) -> None:
    stand = show(CNN, expand="none")
    view = stand.explorer._views.current
    item = next(
        item
        for item in view.root.children
        if isinstance(item.element, Group) and item.element.recognised is not None
    )

    def find_group() -> Group:
        found = stand.explorer._views.current.items[item.key].element
        assert isinstance(found, Group)
        return found

    label = "Wrong name: show its nodes"
    stand.click(item.path, button="right")
    stand.choose(label)
    assert find_group().recognised is None
    assert stand.explorer._views.current.items[item.key].is_open
    stand.press("m")
    menu = stand.page.locator(".nl-menu")
    assert "Close" in menu.inner_text()
    assert label not in menu.inner_text()
    stand.page.keyboard.press("Escape")
    stand.press("Control+z")
    assert find_group().recognised is not None
    assert not stand.explorer._views.current.items[item.key].is_open


def test_context_menu_of_a_box_and_of_the_ground(show: Open) -> None:
    stand = show(make_model(3, hub=False), grouping="none")
    stand.click("main/layers.0/Add", button="right")
    stand.choose("Light up downstream")
    assert stand.selected == "main/layers.0/Add"
    assert "Downstream of Add" in (stand.chip("trace") or "")
    stand.page.mouse.click(5, 500, button="right")
    stand.settle()
    stand.choose("Run to the right")
    assert stand.explorer.canvas.direction == "LR"
    assert stand.headers[-1]["direction"] == "LR"
    stand.press("m")
    rows = stand.page.locator(".nl-menu-entry")
    rows.nth(2).hover()  # takes the mark from the first row, which had the keyboard
    colours = rows.evaluate_all("(all) => all.map((row) => getComputedStyle(row).backgroundColor)")
    assert [colour != colours[-1] for colour in colours[:4]] == [False, False, True, False]
    stand.page.keyboard.press("Escape")
    assert not stand.page.locator(".nl-menu").is_visible()
    stand.button("More")
    stand.choose("Dark")
    assert stand.explorer.canvas.theme == "dark"
    assert stand.page.locator(CANVAS).get_attribute("data-theme") == "dark"


def test_flat_picture_of_many_boxes_is_asked_about(
    show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netloupe.explorer.session.requests.SURE_ABOVE", 10)
    stand = show(make_model(4), grouping="names", expand="none")
    stand.button("More")
    stand.choose("Show everything as it stands in the file")
    question = stand.page.locator(".nl-question")
    assert "18 boxes" in question.inner_text()
    stand.page.get_by_text("Leave it").click()
    stand.settle()
    assert not question.is_visible()
    assert "main/layers.0/Add" not in stand.call("paths")
    stand.button("More")
    stand.choose("Show everything as it stands in the file")
    stand.page.get_by_text("Draw it").click()
    stand.settle()
    assert "main/layers.0/Add" in stand.call("paths")
    assert stand.explorer.canvas.grouping == "none"


def test_repeats_are_stepped_through_and_unrolled(show: Open) -> None:
    stand = show(make_model(6), grouping="auto", expand="none")
    repeat = next(path for path in stand.call("paths") if "layers.0-5" in path)
    stand.explorer.open(repeat)
    stand.settle()
    stand.explorer.select(repeat)
    stand.settle()
    control = stand.page.locator(f'[data-netloupe-repeat="{repeat}"]')
    first = control.inner_text()
    assert "of 6" in first
    stand.button("Next repetition")
    assert stand.asked[-1]["type"] == "shown"
    assert "of 6" in control.inner_text()
    assert control.inner_text() != first
    stand.button("Show all repetitions")
    assert stand.asked[-1]["type"] == "unroll"
    assert sum(f"main/layers.{k}/" in stand.call("paths") for k in range(6)) == 6
    stand.press("f")
    stand.press("z")
    stand.button("Show one repetition")
    assert stand.asked[-1]["type"] == "fold"


def test_the_title_of_an_open_repeat_selects_the_repetition_it_shows(show: Open) -> None:
    stand = show(make_model(6), grouping="auto", expand="none")
    explorer = stand.explorer
    repeat = next(path for path in stand.call("paths") if "layers.0-5" in path)
    stand.click(repeat)
    assert explorer.selection == repeat  # closed, it stands for all
    stand.press("Enter")
    assert explorer.selection == repeat
    stand.click(repeat)
    shown = explorer.selection
    assert shown in {f"main/layers.{number}/" for number in range(6)}
    assert explorer.selected.path == shown
    assert shown in stand.call("paths")
    stand.button("Next repetition")
    following = f"main/layers.{int(shown[-2]) + 1}/"
    assert explorer.selection == stand.selected == following
    assert explorer.inspector.description.path == following
    live = stand.page.locator("[aria-live]").first
    assert "of 6 of" in live.inner_text()
    stand.button("Show all repetitions")
    assert explorer.selection == following
    assert stand.call("locate", following) is not None
    stand.button("Show one repetition")
    assert explorer.selection == following
    assert following in stand.call("paths")
    stand.press("Enter")  # closed again, it stands for all
    assert explorer.selection == stand.selected == repeat
    stand.double_click(repeat)
    stand.double_click(repeat)
    assert explorer.selection == stand.selected == repeat


def test_progress_is_shown_and_cancelled(show: Open) -> None:
    stand = show(CNN)
    canvas = stand.explorer.canvas
    canvas.send({"type": "busy", "id": None, "message": "laying out", "share": 0.25})
    stand.pump()
    bar = stand.page.locator(".nl-progress")
    stand.page.wait_for_selector('.nl-progress[aria-valuenow="25"]')
    assert "laying out 25 %" in bar.inner_text()
    # the picture can be moved meanwhile
    before = stand.stats["zoom"]
    stand.page.keyboard.press("+")
    stand.press("+")
    assert stand.stats["zoom"] > before
    bar.get_by_text("Cancel").click()
    stand.settle()
    assert stand.asked[-1]["type"] == "cancel"
    canvas.send({"type": "idle", "id": None})
    stand.settle()
    assert not bar.is_visible()


def test_help_lists_the_keys(show: Open) -> None:
    stand = show(CNN)
    stand.press("?")
    help_text = stand.page.locator(".nl-help").inner_text()
    assert "upstream, downstream" in help_text
    stand.page.keyboard.press("Escape")
    assert not stand.page.locator(".nl-help").is_visible()
    assert stand.page.evaluate(f"document.activeElement.matches('{CANVAS}')")


def test_zoom_to_the_selection_and_fit(show: Open) -> None:
    stand = show(make_model(10, hub=False), grouping="none")
    stand.press("f")
    fitted = stand.stats["zoom"]
    stand.explorer.select("main/layers.5/Add")
    stand.settle()
    stand.press("f", "z")
    x, y = stand.locate("main/layers.5/Add")
    assert stand.stats["zoom"] > 1
    size = stand.page.locator(".nl-picture").bounding_box()
    assert abs(x - size["x"] - size["width"] / 2) < 80
    assert abs(y - size["y"] - size["height"] / 2) < 80
    stand.press("f")
    assert stand.stats["zoom"] == pytest.approx(fitted)


def make_wide_model(nodes: int) -> onnx.ModelProto:
    """Return nodes beside each other, each with an input of its own."""
    value = helper.make_tensor_value_info
    return helper.make_model(
        helper.make_graph(
            [
                helper.make_node("Relu", [f"in_{k}"], [f"out_{k}"], name=f"r{k}")
                for k in range(nodes)
            ],
            "wide",
            [value(f"in_{k}", TensorProto.FLOAT, [4]) for k in range(nodes)],
            [value(f"out_{k}", TensorProto.FLOAT, [4]) for k in range(nodes)],
        )
    )


def resize(stand: Stand, width: int) -> None:
    stand.page.set_viewport_size({"width": width, "height": 1000})
    stand.page.wait_for_function(
        f"(width) => Math.abs(document.querySelector('{CANVAS}').clientWidth - width) < 40",
        arg=width,
    )
    stand.settle()


def test_first_view_is_fitted_again_until_the_window_is_moved(show: Open) -> None:
    stand = show(make_wide_model(8))
    resize(stand, 1500)
    wide = stand.stats["zoom"]
    resize(stand, 600)
    assert stand.stats["zoom"] < 0.8 * wide
    assert all(stand.call("locate", f"main/r{k}") for k in range(8))
    resize(stand, 1500)
    assert stand.stats["zoom"] == pytest.approx(wide)
    stand.press("-")
    moved = stand.stats["zoom"]
    resize(stand, 600)
    assert stand.stats["zoom"] == pytest.approx(moved)


def test_first_view_stays_once_something_is_selected_in_it(show: Open) -> None:
    stand = show(make_wide_model(8))
    resize(stand, 1500)
    stand.click("main/r3")
    before = stand.stats["zoom"]
    resize(stand, 600)
    assert stand.stats["zoom"] == pytest.approx(before)


def test_show_all_of_a_picture_that_is_all_length_can_be_seen(page: Any, show: Open) -> None:
    stand = show(make_model(1500, hub=False), grouping="none")
    stand.explorer.canvas.height = 220
    stand.settle()
    stand.press("f")
    page.wait_for_function(f"() => !document.querySelector('{CANVAS}').netloupe.stats().busy")
    first, last = (stand.locate(path) for path in ("main/layers.0/MatMul", "main/Identity"))
    place = stand.page.locator(".nl-picture").bounding_box()
    assert last[1] - first[1] > place["height"] / 2
    # something other than the ground is painted in the row of the middle of the picture
    colours = page.evaluate(
        f"""() => {{
          const canvas = document.querySelector('{CANVAS}').shadowRoot.querySelector(".nl-picture");
          const row = canvas.getContext("2d")
            .getImageData(0, Math.round(canvas.height / 2), canvas.width, 1).data;
          let seen = 0;
          for (let at = 0; at < row.length; at += 4)
            if (Math.abs(row[at] - row[0]) + Math.abs(row[at + 2] - row[2]) > 60) seen++;
          return seen;
        }}"""
    )
    assert colours > 0


def make_narrow_stack() -> onnx.ModelProto:
    """Return alike blocks of which one, when it is open, is no wider than its title."""
    nodes, last = [], "x"
    for number in range(6):
        scope = f"/blocks_of_the_first_encoder.{number}"
        for operator in ("Tanh", "Sin"):
            output = f"{scope}/{operator}_out"
            name = f"{scope}/{operator}"
            nodes.append(helper.make_node(operator, [last], [output], name=name))
            last = output
    ends = [helper.make_tensor_value_info(name, 1, ["N"]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def leave_room(stand: Stand, repeat: str, room: float) -> None:
    """Move the picture so that the window ends so far behind the name of a repeat."""
    around, frame = stand.page.locator(".nl-picture").bounding_box(), stand.call("bounds", repeat)
    name = measure_text("blocks_of_the_first_encoder.0 … 5", *TEXT_STYLES["title"])
    assert frame["width"] > name + room
    x, y = around["x"] + 3, around["y"] + around["height"] / 2  # beside everything
    mouse = stand.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + around["width"] - frame["x"] - 14 - name - room, y, steps=4)
    mouse.up()
    stand.settle()


def test_the_arrows_of_a_stepper_stand_beside_a_title_that_leaves_little_room(show: Open) -> None:
    stand = show(make_narrow_stack(), expand="none")
    (repeat,) = [path for path in stand.call("paths") if "blocks_of" in path and path[-1] == "/"]
    stand.explorer.open(repeat)
    stand.settle()
    control = stand.page.locator(f'.nl-stepper[data-netloupe-repeat="{repeat}"]')
    control.wait_for(state="visible")
    assert control.get_attribute("data-netloupe-form") == "whole"  # the frame has room for it
    leave_room(stand, repeat, 80)
    control = stand.page.locator(f'.nl-stepper[data-netloupe-repeat="{repeat}"]')
    control.wait_for(state="visible")
    assert control.get_attribute("data-netloupe-form") == "short"
    assert control.inner_text().strip() == ""
    control.get_by_title("Next repetition").click()
    stand.settle()
    assert stand.asked[-1]["type"] == "shown"
    assert find_faults(stand.page) == []


def test_a_narrow_open_stack_has_its_stepper_under_the_pointer_and_by_keyboard(show: Open) -> None:
    stand = show(make_narrow_stack(), expand="none", direction="LR")
    page = stand.page
    (repeat,) = [path for path in stand.call("paths") if "blocks_of" in path and path[-1] == "/"]
    stand.explorer.open(repeat)
    stand.settle()
    leave_room(stand, repeat, 30)
    control = page.locator(f'.nl-stepper[data-netloupe-repeat="{repeat}"]')
    control.wait_for(state="attached")
    assert control.get_attribute("data-netloupe-form") == "over"
    assert not control.is_visible()

    x, y = stand.locate("main/blocks_of_the_first_encoder.0/Tanh")
    page.mouse.move(x, y)  # anywhere in the frame
    control.wait_for(state="visible")
    assert "of 6" in control.inner_text()
    at, frame = control.bounding_box(), stand.call("bounds", repeat)
    around = page.locator(".nl-picture").bounding_box()
    assert at["y"] + at["height"] < around["y"] + frame["y"] + 6  # above the line of the title
    control.get_by_title("Next repetition").click()
    stand.settle()
    assert stand.asked[-1]["type"] == "shown"
    assert "2 of 6" in control.inner_text()
    page.mouse.click(around["x"] + 3, around["y"] + around["height"] / 2)  # beside everything
    control.wait_for(state="hidden")

    stand.explorer.select(repeat)
    stand.settle()
    control.wait_for(state="visible")
    control.get_by_title("Previous repetition").focus()
    page.keyboard.press("Tab")
    for number in (3, 4):  # the button keeps the keyboard
        page.keyboard.press("Enter")
        stand.settle()
        control.wait_for(state="visible")
        assert f"{number} of 6" in control.inner_text()


def test_words_of_a_stepper_stand_on_the_ground_of_its_group(show: Open) -> None:
    stand = show(CNN)
    stand.explorer.open("main/blocks/0-3/")
    stand.settle()
    stepper = stand.page.locator(".nl-stepper").first
    stepper.wait_for(state="attached")
    style = "(element) => getComputedStyle(element).backgroundColor"
    assert stepper.evaluate(style) == "rgb(239, 245, 254)"


def test_minimap_moves_the_window(show: Open) -> None:
    stand = show(make_model(30, hub=False), grouping="none")
    last = "main/Identity"
    assert stand.call("locate", last) is None
    stand.press("+", "-")  # it shows while the window moves
    place = stand.page.locator(".nl-minimap").bounding_box()
    stand.page.mouse.move(place["x"] + place["width"] / 2, place["y"] + 10)
    stand.page.mouse.down()
    stand.page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] - 6)
    stand.page.mouse.up()
    stand.settle()
    assert stand.call("locate", last) is not None


def test_reduced_motion_changes_at_once(page: Any, show: Open) -> None:
    page.emulate_media(reduced_motion="reduce")
    stand = show(CNN, expand="none")
    group = next(path for path in stand.call("paths") if path.endswith("/"))
    page.mouse.dblclick(*stand.locate(group))
    while len(stand.headers) < 2:
        page.wait_for_timeout(20)
        stand.pump()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")
    assert not stand.stats["busy"]
