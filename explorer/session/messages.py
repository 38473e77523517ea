"""The messages between a canvas and Python: requests come in, replies go out.

They have the same names and fields in ``widgets/frontend/src/host/messages.ts``. Every request has
an ``id`` that its reply brings back; a message without one was not asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

#: paths of what is shown or selected: one by itself, several as a list
Paths = str | list[str]
#: by path of what is selected the keys of the boxes that show or hide it
PlacesByPath = Mapping[str, list[str]]


class Request(TypedDict, total=False):
    """What the browser asks for.

    Which fields it has follows from ``type``. Nothing of it is checked before it is answered:
    whoever reads a field looks at what it is.
    """

    id: object
    type: object
    #: of a box, a node, a graph or what else is asked about
    path: object
    #: width and height of the canvas, in CSS pixels
    window: object
    #: how much is opened: ``auto``, ``all`` or ``none``
    mode: object
    #: whether the picture is cut into columns
    wrap: object
    #: what stands on the boxes of nodes
    details: object
    share: object
    grouping: object
    #: the number of the column that boxes are coloured by, -1 for none
    overlay: object
    #: how far a neighbourhood reaches
    hops: object
    #: which repetition of a repeat is shown
    index: object
    #: what is searched
    text: object
    regex: object
    #: in which a legend or a picture is drawn
    theme: object
    #: of a picture that is written: ``svg``, ``png``, ``pdf`` or ``html``
    format: object
    #: left, top, width and height of what is seen of the scene; without it all is drawn
    part: object
    #: the request that is given up; without it whatever is under way
    target: object
    #: the user has been asked and wants it although it takes long
    sure: object


class HistoryState(TypedDict):
    """Which moment a scene shows, and whether one can go back and forth from it."""

    moment: int
    undo: bool
    redo: bool


class SceneFields(TypedDict, total=False):
    """How a scene is to be shown."""

    #: what is selected from now on
    select: Paths
    #: what is brought into the middle of the window
    center: Paths
    #: path of the box that stays where it is on the screen
    anchor: str
    #: the scene is shown as when it is first opened
    fit: bool
    #: the window goes where it was when this moment was left
    restore: bool
    history: HistoryState
    #: by path of what is selected the keys of the boxes that show or hide it
    places: PlacesByPath


class SceneMessage(SceneFields):
    """A scene, whose numbers and names are in the buffers that go with it."""

    type: Literal["scene"]
    #: as ``explorer/render/wire.py`` writes it
    header: Mapping[str, Any]


class SearchHit(TypedDict):
    """One of the things that a search has found."""

    path: str
    title: str
    detail: str
    kind: str
    #: path of the drawn box that is it or hides it
    shown: str | None


class HitsMessage(TypedDict):
    """What a search has found."""

    type: Literal["hits"]
    hits: list[SearchHit]
    #: how many there are; not all of them are listed
    total: int


class LegendEntry(TypedDict):
    """What one colour or sign of the picture means."""

    text: str
    #: a small picture of it, "" for words alone
    svg: str
    #: whether it explains what boxes are coloured by
    overlay: bool


class LegendMessage(TypedDict):
    """What the colours and signs of the picture mean."""

    type: Literal["legend"]
    entries: list[LegendEntry]


class FileMessage(TypedDict):
    """A picture as a file, whose bytes are in the buffer that goes with it."""

    type: Literal["file"]
    #: what is to be said of it
    notices: list[str]


class CommandMessage(TypedDict):
    """The command that draws what is shown."""

    type: Literal["command"]
    text: str
    #: what the command does not say of the picture, in words; nothing where it draws the same
    left: list[str]


class ConfirmMessage(TypedDict):
    """What was asked for takes long: the user is asked, then it is asked for with ``sure``."""

    type: Literal["confirm"]
    message: str


class ErrorMessage(TypedDict):
    """A request has failed, or something else."""

    type: Literal["error"]
    message: str
    #: the user has stopped the request
    cancelled: NotRequired[bool]


class BusyMessage(TypedDict):
    """A request is being worked on."""

    type: Literal["busy"]
    message: str
    #: how much of it is done, 0 to 1; None where that is not known
    share: float | None
    #: whether it can be cancelled; left out where it can
    stoppable: NotRequired[bool]


class IdleMessage(TypedDict):
    """Nothing is worked on any more."""

    type: Literal["idle"]


#: what a reply may be, but for a scene, which has buffers
Reply = (
    HitsMessage
    | LegendMessage
    | FileMessage
    | CommandMessage
    | ConfirmMessage
    | ErrorMessage
    | BusyMessage
    | IdleMessage
)


class DescriptionRequest(TypedDict, total=False):
    """What a link in a description asks for; one of the two, not checked either."""

    #: the element to go to
    follow: object
    #: number of the section of which more rows are shown
    more: object
