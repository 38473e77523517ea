"""What a session sends when all faces change: everything that is drawn otherwise than before."""

from __future__ import annotations

from typing import Any

import pytest

from netloupe.explorer.grouping import Group
from netloupe.explorer.readers.load import load
from netloupe.explorer.session import Session
from netloupe.explorer.view import ViewOptions
from tests.browser.servers import ROOT

CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"


@pytest.fixture
def session() -> Session:
    return Session(load(CNN), ViewOptions())


def send(session: Session) -> tuple[dict[str, Any], list[bytes]]:
    """Compose what is open and encode what of it is new to the canvas."""
    return session.encode(session.compose())


def test_a_picture_that_is_turned_again_and_again_is_sent_each_time(session: Session) -> None:
    levels = send(session)[0]["counts"]["levels"]
    for direction in ("LR", "TB", "LR", "TB"):
        session.set_direction(direction)
        header, _ = send(session)
        assert header["since"] is not None
        assert header["levels"] == levels, direction


def named_groups(session: Session) -> list[Group]:
    children = session.views.current.root.children
    groups = [item.element for item in children if isinstance(item.element, Group)]
    return [group for group in groups if group.recognised is not None]


@pytest.mark.parametrize("opened_first", [True, False])
def test_a_name_that_was_taken_away_is_sent_again_when_that_is_taken_back(
    session: Session, opened_first: bool
) -> None:
    send(session)
    session.note()
    group = named_groups(session)[0]
    if opened_first:
        session.views.current.open(group.path)
        send(session)
        session.note()
    session.unname(group.path)
    send(session)
    session.note()
    assert session.travel(-1)
    assert group.recognised is not None
    header, _ = send(session)
    assert header["levels"] == header["counts"]["levels"]
