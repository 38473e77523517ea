"""What an administrator may set, in a file of settings of the Jupyter server."""

from __future__ import annotations

from traitlets import Float, Integer, List, Unicode
from traitlets.config import Configurable


class NetloupeLab(Configurable):
    """The explorer in JupyterLab: ``c.NetloupeLab.max_models = 4`` in jupyter_server_config.py."""

    max_models = Integer(
        8, min=1, help="How many models may be open at once, each in a process of its own."
    ).tag(config=True)
    idle_seconds = Float(
        60.0, min=0.0, help="Seconds until a process ends whose model no page shows any more."
    ).tag(config=True)
    linked_folders = List(
        Unicode(),
        help="Folders outside of the server's root folder that links inside it may lead to.",
    ).tag(config=True)
