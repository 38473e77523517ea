"""The canvas in a page of its own, without a notebook, with a real explorer behind it.

What the canvas asks goes to the explorer, what the explorer sends goes to the page: only the
notebook's transport is left out, so that this is quick enough to try every interaction.
"""

from __future__ import annotations

import base64
import json
import queue
import time
from collections.abc import Callable, Sequence
from typing import Any

from netloupe.widgets import Canvas, Explorer

from .servers import ROOT
from .shown_page import AT_REST, CANVAS

_MODULES = {
    "canvas.js": ROOT / "explorer" / "page" / "canvas.js",
    "fake_model.js": ROOT / "widgets" / "frontend" / "test" / "fake_model.js",
}
ADDRESS = "http://netloupe.test/"

PAGE = """<!doctype html><meta charset="utf-8">
<body style="margin:0"><div id="here"></div><script type="module">
import widget, { CanvasView } from "./canvas.js";
import { FakeModel } from "./fake_model.js";
class PageModel extends FakeModel {
  save_changes() {
    super.save_changes();
    tell(JSON.stringify({ traits: this.saved.pop() }));
  }
  send(content) { tell(JSON.stringify({ content })); }
}
const model = new PageModel();
const bytes = (text) => {
  const found = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new DataView(found.buffer);
};
const listen = (event, listener) => {
  model.on(event, listener);
  return () => model.off(event, listener);
};
const connectTo = (abilities) => ({
  host: {
    can: (what) => abilities.includes(what),
    hasInspector: false,
    words: { waiting: "Unpacking", absent: "", silent: "", lost: "", renew: "" },
    patience: { first: null, answer: null },
  },
  traits: {
    get: (name) => model.get(name),
    set: (values) => {
      for (const [name, value] of Object.entries(values)) model.set(name, value);
      model.save_changes();
    },
    follow: (name, changed) => listen(`change:${name}`, () => changed()),
  },
  send: (message) => model.send(message),
  onMessage: (receive) => listen("msg:custom", (message, buffers) => receive(message, buffers)),
  onLost: () => () => undefined,
});
window.start = (traits, abilities) => {
  Object.assign(model.values, traits);
  const here = document.getElementById("here");
  if (abilities) new CanvasView(connectTo(abilities), here);
  else widget.render({ model, el: here });
};
window.deliverRaw = (content, buffers) => model.receive(content, buffers);
window.deliver = ({ trait, value, content, buffers }) => {
  if (trait) model.receiveTrait(trait, value);
  else model.receive(content, buffers.map(bytes));
};
</script></body>"""

#: names of what the page shares with the explorer's canvas
TRAITS = [
    name for name in Canvas.class_traits(sync=True) if name in vars(Canvas) and name[0] != "_"
]


def serve_page(route: Any, page: str = PAGE) -> None:
    """Answer a request of the page: for itself, for the canvas, or for the model around it."""
    name = route.request.url.removeprefix(ADDRESS)
    if name in _MODULES:
        route.fulfill(path=_MODULES[name])
    elif name == "":
        route.fulfill(body=page, content_type="text/html")
    else:
        route.fulfill(status=404)


class Stand:
    """An explorer's canvas in a page.

    Parameters
    ----------
    page
        A Playwright page.
    explorer
        The explorer, not yet shown anywhere.
    style
        Rules of the page around the canvas.
    abilities
        What the canvas is told that is behind it can do, without an inspector; None for the
        widget, whose host is a kernel.
    """

    def __init__(
        self,
        page: Any,
        explorer: Explorer,
        style: str = "",
        abilities: Sequence[str] | None = None,
    ) -> None:
        self.page = page
        self.explorer = explorer
        self._outgoing: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._incoming: list[str] = []
        #: what the page has asked for, in order
        self.asked: list[dict[str, Any]] = []
        #: the headers of the scenes that it got
        self.headers: list[dict[str, Any]] = []
        canvas = explorer.canvas
        canvas.send = self._send
        text = f"{PAGE}<style>{style}</style>"
        page.route(f"{ADDRESS}**", lambda route: serve_page(route, text))
        page.expose_function("tell", lambda message: self._incoming.append(message))
        page.goto(ADDRESS)
        page.wait_for_function("() => window.start !== undefined")
        traits = {name: getattr(canvas, name) for name in TRAITS}
        page.evaluate("(given) => start(...given)", [traits, abilities])
        canvas.observe(self._changed, list(TRAITS))
        self.settle()
        page.wait_for_selector(f'{CANVAS}[data-ready="true"]')

    def _send(self, content: dict[str, Any], buffers: Any = None) -> None:
        encoded = [base64.b64encode(bytes(buffer)).decode() for buffer in buffers or ()]
        if content.get("type") == "scene":
            self.headers.append(dict(content["header"]))
        self._outgoing.put({"content": content, "buffers": encoded})

    def _changed(self, change: Any) -> None:
        self._outgoing.put({"trait": change.name, "value": change.new})

    def pump(self) -> bool:
        """Pass on what each side has for the other; whether there was anything."""
        any_passed = False
        while self._incoming:
            any_passed = True
            message = json.loads(self._incoming.pop(0))
            if "traits" in message:
                self.explorer.canvas.set_state(message["traits"])
            else:
                self.asked.append(message["content"])
                self.explorer._requests.receive(message["content"], [])
        while not self._outgoing.empty():
            any_passed = True
            self.page.evaluate("(message) => deliver(message)", self._outgoing.get())
        return any_passed

    def wait(self, is_so: Callable[[], bool], seconds: float = 300.0) -> None:
        """Pass messages until something is so."""
        end = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < end, "it does not come to that"
            self.pump()
            self.page.evaluate(AT_REST)

    def settle(self, seconds: float = 300.0) -> None:
        """Pass messages until both sides are at rest: nothing comes, moves or is asked for."""
        end = time.monotonic() + seconds
        quiet = 0
        while quiet < 2:
            assert time.monotonic() < end, "the explorer does not come to rest"
            self.explorer._requests.pool.submit(lambda: None).result(timeout=seconds)
            passed = self.pump()
            rests = self.page.evaluate(AT_REST)
            quiet = quiet + 1 if rests and not passed else 0

    # what a user does and sees

    def call(self, script: str, *arguments: Any) -> Any:
        """Call a function of the canvas's ``netloupe`` property: ``locate``, ``paths`` …"""
        return self.page.evaluate(
            f"(given) => document.querySelector('{CANVAS}').netloupe.{script}(...given)",
            list(arguments),
        )

    def locate(self, path: str) -> tuple[float, float]:
        """Return the place of something that is drawn in the window."""
        place = self.call("locate", path)
        assert place is not None, f"{path} is not visible"
        return place["x"], place["y"]

    def click(self, path: str, **options: Any) -> None:
        """Click something that is drawn."""
        self.page.mouse.click(*self.locate(path), **options)
        self.settle()

    def double_click(self, path: str) -> None:
        """Double-click something that is drawn."""
        self.page.mouse.dblclick(*self.locate(path))
        self.settle()

    def press(self, *keys: str) -> None:
        """Press keys with the canvas having the keyboard."""
        self.page.evaluate(f"() => document.querySelector('{CANVAS}').focus()")
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def button(self, title: str) -> None:
        """Press a button that has a title."""
        self.page.locator(f'{CANVAS} [title="{title}"]:visible').first.click()
        self.settle()

    def choose(self, label: str) -> None:
        """Press an entry of the menu that is open."""
        self.page.locator(".nl-menu-entry", has_text=label).first.click()
        self.settle()

    def chip(self, name: str) -> str | None:
        """Return the text of a bar along the bottom; None where it is not shown."""
        found = self.page.locator(f'[data-netloupe-chip="{name}"]')
        return str(found.inner_text()) if found.is_visible() else None

    @property
    def selected(self) -> str:
        """The path that the canvas says is selected."""
        return str(self.page.locator(CANVAS).first.get_attribute("data-selected"))

    @property
    def stats(self) -> dict[str, Any]:
        """What the canvas says about itself."""
        return dict(self.call("stats"))
