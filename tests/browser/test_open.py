"""The desktop window: `netloupe open` serves the explorer on loopback, to whoever has the token."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import started

from .notebook_page import CANVAS
from .servers import ROOT, make_environment

pytestmark = pytest.mark.browser

DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "netloupe", "open", str(DEMO), "--no-browser"]
    environment = make_environment(tmp_path)
    with started(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
        assert found, line
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


def test_window_shows_the_model_to_the_token_only(page: Any, address: str) -> None:
    place, _, _ = address.partition("?")
    refused = page.goto(place)
    assert refused.status == 403
    assert "has no token" in page.inner_text("body")
    assert page.locator(CANVAS).count() == 0

    answer = page.goto(address)
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "default-src 'none'" in page.locator("meta[http-equiv]").get_attribute("content")
    page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    host = page.locator(CANVAS).first.bounding_box()
    assert host["height"] > 0.9 * page.viewport_size["height"]
    paths = page.evaluate(f"() => document.querySelector('{CANVAS}').netloupe.paths()")
    assert "main/blocks/0-3/" in paths
