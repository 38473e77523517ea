"""What onnx's full check and ONNX Runtime's loading say of models, beside what ``check`` says."""

from __future__ import annotations

import json
import os
import platform
import re
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netloupe.explorer.checks import Findings, check
from netloupe.explorer.checks.kernel_search import UNKNOWN_BODY
from netloupe.explorer.checks.runtimes import list_runtimes
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.readers.load import load

_WORKER = Path(__file__).with_name("judge_worker.py")
_JUDGES = ("checker", "runtime")
#: how ONNX Runtime says that it has no kernel
_NO_KERNEL = re.compile(r"Could not find an implementation|Failed to find kernel")
#: whether the kernels of the file are those of this machine
IS_MEANT = sys.platform == "linux" and platform.machine() == "x86_64"
#: why it may have none and nothing is found, which is said
UNSEEN = UNKNOWN_BODY
#: what a judge that ended or took too long is taken to say
CRASHED, LATE = "the process ended", "took too long"


#: warnings and notes that tell what a judge refuses a model for: how their ids begin, and the
#: pattern of the judge's message; of an error a model need not be told twice
_TOLD_BY = (
    ("NL-T", r"ShapeInferenceError|TypeInferenceError|Type Error"),
    ("NL-I09", "in initializer but not in graph input"),
    ("NL-I02", "Field 'shape' of 'type' is required but missing"),
    ("NL-L07", "two nodes with same node name"),
    ("NL-L39", "Field 'name' of 'graph' is required to be non-empty"),
    ("NL-S01", "Location of external TensorProto"),
    ("NL-I08", r"existing shape differ in dimension \d+: \(-?\d+\) vs \(-\d+\)"),
    ("NL-L32", "has (in|out)put size"),
    ("NL-L33", "Unrecognized attribute"),
    ("NL-L41", "hidden_size|Attribute saturate is only used|linear_before_reset"),
)


@dataclass(frozen=True)
class Judgement:
    """What all three say of one model.

    Parameters
    ----------
    name
        Of the model.
    checker, runtime
        Why onnx's full check and ONNX Runtime refuse it; "" where they accept it.
    refused
        Why netloupe does not open it; "" where it does.
    findings
        What ``check`` found: ids with severities and messages.
    unchecked
        What ``check`` says that it did not look at.
    """

    name: str
    checker: str
    runtime: str
    refused: str = ""
    findings: tuple[tuple[str, str, str], ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def reasons(self) -> list[str]:
        """Why judges refuse it, as far as that says something against the model."""
        return [said for said in (self.checker, self.runtime) if said and not explain(said)]

    @property
    def is_told(self) -> bool:
        """Whether ``check`` finds an error, or what tells of each thing that a judge refuses."""
        if self.refused or self.errors:
            return True
        ids = [name for name, _, _ in self.findings]
        return all(
            any(
                name.startswith(rule) and re.search(pattern, reason)
                for rule, pattern in _TOLD_BY
                for name in ids
            )
            for reason in self.reasons
        )

    @property
    def errors(self) -> list[tuple[str, str]]:
        """The ids of errors, with what they say."""
        return [(name, said) for name, severity, said in self.findings if severity == "error"]


class Judges:
    """Two judges in a process that can be ended.

    Parameters
    ----------
    seconds
        How long each may take for a model.
    """

    def __init__(self, seconds: float = 30.0) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._read = b""

    def __enter__(self) -> Judges:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _start(self) -> subprocess.Popen[str]:
        if self._process is None:
            command = [sys.executable, str(_WORKER)]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self._process = subprocess.Popen(command, text=True, **pipes)
        return self._process

    def _end(self) -> None:
        process, self._process, self._read = self._process, None, b""
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def ask(self, path: Path) -> dict[str, str]:
        """Return what each judge says of a file."""
        process = self._start()
        assert process.stdin is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        said: dict[str, str] = {}
        for name in _JUDGES:
            line = self._read_line(process)
            if line is None or not line:
                said[name] = LATE if line is None else CRASHED
                self._end()
                break
            said |= json.loads(line)
        for name in _JUDGES:  # what came after a crash was not asked
            said.setdefault(name, "")
        return said

    def _read_line(self, process: subprocess.Popen[str]) -> str | None:
        """Return the next line; None where the time is over first."""
        assert process.stdout is not None
        deadline = time.monotonic() + self._seconds
        selector = selectors.DefaultSelector()
        with selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._read:
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    return None
                piece = os.read(process.stdout.fileno(), 1 << 16)
                if not piece:
                    return ""
                self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return line.decode()


def find_installed() -> str | None:
    """Return the target that stands for the installed ONNX Runtime; None where none is known."""
    try:
        import onnxruntime
    except ImportError:
        return None
    if not IS_MEANT:
        return None
    name = "ort-" + ".".join(onnxruntime.__version__.split(".")[:2])
    return name if name in list_runtimes() else None


def judge(name: str, path: Path, judges: Judges) -> Judgement:
    """Return what all three say of a file."""
    said = judges.ask(path)
    try:
        found: Findings | None = check(load(path), with_notes=False, target=find_installed())
        refused = ""
    except NetloupeError as error:
        found, refused = None, str(error)
    findings = tuple((each.id, each.severity, each.message) for each in found or ())
    unchecked = () if found is None else tuple(each.reason for each in found.skipped_rules)
    return Judgement(name, said["checker"], said["runtime"], refused, findings, unchecked)


#: what judges refuse models for that says nothing against the model; the pattern of a message, and
#: why it does not count
NOT_THE_MODEL: tuple[tuple[str, str], ...] = (
    (
        r"NOT_IMPLEMENTED|Could not find an implementation|NotImplemented",
        "ONNX Runtime's CPU provider has no kernel for these types",
    ),
    (
        r"is not a registered function/op|No Op registered for",
        "an operator of a library that is not loaded here",
    ),
    (
        r"only \*guarantees\* support|is under development and support",
        "an operator set newer than this release of ONNX Runtime",
    ),
    (
        r"Unsupported model IR version|ir_version \d+ is higher than the checker's",
        "a newer IR version than the judge reads",
    ),
    (
        r"Unable to parse proto from file|Protobuf parsing failed",
        "gzip, text, or a nesting beyond protobuf's limit, which netloupe alone reads",
    ),
    (r"Failed to construct locale", "a locale that this machine does not have"),
    (
        r"Batchwise recurrent operations \(layout == 1\) are not supported",
        "ONNX Runtime's kernel has not all that the specification has",
    ),
    (
        r"op_type:MeanVarianceNormalization\): \[ShapeInferenceError\].*'value'.*must be specified",
        "onnx expands the operator wrongly where axes are left out",
    ),
    (
        r"Input tensors of wrong rank \(0\).*null|unsupported type: sparse_|inferred=sparse_",
        "onnx's inference does not know sparse initializers",
    ),
    (LATE, "a judge took too long"),
    (CRASHED, "a judge crashed"),
)


def explain(message: str) -> str:
    """Return why a refusal says nothing against the model; "" where it does."""
    return next((why for pattern, why in NOT_THE_MODEL if re.search(pattern, message)), "")


def list_missed(judgements: Iterable[Judgement]) -> Iterator[tuple[Judgement, str]]:
    """Yield the models that a judge refuses and ``check`` finds nothing in, with the reason."""
    for each in judgements:
        if each.reasons and not each.is_told:
            yield each, each.reasons[0]


def list_without_kernel(judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    """Yield the models that ONNX Runtime has no kernel for where ``check`` says nothing of it."""
    target = find_installed()
    if target is None or not list_runtimes()[target].has_kernels:
        return
    for each in judgements:
        is_found = any(name == "NL-P06" for name, _, _ in each.findings)
        is_told = any(UNSEEN in reason for reason in each.unchecked)
        if _NO_KERNEL.search(each.runtime) and not is_found and not is_told and not each.refused:
            yield each


#: errors in models that both judges accept: the rule, the pattern of what it says in that case,
#: and why it is an error all the same
RUNS_WRONGLY: tuple[tuple[str, str, str], ...] = (
    ("NL-L04", r"bytes are stored where", "judges do not read elements when they load"),
    ("NL-N01", r"numbers (are|is) NaN", "it loads, and computes NaN"),
    ("NL-N02", r"numbers (are|is) infinite", "it loads, and computes NaN"),
    ("NL-N07", r"varianc", "it loads, and computes NaN"),
    ("NL-Q01", r"scales cannot be used", "judges do not look at scales; division by 0 or less"),
    (
        "NL-Q09",
        r"its bias is dequantized with",
        "judges do not look at scales; it adds another bias",
    ),
    (
        "NL-S01",
        r"but the file has \d+$|its stated length is|its offset is negative",
        "a tensor that nothing uses: judges do not read its external data",
    ),
    ("NL-T13", r"but of \d+ channel", "sizes are compared when it runs, and it fails"),
    ("NL-T17", "", "an index beyond the size: seen when it runs"),
    ("NL-T18", "", "a shape that cannot hold the elements: seen when it runs"),
    ("NL-X01", r"training_mode is (1|true)", "it loads, and computes other numbers than it should"),
)


def list_wronged(judgements: Iterable[Judgement]) -> Iterator[tuple[Judgement, list[str]]]:
    """Yield the models that both judges accept, with errors of ours that nothing accounts for."""
    for each in judgements:
        errors = [
            f"{name}: {said}"
            for name, said in each.errors
            if not any(name == rule and re.search(case, said) for rule, case, _ in RUNS_WRONGLY)
        ]
        if errors and not each.checker and not each.runtime:
            yield each, errors
