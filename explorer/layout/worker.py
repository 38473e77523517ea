"""The layout worker: a process of its own that runs Graphviz.

Run as a script, it reads requests from standard input and writes answers to standard output,
each a 4-byte big-endian length and JSON in UTF-8. A request is ``{"id", "dot"}``; the answer is
``{"id", "width", "height", "nodes": {name: [x, y]}, "edges": {id: [x, y, …]}}`` in points with y
growing downwards, ``{"id", "error"}``, or where there is no Graphviz ``{"id", "missing"}`` with
what importing pygraphviz said. It imports nothing of netloupe, so that it starts quickly, and it
may be killed at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
from typing import Any, BinaryIO

#: with this status Graphviz ends a process whose memory is exhausted
GIVEN_UP = 1
#: and we one in which anything else fails
FAILED = 2


def run(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the input ends."""
    while True:
        head = requests.read(4)
        if len(head) < 4:
            return
        (length,) = struct.unpack(">I", head)
        request = json.loads(requests.read(length))
        try:
            answer = place_graph(request["dot"])
        except MissingGraphvizError as error:
            answer = {"missing": str(error)}
        except MemoryError:
            sys.exit(GIVEN_UP)
        except Exception as error:  # whatever Graphviz says goes back as an answer
            answer = {"error": f"{type(error).__name__}: {error}"}
        body = json.dumps({"id": request["id"], **answer}).encode()
        answers.write(struct.pack(">I", len(body)) + body)
        answers.flush()


def limit_memory(most: int) -> None:
    """Let this process end where it would hold more bytes of its own, as far as systems know that.

    Graphviz takes more than 1.5 GB for some graphs of 2,000 boxes and 2,000 edges. A lower limit
    of whoever runs us stays.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has none
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if soft == resource.RLIM_INFINITY or soft > most:
            resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def prepare() -> None:
    """Load what a layout needs while none is asked for: most of the time of a first one."""
    with contextlib.suppress(Exception), Layout("digraph { a -> b }") as layout:
        if layout.library is not None:
            layout.render("json0")
        else:
            import graphviz  # noqa: F401 - runs `dot` when a layout is asked for, and not before


def place_graph(dot: str) -> dict[str, Any]:
    """Lay out one graph and return the positions of its nodes and edges.

    The attribute ``pos`` has five digits. In pictures so large that this is less than a point,
    places are read from the drawing commands, which have all digits.
    """
    with Layout(dot) as layout:
        drawing = json.loads(layout.render("json0"))
        left, bottom, right, top = map(float, drawing["bb"].split(","))
        is_large = max(map(abs, (left, bottom, right, top))) > _FIVE_DIGITS
        if is_large:
            drawing = json.loads(layout.render("json"))
    nodes = {}
    for entry in drawing.get("objects", ()):
        if "pos" in entry:
            x, y = _drawn_centre(entry) if is_large else _split_pair(entry["pos"])
            nodes[entry["name"]] = [x - left, top - y]
    edges = {}
    for entry in drawing.get("edges", ()):
        points: list[float] = []
        for x, y in _drawn_curve(entry) if is_large else _written_curve(entry):
            points += (x - left, top - y)
        edges[entry["id"]] = points
    return {"width": right - left, "height": top - bottom, "nodes": nodes, "edges": edges}


def _split_pair(text: str) -> tuple[float, float]:
    x, y = text.split(",")
    return float(x), float(y)


def _written_curve(entry: dict[str, Any]) -> list[tuple[float, float]]:
    pairs = entry.get("pos", "").split(";", 1)[0].split()
    return [_split_pair(pair) for pair in pairs if pair[0] not in "se"]


def _drawn_centre(entry: dict[str, Any]) -> tuple[float, float]:
    for command in entry.get("_draw_", ()):
        if command["op"] in "pP":
            xs, ys = zip(*command["points"], strict=True)
            return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    return _split_pair(entry["pos"])


def _drawn_curve(entry: dict[str, Any]) -> list[tuple[float, float]]:
    for command in entry.get("_draw_", ()):
        if command["op"] in "bB":
            return [(x, y) for x, y in command["points"]]
    return _written_curve(entry)


class MissingGraphvizError(Exception):
    """Pygraphviz cannot be imported, and there is no ``dot`` either."""


class Layout:
    """A graph laid out by the library that comes with pygraphviz, else by ``dot`` on the PATH."""

    def __init__(self, dot: str) -> None:
        self.dot = dot
        self.library: Any = None
        #: why the library cannot be imported
        self.reason = ""

    def __enter__(self) -> Layout:
        try:
            import pygraphviz
            from pygraphviz import graphviz as library
        except ImportError as error:
            self.reason = str(error)
            return self
        self.library = library
        self.graph = pygraphviz.AGraph(string=self.dot)
        self.context = library.gvContextWithBuiltins()
        if library.gvLayout(self.context, self.graph.handle, b"dot") != 0:
            self.__exit__()
            raise ValueError("Graphviz found no layout")
        return self

    def render(self, format: str) -> bytes:
        """Return the layout in one of Graphviz' JSON formats."""
        if self.library is None:
            import graphviz

            try:
                return bytes(graphviz.pipe("dot", format, self.dot.encode()))
            except graphviz.ExecutableNotFound as error:
                raise MissingGraphvizError(self.reason) from error
        _, data = self.library.gvRenderData(self.context, self.graph.handle, format=format.encode())
        return bytes(data)

    def __exit__(self, *_: object) -> None:
        if self.library is not None:
            self.library.gvFreeLayout(self.context, self.graph.handle)
            self.library.gvFreeContext(self.context)
            self.graph.close()


#: places above this many points are written with less than a point's precision
_FIVE_DIGITS = 99_999.0


if __name__ == "__main__":
    # Graphviz prints its warnings to the streams it inherits: keep them out of the answers
    output = os.fdopen(os.dup(1), "wb")
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    if len(sys.argv) > 1 and hasattr(os, "nice"):
        os.nice(int(sys.argv[1]))
    if len(sys.argv) > 2:
        limit_memory(int(sys.argv[2]))
    try:
        prepare()
        run(sys.stdin.buffer, output)
    except Exception:  # such as that nobody reads the answers any more
        sys.exit(FAILED)
