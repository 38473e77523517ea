"""The documentation: it is built without a warning, is whole, and needs nothing but its files."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from sphinx.util.inventory import InventoryFile

import netloupe
from netloupe.commands.settings import _KEYS
from netloupe.explorer.checks.rules import RULES

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "tools" / "site"))

from class_pages import MADE_BY_USERS  # noqa: E402 - after the path is set
from command_pages import write_man_page  # noqa: E402
from command_reference import list_commands  # noqa: E402
from public_types import find_public_types, list_classes, list_members  # noqa: E402

#: what public names lead to and nobody needs: the machinery behind them, and words that another
#: module has for a type of its own
_MACHINERY = {
    "Analysis": "how costs are computed: Costs says what came of it",
    "Background": "in ViewKeywords the words for the ground of a picture",
    "Child": "part of a layout",
    "Comparison": "in Overlay.compare the words for how",
    "Correspondence": "how repetitions are shown",
    "Details": "in ViewKeywords the words for what stands on boxes",
    "EdgeTable": "how a view finds its edges",
    "Elements": "behind Tensor.numpy and Tensor.statistics",
    "Fact": "how costs are computed",
    "Gap": "how costs are computed",
    "GraphRun": "how costs are computed",
    "Group": "behind ModelGroup",
    "GroupBorders": "how a view finds its edges",
    "Item": "what a picture is made of",
    "Kind": "how costs are computed",
    "Level": "part of a layout",
    "LevelArrays": "part of a layout",
    "Link": "what a picture is made of",
    "MergedModel": "behind Diff.merged",
    "Numbers": "an array of numpy",
    "Occurrence": "what rules yield; Finding is what is given",
    "OpenState": "what is open in a view",
    "RepetitionOpenState": "what is open in a view",
    "Operator": "how costs are computed",
    "Payload": "stored bytes that are not decoded yet",
    "QuantizedWeight": "behind WeightAudit",
    "QuantizedWeights": "what rules look at",
    "Recognition": "behind ModelGroup.recognised",
    "Repetitions": "how repetitions are shown",
    "Statement": "behind Quantization",
    "StoredCodes": "what rules look at",
    "StoredNumbers": "what rules look at",
    "StoredRow": "stored bytes that are not decoded yet",
    "Subject": "what rules look at",
    "View": "what a picture is made of",
    "Wire": "part of a layout",
    "Wiring": "how values find their uses",
    "Work": "how costs are computed",
}


class Links(HTMLParser):
    """What a page refers to, what it loads, and what can be referred to in it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "docs"
    done = subprocess.run(
        ["tools/build_docs", str(folder)],
        cwd=_ROOT,
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    found = {}
    for path in site.rglob("*.html"):
        found[path] = Links()
        found[path].feed(path.read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def names(site: Path) -> set[str]:
    """The names of Python that the reference has a place for."""
    inventory: Any = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    return {
        name for kind in inventory.data if kind.startswith("py:") for name in inventory.data[kind]
    }


def test_pages_load_nothing_from_elsewhere(pages: dict[Path, Links]) -> None:
    assert len(pages) > 30
    for path, page in pages.items():
        for address in page.loaded:
            parts = urlsplit(address)
            assert not parts.scheme or parts.scheme == "data", f"{path}: {address}"
            if not parts.scheme:
                assert (path.parent / unquote(parts.path)).is_file(), f"{path}: {address}"


def test_links_lead_somewhere(pages: dict[Path, Links]) -> None:
    count = 0
    for path, page in pages.items():
        for address in page.links:
            parts = urlsplit(address)
            if parts.scheme in ("https", "http", "mailto"):
                assert parts.scheme != "http", f"{path}: {address}"
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path}: {address}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].ids, f"{path}: {address}"
    assert count > 1_000


def test_links_between_pages_of_the_repository() -> None:
    count = 0
    sources = [
        *_ROOT.glob("*.md"),
        *(_ROOT / "docs").rglob("*.md"),
        *_ROOT.glob("demo_notebooks/*.md"),
    ]
    for source in sources:
        text = re.sub(r"^```.*?^```", "", source.read_text("utf-8"), flags=re.M | re.S)
        for address in re.findall(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"", text):
            parts = urlsplit("".join(address))
            if parts.scheme or not parts.path:
                continue
            count += 1
            target = source.parent / parts.path
            assert target.exists(), f"{source.name}: {''.join(address)}"
            if parts.fragment:
                titles = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), flags=re.M)
                slugs = {
                    re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles
                }
                assert parts.fragment in slugs, f"{source.name}: {''.join(address)}"
    assert count > 80


@pytest.mark.browser
def test_it_is_searched_and_read_without_a_server(site: Path, page: Any) -> None:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.emulate_media(color_scheme="light")
    page.goto((site / "index.html").as_uri())
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_placeholder("Search").first.fill("clipped-codes")
    page.keyboard.press("Enter")
    page.locator("#search-results a", has_text="NL-Q17 clipped-codes").first.click()
    page.locator("h3", has_text="NL-Q17").wait_for()
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.set_viewport_size({"width": 500, "height": 900})
    for name in (
        "index",
        "tutorial",
        "gallery",
        "reference/command_line",
        "reference/python/model",
    ):
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 500, name
    assert not problems


#: what of a page is beyond its window at a side, where nothing around it can be scrolled
_BEYOND = """() => {
  const scrolls = (element) => {
    for (let one = element; one && one !== document.body; one = one.parentElement)
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(one).overflowX)) return true;
    return false;
  };
  const beyond = (box) => box.width > 0 && (box.left < -0.5 || box.right > innerWidth + 0.5);
  const article = document.querySelector("article"), found = [];
  for (const image of article.querySelectorAll("img"))
    if (beyond(image.getBoundingClientRect()) && !scrolls(image)) found.push(image.alt);
  const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(text);
    if ([...range.getClientRects()].some(beyond) && !scrolls(text.parentElement))
      found.push(text.data);
  }
  return found;
}"""
#: each picture of a table: its file, its scale, what its link is called after it, and its address
_PICTURES = """() => [...document.querySelectorAll("article td a > img")].map((image) => ({
  file: image.getAttribute("src"),
  scale: image.getBoundingClientRect().width / image.naturalWidth,
  told: getComputedStyle(image.parentElement, "::after").content,
  opens: image.parentElement.getAttribute("href"),
}))"""
#: of a picture that is open by itself: the smallest size of a text, and whether the end of it can
#: be brought into the window
_ALONE = """() => {
  const texts = [...document.querySelectorAll("text, tspan")];
  const sizes = texts.map((text) => parseFloat(getComputedStyle(text).fontSize));
  const scale = document.documentElement.getScreenCTM().a;
  scrollTo(1e6, 1e6);
  const { right, bottom } = document.documentElement.getBoundingClientRect();
  return {
    smallest: Math.min(...sizes) * scale,
    count: texts.length,
    isReached: right <= innerWidth + 1 && bottom <= innerHeight + 1,
  };
}"""
#: pixels of a phone's window, and of the smallest text that can be read on it
_PHONE, _READABLE = {"width": 390, "height": 844}, 9.0


@pytest.mark.browser
def test_the_gallery_is_read_on_a_phone(site: Path, page: Any) -> None:
    page.set_viewport_size(_PHONE)
    page.goto((site / "gallery.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= _PHONE["width"]
    assert page.evaluate(_BEYOND) == []
    pictures = page.evaluate(_PICTURES)
    assert len(pictures) >= 12
    for picture in pictures:
        page.goto((site / picture["file"]).as_uri())
        alone = page.evaluate(_ALONE)
        assert alone["count"] > 10, picture
        if alone["smallest"] * picture["scale"] >= _READABLE:
            continue
        assert picture["opens"] == picture["file"]
        assert "full size" in picture["told"], picture
        assert alone["smallest"] >= _READABLE, picture
        assert alone["isReached"], picture


def test_style_sheets_load_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.css"):
        for address in re.findall(r"url\(([^)]+)\)|@import\s+(\S+)", path.read_text("utf-8")):
            assert not re.match(r"['\"]?(https?:)?//", "".join(address)), f"{path}: {address}"


def test_every_public_name_is_in_the_reference(names: set[str]) -> None:
    assert {f"netloupe.{name}" for name in netloupe.__all__} <= names


def test_every_type_that_they_lead_to_is_in_the_reference(names: set[str]) -> None:
    shown = {name.rpartition(".")[2] for name in names}
    missing = {
        name: place
        for name, place in find_public_types(_MACHINERY).items()
        if name not in shown and name not in _MACHINERY
    }
    assert not missing, "add them to docs/reference/python, or say above what they are"
    assert not shown & set(_MACHINERY)


def list_attributes(kind: type) -> Iterator[str]:
    """Give the public members of a class, fields among them."""
    for base in kind.__mro__:
        if base.__module__.startswith("netloupe"):
            yield from (name for name in inspect.get_annotations(base) if name[0] != "_")
    yield from (name for name, _ in list_members(kind))


def test_every_member_is_in_the_reference(names: set[str]) -> None:
    classes = list_classes()
    checked = 0
    for full in names:
        kind = classes.get(full.rpartition(".")[2])
        is_class = full.rpartition(".")[2][:1].isupper() and not full.startswith("netloupe.widgets")
        if kind is None or not is_class or kind.__name__ in (*MADE_BY_USERS, "ViewKeywords"):
            continue
        if not any(name.startswith(f"{full}.") for name in names):
            continue  # another name of a class that is documented elsewhere, or an error
        missing = {each for each in list_attributes(kind) if f"{full}.{each}" not in names}
        assert not missing, full
        checked += 1
    assert checked > 60


def read_text(page: Path) -> str:
    return unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))


def test_every_command_and_option_is_in_the_reference(site: Path) -> None:
    text = read_text(site / "reference" / "command_line.html")
    commands = list_commands()
    assert len(commands) > 12
    for command in commands:
        assert command.synopsis in text
        for argument in (
            *command.operands,
            *(each for _, group in command.groups for each in group),
        ):
            if argument.names != ("-h", "--help"):
                assert argument.write_names() in text, (command.name, argument)
                assert argument.help, (command.name, argument)


def test_every_rule_is_in_the_reference(site: Path) -> None:
    text = read_text(site / "reference" / "rules.html")
    ids = set(re.findall(r'id="(nl-\w+)"', (site / "reference" / "rules.html").read_text()))
    for rule in RULES:
        assert rule.id.lower() in ids
        assert f"{rule.id} {rule.name}" in text
        for told in (rule.title, rule.why, rule.remedy, rule.source):
            assert told.replace("`", "") in text, (rule.id, told)
    assert f"There are {len(RULES)} rules" in text


def test_commands_have_examples() -> None:
    for command in list_commands():
        if command.name.count(" ") < 2:  # actions have theirs above
            assert command.examples, command.name
            assert command.description, command.name


def test_pictures_are_small(site: Path) -> None:
    pictures = [path for path in site.rglob("*") if path.suffix in (".png", ".svg", ".jpg")]
    assert pictures
    for path in pictures:
        assert path.stat().st_size < 1_000_000, path


def test_the_man_page_is_that_of_the_parsers() -> None:
    assert (_ROOT / "docs" / "netloupe.1").read_text("utf-8") == write_man_page(), (
        "run python tools/make_man_page.py"
    )
    settings = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))
    files = settings["tool"]["setuptools"]["data-files"]
    assert files["share/man/man1"] == ["docs/netloupe.1"]


def test_what_builds_the_documentation_is_installed_for_the_tests() -> None:
    settings = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))
    extras = settings["project"]["optional-dependencies"]
    assert set(extras["docs"]) <= set(extras["test"])


def test_every_setting_and_variable_is_told() -> None:
    told = (_ROOT / "docs" / "reference" / "settings.md").read_text("utf-8")
    for key in _KEYS:
        assert f"| `{key}` |" in told
    example = re.search(r"```toml\n(.*?)```", told, re.DOTALL)
    assert example is not None
    assert set(tomllib.loads(example[1])["tool"]["netloupe"]) == set(_KEYS)
    found: set[str] = set()
    for folder in ("explorer", "widgets", "netloupe"):
        for module in (_ROOT / folder).rglob("*.py"):
            if "node_modules" not in module.parts:
                found.update(re.findall(r"\bNETLOUPE_[A-Z_]+", module.read_text("utf-8")))
    assert found
    for name in found:
        assert f"| `{name}` |" in told, name
