"""What a figure of a model may not show, looked for in first views.

Each measure takes a picture and returns a line for everything that offends, none where all is well.
They read what is drawn and the graph below it, not what a model is known to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import SceneBox
from netloupe.explorer.layout.untold import rate_face, tell_parts
from netloupe.explorer.model import Node
from netloupe.explorer.render.face import Face
from netloupe.explorer.render.picture import Picture
from netloupe.explorer.view import Item
from tests.known_architectures import Architecture

#: a picture may be so many times as wide as it is high, and the other way round
MOST_ASPECT = 3.0
#: a picture of so many boxes has a sentence
MOST_WORDLESS = 4
#: a frame around so few boxes has to say more than its closed box
FEW_BOXES = 2
#: what has less of a model, and only lists its parts, is a detail
LEAST_OF_LIST = 0.05

_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?!\w|[.,]\d)")
#: what a sentence says of sizes that have a name, by the fields that hold them
_COUNT = r"(\d{1,3}(?:,\d{3})+|\d+)"
_CLAIMS = {
    rf"vocabulary {_COUNT}": ("vocabulary",),
    rf"positions {_COUNT}": ("positions",),
    rf"{_COUNT} heads?\b": ("heads", "stage_heads"),
    rf"{_COUNT} classes": ("classes",),
    rf"patches of {_COUNT}": ("patch",),
}
_BLOCKS = re.compile(_COUNT + r" (?:encoder|decoder|transformer|Conformer|Mamba|Swin) blocks?\b")
#: parts of a row that say how much there is, and not what
_AMOUNT = re.compile(
    r"(?:the first has )?[\d.,]+ ?[kMGTB]?(?: parameters?| nodes?| ?% of the model| ?%)?", re.I
)


def find_idle_frames(picture: Picture) -> list[str]:
    """Return the frames around one or two boxes that say nothing which their closed box does not.

    What an author called a part inside says nothing where the part is one operator.
    """
    inside: dict[int, list[SceneBox]] = {}
    boxes = picture.scene.boxes
    for box in boxes:
        if box.item.kind != "stub" and not box.item.is_terminal:
            inside.setdefault(id(box.item.parent), []).append(box)
    found = []
    for item in {id(box.item): box.item for box in boxes if box.item.is_open}.values():
        held = {id(box.item): box.item for box in inside.get(id(item), [])}
        if item.repeat is not None or len(held) > FEW_BOXES:
            continue
        if any(inner.is_open for inner in held.values()):
            continue
        said = set(_list_words(picture.labels.faces.face(_close(item))))
        more = {
            word
            for inner in held.values()
            for word in _list_words(picture.labels.draw(inner), without=_own_name(inner))
        }
        if more <= said:
            found.append(f"{item.path}: {', '.join(inner.path for inner in held.values())}")
    return found


def _close(item: Item) -> Item:
    """Return an item as it would be drawn closed."""
    closed = Item(
        *(item.kind, item.path, item.element, item.instance, item.parent),
        key=item.key,
        label=item.label,
        openable=item.openable,
    )
    closed.inputs, closed.outputs, closed.merged = item.inputs, item.outputs, item.merged
    closed.constants = item.constants
    return closed


def _own_name(item: Item) -> str:
    """Return what an author called a part that is a single operator; "" for what is more."""
    element = item.element
    if isinstance(element, Node):
        return item.label
    return element.label if isinstance(element, Group) and element.main is not None else ""


def _list_words(face: Face, without: str = "") -> Iterator[str]:
    """Yield the words on a face, its sign that it can be opened left out."""
    for run in face.texts:
        if run.text != without and run.style != "mark":
            yield from (word.lower() for word in _WORD.findall(run.text))
    for badge in face.badges:
        yield from (word.lower() for word in _WORD.findall(badge.text))


def find_bare_faces(picture: Picture) -> list[str]:
    """Return the closed groups that say how many parameters or nodes they have, and nothing else.

    What is beside the model's body, preparation and such, is named by what it is for.
    """
    found = []
    for item in {id(box.item): box.item for box in picture.scene.boxes}.values():
        element = item.element
        if item.is_open or not isinstance(element, Group) or element.is_beside:
            continue
        known = element.recognised or element.main
        rows = [run.text for run in picture.labels.draw(item).texts if run.style == "muted"]
        if known is None and rows and all(map(is_amount, rows)):
            found.append(f"{item.path}: {' / '.join(rows)}")
    return found


def find_shut_lists(picture: Picture) -> list[str]:
    """Return the closed boxes that list their parts, and hold much of the model.

    What an inset shows is open, and so is what is made of the same parts as something open.
    """
    items = {id(box.item): box.item for box in picture.scene.boxes}.values()
    opened = {tell_parts(o.element) for o in items if o.is_open and isinstance(o.element, Group)}
    found = []
    for item in items:
        element = item.element
        if item.is_open or not isinstance(element, Group) or tell_parts(element) in opened:
            continue
        around = item.parent.element if item.parent is not None else None
        if rate_face(element, around) == 1 and (element.share >= LEAST_OF_LIST):
            found.append(f"{item.path}: {', '.join(one.name for one in element.contents[:6])}")
    return found


def is_amount(row: str) -> bool:
    """Return whether a row of a face says only how much there is."""
    return all(_AMOUNT.fullmatch(part.strip()) for part in re.split(r" · |; ", row))


def find_extreme_aspect(picture: Picture) -> list[str]:
    """Return what the picture's shape is where it is more than three times as long as wide."""
    width, height = picture.scene.width, picture.scene.height
    if max(width, height) <= MOST_ASPECT * min(width, height):
        return []
    return [f"{width:.0f} × {height:.0f}"]


def find_wordless(picture: Picture) -> list[str]:
    """Return how many boxes there are where no sentence says what the model is."""
    boxes = [box for box in picture.scene.boxes if box.item.kind != "stub" and not box.item.is_open]
    if len(boxes) <= MOST_WORDLESS or picture.model.architecture.sentence:
        return []
    return [f"{len(boxes)} boxes and no sentence"]


def find_unknown_numbers(sentence: str, known: Iterable[float], words: Iterable[str]) -> list[str]:
    """Return the numbers of a sentence that are not among those of a model's configuration.

    Numbers in words that are known to be right of it are no numbers to be looked for.
    """
    for word in sorted(words, key=len, reverse=True):
        sentence = sentence.replace(word, " ")
    said = [match.replace(",", "") for match in _NUMBER.findall(sentence)]
    amounts = {float(number) for number in known}
    return [number for number in dict.fromkeys(said) if float(number) not in amounts]


def find_wrong_claims(sentence: str, known: Architecture) -> list[str]:
    """Return what a sentence says of sizes that have a name and of blocks, and is otherwise.

    Heads are looked at where some are known, blocks where all are; a single block is no stack.
    """
    for word in sorted(known.words, key=len, reverse=True):
        sentence = sentence.replace(word, " ")
    found = []
    for pattern, names in _CLAIMS.items():
        right: set[float] = set()
        for name in names:
            value = getattr(known, name)
            right |= {*value} if isinstance(value, tuple) else {value} - {None}
        if "heads" in names:
            if not right:
                continue
            right |= {*known.numbers}
        found += _list_wrong(re.compile(pattern), sentence, right)
    counts: set[float] = {1}
    for blocks in known.blocks or ():
        for run in (blocks.counts, *blocks.otherwise):
            counts |= {*run, sum(run)}
    return found + (_list_wrong(_BLOCKS, sentence, counts) if known.blocks else [])


def _list_wrong(pattern: re.Pattern[str], sentence: str, right: set[float]) -> list[str]:
    return [
        match.group()
        for match in pattern.finditer(sentence)
        if int(match.group(1).replace(",", "")) not in right
    ]
