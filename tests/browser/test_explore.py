"""The explorer in JupyterLab: the whole way from a cell to the selection and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .exploring import GPT2_NAMES, check_contract, explore, run_host
from .servers import Server

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with run_host("lab", tmp_path_factory.mktemp("lab")) as running:
        yield running


def test_it_carries_the_explorer(page: Any, server: Server) -> None:
    check_contract(page, server)


def test_a_large_model_is_explored_in_a_notebook(page: Any, server: Server) -> None:
    explore(page, server, "gpt2.ipynb", GPT2_NAMES)
