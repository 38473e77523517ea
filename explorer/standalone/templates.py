"""Texts that are alike but for some words, as templates with slots.

Descriptions of a thousand nodes differ in names and numbers alone. What they share is written
once, and of each only what stands in the slots. Where slots may be is seen by the markup: the
text between two tags, and the values of the attributes ``title``, ``data-path`` and
``data-weight``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from netloupe.explorer.page.description_html import read_path

_ATTRIBUTE = re.compile(r'((?<=data-path=")[^"]*|(?<=data-weight=")[^"]*|(?<= title=")[^"]*)')
_PATH = 'data-path="'
_TEXT = re.compile(">([^<]+)<")

#: what is around the slots of a text, and what is in them
SplitText = tuple[tuple[str, ...], list[str]]


def split_slots(text: str) -> SplitText:
    """Return what is around the slots of a text with markup, and what is in them."""
    parts = _TEXT.split(text)
    around: list[str] = []
    slots: list[str] = []
    last = len(parts) - 1
    for number in range(0, last + 1, 2):
        before = parts[number]
        if number:
            before = f"<{before}"
        if number < last:
            before += ">"
        if "data-" in before or " title=" in before:
            start, *attributes = _ATTRIBUTE.split(before)
            for value, after in zip(attributes[::2], attributes[1::2], strict=True):
                slots.append(read_path(value) if start.endswith(_PATH) else value)
                around.append(start)
                start = after
            before = start
        around.append(before)
        if number < last:
            slots.append(parts[number + 1])
    return tuple(around), slots


def join_split(texts: Iterable[SplitText]) -> SplitText:
    """Return several texts behind each other as one."""
    around: list[str] = [""]
    slots: list[str] = []
    for before, inside in texts:
        around[-1] += before[0]
        around += before[1:]
        slots += inside
    return tuple(around), slots


class TemplateWriter:
    """Collects texts with markup; see :meth:`columns` for what is written of them."""

    def __init__(self) -> None:
        #: by what is around the slots the number of the template
        self._templates: dict[tuple[str, ...], int] = {}
        #: of each template the slots of all its texts
        self._filled: list[list[list[str]]] = []
        #: of each text its template
        self._used: list[int] = []

    def __len__(self) -> int:
        return len(self._used)

    def add(self, around: tuple[str, ...], slots: list[str]) -> None:
        """Take the next text: what is around its slots, and what is in them."""
        template = self._templates.setdefault(around, len(self._templates))
        if template == len(self._filled):
            self._filled.append([])
        self._filled[template].append(slots)
        self._used.append(template)

    def columns(
        self, number_all: Callable[[Sequence[str]], Iterable[int]]
    ) -> tuple[dict[str, list[int]], list[Any]]:
        """Return columns of integers, and the templates.

        A template is a list of texts and slots in turn. A slot is null where each text has its
        own, and the text itself where it is the same in all. ``templates`` has the number of
        each text's template, ``slots`` for each template in turn, slot by slot, the numbers of
        what stands there in its texts. A slot behind ``data-path="`` is a path as it is, not
        quoted.

        Parameters
        ----------
        number_all
            Gives the numbers of texts.
        """
        slots: list[int] = []
        templates: list[Any] = []
        for around, filled in zip(self._templates, self._filled, strict=True):
            template: list[str | None] = [around[0]]
            for place, after in enumerate(around[1:]):
                column = [each[place] for each in filled]
                is_same = all(text == column[0] for text in column)
                template += (column[0] if is_same else None, after)
                if not is_same:
                    slots += number_all(column)
            templates.append(template)
        return {"templates": self._used, "slots": slots}, templates
