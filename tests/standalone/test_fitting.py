"""A page is not larger than it may be, and says what it leaves out for that."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe.explorer.errors import OutputError, ViewError
from netloupe.explorer.model import Model
from netloupe.explorer.standalone.content import PageContent
from netloupe.explorer.standalone.fitting import choose_depth, find_most
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file
from tests.standalone.reading import read_block

NAME = "exported/distilbert.legacy.onnx"


class Made:
    """A page of a size, taken apart."""

    def __init__(self, model: Model, limit: int | None) -> None:
        page, self.notices = make_page(
            model, ViewOptions(), content=PageContent.parse(size_limit=limit)
        )
        self.size = len(page)
        text = page.decode()
        (data,) = re.findall(r'id="nl-data">([^<]*)', text)
        self.data: dict[str, Any] = json.loads(data)
        found = re.findall(r'data-block="([^"]*)">([^<]*)', text)
        self.blocks = {name: base64.b64decode(block) for name, block in found}

    def list_described(self) -> set[str]:
        """Return the paths of what is described and has a box, a row or an edge."""
        numbers = read_block(self.blocks["elements"])[0]["elements"]
        texts = read_block(self.blocks["levels-TB"])[1]["texts"]
        return {texts[number] for number in numbers if number >= 0}

    def count_insides(self) -> tuple[int, int]:
        """Return how many boxes can be opened, and how many of them are in the file."""
        first = read_block(self.blocks["levels-TB"])[0]["insides"][::2]
        return len(first), sum(level >= 0 for level in first)


@pytest.fixture(scope="module")
def model() -> Model:
    return netloupe.load(corpus_file(NAME))


@pytest.fixture(scope="module")
def whole(model: Model) -> Made:
    return Made(model, None)


def test_a_page_that_fits_is_as_it_was(model: Model, whole: Made) -> None:
    fitting = Made(model, whole.size)
    assert fitting.size == whole.size
    assert fitting.notices == []
    assert fitting.blocks == whole.blocks


def test_statistics_of_small_weights_are_left_out_first(model: Model, whole: Made) -> None:
    fitting = Made(model, whole.size - 5_000)
    assert fitting.size <= whole.size - 5_000
    (notice,) = fitting.notices
    assert fitting.data["notices"] == [notice]
    found = re.fullmatch(
        r"To take at most \d+ kB this page leaves out statistics of (.*) of (.*) weights.", notice
    )
    assert found
    left_out, count = (int(number.replace(",", "")) for number in found.groups())
    assert 0 < left_out < count == sum(fitting.data["weights"])
    words = read_block(fitting.blocks["weights-0"])[1]
    told = [text for kind in words["kinds"] for text in kind if text]
    assert any("the page would have been larger than " in text for text in told)
    kept = {name: block for name, block in fitting.blocks.items() if "weights" not in name}
    assert kept == {name: b for name, b in whole.blocks.items() if "weights" not in name}


def test_then_descriptions_in_further_repetitions(model: Model, whole: Made) -> None:
    limit = whole.size - 60_000
    fitting = Made(model, limit)
    assert fitting.size <= limit
    (notice,) = fitting.notices
    assert re.search(r"statistics of (\S+) of \1 weights and descriptions of \S+ of \S+ el", notice)
    assert fitting.count_insides() == whole.count_insides()
    described, every = fitting.list_described(), whole.list_described()
    assert described < every
    assert read_block(fitting.blocks["elements"])[0]["elements"][0] == -1  # the model
    repeated = re.compile(r"main/[^%].*/layer\.[1-9]/.+/")
    assert any(map(repeated.search, every))
    assert not any(map(repeated.search, described))
    assert any("/layer.0/" in path for path in described)


def test_then_what_is_in_the_innermost_groups(model: Model, whole: Made) -> None:
    with pytest.raises(
        OutputError, match=r"at least, more than its size limit of 1\.0 kB"
    ) as caught:
        Made(model, 1_000)
    (least,) = re.findall(r"takes (\d+) kB", str(caught.value))
    limit = (int(least) + 6) * 1_000
    fitting = Made(model, limit)
    assert fitting.size <= limit
    (notice,) = fitting.notices
    assert notice.endswith((" groups.", " group."))
    boxes, there = fitting.count_insides()
    assert there < boxes
    assert there < whole.count_insides()[1]


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("5MB", 5_000_000),
        ("1.5 kb", 1_500),
        ("0.5M B", None),
        (800, 800),
        ("7", 7),
        ("2gB", 2 * 10**9),
    ],
)
def test_sizes_are_read(given: Any, size: int | None) -> None:
    if size is None:
        with pytest.raises(ViewError, match="Give a size such as 5MB"):
            PageContent.parse(size_limit=given)
    else:
        assert PageContent.parse(size_limit=given).size_limit == size


@pytest.mark.parametrize("given", [0, -5, "0", "0.2", "", "5 apples", True, 1.5, "9" * 40])
def test_what_is_no_size_is_refused(given: Any) -> None:
    with pytest.raises(ViewError, match="Give a size such as 5MB"):
        PageContent.parse(size_limit=given)


def test_python_has_the_same_options(model: Model, whole: Made, tmp_path: Path) -> None:
    page = model.to_html(tmp_path / "m.html", weights="none", size_limit="1MB")
    assert 'data-block="weights-0"' in page
    assert len(page) < whole.size - 10_000
    for option in ({"weights": "none"}, {"size_limit": 5}):
        with pytest.raises(ViewError, match="static leaves that out"):
            model.to_html(static=True, **option)  # type: ignore[arg-type]
    with pytest.raises(ViewError, match=r"weights .all. is unknown\. Choose histograms or none"):
        model.to_html(weights="all")  # type: ignore[arg-type]


def test_the_most_that_fits_is_found() -> None:
    for count in range(9):
        for most in range(-1, count + 1):
            assert find_most(count, lambda number, most=most: number <= most) == most  # type: ignore[misc]


def test_depths_are_chosen_by_their_share() -> None:
    depths = {0: 10, 1: 30, 2: 60}
    assert choose_depth(depths, 0.05) == 0
    assert choose_depth(depths, 0.15) == 0
    assert choose_depth(depths, 0.5) == 1
    assert choose_depth(depths, 2.0) == 1  # less than all of them
    assert choose_depth({0: 1, 1: 1}, -3.0) == 0
