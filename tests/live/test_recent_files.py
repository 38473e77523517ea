"""What stands in the list of recent files, or in its place, keeps no window from opening."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import pytest

from netloupe.live.recent import RecentFiles


@pytest.mark.skipif(sys.platform == "win32", reason="names are Unicode there")
def test_a_name_that_is_no_utf_8_is_not_kept(tmp_path: Path) -> None:
    recent = RecentFiles(tmp_path / "recent.json")
    recent.add(os.fsdecode(b"/models/m\xff\xfe.onnx"))
    recent.add("/models/b.onnx")
    assert recent.read() == ["/models/b.onnx"]


def test_a_name_that_an_earlier_version_kept_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "recent.json"
    file.write_text(json.dumps(["/models/m\udcff.onnx", "/models/b.onnx", "", 3]))
    assert RecentFiles(file).read() == ["/models/b.onnx"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs")
def test_a_fifo_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "recent.json"
    os.mkfifo(file)
    found: list[list[str]] = []

    def work() -> None:
        recent = RecentFiles(file)
        found.append(recent.read())
        recent.add("/models/b.onnx")
        found.append(recent.read())

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert found == [[], ["/models/b.onnx"]]
