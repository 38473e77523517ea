"""Asks two judges about models: onnx's checker and ONNX Runtime's loading, without optimizing.

Run as a script it reads a path a line, and answers each with a line of JSON: what each judge says,
"" where it accepts the model. Some models crash a judge or take minutes; who asks ends the process
then, and takes that for an answer.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def ask_checker(path: str) -> str:
    """Return why onnx's full check refuses a model; "" where it accepts it."""
    import onnx

    try:
        onnx.checker.check_model(path, full_check=True)
    except Exception as error:  # whatever a judge raises is its verdict
        return f"{type(error).__name__}: {error}"
    return ""


def ask_runtime(path: str) -> str:
    """Return why ONNX Runtime does not load a model; "" where it does."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # whatever a judge raises is its verdict
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    """Answer until there are no more questions."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sink = os.open(os.devnull, os.O_WRONLY)  # judges print what they think
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    for line in sys.stdin:
        path = line.rstrip("\n")
        os.chdir(Path(path).parent)
        verdict = {"begin": True}
        for name, ask in (("checker", ask_checker), ("runtime", ask_runtime)):
            verdict = {name: ask(path)[:2_000]}
            answers.write(json.dumps(verdict) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
