"""Frame times of the canvas beside the same scene as plain SVG, in Chromium without a GPU.

Run ``python tests/benchmarks/canvas_frames.py [NODES …] [--lab] [--no-svg]``; without numbers it
takes 10,000 and 100,000. The models are decoders that the script makes itself, drawn with every
group open. Each frame a script moves the pointer or turns the wheel as a user does; what is
measured is the time from frame to frame, painting included, with Chromium's limit of 60 frames
a second taken off. ``CPU`` is the processor time of all of Chromium's processes for a frame: on
a machine that is busy with other things it tells more than the clock. ``--lab`` also measures,
in a real JupyterLab, the time from running the cell to the painted first view (nothing opened
by hand). The memory is that of the page's renderer process: its resident set.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper
from playwright.sync_api import Error, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from netloupe.explorer.readers.load import load  # noqa: E402 - after the path
from netloupe.explorer.render.picture import render_picture  # noqa: E402
from netloupe.explorer.session import Session  # noqa: E402
from netloupe.explorer.view import ViewOptions  # noqa: E402
from tests.browser.notebook_page import NotebookPage  # noqa: E402
from tests.browser.servers import run_server, write_notebook  # noqa: E402
from tests.browser.stand import ADDRESS, CANVAS, serve_page  # noqa: E402
from tests.conftest import find_chromium  # noqa: E402

BAR_MS = 33.0
SIZE = {"width": 1400, "height": 900}
NODES_IN_LAYER = 37
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-gpu-vsync",
    "--disable-frame-rate-limit",
    "--enable-precise-memory-info",
    "--js-flags=--expose-gc",
]

#: moves something in each of so many frames, and returns the times between them
MEASURE = """async ({ move, frames }) => {
  const step = new Function("k", "frames", move);
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  for (let k = 0; k < 3; k++) await frame();
  const canvas = document.querySelector('[data-netloupe="canvas"]');
  const times = [], scripts = [];
  let before = performance.now();
  for (let k = 0; k < frames; k++) {
    step(k, frames);
    await frame();
    const now = performance.now();
    times.push(now - before);
    before = now;
    if (canvas) scripts.push(canvas.netloupe.stats().frameMs);
  }
  return { times, scripts };
}"""

POINTER = """
const at = (target, type, x, y, buttons) => target.dispatchEvent(new PointerEvent(type, {
  pointerId: 1, pointerType: "mouse", isPrimary: true, bubbles: true, buttons,
  button: type === "pointermove" ? -1 : 0, clientX: x, clientY: y }));
const host = document.querySelector('[data-netloupe="canvas"]');
const picture = host.shadowRoot.querySelector(".nl-picture");
picture.setPointerCapture = () => {};
"""
PAN = (
    POINTER
    + """
if (k === 0) at(picture, "pointerdown", 700, 450, 1);
at(picture, "pointermove", 700 + 500 * Math.sin(k / 9), 450 - (k % 60) * 12, 1);
if (k === frames - 1) at(picture, "pointerup", 700, 450, 0);
"""
)
ZOOM = (
    POINTER
    + """
host.focus();
picture.dispatchEvent(new WheelEvent("wheel", { deltaY: k < frames / 2 ? -100 : 100,
  clientX: 700, clientY: 450, ctrlKey: true, bubbles: true, cancelable: true }));
"""
)
MINIMAP = (
    POINTER
    + """
const map = host.shadowRoot.querySelector(".nl-minimap");
map.setPointerCapture = () => {};
const { left, top, width, height } = map.getBoundingClientRect();
const y = top + height * (0.5 - 0.45 * Math.cos(k / 14));
if (k === 0) at(map, "pointerdown", left + width / 2, y, 1);
at(map, "pointermove", left + width / 2, y, 1);
"""
)
SVG_SETUP = """
const svg = document.querySelector("svg");
const [, , w, h] = (svg.dataset.whole ??= svg.getAttribute("viewBox")).split(" ").map(Number);
const aspect = innerWidth / innerHeight;
const show = (x, y, wide) => svg.setAttribute("viewBox", `${x} ${y} ${wide} ${wide / aspect}`);
"""
SVG_PAN = "show(w / 2 - 700 + 500 * Math.sin(k / 9), h / 3 + (k % 60) * 12, innerWidth / ZOOM);"
SVG_ZOOM = """
const wide = Math.max(w, h * aspect);
const at = k < frames / 2 ? k : frames - k;
show(w / 2, h / 3, wide * Math.exp(-at * 0.22));
"""
SVG_MAP = "show(w / 2 - 700, h * (0.5 - 0.45 * Math.cos(k / 14)), innerWidth / ZOOM);"


def make_decoder(nodes: int) -> onnx.ModelProto:
    """Return a decoder of about so many nodes, with scoped names and a mask for all layers."""
    layers = max(nodes // NODES_IN_LAYER, 1)
    made: list[onnx.NodeProto] = []

    def add(scope: str, op: str, *inputs: str, part: str = "") -> str:
        name = f"/model/{scope}/{part}{op}_{len(made)}"
        made.append(helper.make_node(op, list(inputs), [name + "_out"], name=name))
        return name + "_out"

    stream, mask = "x", add("mask", "Relu", "m")
    for layer in range(layers):
        scope = f"layers.{layer}"
        normal = add(scope, "Sigmoid", add(scope, "Abs", stream, part="ln/"), part="ln/")
        heads = []
        for head in "qkv":
            projected = add(scope, "MatMul", normal, "w", part=f"attn/{head}/")
            heads.append(add(scope, "Neg", add(scope, "Add", projected, "b", part=f"attn/{head}/"),
                             part=f"attn/{head}/"))  # fmt: skip
        scores = add(scope, "MatMul", heads[0], heads[1], part="attn/")
        scores = add(scope, "Add", scores, mask, part="attn/")
        for op in ("Softmax", "Relu", "Abs", "Neg"):
            scores = add(scope, op, scores, part="attn/")
        mixed = add(scope, "MatMul", scores, heads[2], part="attn/")
        stream = add(scope, "Add", stream, add(scope, "Abs", mixed, part="attn/o/"))
        hidden = add(scope, "Sigmoid", stream, part="ln2/")
        for _ in range(5):
            hidden = add(scope, "MatMul", hidden, "w", part="mlp/")
            gate = add(scope, "Sigmoid", hidden, part="mlp/gate/")
            hidden = add(scope, "Mul", hidden, gate, part="mlp/")
        stream = add(scope, "Add", stream, hidden)
    made.append(helper.make_node("Identity", [stream], ["y"], name="/model/head/Identity"))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        made,
        "decoder",
        [value("x", TensorProto.FLOAT, [4, 4]), value("m", TensorProto.FLOAT, [4, 4])],
        [value("y", TensorProto.FLOAT, [4, 4])],
        [
            helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [0.5] * 16),
            helper.make_tensor("b", TensorProto.FLOAT, [4], [0.5] * 4),
        ],
    )
    return helper.make_model(graph)


def resident_mb(browser: Any) -> float:
    """Return the largest resident set among the browser's renderer processes, in MB."""
    largest = 0
    session = browser.new_browser_cdp_session()
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        if process["type"] != "renderer":
            continue
        try:
            status = Path(f"/proc/{process['id']}/status").read_text()
        except OSError:
            continue
        for line in status.splitlines():
            if line.startswith("VmRSS:"):
                largest = max(largest, int(line.split()[1]))
    return largest / 1024


def cpu_seconds(browser: Any) -> float:
    """Return the processor time that all processes of the browser have taken."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return float(sum(process["cpuTime"] for process in processes))


def run_frames(browser: Any, page: Any, move: str, frames: int) -> dict[str, Any]:
    """Move something in so many frames; return their times and the processor time of each."""
    before = cpu_seconds(browser)
    measured = dict(page.evaluate(MEASURE, {"move": move, "frames": frames}))
    return measured | {"cpu": (cpu_seconds(browser) - before) * 1000 / frames}


def percentile(times: list[float], share: float) -> float:
    """Return the time below which a share of all times lies."""
    ordered = sorted(times)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def show(name: str, measured: dict[str, Any]) -> float:
    """Print median, 95th percentile and most of frame times; return the 95th percentile."""
    times, scripts = measured["times"], measured["scripts"]
    line = f"  {name:<34}{statistics.median(times):>8.1f}{percentile(times, 0.95):>8.1f}"
    line += f"{max(times):>8.1f}{measured['cpu']:>8.1f}"
    if scripts:
        line += f"{statistics.median(scripts):>12.1f}{percentile(scripts, 0.95):>8.1f}"
    print(line, flush=True)
    return percentile(times, 0.95)


def open_canvas(page: Any, header: dict[str, Any], buffers: list[bytes]) -> None:
    """Show a scene in a page that holds nothing but the canvas."""
    parts = {f"buffer{number}": buffer for number, buffer in enumerate(buffers)}

    def serve(route: Any) -> None:
        part = parts.get(route.request.url.removeprefix(ADDRESS))
        if part is not None:
            route.fulfill(body=part, content_type="application/octet-stream")
        else:
            serve_page(route)

    page.route(f"{ADDRESS}**", serve)
    page.expose_function("tell", lambda _message: None)
    page.goto(ADDRESS)
    page.wait_for_function("() => window.start !== undefined")
    traits = {"height": SIZE["height"], "theme": "light", "direction": "TB", "breadcrumb": []}
    page.evaluate("(traits) => start(traits)", traits)
    page.evaluate(
        """async ({ header, count }) => {
          const get = async (k) => new DataView(await (await fetch(`buffer${k}`)).arrayBuffer());
          const buffers = await Promise.all([...Array(count).keys()].map(get));
          window.began = performance.now();
          deliverRaw({ type: "scene", header }, buffers);
        }""",
        {"header": header, "count": len(buffers)},
    )
    page.wait_for_selector(f'{CANVAS}[data-ready="true"]')


def measure_canvas(browser: Any, header: dict[str, Any], buffers: list[bytes]) -> bool:
    """Print the canvas's frame times; return whether all are under the bar."""
    page = browser.new_page(viewport=SIZE)
    open_canvas(page, header, buffers)
    arrived = page.evaluate("() => performance.now() - began")
    print(f"  scene drawn {arrived:.0f} ms after it has arrived")
    stats = f"document.querySelector('{CANVAS}').netloupe.stats()"

    def run(move: str, frames: int = 120) -> dict[str, Any]:
        return run_frames(browser, page, move, frames)

    def press(key: str) -> None:
        page.evaluate(f"() => document.querySelector('{CANVAS}').focus()")
        page.keyboard.press(key)
        page.wait_for_timeout(400)

    def zoom_to(wanted: float) -> None:
        page.evaluate(
            """(wanted) => { for (let k = 0; k < 80; k++) {
              const now = STATS.zoom;
              if (Math.abs(Math.log(wanted / now)) < 0.02) break;
              const by = Math.min(Math.max(Math.log(wanted / now) / 0.0022, -150), 150);
              const root = document.querySelector('CANVAS').shadowRoot;
              root.querySelector(".nl-picture").dispatchEvent(new WheelEvent("wheel", {
                deltaY: -by, clientX: 700, clientY: 300, bubbles: true, cancelable: true,
                ctrlKey: true })); } }""".replace("STATS", stats).replace("CANVAS", CANVAS),
            wanted,
        )
        page.wait_for_timeout(300)

    worst = []
    for zoom in (1.0, 0.3, 0.1, 0.02):
        zoom_to(zoom)
        times = run(PAN)
        worst.append(show(f"canvas  pan at zoom {zoom:g}", times))
    press("f")
    worst.append(show("canvas  zoom from all to 1 and back", run(ZOOM, 160)))
    for zoom in (0.6, 0.05):
        zoom_to(zoom)
        worst.append(show(f"canvas  minimap drag at zoom {zoom:g}", run(MINIMAP)))
    press("f")
    print(f"  memory of the tab {resident_mb(browser):.0f} MB")
    page.close()
    return max(worst) < BAR_MS


def try_svg(launch: Callable[[], Any], svg: bytes) -> None:
    """Print the frame times of the same scene as SVG, or that the browser gave up on it.

    The SVG gets a browser of its own: one that gives up takes all its pages with it.
    """
    browser = launch()
    try:
        measure_svg(browser, svg)
    except Error as error:
        print(f"  svg     the browser gave up on it: {str(error).splitlines()[0]}", flush=True)
    finally:
        browser.close()


def measure_svg(browser: Any, svg: bytes) -> None:
    """Print the frame times of the same scene as SVG in the page."""
    page = browser.new_page(viewport=SIZE)
    page.set_default_timeout(120_000)
    style = "margin:0;overflow:hidden"
    page.set_content(f'<body style="{style}">{svg.decode()}</body>')
    page.evaluate(
        "() => Object.assign(document.querySelector('svg').style,"
        " {width: '100vw', height: '100vh', maxWidth: 'none'})"
    )
    for name, move, frames in (
        ("svg     pan at zoom 1", SVG_PAN.replace("ZOOM", "1"), 30),
        ("svg     pan at zoom 0.1", SVG_PAN.replace("ZOOM", "0.1"), 30),
        ("svg     zoom from all and back", SVG_ZOOM, 40),
        ("svg     minimap drag at zoom 0.6", SVG_MAP.replace("ZOOM", "0.6"), 30),
    ):
        show(name, run_frames(browser, page, SVG_SETUP + move, frames))
    print(f"  memory of the tab {resident_mb(browser):.0f} MB")
    page.close()


def measure_lab(browser: Any, models: dict[int, Path]) -> None:
    """Print the time from running the cell to the painted first view in JupyterLab."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for nodes, model in models.items():
            shutil.copy(model, folder / f"{nodes}.onnx")
            write_notebook(
                folder / f"{nodes}.ipynb",
                "import netloupe",
                f"netloupe.explore('{nodes}.onnx')",
            )
        with run_server("lab", folder) as server:
            for nodes in models:
                page = browser.new_page(viewport=SIZE)
                page.set_default_timeout(120_000)
                notebook = NotebookPage(page, server, f"{nodes}.ipynb")
                notebook.run_cell(0)
                page.wait_for_timeout(2000)
                start = time.monotonic()
                notebook.run_cell(1)
                notebook.wait_for_canvas()
                seconds = time.monotonic() - start
                boxes = notebook.call("stats")["nodes"]
                print(f"JupyterLab, {nodes:,} nodes: {seconds:.2f} s from the cell to the "
                      f"painted first view of {boxes} boxes", flush=True)  # fmt: skip
                page.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", nargs="*", type=int, default=[10_000, 100_000])
    parser.add_argument("--lab", action="store_true")
    parser.add_argument("--no-svg", action="store_true")
    options = parser.parse_args()
    fine = True
    models: dict[int, Path] = {}
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        executable = find_chromium()

        def launch() -> Any:
            return playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)

        browser = launch()
        for nodes in options.nodes:
            models[nodes] = Path(name) / f"{nodes}.onnx"
            onnx.save(make_decoder(nodes), models[nodes])
            session = Session(load(models[nodes]), ViewOptions(expand="all", grouping="names"))
            start = time.monotonic()
            scene = session.compose()
            laid_out = time.monotonic() - start
            start = time.monotonic()
            header, buffers = session.encode(scene)
            encoded = time.monotonic() - start
            counts = header["counts"]
            size = sum(map(len, buffers)) / 1e6
            print(f"{nodes:,} nodes: {counts['boxes']:,} boxes, {counts['edges']:,} edges, "
                  f"{scene.width:,.0f} × {scene.height:,.0f} px; laid out in {laid_out:.1f} s, "
                  f"encoded in {encoded:.1f} s, {size:.1f} MB")  # fmt: skip
            print(f"  {'milliseconds a frame':<34}{'median':>8}{'95 %':>8}{'most':>8}{'CPU':>8}"
                  f"{'script':>12}{'95 %':>8}")  # fmt: skip
            fine = measure_canvas(browser, header, buffers) and fine
            if not options.no_svg:
                try_svg(launch, render_picture(session.picture(scene), "svg"))
        if options.lab:
            measure_lab(browser, models)
        browser.close()
    print(f"95th percentile of the canvas under {BAR_MS:g} ms: {'yes' if fine else 'NO'}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
