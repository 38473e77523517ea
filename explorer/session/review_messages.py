"""The messages between a review tab and Python, whoever carries them.

They have the same names and fields in ``widgets/frontend/src/review/connection.ts``.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

#: nothing was checked; rules are applied; those that read weights are; it is over
CheckStage = Literal["unchecked", "checking", "reading", "checked"]


class ReviewRequest(TypedDict, total=False):
    """What a review tab asks for: one of these, not checked before it is answered."""

    #: ``review``: the list, and how far a check is
    ask: object
    #: a path to be shown and selected, that of an item
    show: object
    #: the number of that item
    item: object
    #: ``rules`` that read no weights, or those that read ``weights`` as well
    check: object
    #: end the check that is under way
    stop: object
    #: whether items are marked in the picture
    marks: object
    #: what a note says, that is written on the elements at some ``paths``
    note: object
    paths: object
    #: the number of the item whose finding is accepted; the note says why
    accept: object
    #: the id of the note that says something else from now on
    edit: object
    #: the id of the note that is removed
    remove: object


class ReviewListMessage(TypedDict):
    """All that there is to review."""

    type: Literal["review"]
    #: as ``explorer/review/wire.py`` writes it; None before anything is known
    review: dict[str, Any] | None
    marks: bool


class MarksMessage(TypedDict):
    """Whether items are marked: told where it changes, and to whoever asked for it."""

    type: Literal["marks"]
    marks: bool


class CheckProgressMessage(TypedDict):
    """How far a check is."""

    type: Literal["progress"]
    stage: CheckStage
    #: what of it is done, 0 to 1; None where that is not known
    share: float | None
    #: what went wrong; "" for nothing
    error: str


class GoMessage(TypedDict):
    """An item is to be selected in the list: its number, -1 for none."""

    type: Literal["go"]
    item: int


class NotedMessage(TypedDict):
    """A note was written, changed or removed, or why not; "" where it was."""

    type: Literal["noted"]
    error: str


class SelectionMessage(TypedDict):
    """Other elements are selected in the picture: what a note would be on."""

    type: Literal["selection"]
    paths: list[str]


ReviewMessage = (
    ReviewListMessage
    | MarksMessage
    | CheckProgressMessage
    | GoMessage
    | NotedMessage
    | SelectionMessage
)
