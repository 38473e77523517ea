"""Run the demo notebooks from top to bottom and store their outputs in the repository.

What is stored is the same after every run: no times, no state of widgets, no random ids. Of an
explorer its static picture is kept. The widget, which needs a kernel, is left out, and so is the
explorer in a page: it would be some 300 kB of each notebook, anew with every change of the front
end, and where the demos are read, on GitHub, no script runs. A notebook whose outputs name a folder
of this machine is refused.

Usage: python tools/execute_notebooks.py [--check] [NOTEBOOK ...]
"""

import argparse
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "demo_notebooks"
WIDGET = "application/vnd.jupyter.widget-view+json"
#: what is left of the bar of opening
OPENED = 'data-netloupe="opened"'
TIMEOUT = 60  # seconds for one cell
MOST_BYTES = 1_000_000

_STATIC_ID = re.compile(r'data-netloupe-static="[0-9a-f]{32}"')


def run_notebook(path: Path) -> Any:
    """Execute a notebook in its folder, so that its relative paths hold, and return it.

    Raises
    ------
    CellExecutionError
        Where a cell fails.
    """
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        record_timing=False,
    )
    os.environ["NETLOUPE_SAVED"] = "picture"  # for the kernel, which is started with it
    client.execute()
    return notebook


def strip_notebook(notebook: Any) -> None:
    """Remove what differs between two runs or two machines."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.metadata = {}
        cell.id = f"cell-{number:02}"
        if cell.cell_type == "code":
            kept = [
                output
                for output in _merge_streams(cell.outputs)
                if not _is_passing(output.get("data", {}))
            ]
            cell.outputs = [
                _strip_output(output, f"{cell.id}-{position}")
                for position, output in enumerate(kept)
            ]


def _is_passing(data: Any) -> bool:
    """Return whether an output needs its kernel, or is there only where that is slow."""
    return WIDGET in data or OPENED in data.get("text/html", "")


def _merge_streams(outputs: list[Any]) -> list[Any]:
    """Join what one stream wrote; into how many pieces it falls is a matter of time."""
    merged: list[Any] = []
    for output in outputs:
        if (
            merged
            and output.output_type == "stream"
            and merged[-1].output_type == "stream"
            and merged[-1].name == output.name
        ):
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged


def _strip_output(output: Any, identity: str) -> Any:
    if output.output_type == "stream":
        output.text = output.text.replace("\r\n", "\n")
    html = output.get("data", {}).get("text/html")
    if html is not None:
        output.data["text/html"] = _STATIC_ID.sub(f'data-netloupe-static="{identity}"', html)
    return output


def find_machine_path(text: str) -> str | None:
    """Return a folder of this machine that a text names, or None."""
    folders = {str(ROOT), str(Path.home()), sys.prefix, tempfile.gettempdir()} - {"/", os.sep}
    return next((folder for folder in sorted(folders) if folder in text), None)


def store_notebook(notebook: Any, path: Path) -> None:
    """Write a notebook to a temporary name, then over the old one.

    Raises
    ------
    ValueError
        Where it is too large or names a folder of this machine.
    """
    text = str(nbformat.writes(notebook))  # type: ignore[no-untyped-call]
    folder = find_machine_path(text)
    if folder is not None:
        raise ValueError(f"{path.name}: an output names the folder {folder}. Print a name instead.")
    if len(text.encode()) > MOST_BYTES:
        raise ValueError(f"{path.name}: larger than {MOST_BYTES:,} bytes. Show smaller pictures.")
    temporary = path.with_suffix(".ipynb.part")
    temporary.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    temporary.replace(path)


def main() -> int:
    """Run the notebooks that were named, or all; exit status 1 where one fails."""
    parser = argparse.ArgumentParser(description="Run the demo notebooks and store their outputs.")
    parser.add_argument("--check", action="store_true", help="only run them, write nothing")
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    parsed = parser.parse_args()
    status = 0
    for path in parsed.notebooks or sorted(FOLDER.glob("*.ipynb")):
        start = time.monotonic()
        try:
            notebook = run_notebook(path.resolve())
            strip_notebook(notebook)
            if not parsed.check:
                store_notebook(notebook, path)
        except (CellExecutionError, ValueError) as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            status = 1
            continue
        print(f"{path.name:<28}{path.stat().st_size:>9,} bytes{time.monotonic() - start:>7.1f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
