"""One table of options: types, command line, menus and documentation are what it says."""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from netloupe.commands.arguments import make_parser
from netloupe.explorer.errors import ViewError
from netloupe.explorer.layout import wrap
from netloupe.explorer.options import (
    OPTIONS,
    PAGE_OPTIONS,
    Option,
    ThemeName,
    WeightContent,
    check_option,
)
from netloupe.explorer.plots.plot_frame import COLOURS
from netloupe.explorer.render.theme import themes_as_json
from netloupe.explorer.standalone.content import PageContent
from netloupe.explorer.view import ViewKeywords, ViewOptions
from tests.onnx_text import load_text

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "tools"))

from make_option_page import PAGE, write_page  # noqa: E402

_ALL = pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)


def list_types(hint: Any) -> Iterator[Any]:
    """Yield what a type is the union of; of a Literal its values."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        for part in get_args(hint):
            yield from list_types(part)
    elif origin is Literal:
        yield from get_args(hint)
    else:
        yield hint


def expected_types(option: Option) -> list[Any]:
    """Return what Python may give for an option, as the table says."""
    words = [choice.value for choice in option.choices if isinstance(choice.value, str)]
    if option.text is not None:  # a word is a text, too
        words = []
    has_bool = any(isinstance(choice.value, bool) for choice in option.choices)
    number = option.number
    plain = {
        bool: has_bool,
        int: number is not None and number.is_whole,
        float: number is not None and not number.is_whole,
        str: bool(option.elements) or option.text is not None,
    }
    return [*words, *(kind for kind, is_taken in plain.items() if is_taken)]


def in_order(types: list[Any]) -> list[str]:
    return sorted(str(kind) for kind in types)


def test_types_have_the_names_of_the_table() -> None:
    assert list(ViewKeywords.__annotations__) == list(OPTIONS)
    assert [field.name for field in dataclasses.fields(ViewOptions)] == list(OPTIONS)
    assert ViewKeywords.__required_keys__ == set()


@_ALL
def test_types_have_the_values_of_the_table(option: Option) -> None:
    checked = [*list_types(get_type_hints(ViewOptions)[option.name])]
    assert in_order(checked) == in_order(expected_types(option))
    given = [*list_types(get_type_hints(ViewKeywords)[option.name])]
    if option.text is not None and option.text.most:
        given.remove(tuple[int, int])  # width and height as numbers
    if option.text is not None and option.text.is_list:
        given.remove(Sequence[str])  # several texts
    elements = [kind for kind in given if kind not in [*checked, NoneType]]
    assert [kind.__name__ for kind in elements] == list(option.elements)
    assert in_order(given) == in_order([*checked, *elements, NoneType])


@_ALL
def test_defaults_are_those_of_the_table_and_fit(option: Option) -> None:
    for options in (ViewOptions(), ViewOptions.parse({}), ViewOptions.parse({option.name: None})):
        assert getattr(options, option.name) == option.default
    assert ViewOptions.parse({option.name: option.default}) == ViewOptions()


@_ALL
def test_every_value_of_the_table_is_taken(option: Option) -> None:
    values: list[Any] = [choice.value for choice in option.choices]
    if option.number is not None:
        values += [option.number.least, option.number.most or 10**6]
    for value in values:
        assert check_option(option.name, value) == value
        parsed = getattr(ViewOptions.parse({option.name: value}), option.name)
        assert parsed == value
        assert isinstance(parsed, bool) == isinstance(value, bool)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("direction", "RL", "direction 'RL' is unknown. Choose TB or LR."),
        ("direction", True, "direction True is unknown. Choose TB or LR."),
        ("theme", "sepia", "theme 'sepia' is unknown. Choose light or dark."),
        ("grouping", "odd", "'odd' is unknown. Choose auto, names, modules, repeats or none."),
        ("hops", -1, "hops is -1. Give a number of edges, 0 or more."),
        ("hops", True, "hops is True. Give a number of edges, 0 or more."),
        ("hops", "9" * 5000, "hops is '999"),
        ("expand", -1, "expand is -1. Give auto, all, none or a number of levels, 0 or more."),
        ("expand", "some", "expand is 'some'. Give auto, all"),
        ("wrap", 0, "wrap is 0. Give auto, True, False or a number of columns from 1 to 200."),
        ("wrap", 201, "wrap is 201."),
        ("wrap", 1.0, "wrap is 1.0."),
        ("wrap", "yes", "wrap is 'yes'. Give auto, True"),
        ("focus", 3, "focus is a int. Give a path, or one of: Node, Value, Graph"),
        ("fit", "wide", "fit is 'wide'. Give width and height in pixels such as 1100x800"),
        ("fit", "10x800", "fit is '10x800'. Give"),
        ("fit", (1100, "x"), "fit is (1100, 'x'). Give"),
        ("fit", "٣٠٠x٣٠٠", "fit is '٣٠٠x٣٠٠'. Give"),
        ("page", "a5", "page 'a5' is unknown. Choose none, a4, letter, slide or column."),
        ("scale", 0, "scale is 0. Give a number of times its size from 0.05 to 20."),
        ("scale", True, "scale is True. Give"),
        ("scale", float("nan"), "scale is nan. Give"),
        ("scale", "1e1", "scale is '1e1'. Give"),
        ("title", 3, "title is 3. Give a text."),
        ("legend", "yes", "legend 'yes' is unknown. Choose True or False."),
        ("font", 'A";}', "font is 'A\";}'. Give the name of a font family"),
        ("font", "x" * 101, "font is 'xxx"),
        ("zoom", 3, "there is no option 'zoom'. Choose among graph, expand, focus, hops, "),
    ],
)
def test_any_other_is_refused_with_what_there_is(name: str, value: Any, words: str) -> None:
    with pytest.raises(ViewError, match=re.escape(words)):
        ViewOptions.parse({name: value})
    model = load_text("g (float x) => (float y) { y = Relu (x) }")
    for draw in (model.to_svg, model.graph.to_dot):
        with pytest.raises(ViewError, match=re.escape(words)):
            draw(**{name: value})  # type: ignore[arg-type]


def test_numbers_may_be_given_as_text_and_by_numpy() -> None:
    for value in ("3", np.int64(3)):
        options = ViewOptions.parse({"expand": value, "hops": value, "wrap": value})
        assert (options.expand, options.hops, options.wrap) == (3, 3, 3)
        assert {type(options.expand), type(options.hops), type(options.wrap)} == {int}


def test_a_window_may_be_given_as_two_numbers_and_a_scale_as_any() -> None:
    assert ViewOptions.parse({"fit": (640, 480)}).window == (640, 480)
    assert ViewOptions.parse({"fit": "640x480"}).window == (640, 480)
    assert ViewOptions.parse({}).window == (1100, 800)
    for value in (2, "2", np.float32(2), 2.0):
        scale = ViewOptions.parse({"scale": value}).scale
        assert (scale, type(scale)) == (2.0, float)


def test_a_graph_says_that_it_draws_itself() -> None:
    graph = load_text("g (float x) => (float y) { y = Relu (x) }").graph
    with pytest.raises(TypeError, match="a graph draws itself and takes no option 'graph'"):
        graph.to_svg(graph="main")


def test_themes_are_the_table_s() -> None:
    assert OPTIONS["theme"].words == get_args(ThemeName) == tuple(themes_as_json())
    assert OPTIONS["theme"].words == tuple(COLOURS)


# the command line


def parse_shell(*words: str) -> argparse.Namespace:
    return make_parser().parse_args(["render", "m.onnx", "-o", "m.svg", *words])


@_ALL
def test_the_shell_takes_every_option_and_value_by_its_word(option: Option) -> None:
    values: list[tuple[str, Any]] = [(choice.word, choice.value) for choice in option.choices]
    if option.number is not None:
        values += [(str(n), n) for n in (option.number.least, option.number.most or 10**6)]
    if option.elements:
        values.append(("main/Conv_1", "main/Conv_1"))
    if option.text is not None:
        values.append((str(option.default), option.default))
    for word, value in values:
        words = [f"--{option.name}", word]
        if option.is_switch:
            words = [f"--{option.name}" if value else f"--no-{option.name}"]
        parsed = getattr(parse_shell(*words), option.name)
        assert parsed is value or not isinstance(value, bool)
        assert parsed == value
    assert getattr(parse_shell(), option.name) is None


@_ALL
def test_the_shell_s_help_is_the_table_s(
    option: Option, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit):
        make_parser().parse_args(["render", "--help"])
    (line,) = re.findall(
        rf"^  --{option.name}[ ,].*(?:\n {{20}}.*)?", capsys.readouterr().out, re.M
    )
    assert option.help.format_map({name: f"--{name}" for name in OPTIONS}) in line
    if option.is_switch:
        assert f"--no-{option.name}" in line
        return
    default = f"{option.default:g}" if isinstance(option.default, float) else option.default
    assert f"(default: {default})" in line or option.default == ""
    for word in option.words:
        assert word in line
    assert option.text is None or option.text.name in line


def test_the_shell_completes_paths_where_options_take_them() -> None:
    commands = make_parser()._subparsers
    assert commands is not None
    render = commands._group_actions[0].choices["render"]  # type: ignore[index, call-overload]
    completed = {a.dest for a in render._actions if getattr(a, "completer", None)}
    columns = {"color_by", "hide"}
    assert completed == {o.name for o in OPTIONS.values() if o.elements} | columns


# the page


def test_the_page_is_what_the_table_says() -> None:
    assert PAGE.read_text("utf-8") == write_page(), "run tools/make_option_page.py"
    assert f"](docs/{PAGE.name})" in (_ROOT / "README.md").read_text("utf-8")


def test_the_page_knows_when_a_picture_is_extremely_long() -> None:
    details = OPTIONS["wrap"].details
    assert f"more than {wrap.EXTREME_RATIO:.0f} times its width" in details
    assert f" and {wrap.EXTREME_LENGTH:,.0f} pixels" in details


# one source


def list_sources(*endings: str) -> Iterator[tuple[str, str]]:
    for folder in ("explorer", "widgets", "netloupe/commands"):
        for path in sorted((_ROOT / folder).rglob("*")):
            generated = {"node_modules", "page", "test"} & set(path.parts)
            if path.suffix in endings and not generated:
                yield path.relative_to(_ROOT).as_posix(), path.read_text("utf-8")


def test_choices_are_listed_nowhere_else_but_in_types() -> None:
    found = set()
    for option in OPTIONS.values():
        words = [choice.value for choice in option.choices if isinstance(choice.value, str)]
        if len(words) > 1:
            listing = re.compile(r"\s*[,|]\s*".join(f'"{word}"' for word in words))
            found |= {name for name, text in list_sources(".py", ".ts") if listing.search(text)}
    assert found == {"explorer/options/types.py"}


def test_labels_of_menus_stand_nowhere_else() -> None:
    labels = [c.menu for option in OPTIONS.values() for c in option.choices if c.menu]
    assert len(labels) == len(set(labels)) >= 10
    for name, text in list_sources(".ts"):
        assert [label for label in labels if f'"{label}"' in text] == [], name


def test_what_a_page_holds_is_in_the_shell_s_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit):
        make_parser().parse_args(["render", "--help"])
    told = capsys.readouterr().out
    for option in PAGE_OPTIONS.values():
        (line,) = re.findall(rf"^  {option.flag} .*(?:\n {{20}}.*)?", told, re.M)
        assert option.help in line
        assert all(word in line for word in option.words)
    parsed = PageContent()
    assert {field.name for field in dataclasses.fields(parsed)} == set(PAGE_OPTIONS)
    assert set(get_args(WeightContent)) == set(PAGE_OPTIONS["weights"].words)
    assert parsed.weights == PAGE_OPTIONS["weights"].default
