"""Settings of the widgets' tests: shapes are inferred only where a test asks for it."""

from __future__ import annotations

import pytest

from netloupe.explorer.session import inferring


@pytest.fixture(autouse=True)
def no_inference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep explorers from starting a process each."""
    monkeypatch.setattr(inferring, "lacks_types", lambda model: False)
