"""Anything as JSON can hold it: long lists and texts are cut, and it is said where."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

#: types whose every value JSON has, texts apart
_PLAIN = frozenset((type(None), bool, int))
#: a list or an object has so many entries, unless all are asked for
MOST_ENTRIES = 1_000
#: and a text so many characters
MOST_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class Listing:
    """Entries that are looked at one by one, only those that are written.

    Parameters
    ----------
    entries
        Looked at once.
    describe
        Returns what is written of an entry.
    count
        How many they are.
    """

    entries: Iterable[Any]
    describe: Callable[[Any], Any]
    count: int


def encode_json(
    told: dict[str, Any], *, most: int | None = MOST_ENTRIES, expand: Callable[[Any], Any] = str
) -> dict[str, Any]:
    """Return an object as JSON can hold it.

    Parameters
    ----------
    told
        Of numbers, texts, bytes, arrays, lists, :class:`Listing` and more such objects.
    most
        So many entries of each list and object are written, and of each text so many characters
        that ten make an entry; all of them where None.
    expand
        Returns what is written of anything else.

    Returns
    -------
    dict
        The same with plain entries, and ``cut``: by JSON pointer (RFC 6901) to a list, object or
        text that was cut, how many entries (of a text: characters) are ``shown``, and the
        ``total``. NaN and infinities are the strings ``NaN``, ``Infinity`` and ``-Infinity``;
        bytes are ``{"base64": …}``.
    """
    encoder = _Encoder(most, expand)
    encoded: dict[str, Any] = encoder.encode(told)
    return encoded | {"cut": encoder.cut}


class _Encoder:
    def __init__(self, most: int | None, expand: Callable[[Any], Any]) -> None:
        self.most = most
        self.longest = math.inf if most is None else most * (MOST_CHARACTERS // MOST_ENTRIES)
        self.expand = expand
        self.cut: dict[str, dict[str, int]] = {}
        self._way: list[str] = []

    def encode(self, thing: Any) -> Any:
        if self._is_plain(thing):
            return thing
        if isinstance(thing, dict):
            return self._encode_object(thing)
        if isinstance(thing, list | tuple):
            return self._encode_list(thing, len(thing))
        if isinstance(thing, int):  # of a type of its own
            return thing
        if isinstance(thing, str):
            # lone surrogates cannot be written as UTF-8
            return self._limit_text(thing).encode("utf-8", "replace").decode("utf-8")
        if isinstance(thing, float):
            if math.isfinite(thing):
                return thing
            return "NaN" if math.isnan(thing) else "Infinity" if thing > 0 else "-Infinity"
        if isinstance(thing, bytes):
            shown = self._limit_text(thing)
            return {"base64": base64.b64encode(shown).decode("ascii")}
        if isinstance(thing, np.generic):
            return self.encode(thing.item())
        if isinstance(thing, np.ndarray):
            return self._encode_list(thing, len(thing)) if thing.ndim else self.encode(thing.item())
        if isinstance(thing, Listing):
            return self._encode_list(map(thing.describe, thing.entries), thing.count)
        return self.encode(self.expand(thing))

    def _is_plain(self, thing: Any) -> bool:
        """Return whether a thing is written as it is, which is quickly seen of most."""
        if type(thing) is str:
            return len(thing) <= self.longest and thing.isascii()
        return type(thing) in _PLAIN

    def _encode_object(self, entries: dict[Any, Any]) -> dict[str, Any]:
        encoded = {}
        for key, entry in islice(entries.items(), self._limit(len(entries))):
            name = key
            if type(key) is not str or not key.isascii():
                name = str(key).encode("utf-8", "replace").decode("utf-8")
            if self._is_plain(entry):
                encoded[name] = entry
                continue
            self._way.append(name)
            encoded[name] = self.encode(entry)
            self._way.pop()
        return encoded

    def _encode_list(self, entries: Iterable[Any], count: int) -> list[Any]:
        encoded = []
        for number, entry in enumerate(islice(entries, self._limit(count))):
            if self._is_plain(entry):
                encoded.append(entry)
                continue
            self._way.append(str(number))
            encoded.append(self.encode(entry))
            self._way.pop()
        return encoded

    def _limit(self, total: int) -> int:
        """Return how many entries of a list or object are written."""
        if self.most is None or total <= self.most:
            return total
        self._note(self.most, total)
        return self.most

    def _limit_text(self, text: Any) -> Any:
        """Return the beginning of a text that is too long."""
        if len(text) <= self.longest:
            return text
        longest = int(self.longest)
        self._note(longest, len(text))
        return text[:longest]

    def _note(self, shown: int, total: int) -> None:
        steps = (step.replace("~", "~0").replace("/", "~1") for step in self._way)
        pointer = "".join(f"/{step}" for step in steps)
        self.cut[pointer] = {"shown": shown, "total": total}
