"""What executes notebooks and makes pages of them; imported when it is used, as that takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.browser.servers import configure_kernel, make_environment

#: executes a notebook, whose outputs are in it then
Execute = Callable[[Any], None]


@contextmanager
def run_kernel(home: Path, folder: Path) -> Iterator[Execute]:
    """Run one kernel, which executes notebooks one after another until the block ends.

    Parameters
    ----------
    home
        Where its settings are.
    folder
        Where it is started: paths in notebooks are relative to it.
    """
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_core.utils import run_sync
    from nbclient import NotebookClient

    def execute(notebook: Any) -> None:
        client = NotebookClient(
            notebook, manager, timeout=600, resources={"metadata": {"path": str(folder)}}
        )
        try:
            client.execute()
        finally:
            if client.kc is not None:
                client.kc.stop_channels()

    with pytest.MonkeyPatch.context() as patch:
        for key, value in make_environment(home).items():
            patch.setenv(key, value)
        manager = AsyncKernelManager(kernel_name="python3", config=configure_kernel())
        try:
            yield execute
        finally:
            if manager.has_kernel:
                run_sync(manager.shutdown_kernel)(now=True)


def export_page(notebook: Any, template: str = "lab", **options: Any) -> str:
    """Return the page that nbconvert makes of a notebook."""
    page, _ = _make_exporter(template, **options).from_notebook_node(notebook)
    return str(page)


@cache
def _make_exporter(template: str, **options: Any) -> Any:
    """Return an exporter, which reads its templates once."""
    from nbconvert import HTMLExporter

    return HTMLExporter(template_name=template, **options)
