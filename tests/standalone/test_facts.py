"""The page says of each element what the inspector of a notebook says."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netloupe.explorer.describe import Description, describe_path
from netloupe.explorer.page.description_html import write_header, write_unfolding
from netloupe.explorer.readers.load import load
from netloupe.explorer.standalone.blocks import write_block
from netloupe.explorer.standalone.describing import Describer
from netloupe.explorer.standalone.facts import FactWriter
from netloupe.explorer.standalone.level_block import Numbers
from netloupe.explorer.standalone.templates import TemplateWriter, split_slots
from netloupe.explorer.view import View
from tests.corpus import corpus_file
from tests.standalone.composing import open_script
from tests.standalone.reading import read_block


@pytest.mark.parametrize("name", ["exported/gpt2.legacy.onnx", "hostile/evil_names.onnx"])
def test_the_browser_puts_descriptions_together_as_they_were_written(
    tmp_path: Path, name: str
) -> None:
    model = load(corpus_file(name))
    view = View(model)
    elements = [*model.graph.nodes, *model.graph.values.values()]
    facts = FactWriter(Describer(model))
    for number, element in enumerate(elements):
        facts.add(number, element.path, view)
    blocks, described = facts.write()
    numbers = [number for each in described for number in each]
    index = write_block({"elements": numbers}, {})
    asked = {
        "blocks": [base64.b64encode(block).decode() for block in blocks],
        "counts": [len(each) for each in described],
        "elements": base64.b64encode(index).decode(),
    }
    with open_script(tmp_path, "read_facts") as script:
        (answer,) = script.ask(asked)
    found = json.loads(answer)
    expected = [
        write_description(describe_path(model, elements[number].path, view)) for number in numbers
    ]
    assert numbers
    assert [drop_paths(text) for text in found] == [drop_paths(text) for text in expected]


def write_description(description: Description) -> str:
    return write_header(description) + "".join(map(write_unfolding, description.sections))


def drop_paths(html: str) -> list[str]:
    """Return HTML without paths in attributes, which are quoted in one of several ways."""
    return [part.partition('"')[2] for part in f'"{html}'.split('data-path="')]


def test_what_is_alike_is_written_once() -> None:
    writer = TemplateWriter()
    for name in ("a", "b"):
        writer.add(*split_slots(f'<p title="{name}">of <b>{name}</b> says</p>'))
    texts = Numbers()
    integers, templates = writer.columns(texts.number_all)
    assert templates == [['<p title="', None, '">', "of ", "<b>", None, "</b>", " says", "</p>"]]
    assert integers == {"templates": [0, 0], "slots": [0, 1, 0, 1]}
    assert texts.list() == ["a", "b"]


integers = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=40)


@given(integers, st.lists(st.integers(-5, 300), max_size=40))
def test_columns_are_read_as_they_were_written(wide: list[int], narrow: list[int]) -> None:
    columns, values = read_block(write_block({"wide": wide, "narrow": narrow}, {"any": ["\ud800"]}))
    assert columns == {"wide": wide, "narrow": narrow}
    assert values == {"any": ["\ud800"]}


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=5)))
def test_texts_are_read_as_they_were_written(texts: list[str]) -> None:
    assert read_block(write_block({"beside": [7]}, {}, texts)) == (
        {"beside": [7]},
        {"texts": texts},
    )


def test_texts_that_cannot_be_written_in_utf_8_are_read_too() -> None:
    texts = ["half a pair: \ud800", "a"]
    assert read_block(write_block({}, {}, texts)) == ({}, {"texts": texts})


def test_a_number_of_more_than_32_bits_is_refused() -> None:
    with pytest.raises(OverflowError, match="far"):
        write_block({"far": np.array([2**31])}, {})


def test_a_model_does_not_tell_where_its_author_keeps_it(tmp_path: Path) -> None:
    place = tmp_path / "of an author" / "model.onnx"
    place.parent.mkdir()
    place.write_bytes(corpus_file("features/control_flow_3deep.onnx").read_bytes())
    model = load(place)
    facts = FactWriter(Describer(model))
    facts.add(-1, "", View(model))
    (block,), _ = facts.write()
    columns, values = read_block(block)
    assert columns["templates"] == [0]
    assert "model.onnx" in str(values)
    assert "of an author" not in str(values)
