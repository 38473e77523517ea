"""From a cell of JupyterLab to the picture: each model several times in one notebook.

Run ``python tests/benchmarks/lab_starts.py [--models NAME …] [--times 3] [--wire]``. JupyterLab and
its kernel run already. First the same small model is shown twice, in the first and the second
explorer of the page. Then for each model one after the other is run, in turns: a cell that shows a
bare anywidget with one line of text, one that does what the picture needs without a widget (reading
the file, the first view, its scene as bytes), and one that shows the explorer. The clock runs in
the page, from the command that runs the cell until the frame after the one in which what is shown
is there: of an explorer ``data-ready`` at its canvas.

Bars: the median of an explorer is at most ``MOST_BARE`` times that of the bare widget plus that of
the computing, and later explorers of a page bring no script. Times are those of a busy machine;
only these ratios are judged. The exit status is 1 where one does not hold. ``--wire`` prints what
travelled between page and kernel until the picture was painted. Needs Chromium and JupyterLab.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import onnx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.large_graphs import DecoderWriter  # noqa: E402
from tests.browser.notebook_page import NotebookPage  # noqa: E402
from tests.browser.servers import run_server, write_notebook  # noqa: E402
from tests.conftest import find_chromium  # noqa: E402
from tests.corpus import corpus_file  # noqa: E402

#: times the bare widget that an explorer may take, beside what is computed
MOST_BARE = 3.0
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
MODELS = ("resnet50", "gpt2.legacy", "bert.dynamo", "unet.dynamo", "decoder_10k")
#: seconds that one cell may take
LIMIT = 120.0

SETUP = """\
import os
import time
from IPython.display import HTML
import anywidget
import netloupe
from netloupe.explorer.readers.load import load
from netloupe.explorer.session import Session
from netloupe.explorer.view import ViewOptions

class Bare(anywidget.AnyWidget):
    _esm = '''export default { render({ el }) {
      const line = document.createElement("p");
      line.dataset.bare = "true";
      line.textContent = "one line of text";
      el.append(line);
    } };'''

def compute(path):
    session = Session(load(path), ViewOptions.parse({"wrap": False}))
    session.encode(session.compose(), whole=True)

os.environ["NETLOUPE_SAVED"] = "picture"  # else what is kept is written while others are shown
compute("warm.onnx")
HTML("<p data-computed=0></p>")
"""
FIRST = 'netloupe.explore("warm.onnx")'

#: what a cell shows once its work is done
BARE, COMPUTING, EXPLORER = (
    "[data-bare]",
    "[data-computed]",
    '[data-netloupe="canvas"][data-ready="true"]',
)
#: whether so many explorers have nothing to do any more
CHECKED = """(count) => document.querySelectorAll(
  '[data-netloupe="review"][data-stage="checked"]').length === count"""
COMPUTE = """\
begun = time.perf_counter()
compute({path!r})
HTML(f"<p data-computed={{time.perf_counter() - begun}}></p>")
"""
#: notes what travels over the sockets of kernels: when, whither, what and how many bytes
LISTEN = """
const Real = window.WebSocket;
window.heard = [];
const decoder = new TextDecoder();
const parse = (data) => {
  if (typeof data === "string") return [JSON.parse(data), data.length];
  const bytes = data instanceof ArrayBuffer ? data : data.buffer;
  const view = new DataView(bytes);
  const count = Number(view.getBigUint64(0, true));
  const offsets = Array.from({ length: count }, (_, k) =>
    Number(view.getBigUint64(8 * (k + 1), true)));
  const part = (k) => JSON.parse(decoder.decode(bytes.slice(offsets[k], offsets[k + 1])));
  return [{ header: part(1), content: part(4) }, bytes.byteLength];
};
const note = (way, data) => {
  try {
    const [{ header, content }, size] = parse(data);
    const inner = content.data ?? {};
    const state = inner.state ?? {};
    const script = (state._esm ?? "").length + (state.code ?? "").length;
    const told = inner.content?.review?.type ?? inner.content?.type ?? inner.content?.ask ??
      inner.method ?? "";
    const names = inner.method === "update" ? Object.keys(state).join(",") : "";
    const kind = state._model_name ? `${state._anywidget_id ?? state._model_name}` : "";
    heard.push([performance.now(), way, header.msg_type, `${told} ${names}${kind}`.trim(), size,
      script]);
  } catch (error) {
    heard.push([performance.now(), way, "?", String(error), 0, 0]);
  }
};
window.WebSocket = class extends Real {
  send(data) {
    note("out", data);
    super.send(data);
  }
  set onmessage(listener) {
    super.onmessage = (event) => {
      note("in", event.data);
      listener.call(this, event);
    };
  }
};
"""
#: runs the active cell, and resolves with what was heard and the milliseconds until it is seen
RUN = """([selector, limit]) => new Promise((resolve, reject) => {
  const known = new Set(document.querySelectorAll(selector));
  window.heard.length = 0;
  const begun = performance.now();
  const look = () => {
    const found = [...document.querySelectorAll(selector)].find((one) => !known.has(one));
    const now = performance.now();
    if (found) requestAnimationFrame(() => setTimeout(() => resolve({
      taken: performance.now() - begun,
      computed: Number(found.dataset.computed ?? 0) * 1000,
      heard: window.heard.map(([at, ...rest]) => [at - begun, ...rest]),
    })));
    else if (now - begun > limit) reject(new Error(`nothing is shown after ${limit} ms`));
    else requestAnimationFrame(look);
  };
  window.jupyterapp.commands.execute("notebook:run-cell");
  look();
})"""


class Shown(NamedTuple):
    """What one cell took, in seconds, and the messages until it was painted."""

    seconds: float
    #: inside the kernel, of a cell that only computes
    computed: float
    #: each: when, whither, message, what it is about, bytes, characters of scripts
    heard: list[list[Any]]

    @property
    def script(self) -> int:
        """How many characters of scripts travelled."""
        return sum(each[5] for each in self.heard)

    @property
    def size(self) -> int:
        """How many bytes travelled."""
        return sum(each[4] for each in self.heard)


def find_model(name: str, folder: Path) -> Path:
    """Return the file of a model."""
    if name == "decoder_10k":
        made = folder / "decoder_10k.onnx"
        made.write_bytes(DecoderWriter(is_named=True).model(10_000).SerializeToString())
        return made
    if name == "resnet50":
        return LIGHT / "light_resnet50.onnx"
    return corpus_file(f"exported/{name}.onnx")


class Notebook:
    """A notebook that has a cell for all that is run, one after the other."""

    def __init__(self, page: NotebookPage) -> None:
        self._notebook = page
        self._next = 0
        self._explorers = 0

    def run(self, selector: str) -> Shown:
        """Run the next cell until what it shows is painted."""
        page, number = self._notebook.page, self._next
        self._next += 1
        cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
        cell.locator(".cm-content").click()
        page.wait_for_function(CHECKED, arg=self._explorers)  # what earlier cells began is over
        page.wait_for_timeout(1_000)
        found = page.evaluate(RUN, [selector, LIMIT * 1_000])
        self._explorers += selector == EXPLORER
        return Shown(found["taken"] / 1_000, found["computed"] / 1_000, found["heard"])


def measure(browser: Any, models: dict[str, Path], times: int) -> dict[str, list[list[Shown]]]:
    """Return by model what was shown each time: bare widget, computing, explorer."""
    found: dict[str, list[list[Shown]]] = {name: [] for name in models}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "warm.onnx").write_bytes(
            (ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx").read_bytes()
        )
        cells = [SETUP, FIRST, FIRST]
        for path in models.values():
            each = ["Bare()", COMPUTE.format(path=str(path)), f"netloupe.explore({str(path)!r})"]
            cells += each * times
        write_notebook(folder / "starts.ipynb", *cells)
        with run_server("lab", folder) as server:
            context = browser.new_context(viewport={"width": 1500, "height": 1000})
            context.add_init_script(LISTEN)
            page = context.new_page()
            page.set_default_timeout(LIMIT * 1_000)
            notebook = Notebook(NotebookPage(page, server, "starts.ipynb"))
            notebook.run(COMPUTING)
            for place in ("first", "second"):
                shown = notebook.run(EXPLORER)
                told = f"{shown.seconds:.2f} s; {tell_travelled(shown)}"
                print(f"{place} explorer of the page: {told}", flush=True)
            for model in models:
                for _ in range(times):
                    turn = [notebook.run(what) for what in (BARE, COMPUTING, EXPLORER)]
                    found[model].append(turn)
                    print(f"  {model:<12} {tell(turn)}", flush=True)
            context.close()
    return found


def tell(shown: list[Shown]) -> str:
    """Return one turn as a line."""
    bare, computing, explorer = shown
    return (
        f"bare {bare.seconds:.2f} s, computing {computing.computed:.2f} s, explorer "
        f"{explorer.seconds:.2f} s; {tell_travelled(explorer)}"
    )


def tell_travelled(explorer: Shown) -> str:
    """Return what travelled as words."""
    count = len(explorer.heard)
    return f"{count} messages, {explorer.size:,} bytes, {explorer.script:,} of them scripts"


def tell_wire(explorer: Shown) -> str:
    """Return all that travelled, a line for each message."""
    lines = []
    for at, way, kind, about, size, script in explorer.heard:
        told = f" ({script:,} of scripts)" if script else ""
        arrow = "→ kernel" if way == "out" else "→ page"
        lines.append(f"    {at:7.0f} ms {arrow:<9} {kind:<16} {size:>9,} {about}{told}")
    return "\n".join(lines)


def judge(found: dict[str, list[list[Shown]]]) -> bool:
    """Print medians and ratios; return whether the bars hold."""
    holds = True
    for model, turns in found.items():
        bare = statistics.median(shown[0].seconds for shown in turns)
        computing = statistics.median(shown[1].computed for shown in turns)
        explorer = statistics.median(shown[2].seconds for shown in turns)
        times = (explorer - computing) / bare
        script = max(shown[2].script for shown in turns)
        is_held = times <= MOST_BARE and script <= most_script()
        holds &= is_held
        print(
            f"{model:<12} bare {bare:.2f} s, computing {computing:.2f} s, explorer {explorer:.2f} s"
            f": computing and {times:.2f} x bare (at most {MOST_BARE:g}), {script:,} of scripts: "
            f"{'holds' if is_held else 'DOES NOT HOLD'}"
        )
    return holds


def most_script() -> int:
    """Return how many characters of scripts a later explorer may bring: what finds the code."""
    return 8_000


def main() -> int:
    """Measure; return 1 where a bar does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--times", type=int, default=3, help="that each model is shown")
    parser.add_argument("--wire", action="store_true", help="print all messages of the last times")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    given = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        parser.error("no Chromium is installed")
    from playwright.sync_api import sync_playwright

    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        models = {name: find_model(name, Path(folder)) for name in given.models}
        found = measure(browser, models, given.times)
        browser.close()
    if given.wire:
        for model, turns in found.items():
            print(f"{model}:\n{tell_wire(turns[-1][2])}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0 if judge(found) else 1


if __name__ == "__main__":
    sys.exit(main())
