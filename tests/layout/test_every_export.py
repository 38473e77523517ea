"""Every export of torch in the zoo: no overlaps, all inside its frame, and no edge lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from netloupe.explorer.layout import LayoutEngine
from tests.layout.every_model import FOLDERS, find_faults


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def test_geometry_and_edges(engine: LayoutEngine) -> None:
    assert "exported" in FOLDERS
    assert find_faults("exported", engine) == {}
