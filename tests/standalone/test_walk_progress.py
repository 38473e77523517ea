"""Writing a page tells how far it is, and ends where whoever watches wants it so."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import netloupe
from netloupe.explorer.progress import Cancelled, watched
from tests.corpus import corpus_file

NAME = "exported/gru_cells.legacy.onnx"
PAGE_STEPS = ("laying out groups", "collecting what can be found", "reading weights")


def test_writing_a_page_tells_how_far_it_is() -> None:
    told: list[tuple[str, float | None]] = []
    with watched(lambda what, share: told.append((what, share))):
        netloupe.load(corpus_file(NAME)).to_html()
    begin = next(place for place, (what, _) in enumerate(told) if what == PAGE_STEPS[0])
    steps = [what for what, _ in itertools.groupby(what for what, _ in told[begin:] if what)]
    assert [what for what in steps if what in PAGE_STEPS] == [
        *("laying out groups", "collecting what can be found"),
        *("laying out groups", "reading weights"),
    ]
    shares = [share for what, share in told[begin:] if what in PAGE_STEPS and share is not None]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert 0.8 < shares[-1] <= 1.0
    assert len({round(share, 3) for share in shares}) > 20


def test_whoever_watches_ends_it_and_nothing_is_left(tmp_path: Path) -> None:
    def watch(what: str, share: float | None) -> None:
        if what == "laying out groups" and share:
            raise Cancelled

    with pytest.raises(Cancelled), watched(watch):
        netloupe.load(corpus_file(NAME)).to_html(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
