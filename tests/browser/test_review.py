"""The Review tab in Chromium: in a page of a server, and in a file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import netloupe
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.review import Review, ReviewItem
from netloupe.explorer.session import checking
from netloupe.explorer.view import ViewOptions
from netloupe.live.server import LiveServer
from tests.browser.hostile_style import HOSTILE, RECTANGLES
from tests.browser.live_servers import live_servers
from tests.browser.shown_page import API, CANVAS, ShownPage
from tests.browser.test_paint import count_pixels

pytestmark = pytest.mark.browser

REVIEW = '[data-netloupe="review"]'
FAULTY = "main/model/transformer/h.3/attn/Transpose"
GEMMS = tuple(f"main/model/transformer/h.{n}/mlp/c_fc/Gemm" for n in range(12))


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return twelve blocks, of which one has a node with an attribute that there is not."""
    nodes, weights, last = [], [], "x"
    for block in range(12):
        scope = f"/model/transformer/h.{block}"
        weights.append(helper.make_tensor(f"w.{block}", TensorProto.FLOAT, [4, 4], range(16)))
        for name, op_type, others in (
            ("attn/Transpose", "Transpose", []),
            ("attn/Softmax", "Softmax", []),
            ("mlp/c_fc/Gemm", "Gemm", [f"w.{block}"]),
            ("mlp/act/Relu", "Relu", []),
        ):
            name = f"{scope}/{name}"
            nodes.append(helper.make_node(op_type, [last, *others], [name], name))
            last = name
    nodes.append(helper.make_node("Identity", [last], ["y"], "/Identity"))
    (node,) = [n for n in nodes if n.name == FAULTY.removeprefix("main")]
    node.attribute.append(helper.make_attribute("axes", [0, 1]))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4]) for name in "xy")
    model = helper.make_model(helper.make_graph(nodes, "blocks", [x], [y], weights))
    file = tmp_path_factory.mktemp("faulty") / "faulty.onnx"
    onnx.save(model, file)
    return file


class ReviewPage(ShownPage):
    """A page with the Review tab open."""

    def open_tab(self) -> None:
        self.page.get_by_role("tab", name="Review").click()
        self.page.wait_for_selector(f'{REVIEW}[data-tab="review"]')

    def wait_for_stage(self, stage: str) -> None:
        self.page.wait_for_selector(f'{REVIEW}[data-stage="{stage}"]')

    @property
    def rows(self) -> Any:
        return self.page.locator(f"{REVIEW} .nl-review-row")

    @property
    def detail(self) -> Any:
        return self.page.locator(f"{REVIEW} .nl-review-detail")

    def chosen(self) -> int:
        """Return the number of the item that is unfolded; -1 for none."""
        found = self.page.locator(f"{REVIEW} .nl-chosen")
        return int(found.get_attribute("data-item")) if found.count() else -1

    def focused(self) -> int:
        """Return the number of the item that has the keyboard; -1 for none."""
        number = self.page.evaluate(
            f"""() => document.querySelector('{REVIEW}').shadowRoot.activeElement
                ?.closest("li")?.dataset.item ?? -1"""
        )
        return int(number)

    def wait_for_selection(self, path: str) -> None:
        self.page.wait_for_selector(f'{CANVAS}[data-selected="{path}"]')
        self.page.wait_for_function(f"(path) => {API}.locate(path) !== null", arg=path)
        self.settle()

    def marks(self) -> int:
        """Return how many boxes are marked."""
        script = f"""() => document.querySelector('{REVIEW}').shadowRoot
            .querySelector(".nl-review-marks").getAttribute("aria-pressed")"""
        return int(self.page.evaluate(script) == "true")


@pytest.fixture
def serve(page: Any, faulty: Path) -> Iterator[Callable[..., ReviewPage]]:
    options = ViewOptions.parse({"wrap": False, "expand": "none"})
    with live_servers() as run:
        running = run(lambda: LiveServer(netloupe.load(faulty), options, "right"))
        yield lambda: ReviewPage(page, running.server.address)


@pytest.fixture
def write(page: Any, tmp_path: Path) -> Callable[..., ReviewPage]:
    def make(model: Any, review: Any, **view: Any) -> ReviewPage:
        file = tmp_path / "page.html"
        model.to_html(file, review=review, expand="none", **view)
        return ReviewPage(page, file.as_uri())

    return make


def make_items(count: int) -> Review:
    """Return a review of very many items, every tenth of them an error."""
    return Review(
        tuple(
            ReviewItem(
                "finding",
                "minor" if n % 10 else "error",
                f"Finding number {n}",
                "here",
                "NL-G02",
                (GEMMS[n % 12],),
                (("found", "x" * (n % 300)),),
            )
            for n in range(count)
        )
    )


# what is checked, and when


def test_a_model_is_checked_after_its_picture_and_a_finding_is_shown(serve: Any) -> None:
    shown = serve()
    shown.wait_for_stage("checked")
    badge = shown.page.locator(f"{REVIEW} .nl-tab-badge")
    assert int(badge.inner_text()) >= 1
    shown.open_tab()
    assert "Operators" not in shown.page.inner_text(".nl-inspector")
    assert "1 error" in shown.page.inner_text(f"{REVIEW} .nl-review-headline")
    assert FAULTY not in shown.paths()
    shown.rows.first.click()
    shown.wait_for_selection(FAULTY)
    assert shown.detail.get_by_text("Transpose has no attribute 'axes'").is_visible()
    # the repeat shows the repetition that it is in
    assert "shows h.3\n4 of 12" in shown.page.inner_text(f"{CANVAS} .nl-foot")
    shown.page.get_by_role("tab", name="Inspect").click()
    shown.page.wait_for_selector(".nl-inspector >> text=Transpose")


def test_weights_are_read_when_asked_for(serve: Any) -> None:
    shown = serve()
    shown.wait_for_stage("checked")
    shown.open_tab()
    status = shown.page.locator(f"{REVIEW} .nl-review-status")
    assert "Weights were not read." in status.inner_text()
    foot = shown.page.locator(f"{REVIEW} .nl-review-foot")
    # what was not checked is told by names, and a long list is folded
    summary = foot.locator("summary")
    assert summary.inner_text().startswith(
        "Weights were not read: NL-X04 broken-tying, NL-N01 nan-"
    )
    assert foot.get_by_text("NL-G03 copied-initializer").is_hidden()
    summary.click()
    assert foot.get_by_text("NL-G03 copied-initializer").is_visible()
    shown.page.get_by_role("button", name="read the weights").click()
    status.wait_for(state="hidden")
    assert shown.page.locator(f"{REVIEW} .nl-review-foot-row").count() == 0


def test_reading_weights_can_be_stopped(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    def work(*_: Any) -> None:
        begun.set()
        while True:
            netloupe.explorer.progress.step("reading", 0.4)

    monkeypatch.setattr(checking, "check_weights", work)
    shown = serve()
    shown.wait_for_stage("checked")
    shown.open_tab()
    shown.page.get_by_role("button", name="read the weights").click()
    shown.wait_for_stage("reading")
    assert begun.wait(30)
    shown.page.wait_for_function(
        f"""() => document.querySelector('{REVIEW}').shadowRoot
            .querySelector("progress").value === 0.2"""
    )
    shown.page.get_by_role("button", name="stop").click()
    shown.wait_for_stage("checked")
    shown.page.get_by_role("button", name="read the weights").wait_for()


def test_an_error_is_told_in_the_tab(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise NetloupeError("the weights <b>are</b> gone")

    monkeypatch.setattr(checking, "check_weights", refuse)
    shown = serve()
    shown.wait_for_stage("checked")
    shown.open_tab()
    shown.page.get_by_role("button", name="read the weights").click()
    shown.page.get_by_text("the weights <b>are</b> gone").wait_for()


def test_marks_come_with_the_list_and_go(serve: Any) -> None:
    shown = serve()
    shown.wait_for_stage("checked")
    shown.settle()
    assert shown.marks() == 0
    shown.open_tab()
    shown.rows.first.click()
    shown.wait_for_selection(FAULTY)
    marks = shown.page.locator(f"{REVIEW} .nl-review-marks")
    # the list brings them, which may come behind the selection
    wait_until(shown.page, lambda: marks.get_attribute("aria-pressed") == "true")
    shown.settle()
    marked = shown.page.locator(CANVAS).screenshot()
    marks.click()
    wait_until(shown.page, lambda: shown.page.locator(CANVAS).screenshot() != marked)
    shown.settle()
    plain = shown.page.locator(CANVAS).screenshot()
    assert plain != marked
    assert marks.get_attribute("aria-pressed") == "false"
    shown.page.locator(f"{REVIEW} .nl-tab").first.click()  # they stay away now
    shown.open_tab()
    assert marks.get_attribute("aria-pressed") == "false"
    marks.click()
    wait_until(shown.page, lambda: shown.page.locator(CANVAS).screenshot() != plain)


# the list


def test_the_keyboard_goes_through_the_list(write: Any, faulty: Path) -> None:
    shown = write(netloupe.load(faulty), make_items(40))
    shown.open_tab()
    press = shown.page.keyboard.press
    shown.rows.first.focus()
    press("ArrowDown")
    press("ArrowDown")
    assert (shown.focused(), shown.chosen()) == (2, -1)
    press("Enter")
    assert (shown.focused(), shown.chosen()) == (2, 2)
    shown.wait_for_selection(GEMMS[2])
    press("n")
    assert (shown.focused(), shown.chosen()) == (3, 3)
    shown.wait_for_selection(GEMMS[3])
    press("p")
    press("p")
    assert (shown.focused(), shown.chosen()) == (1, 1)
    shown.wait_for_selection(GEMMS[1])
    press("End")
    assert shown.focused() == 39
    press("n")
    assert shown.chosen() == 2  # goes on from the item that is unfolded, wherever the keyboard is
    press("Home")
    assert shown.focused() == 0
    press("Enter")
    press("Enter")
    assert shown.chosen() == -1
    press("/")
    shown.page.keyboard.type("number 39")
    shown.page.wait_for_function(
        f"""() => document.querySelector('{REVIEW}').shadowRoot
            .querySelectorAll("li").length === 1"""
    )
    press("ArrowDown")
    assert shown.focused() == 39


def test_filters_narrow_the_list_and_count(write: Any, faulty: Path) -> None:
    shown = write(netloupe.load(faulty), make_items(40))
    shown.open_tab()
    chip = shown.page.get_by_role("button", name="error 4")
    chip.click()
    assert shown.rows.count() == 4
    assert shown.page.get_by_role("button", name="error 4").get_attribute("aria-pressed") == "true"
    shown.page.get_by_label("Filter by words").fill("number 30")
    shown.page.get_by_role("button", name="error 1").wait_for()
    assert shown.rows.all_inner_texts() == ["!\nFinding number 30\nNL-G02\nhere · " + "x" * 30]
    shown.rows.first.click()
    shown.wait_for_selection(GEMMS[30 % 12])
    shown.page.keyboard.press("Escape")
    shown.page.get_by_label("Filter by words").fill("nothing like it")
    shown.page.wait_for_function(
        f"() => !document.querySelector('{REVIEW}').shadowRoot.querySelector('li')"
    )


def test_the_places_of_an_item_are_gone_through(write: Any, faulty: Path) -> None:
    item = ReviewItem("finding", "warning", "t", "w", "NL-G02", GEMMS, count=5_000, why="why so")
    shown = write(netloupe.load(faulty), Review((item,)))
    shown.open_tab()
    shown.rows.first.click()
    shown.wait_for_selection(GEMMS[0])
    assert "1 of the first 12" in shown.detail.inner_text()
    shown.page.get_by_role("button", name="Next place").click()
    shown.wait_for_selection(GEMMS[1])
    assert "2 of the first 12" in shown.detail.inner_text()
    shown.page.keyboard.press("ArrowLeft")
    shown.page.keyboard.press("ArrowLeft")
    shown.wait_for_selection(GEMMS[11])
    shown.page.get_by_role("button", name="explain").click()
    assert shown.detail.get_by_text("why so").is_visible()
    assert shown.detail.get_by_text("netloupe check").count() == 0


def test_of_ten_thousand_items_few_stand_in_the_page(write: Any, faulty: Path) -> None:
    shown = write(netloupe.load(faulty), make_items(10_000))
    shown.open_tab()
    scroll = shown.page.locator(f"{REVIEW} .nl-review-scroll")
    frames = shown.page.evaluate(
        f"""async () => {{
            const scroll = document.querySelector('{REVIEW}').shadowRoot
                .querySelector(".nl-review-scroll");
            const frame = () => new Promise(requestAnimationFrame);
            const rows = [];
            for (let k = 0; k < 60; k++) {{
                scroll.scrollTop += 731;
                await frame();
                await frame();
                const seen = [...scroll.querySelectorAll("li")].map((row) => ({{
                    number: Number(row.dataset.item), box: row.getBoundingClientRect(),
                }}));
                const box = scroll.getBoundingClientRect();
                const covered = seen
                    .filter(({{box: r}}) => r.bottom > box.top && r.top < box.bottom)
                    .reduce((sum, {{box: r}}) =>
                        sum + Math.min(r.bottom, box.bottom) - Math.max(r.top, box.top), 0);
                rows.push([seen.length, Math.round(covered - box.height)]);
            }}
            return rows;
        }}"""
    )
    assert all(count < 60 for count, _ in frames)
    assert all(gap == 0 for _, gap in frames)  # nothing is left blank
    scroll.evaluate("(scroll) => scroll.scrollTo(0, 9e9)")
    shown.page.locator(f"{REVIEW} li[data-item='9999']").wait_for()
    shown.page.locator(f"{REVIEW} li[data-item='9999'] button").first.click()
    shown.wait_for_selection(GEMMS[9_999 % 12])
    assert shown.detail.is_visible()
    shown.page.get_by_label("Filter by words").fill("number 777")
    shown.page.wait_for_function(
        f"""() => document.querySelector('{REVIEW}').shadowRoot
            .querySelector("li").getAttribute("aria-setsize") === "19" """
    )


def test_a_file_without_a_review_has_no_tabs(page: Any, tmp_path: Path, faulty: Path) -> None:
    file = tmp_path / "page.html"
    netloupe.load(faulty).to_html(file)
    ShownPage(page, file.as_uri())
    assert page.locator(REVIEW).count() == 0


def test_texts_of_a_model_stay_texts(write: Any, faulty: Path) -> None:
    evil = '<img src=x onerror="window.evil=1">'
    item = ReviewItem(
        "finding", "error", evil, evil, evil, (evil,), ((evil, evil),), evil, evil, evil
    )
    shown = write(netloupe.load(faulty), Review((item,), evil, evil, ((evil, evil),)))
    shown.open_tab()
    shown.rows.first.click()
    shown.page.get_by_role("button", name="explain").click()
    assert shown.page.locator(f"{REVIEW} img").count() == 0
    assert shown.page.evaluate("window.evil") is None


def test_the_tab_is_as_high_as_its_room_at_any_width(write: Any, faulty: Path) -> None:
    shown = write(netloupe.load(faulty), make_items(40))
    shown.open_tab()
    for width in (500, 760, 1_200, 2_000):
        shown.page.set_viewport_size({"width": width, "height": 900})
        shown.page.wait_for_function("(width) => innerWidth === width", arg=width)
        shown.settle()
        around = shown.page.locator(".nl-inspector").bounding_box()
        scroll = shown.page.locator(f"{REVIEW} .nl-review-scroll").bounding_box()
        assert scroll["height"] > 100, width
        assert scroll["y"] + scroll["height"] <= around["y"] + around["height"] + 1
        wide = shown.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, width


# notes


def add_note(shown: ReviewPage, text: str) -> None:
    shown.page.get_by_role("button", name="+ note").click()
    shown.page.get_by_label("Note on").fill(text)
    shown.page.get_by_role("button", name="add note").click()
    shown.page.get_by_text(f"“{text}”").first.wait_for()


def test_a_note_on_a_page_is_in_the_file_beside_the_model(serve: Any, faulty: Path) -> None:
    shown = serve()
    shown.wait_for_stage("checked")
    shown.open_tab()
    assert shown.page.get_by_role("button", name="+ note").is_disabled()
    shown.rows.first.click()
    shown.wait_for_selection(FAULTY)
    add_note(shown, "ask who exported this")
    kept = faulty.with_name(f"{faulty.name}.notes.jsonl")
    assert "ask who exported this" in kept.read_text()
    shown.page.reload()
    shown.wait_for_stage("checked")
    shown.open_tab()
    shown.page.get_by_role("button", name="notes 1").click()
    shown.rows.first.click()
    shown.wait_for_selection(FAULTY)
    shown.page.get_by_role("button", name="edit").click()
    shown.page.get_by_label("The note").fill("answered")
    shown.page.get_by_role("button", name="change", exact=True).click()
    shown.page.get_by_text("“answered”").wait_for()
    shown.page.get_by_role("button", name="remove").click()
    shown.page.get_by_text("“answered”").wait_for(state="detached")
    kept.unlink()


def test_what_was_typed_of_a_note_is_kept(serve: Any) -> None:
    """Escape puts it aside, and so does a note on something else; Cancel throws it away."""
    shown = serve()
    shown.wait_for_stage("checked")
    shown.open_tab()
    page = shown.page
    field = page.get_by_label("Note on")
    add = page.get_by_role("button", name="+ note")
    shown.rows.first.click()
    shown.wait_for_selection(FAULTY)
    add.click()
    field.fill("half a thou")
    page.keyboard.press("Escape")
    assert field.is_hidden()
    add.click()
    assert field.input_value() == "half a thou"

    def select(path: str) -> None:
        place = page.evaluate(f"(path) => {API}.locate(path)", path)
        page.mouse.click(place["x"], place["y"])
        shown.wait_for_selection(path)

    beside = "main/model/transformer/h.3/attn/Softmax"
    select(beside)
    add.click()
    assert field.input_value() == ""
    field.fill("another")
    select(FAULTY)
    add.click()
    assert field.input_value() == "half a thou"
    page.get_by_role("button", name="cancel").click()
    add.click()
    assert field.input_value() == ""


def test_a_finding_is_accepted_with_a_note(serve: Any, faulty: Path) -> None:
    shown = serve()
    shown.wait_for_stage("checked")
    shown.open_tab()
    shown.rows.first.click()
    shown.wait_for_selection(FAULTY)
    shown.page.get_by_role("button", name="accept with note").click()
    form = shown.page.get_by_label("Why NL-L33 is well so")
    shown.page.get_by_role("button", name="accept", exact=True).click()
    shown.page.get_by_text("Write something first.").wait_for()
    form.fill("our runtime takes it")
    shown.page.keyboard.press("Control+Enter")
    shown.page.wait_for_function(
        f"""() => document.querySelector('{REVIEW}').shadowRoot
            .querySelector(".nl-review-headline").textContent.includes("1 accepted")"""
    )
    kept = faulty.with_name(f"{faulty.name}.notes.jsonl")
    assert netloupe.check(netloupe.load(faulty)).findings[0].suppressed
    kept.unlink()


def test_a_note_in_a_file_survives_and_is_downloaded(
    write: Any, faulty: Path, tmp_path: Path
) -> None:
    model = netloupe.load(faulty)
    shown = write(model, netloupe.check(model))
    shown.open_tab()
    shown.rows.first.click()
    shown.wait_for_selection(FAULTY)
    add_note(shown, "look at this")
    shown.page.reload()
    shown.page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    shown.open_tab()
    shown.page.get_by_text("“look at this”").first.wait_for()
    foot = shown.page.locator(f"{REVIEW} .nl-review-notes")
    assert "Notes are kept in this browser." in foot.inner_text()
    with shown.page.expect_download() as started:
        foot.get_by_role("button", name="download notes").click()
    assert started.value.suggested_filename == "faulty.onnx.notes.jsonl"
    kept = tmp_path / "downloaded.notes.jsonl"
    started.value.save_as(kept)
    again = netloupe.load(faulty)
    again.notes.open(tmp_path / "own.notes.jsonl")
    assert again.notes.merge(kept) == 1
    (note,) = again.notes
    assert (note.text, note.paths, note.state) == ("look at this", (FAULTY,), "exact")


def test_notes_of_the_file_are_changed_and_removed_on_its_page(
    write: Any, faulty: Path, tmp_path: Path
) -> None:
    model = netloupe.load(faulty)
    model.notes.open(tmp_path / "own.notes.jsonl")
    first = model.notes.add(FAULTY, "look at this", author="ana")
    second = model.notes.add(FAULTY, "and at that", author="ana")
    shown = write(model, [netloupe.check(model), model.notes])
    shown.open_tab()
    page = shown.page
    page.get_by_text("“look at this”").first.click()
    page.get_by_role("button", name="edit", exact=True).click()
    page.get_by_label("The note").fill("looked at")
    page.get_by_role("button", name="change", exact=True).click()
    page.get_by_text("“looked at”").first.wait_for()
    page.get_by_text("“and at that”").first.click()
    page.get_by_role("button", name="remove", exact=True).click()
    page.get_by_text("“and at that”").first.wait_for(state="detached")
    page.reload()  # what was done is kept, and laid over what the file has
    page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    shown.open_tab()
    page.get_by_text("“looked at”").first.wait_for()
    assert page.get_by_text("“and at that”").count() == 0
    with page.expect_download() as started:
        page.get_by_role("button", name="download notes").click()
    kept = tmp_path / "downloaded.notes.jsonl"
    started.value.save_as(kept)
    assert model.notes.merge(kept) == 2
    (note,) = model.notes
    assert (note.id, note.text, note.author, note.paths) == (
        *(first.id, "looked at", "ana"),
        (FAULTY,),
    )
    assert model.notes.removed == (second.id,)


def wait_until(page: Any, is_so: Callable[[], bool]) -> None:
    for _ in range(100):
        if is_so():
            return
        page.wait_for_timeout(100)
    assert is_so()


def test_marks_follow_the_notes_of_a_page(write: Any, faulty: Path, tmp_path: Path) -> None:
    model = netloupe.load(faulty)
    model.notes.open(tmp_path / "own.notes.jsonl")
    model.notes.add(FAULTY, "look at this")
    shown = write(model, model.notes)
    page, tone = shown.page, load_theme("light").tones["note"].strong
    assert count_pixels(shown, tone) > 20  # on the closed group around
    shown.open_tab()
    page.get_by_text("“look at this”").first.click()
    shown.wait_for_selection(FAULTY)
    assert count_pixels(shown, tone) > 20
    page.get_by_role("button", name="remove", exact=True).click()
    page.get_by_text("“look at this”").first.wait_for(state="detached")
    wait_until(page, lambda: count_pixels(shown, tone) == 0)
    page.reload()  # nobody opens the tab, and the mark stays away
    page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    wait_until(page, lambda: count_pixels(shown, tone) == 0)
    shown.open_tab()
    shown.wait_for_selection(FAULTY)
    add_note(shown, "and at that")
    wait_until(page, lambda: count_pixels(shown, tone) > 20)


# the page around


def test_rules_of_the_page_do_not_reach_the_tab(write: Any, faulty: Path) -> None:
    shown = write(netloupe.load(faulty), make_items(40))
    shown.open_tab()
    shown.rows.first.click()
    shown.wait_for_selection(GEMMS[0])
    shown.page.keyboard.press("ArrowDown")
    review = shown.page.locator(REVIEW)
    # the tab itself stands where its inspector puts it: that is pinned in the page of notebooks
    shown.page.add_style_tag(content=f"{REVIEW} {{ width: 336px !important }}")
    alone = review.evaluate(RECTANGLES)
    assert len(alone) > 60
    shown.page.add_style_tag(content=HOSTILE)
    hostile = review.evaluate(RECTANGLES)
    assert hostile == alone


def test_nothing_moves_for_those_who_want_no_motion(write: Any, faulty: Path) -> None:
    shown = write(netloupe.load(faulty), make_items(40))
    shown.page.emulate_media(reduced_motion="reduce")
    shown.open_tab()
    moving = shown.page.locator(REVIEW).evaluate(
        """(host) => [...host.shadowRoot.querySelectorAll("*")].filter((element) => {
            const { transitionDuration, animationName } = getComputedStyle(element);
            return transitionDuration !== "0s" || animationName !== "none";
        }).length"""
    )
    assert moving == 0
