"""What several modules on pages begin with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .written_page import WrittenPage, write_page


@pytest.fixture
def show(page: Any) -> Callable[..., WrittenPage]:
    """Opens the page of a file of ours without a network; modules may have another one."""

    def open_page(name: str, fragment: str = "", **view: Any) -> WrittenPage:
        file = write_page(name, **view)
        page.context.set_offline(True)
        page.keyboard.press("Escape")
        return WrittenPage(page, file, fragment)

    return open_page
