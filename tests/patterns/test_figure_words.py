"""The words of figures: the page is current, and what patterns tell has a word on it."""

from __future__ import annotations

import sys
from pathlib import Path

from netloupe.explorer.patterns.figure_words import FIGURE_WORDS
from netloupe.explorer.patterns.known_patterns import ARITHMETIC, IDEAS, PATTERNS

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "tools"))

from make_word_page import PAGE, write_page  # noqa: E402

_WORDS = [word for words in FIGURE_WORDS.values() for word in words]


def test_the_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == write_page(), "run python tools/make_word_page.py"


def test_each_word_is_told_once_and_of_a_pattern_that_there_is() -> None:
    named = [word.word for word in _WORDS]
    assert len({*named}) == len(named)
    assert {word.pattern for word in _WORDS} <= {"", *(pattern.id for pattern in PATTERNS)}


def test_each_idea_has_a_word() -> None:
    told = {word.pattern for word in _WORDS}
    assert {pattern.id for pattern in (*IDEAS, *ARITHMETIC)} <= told
