"""Traits and messages have the same names and fields in Python and in the front end."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import traitlets

from netloupe.widgets import requests
from netloupe.widgets.canvas import Canvas, MessageType
from netloupe.widgets.description_text import DescriptionText
from netloupe.widgets.requests import Requests

_HOST = Path(__file__).resolve().parents[2] / "widgets" / "frontend" / "src" / "host"
_TRAITS = (_HOST / "traits.ts").read_text(encoding="utf-8")
_MESSAGES = (_HOST / "messages.ts").read_text(encoding="utf-8")


def list_traits(widget: type[Any]) -> dict[str, traitlets.TraitType[Any, Any]]:
    """Return the synchronised traits that a widget declares itself."""
    return {
        name: trait
        for name, trait in widget.class_traits(sync=True).items()
        if name in vars(widget) and not name.startswith("_")
    }


def read_block(text: str, start: str, end: str) -> str:
    """Return what stands between two texts, without comments."""
    block = text.split(start, 1)[1].split(end, 1)[0]
    return re.sub(r"/\*\*.*?\*/", "", block, flags=re.DOTALL)


def read_fields(block: str) -> dict[str, str]:
    return dict(re.findall(r"^  (?:readonly )?(\w+)\??: (.*)[;,]$", block, re.MULTILINE))


@pytest.mark.parametrize(
    ("widget", "constant"), [(Canvas, "CANVAS_TRAITS"), (DescriptionText, "DESCRIPTION_TRAITS")]
)
def test_traits_have_the_same_names_and_start_alike(widget: type[Any], constant: str) -> None:
    literal = re.search(rf"export const {constant}: \w+ = \{{\n(.*?)\n\}};", _TRAITS, re.DOTALL)
    assert literal is not None
    starts = {name: json.loads(text) for name, text in read_fields(literal[1]).items()}
    traits = list_traits(widget)
    assert starts == {name: trait.default() for name, trait in traits.items()}


def test_the_kind_of_each_trait_is_the_same() -> None:
    types = read_fields(read_block(_TRAITS, "interface CanvasTraits {\n", "\n}"))
    traits = list_traits(Canvas)
    kinds = {
        "string": traitlets.Unicode,
        "number": traitlets.Int,
        "boolean": traitlets.Bool,
        "readonly string[]": traitlets.List,
        "ReadonlyArray<readonly string[]>": traitlets.List,
    }
    assert types.keys() == traits.keys()
    for name, written in types.items():
        trait = traits[name]
        if isinstance(trait, traitlets.Enum):
            assert re.findall(r'"(\w+)"', written) == list(trait.values), name
        else:
            assert isinstance(trait, kinds[written]), name


def test_each_trait_says_what_it_holds_and_who_sets_it() -> None:
    source = inspect.getsource(Canvas)
    for name in list_traits(Canvas):
        comment = re.search(rf"((?:    #: .*\n)+)    {name} = traitlets", source)
        assert comment is not None, f"{name} has no comment"
        words = " ".join(comment[1].replace("#:", "").split())
        assert re.search(r"set (with it, )?by (both|Python|the browser)", words), name


def read_requests() -> dict[str, set[str]]:
    """Return the fields of each type of request that the front end may send."""
    found: dict[str, set[str]] = {}
    for variant in re.findall(r"\{(.*?)\}", read_block(_MESSAGES, "type Asked =\n", ";\n\n")):
        fields = re.findall(r"(\w+)\??: ([^;]+)", variant)
        names = {name for name, _ in fields} - {"type"}
        for request in re.findall(r'"(\w+)"', dict(fields)["type"]):
            found[request] = names
    return found


def test_requests_have_the_same_types_and_fields() -> None:
    asked = read_requests()
    answers = {**Requests._handlers, "cancel": Requests.receive}
    assert asked.keys() == answers.keys()
    for request, answer in answers.items():
        source = inspect.getsource(answer)
        fields = set(re.findall(r'message\.get\("(\w+)"', source)) - {"id", "type"}
        if "_path(message)" in source:
            fields.add("path")
        # any request may be asked for again by who is sure
        assert fields - {"sure"} == asked[request], request


def test_messages_to_the_browser_have_the_same_types() -> None:
    union = re.findall(r"\w+Message", read_block(_MESSAGES, "type Message =\n", ";\n"))
    interfaces = re.findall(
        r'interface (\w+Message) \{\n(?:.*\n)??  readonly type: "(\w+)"', _MESSAGES
    )
    assert {name for name, _ in interfaces} == set(union)
    assert sorted(kind for _, kind in interfaces) == sorted(get_args(MessageType))


def test_nothing_is_sent_past_the_types_of_messages() -> None:
    widgets = _HOST.parents[2]
    for path in widgets.glob("*.py"):
        sends = re.findall(r"canvas\.send\(", path.read_text(encoding="utf-8"))
        assert sends == [], f"{path.name} sends a message by itself"


@pytest.mark.parametrize(
    ("message", "extra"),
    [("scene", {"header"}), ("hits", set()), ("busy", set()), ("confirm", set())],
)
def test_fields_that_python_fills_are_known(message: str, extra: set[str]) -> None:
    name = f"{message.capitalize()}Message"
    fields = read_fields(read_block(_MESSAGES, f"interface {name} {{\n", "\n}"))
    source = inspect.getsource(requests)
    if message == "scene":
        given = set(re.findall(r"[(,{ ](select|center|anchor|fit|restore|history)=", source))
    else:
        call = re.search(
            rf'canvas\.reply\(\s*\w+,\s*"{message}",(.*?)\n\s*\)?\n', source, re.DOTALL
        )
        assert call is not None
        given = set(re.findall(r"(\w+)=", call[1]))
    assert given | extra | {"type"} == fields.keys()
