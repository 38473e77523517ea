"""Traits and messages have the same names and fields in Python and in the front end."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import pytest
import traitlets

from netloupe.explorer.options import OPTIONS
from netloupe.explorer.session import Client, Requests, messages, review_messages
from netloupe.explorer.session.noting import answer_note
from netloupe.explorer.session.request_queue import RequestQueue
from netloupe.explorer.session.reviewing import Reviewing
from netloupe.widgets.canvas import Canvas
from netloupe.widgets.description_text import DescriptionText

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
        "PaintsByPath": traitlets.Dict,
        "FirstScene": traitlets.Dict,
    }
    named = {
        "Details": "details",
        "Direction": "direction",
        "Share": "share",
        "ThemeName": "theme",
    }
    words = {name: OPTIONS[option].words for name, option in named.items()}
    assert types.keys() == traits.keys()
    for name, written in types.items():
        trait = traits[name]
        if isinstance(trait, traitlets.Enum):
            alternatives = [words.get(part) or [json.loads(part)] for part in written.split(" | ")]
            assert [w for part in alternatives for w in part] == list(trait.values), name
        else:
            assert isinstance(trait, kinds[written]), name


def test_each_trait_says_what_it_holds_and_who_sets_it() -> None:
    source = inspect.getsource(Canvas)
    for name in list_traits(Canvas):
        comment = re.search(rf"((?:    #: .*\n)+)    {name} = traitlets", source)
        assert comment is not None, f"{name} has no comment"
        words = " ".join(comment[1].replace("#:", "").split())
        assert re.search(r"set (with it, )?by (both|Python|the browser)", words), name


def test_the_canvas_has_what_a_session_sets_of_its_client() -> None:
    wanted = get_type_hints(Client)
    assert wanted.keys() >= {"focus", "hops", "breadcrumb"}
    assert wanted.keys() <= list_traits(Canvas).keys()


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
    answers = {**Requests._handlers, "cancel": RequestQueue.receive}
    assert asked.keys() == answers.keys()
    for request, answer in answers.items():
        source = inspect.getsource(answer)
        fields = set(re.findall(r'message\.get\("(\w+)"', source)) - {"id", "type"}
        for field, reader in (("path", "_path"), ("window", "read_canvas_size")):
            if f"{reader}(message)" in source:
                fields.add(field)
        # any request may be asked for again by who is sure
        assert fields - {"sure"} == asked[request], request
    around = set(read_fields(read_block(_MESSAGES, "Request = Asked & {\n", "\n}")))
    every = set().union(*asked.values(), around, {"id", "type"})
    assert every == messages.Request.__annotations__.keys()


def test_what_hosts_may_be_able_to_do_covers_all_that_a_session_answers() -> None:
    able = re.findall(r"\w+: \[(.*)\],", read_block(_MESSAGES, "ABILITIES = {\n", "} as const"))
    answered = [request for requests in able for request in re.findall(r'"(\w+)"', requests)]
    assert sorted(answered) == sorted({*Requests._handlers, "cancel"} - {"scene"})


def test_links_of_a_description_ask_in_the_same_words() -> None:
    variants = re.search(r"type DescriptionRequest = (.*);", _MESSAGES)
    assert variants is not None
    asked = set(re.findall(r"(\w+):", variants[1]))
    assert asked == messages.DescriptionRequest.__annotations__.keys()


def describe_type(hint: Any) -> str:
    """Return a type as TypeScript writes it."""
    plain = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}
    if hint in plain:
        return plain[hint]
    if hint == messages.Paths:
        return "Paths"
    if hint == messages.PlacesByPath:
        return "PlacesByPath"
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in inner)
    if origin is UnionType:
        return " | ".join(map(describe_type, inner))
    if origin is list:
        return f"{describe_type(inner[0])}[]"
    if is_typeddict(hint):
        return str(hint.__name__)
    assert origin is Mapping, hint  # looked at by what takes it apart
    return "unknown"


@pytest.mark.parametrize(
    "message",
    [*get_args(messages.Reply), messages.SceneMessage, messages.SearchHit, messages.HistoryState],
    ids=lambda message: message.__name__,
)
def test_messages_to_the_browser_have_the_same_fields_of_the_same_types(message: Any) -> None:
    block = read_block(_MESSAGES, f"interface {message.__name__} {{\n", "\n}")
    hints = get_type_hints(message)
    assert read_fields(block) == {name: describe_type(hint) for name, hint in hints.items()}
    written = get_type_hints(message, include_extras=True)
    optional = {name for name, hint in written.items() if get_origin(hint) is NotRequired}
    assert set(re.findall(r"(\w+)\?:", block)) == optional | message.__optional_keys__


def test_messages_to_the_browser_are_the_same_ones() -> None:
    union = re.findall(r"\w+Message", read_block(_MESSAGES, "type Message =\n", ";\n"))
    ours = {*get_args(messages.Reply), messages.SceneMessage}
    assert sorted(union) == sorted(message.__name__ for message in ours)


def test_nothing_is_sent_past_the_types_of_messages() -> None:
    widgets = _HOST.parents[2]
    session = Path(inspect.getfile(messages)).parent
    for path in (*widgets.glob("*.py"), *session.glob("*.py")):
        sends = re.findall(r"(?:canvas|client)\.send\(", path.read_text(encoding="utf-8"))
        assert sends == [], f"{path.name} sends a message by itself"


_REVIEW = (_HOST.parent / "review" / "connection.ts").read_text(encoding="utf-8")


def test_a_review_tab_and_python_use_the_same_words() -> None:
    variants = read_block(_REVIEW, "type ReviewRequest =\n", ";\n\n")
    asked = set(re.findall(r"(\w+):", variants))
    assert asked == review_messages.ReviewRequest.__annotations__.keys()
    source = inspect.getsource(Reviewing.receive) + inspect.getsource(answer_note)
    assert asked == set(re.findall(r'"(\w+)": ', source)) - {"type", "item", "fingerprint"} | {
        "item"
    }
    told = read_block(_REVIEW, "type ReviewMessage =\n", ";\n\n")
    kinds = set(re.findall(r'type: "(\w+)"', told))
    ours = {get_type_hints(m)["type"] for m in get_args(review_messages.ReviewMessage)}
    assert kinds == {value for hint in ours for value in get_args(hint)}
    progress = read_fields(read_block(_REVIEW, "interface CheckProgress {\n", "\n}"))
    hints = get_type_hints(review_messages.CheckProgressMessage)
    assert progress.keys() == hints.keys() - {"type"}
    stages = re.search(r"type CheckStage = (.*);", _REVIEW)
    assert stages is not None
    assert stages[1] == describe_type(review_messages.CheckStage)


def test_the_rows_of_a_review_are_as_high_as_the_style_sheet_has_them() -> None:
    source = (_HOST.parent / "review" / "list.ts").read_text(encoding="utf-8")
    style = (_HOST.parent / "review" / "review.css").read_text(encoding="utf-8")
    height = re.search(r"ROW_HEIGHT = (\d+);", source)
    assert height is not None
    assert f"height: {height[1]}px;" in style.split(".nl-review-row {", 1)[1].split("}", 1)[0]
