"""What nodes and blocks are takes a small part of the time to the first view."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import large_graphs
from tests.benchmarks.shares import RoomTimer

#: of the time from the file to the first Scene
MOST = 0.25


@pytest.mark.parametrize("is_named", [True, False], ids=["named", "nameless"])
def test_roles_and_recognition_take_a_quarter_at_most(is_named: bool, tmp_path: Path) -> None:
    path = tmp_path / "decoder.onnx"
    writer = large_graphs.DecoderWriter(is_named=is_named)
    path.write_bytes(writer.model(20_000).SerializeToString())
    # on a busy machine one time may be long; of the next ones the shortest counts
    assert any(0 < large_graphs.measure_recognition(path) <= MOST for _ in range(3))


def test_time_inside_a_room_counts_once_and_generators_count_as_they_run() -> None:
    from netloupe.explorer import patterns
    from netloupe.explorer.grouping import small_blocks

    before = small_blocks.find_small_blocks
    timer = RoomTimer("netloupe.explorer.patterns")
    with timer.watching():
        assert small_blocks.find_small_blocks is not before
        assert patterns.find_small_blocks is not before
    assert small_blocks.find_small_blocks is before
    assert patterns.find_small_blocks is before
    assert timer.seconds == 0
