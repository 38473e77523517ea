"""Shows the page at an address in a window of pywebview, which wants a process for itself."""

from __future__ import annotations

import sys


def show(address: str) -> None:
    """Show it until the window is closed."""
    import webview

    webview.create_window("netloupe", address, width=1500, height=1000)
    webview.start(private_mode=True)


if __name__ == "__main__":
    show(sys.argv[1])
