"""The layout worker: a process of its own that runs Graphviz.

Run as a script, it reads requests from standard input and writes answers to standard output,
each a 4-byte big-endian length and JSON in UTF-8. A request is ``{"id", "dot"}``; the answer is
``{"id", "width", "height", "nodes": {name: [x, y]}, "edges": {id: [x, y, …]}}`` in points with y
growing downwards, or ``{"id", "error"}``. It imports nothing of netloupe, so that it starts
quickly, and it may be killed at any time.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from typing import Any, BinaryIO


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
        except Exception as error:  # whatever Graphviz says goes back as an answer
            answer = {"error": f"{type(error).__name__}: {error}"}
        body = json.dumps({"id": request["id"], **answer}).encode()
        answers.write(struct.pack(">I", len(body)) + body)
        answers.flush()


def place_graph(dot: str) -> dict[str, Any]:
    """Lay out one graph and return the positions of its nodes and edges."""
    drawing = json.loads(render_json(dot))
    left, bottom, right, top = map(float, drawing["bb"].split(","))
    nodes = {}
    for entry in drawing.get("objects", ()):
        if "pos" in entry:
            x, y = map(float, entry["pos"].split(","))
            nodes[entry["name"]] = [x - left, top - y]
    edges = {}
    for entry in drawing.get("edges", ()):
        points: list[float] = []
        for pair in entry.get("pos", "").split(";", 1)[0].split():
            if pair[0] in "se":
                continue
            x, y = map(float, pair.split(","))
            points += (x - left, top - y)
        edges[entry["id"]] = points
    return {"width": right - left, "height": top - bottom, "nodes": nodes, "edges": edges}


def render_json(dot: str) -> bytes:
    """Run Graphviz: the library that comes with pygraphviz, else ``dot`` on the PATH."""
    try:
        import pygraphviz
        from pygraphviz import graphviz as library
    except ImportError:
        import graphviz

        rendered = graphviz.pipe("dot", "json0", dot.encode())
        return bytes(rendered)
    graph = pygraphviz.AGraph(string=dot)
    context = library.gvContextWithBuiltins()
    try:
        if library.gvLayout(context, graph.handle, b"dot") != 0:
            raise ValueError("Graphviz found no layout")
        _, data = library.gvRenderData(context, graph.handle, format=b"json0")
        library.gvFreeLayout(context, graph.handle)
    finally:
        library.gvFreeContext(context)
        graph.close()
    return bytes(data)


if __name__ == "__main__":
    # Graphviz prints its warnings to the streams it inherits: keep them out of the answers
    output = os.fdopen(os.dup(1), "wb")
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    run(sys.stdin.buffer, output)
