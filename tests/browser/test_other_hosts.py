"""The contract of hosts beside JupyterLab: the whole way from a cell to the selection and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .exploring import check_contract, run_host

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("application", ["notebook", "voila"])
def test_a_host_carries_the_explorer(page: Any, application: str, tmp_path: Path) -> None:
    with run_host(application, tmp_path) as server:
        check_contract(page, server)
