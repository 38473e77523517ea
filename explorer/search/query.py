"""What is searched: words, or a regular expression, and what is found of them in texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from netloupe.explorer.errors import ViewError

#: longer texts are matched by their beginning only, so that no expression runs for ever
LONGEST = 400

#: an attribute with its value is one word, blanks and all: ``axes = [1, 2]``
_WORD = re.compile(r"[^\s=]+\s*=\s*(?:\[[^\]]*\]?|\S+)|\S+")


class Query:
    """What is searched: words all of which are to be found, or one regular expression.

    Parameters
    ----------
    text
        Words with blanks between them, or the expression.
    regex
        Which of both.

    Raises
    ------
    ViewError
        For an invalid regular expression.
    """

    def __init__(self, text: str, regex: bool) -> None:
        self._words = [] if regex else [_clean_word(word) for word in _WORD.findall(text)]
        self._pattern: re.Pattern[str] | None = None
        if regex:
            try:
                self._pattern = re.compile(text, re.IGNORECASE)
            except (re.error, OverflowError, RecursionError) as error:
                raise ViewError(f"the regular expression {text!r} is not valid: {error}.") from None
        #: how many words there are
        self.count = 1 if regex else len(self._words)

    def count_missing(self, texts: Iterable[str]) -> int:
        """Return how many of the words are in none of the texts."""
        if self._pattern is not None:
            search = self._pattern.search
            return int(not any(search(text[:LONGEST]) for text in texts if text))
        joined = "\n".join(texts)
        if len(joined) > LONGEST:
            joined = "\n".join(text[:LONGEST] for text in joined.split("\n"))
        joined = joined.casefold()
        missing = 0
        for word in self._words:
            if word not in joined:
                missing += 1
        return missing

    def finds_end(self, text: str, start: int) -> bool:
        """Return whether any word is found in a text so that it ends behind a position."""
        if self._pattern is not None:
            begin = max(len(text) - LONGEST, 0)
            return any(one.end() + begin > start for one in self._pattern.finditer(text[begin:]))
        return any(word in text[max(start - len(word) + 1, 0) :].casefold() for word in self._words)


def _clean_word(word: str) -> str:
    name, is_attribute, value = word.partition("=")
    is_attribute = is_attribute and value
    return (f"{name.strip()} = {value.strip()}" if is_attribute else word).casefold()
