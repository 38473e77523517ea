"""What the address of a page keeps of a session, and what becomes of it in another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import netloupe
from netloupe.explorer.errors import NotFoundError, ViewError
from netloupe.explorer.model import Model
from netloupe.explorer.session import Session
from netloupe.explorer.session.open_state_text import LONGEST, read_open_paths, write_open_state
from netloupe.explorer.session.page_link import follow_page_link, read_page_link, write_page_link
from netloupe.explorer.view import View, ViewOptions
from tests.corpus import corpus_file

GPT = "exported/gpt2.legacy.onnx"


@pytest.fixture(scope="module")
def gpt() -> Model:
    return netloupe.load(corpus_file(GPT))


def begin(model: Model, **view: Any) -> Session:
    """Begin to look at a model."""
    return Session(model, ViewOptions.parse({"wrap": False, **view}))


def make_fields(session: Session, **more: Any) -> dict[str, Any]:
    """Return what a page sends of its address that keeps what a session shows."""
    session.note()
    path, hops = session.views.focused or ("", 0)
    return {
        "direction": session.views.options.direction,
        "focus": {"path": path, "hops": hops} if path else None,
        "selected": [],
        **write_page_link(session),
        **more,
    }


def list_shown(session: Session) -> list[tuple[str, bool, bool, int]]:
    """Return the boxes of a session, and in which states they are."""
    items = session.views.current.items
    return sorted((key, i.is_open, i.is_unrolled, i.shown) for key, i in items.items())


def open_shape(session: Session) -> None:
    session.views.current.show_shapes()


def step(session: Session) -> None:
    (repeat,) = [item for item in session.views.current.items.values() if item.repeat is not None]
    session.views.current.show_repetition(repeat.key, 7)
    session.views.current.open(next(i.key for i in repeat.children if i.openable))


def unroll(session: Session) -> None:
    (repeat,) = [item for item in session.views.current.items.values() if item.repeat is not None]
    session.views.unroll(repeat.key)


CHANGES: dict[str, Callable[[Session], object]] = {
    "nothing": lambda session: None,
    "all closed": lambda session: session.views.expand("none"),
    "all open": lambda session: session.views.expand("all"),
    "a repetition": step,
    "unrolled": unroll,
    "shape arithmetic": open_shape,
    "grouping": lambda session: session.views.group("repeats"),
    "a neighbourhood": lambda session: session.views.focus(
        "main/model/transformer/h.3/attn/Transpose", 2
    ),
    "to the right": lambda session: session.set_direction("LR"),
    "details": lambda session: (session.set_details("all"), session.set_share("macs")),
    "columns": lambda session: session.set_wrap(3),
    "no names": lambda session: session.unname_kind("Self-attention"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_session_shows_what_a_link_says(gpt: Model, change: str) -> None:
    one, other = begin(gpt), begin(gpt)
    CHANGES[change](one)
    selected, gone = follow_page_link(other, read_page_link(make_fields(one)))
    assert (selected, gone) == ([], [])
    assert list_shown(other) == list_shown(one)
    assert other.views.focused == one.views.focused
    assert other.wrap == one.wrap
    now, wanted = other.views.options, one.views.options
    assert (now.direction, now.grouping, now.details, now.share, now.unnamed) == (
        wanted.direction,
        wanted.grouping,
        wanted.details,
        wanted.share,
        wanted.unnamed,
    )
    other.note()
    assert write_page_link(other) == write_page_link(one)
    # and back: what a link does not say is as at first
    follow_page_link(other, read_page_link(make_fields(begin(gpt))))
    assert list_shown(other) == list_shown(begin(gpt))
    other.note()
    assert write_page_link(other)["choices"] == {}


def test_graphs_inside_of_nodes() -> None:
    model = netloupe.load(corpus_file("exported/condloop.dynamo.onnx"))
    one, other = begin(model), begin(model)
    (inner,) = [path for path in model.graphs_by_path if path.count("/") == 1][:1]
    one.views.enter(inner)
    link = make_fields(one)
    assert link["choices"]["graph"] == inner
    follow_page_link(other, read_page_link(link))
    assert other.views.current.graph.path == inner
    assert list_shown(other) == list_shown(one)


def test_a_link_to_an_element_alone_leads_to_it(gpt: Model) -> None:
    session = begin(gpt, expand="none")
    path = "main/model/transformer/h.3/attn/Transpose"
    fields = {**make_fields(session), "opened": None, "selected": [path, "main/nowhere"]}
    assert path not in session.views.current.items
    assert follow_page_link(session, read_page_link(fields)) == ([path], ["main/nowhere"])
    assert path in session.views.current.items


def test_what_is_gone_is_told_and_the_rest_is_shown(gpt: Model) -> None:
    session = begin(gpt)
    fields = make_fields(session, selected=["main/nowhere", "main/model/transformer/h.0/"])
    fields["opened"] += "~0:main/gone/"
    selected, gone = follow_page_link(session, read_page_link(fields))
    assert selected == ["main/model/transformer/h.0/"]
    assert gone == ["main/nowhere", "main/gone/"]
    (repeat,) = [item for item in session.views.current.items.values() if item.repeat is not None]
    fields = make_fields(session, opened=f"0.99:{repeat.key}")
    fields["selected"] = [repeat.key]
    assert (
        follow_page_link(session, read_page_link(fields))[1][-1] == f"repetition 99 of {repeat.key}"
    )


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"opened": "0:main/nothing/", "selected": ["main/nowhere"]}, ViewError, "nothing of what"),
        ({"focus": {"path": "main/nowhere", "hops": 2}}, NotFoundError, "main/nowhere"),
        ({"choices": {"graph": "main/nowhere"}}, NotFoundError, "main/nowhere"),
        (
            {"choices": {"graph": "main/model/transformer/h.3/attn/Transpose"}},
            ViewError,
            "is no graph",
        ),
    ],
)
def test_what_the_model_does_not_have_is_refused_and_nothing_changes(
    gpt: Model, more: dict[str, Any], error: type[Exception], said: str
) -> None:
    session = begin(gpt)
    before = list_shown(session)
    with pytest.raises(error, match=said), session.changing():
        follow_page_link(session, read_page_link(make_fields(session, **more)))
    assert list_shown(session) == before
    assert write_page_link(session)["choices"] == {}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"opened": "x"}, "damaged"),
        ({"opened": "5:main"}, "damaged"),
        ({"opened": "0:a~~0:b"}, "damaged"),
        ({"opened": "9" * (LONGEST + 1)}, "too long"),
        # each entry is as long as all before it together
        ({"opened": "0:" + "a" * 30_000 + "~30000:" * 4_000}, "too long"),
        ({"opened": 3}, "damaged"),
        ({"selected": "main"}, "damaged"),
        ({"selected": [3]}, "damaged"),
        ({"selected": ["x" * 70_000]}, "too long"),
        ({"focus": {"path": "main", "hops": 9}}, "neighbourhood"),
        ({"focus": {"path": "main", "hops": True}}, "neighbourhood"),
        ({"focus": "main"}, "neighbourhood"),
        ({"direction": "UP"}, "direction"),
        ({"direction": None}, "direction"),
        ({"choices": {"details": "little"}}, "details"),
        ({"choices": {"wrap": "-3"}}, "wrap"),
        ({"choices": {"wrap": 3}}, "wrap"),
        ({"choices": {"theme": "dark"}}, "damaged"),
        ({"choices": []}, "damaged"),
    ],
)
def test_what_is_no_link_is_refused(more: dict[str, Any], said: str) -> None:
    fields = {"direction": "TB", "opened": None, "focus": None, "selected": [], "choices": {}}
    with pytest.raises(ViewError, match=said):
        read_page_link({**fields, **more})


def test_names_with_signs_of_the_text_come_back() -> None:
    model = netloupe.load(corpus_file("hostile/evil_names.onnx"))
    view = View(model)
    for item in [*view.items.values()]:
        if item.openable and item.key in view.items:
            view.open_item(item)
    text = write_open_state(view.open_state())
    assert text is not None
    assert read_open_paths(text).keys == view.open_state().keys
    for path in ("a~b/%7e;/", "%", "~", "\udc80/", "é/ü:*!."):
        assert read_open_paths(f"0:{_written(path)}").keys == (path,)


def _written(path: str) -> str:
    from netloupe.explorer.session.open_state_text import _escape

    return _escape(path)


def test_what_is_longer_than_an_address_is_left_out(
    gpt: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begin(gpt)
    monkeypatch.setattr("netloupe.explorer.session.open_state_text.LONGEST", 30)
    assert write_page_link(session)["opened"] is None
