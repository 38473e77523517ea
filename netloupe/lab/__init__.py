"""The explorer in JupyterLab: an extension of the Jupyter server, which gives the page of a model.

The browser's side is in ``widgets/frontend/src/lab/``. Models are read in processes of their own,
each with the server of :mod:`netloupe.live`; the Jupyter server only checks who asks and for what
file, and passes on what the two say to one another.
"""

from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Tell the Jupyter server where its extension is."""
    return [{"module": "netloupe.lab"}]


def _load_jupyter_server_extension(server_app: Any) -> None:
    """Add the explorer to a Jupyter server."""
    from .extension import add_explorer

    add_explorer(server_app)
