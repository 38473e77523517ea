"""Models, and profiles as ONNX Runtime writes them, for the tests of overlays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from netloupe.explorer.model import Model
from tests.onnx_text import load_text

CHAIN = """
chain (float[1,4,8,8] x, float[4,4,3,3] w) => (float[1,4,8,8] y) {
    [conv] c = Conv (x, w)
    [relu] r = Relu (c)
    [add] a = Add (r, r)
    [mul] y = Mul (a, a)
}"""

LOOP = """
loop (int64 n, bool go, float[4] x) => (float[4] y) {
    [before] s = Relu (x)
    [loop] y = Loop (n, go, s) <body = body (int64 i, bool c, float[4] p) => (bool d, float[4] q) {
        [stop] d = Identity (c)
        [inner] q = Abs (p)
    }>
}"""


def chain() -> Model:
    """Return a model of four nodes, one after the other."""
    return load_text(CHAIN)


def loop() -> Model:
    """Return a model with a loop of two nodes."""
    return load_text(LOOP)


def event(
    name: str,
    start: int,
    duration: int,
    operator: str = "Relu",
    category: str = "Node",
    index: int = 0,
    provider: str = "CPUExecutionProvider",
) -> str:
    """Return a line of a profile, written as onnxruntime's profiler.cc does: nothing is escaped."""
    shown = f"{name}_kernel_time" if category == "Node" else name
    args = ""
    if category == "Node":
        args = (
            f'"node_index" : "{index}","op_name" : "{operator}","parameter_size" : "0",'
            f'"input_type_shape" : [{{"float":[1,4]}}],"provider" : "{provider}"'
        )
    return (
        f'{{"cat" : "{category}","pid" :7,"tid" :7,"dur" :{duration},"ts" :{start},"ph" : "X",'
        f'"name" :"{shown}","args" : {{{args}}}}},'
    )


def run_of(nodes: Iterable[tuple[str, int, str]], start: int, gap: int = 5) -> list[str]:
    """Return the lines of one run: its nodes one after the other, and the run around them."""
    lines, at = [], start + gap
    for name, duration, operator in nodes:
        lines.append(event(name, at, duration, operator))
        at += duration
    lines.append(
        event("SequentialExecutor::Execute", start + 2, at - start - 2, category="Session")
    )
    return [*lines, event("model_run", start, at + gap - start, category="Session")]


def profile_of(runs: Sequence[Sequence[str]]) -> str:
    """Return the text of a profile with the lines of some runs."""
    lines = [
        "[",
        event("model_loading_uri", 1, 90, category="Session"),
        event("session_initialization", 95, 300, category="Session"),
        *(line for run in runs for line in run),
    ]
    return "\n".join([*lines[:-1], lines[-1].rstrip(","), "]", ""])
