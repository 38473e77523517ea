"""Histograms and statistics of 100 million elements, beside what numpy takes for the same.

Run ``python tests/benchmarks/histograms.py`` (about 2 GB of memory). For float32 the measure is
``numpy.histogram`` with as many bins, which is given the range where it cannot find it itself
(an element is no number); for 16-bit floats ``array.sum()``. Beside it stands, of float32, what
``array.min()`` and ``array.max()`` take, which is how fast memory is read and decides nothing: a
histogram calculates, and how many times faster memory is than arithmetic differs by machine.
What is compared takes turns, and the least CPU time of some rounds is shown, since other work
on the machine makes times longer, never shorter; all of it runs in one thread.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import ml_dtypes
import numpy as np

from netloupe.explorer.tensors import compute_histogram, compute_statistics

SIZE = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000
ROUNDS = 7
#: a histogram takes at most so many times the measure
BARS = {"float32": 1 / 3, "float16": 5.0, "bfloat16": 5.0}


def measure(functions: list[Callable[[], object]], rounds: int) -> list[float]:
    """Return the least seconds that each function takes, called in turns."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for place, function in enumerate(functions):
            start = time.process_time()
            function()
            best[place] = min(best[place], time.process_time() - start)
    return best


def main() -> int:
    """Print a line for each kind of tensor; fail where a histogram takes longer than it may."""
    normal = np.random.default_rng(0).standard_normal(SIZE, np.float32)
    zeros = np.random.default_rng(1).integers(0, 2, SIZE, np.uint8).astype(bool)
    cases: list[tuple[str, Callable[[], np.ndarray]]] = [
        ("float32, normal", lambda: normal),
        ("float32, half zeros", lambda: np.where(zeros, np.float32(0), normal)),
        ("float32, rectified", lambda: np.maximum(normal, 0)),
        ("float32, on a grid of 16", lambda: np.clip(np.rint(normal * 4), -8, 7) / np.float32(4)),
        ("float32, 0.1 % NaN", lambda: np.where(normal > 3.09, np.float32("nan"), normal)),
        ("float16, normal", lambda: normal.astype(np.float16)),
        ("bfloat16, normal", lambda: normal.astype(ml_dtypes.bfloat16)),
    ]
    print(f"{SIZE:,} elements")
    print(
        f"{'tensor':26} {'extent':>9} {'numpy':>9} {'histogram':>10} {'ratio':>7} "
        f"{'statistics':>11}"
    )
    failed = False
    for title, make in cases:
        array = make()
        dtype = array.dtype.name
        counted = compute_histogram(array)
        peer: Callable[[], object] = array.sum
        if dtype == "float32":
            ends = (counted.edges[0], counted.edges[-1]) if counted.nans else None
            peer = partial(np.histogram, array, counted.counts.size, ends)

        least, found = measure([peer, lambda array=array: compute_histogram(array)], ROUNDS)
        extent, whole = measure(
            [
                lambda array=array: (array.min(), array.max()),
                lambda array=array: compute_statistics(array),
            ],
            1,
        )
        ratio, bar = found / least, BARS[dtype]
        failed = failed or ratio > bar
        mark = f"above {bar:.2g}" if ratio > bar else ""
        print(
            f"{title:26} {extent * 1e3:6.0f} ms {least * 1e3:6.0f} ms {found * 1e3:7.0f} ms "
            f"{ratio:6.2f}x {whole * 1e3:8.0f} ms {mark}",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
