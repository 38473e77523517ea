"""Put a release of ONNX Runtime into ``explorer/checks/runtimes.json``, or replace it there.

Run it with a Python that has an ``onnxruntime``, or name the folder of an unpacked wheel, and more
folders that it needs (``--wheel``; releases before 1.19 need a numpy before 2). From the release
come the newest operator sets and the newest IR version, which it names itself where it refuses a
newer one, and its CPU kernels: their versions and types. ``--without-kernels`` leaves these out.
Releases that cannot be asked here are written as the documentation of ONNX Runtime has them. The
form of the file is described in ``explorer/checks/kernels.py``. ``--check`` writes nothing and
exits with 1 if the file says something else.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
from type_names import shorten_type

TABLE = Path(__file__).resolve().parent.parent / "explorer" / "checks" / "runtimes.json"

#: operator set, operator set of ai.onnx.ml, IR version by release, from the table "ONNX opset
#: support" of the documentation (docs/reference/compatibility.md)
DOCUMENTED = {
    "1.0": (11, 2, 6),
    "1.1": (11, 2, 6),
    "1.2": (11, 2, 6),
    "1.3": (12, 2, 7),
    "1.4": (12, 2, 7),
    "1.5": (12, 2, 7),
    "1.6": (13, 2, 7),
    "1.7": (13, 2, 7),
    "1.8": (14, 2, 7),
    "1.9": (15, 2, 8),
    "1.10": (15, 2, 8),
    "1.11": (16, 2, 8),
    "1.12": (17, 3, 8),
    "1.13": (17, 3, 8),
    "1.14": (18, 3, 8),
}
#: whose newest operator set a release is asked for; of some it takes any
DOMAINS = (
    *("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "ai.onnx.training"),
    *("com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"),
)
#: beyond all that any release has
_BEYOND = 99
_OLD_IR, _OLD_OPSET = 4, 7
#: what ONNX Runtime has for the last version of a kernel that has none
_NO_LAST = 2**31 - 1


class Kernel(NamedTuple):
    """A kernel of a release: operator, first and last version (0 for none), types by variable."""

    domain: str
    op_type: str
    first: int
    last: int
    types: tuple[tuple[str, str], ...]


Releases = dict[str, dict[str, Any]]
Kernels = dict[str, list[Kernel]]


def shorten_release(version: str) -> str:
    """Return the release that a version belongs to: ``1.17`` for ``1.17.3``."""
    return ".".join(version.split(".")[:2])


def read_kernels() -> list[Kernel]:
    """Return the CPU kernels of the ``onnxruntime`` that can be imported."""
    from onnxruntime.capi._pybind_state import get_all_opkernel_def

    kernels = []
    for found in get_all_opkernel_def():
        if found.provider != "CPUExecutionProvider":
            continue
        first, last = found.version_range
        types = {
            name: " ".join(sorted(map(shorten_type, texts)))
            for name, texts in found.type_constraints.items()
        }
        kernels.append(
            Kernel(
                found.domain,
                found.op_name,
                first,
                0 if last == _NO_LAST else last,
                tuple(sorted(types.items())),
            )
        )
    return sorted(kernels)


def read_release() -> dict[str, Any]:
    """Return what the ``onnxruntime`` that can be imported says of itself without its kernels."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    refusal = _refuse(_write_model(_BEYOND, {"": _OLD_OPSET}))
    newest_ir = re.search(r"max supported IR version: (\d+)", refusal)
    if newest_ir is None:
        raise ValueError(f"this onnxruntime does not say which IR version is too new: {refusal}")
    opsets = {}
    for domain in DOMAINS:
        refusal = _refuse(_write_model(_OLD_IR, {"": _OLD_OPSET, domain: _BEYOND}))
        newest = re.search(r"Current official support for domain \S+ is till opset (\d+)", refusal)
        if newest is None and domain in ("", "ai.onnx.ml"):
            raise ValueError(f"this onnxruntime does not say which opset is too new: {refusal}")
        if newest is not None:
            opsets[domain] = int(newest[1])
    return {
        "version": onnxruntime.__version__,
        "opsets": opsets,
        "ir_version": int(newest_ir[1]),
    }


def _refuse(model: bytes) -> str:
    """Return why the release refuses a model."""
    import onnxruntime

    try:
        onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    except Exception as error:  # of no class that all releases have
        return str(error)
    return ""


def _write_model(ir_version: int, opsets: dict[str, int]) -> bytes:
    """Return an empty ModelProto as bytes: ``onnx`` need not fit to the numpy of the release."""
    imports = (
        _write_field(8, _write_field(1, domain.encode()) + _write_field(2, version))
        for domain, version in opsets.items()
    )
    return _write_field(1, ir_version) + _write_field(7, _write_field(2, b"g")) + b"".join(imports)


def _write_field(number: int, value: int | bytes) -> bytes:
    """Return a field of a message; all numbers in use fit into one byte."""
    if isinstance(value, int):
        return bytes((number << 3, value))
    return bytes((number << 3 | 2, len(value))) + value


def list_documented() -> Releases:
    """Return the releases that the documentation alone tells of."""
    return {
        release: {"opsets": {"": opset, "ai.onnx.ml": ml}, "ir_version": ir_version}
        for release, (opset, ml, ir_version) in DOCUMENTED.items()
    }


def read_table(text: str) -> tuple[Releases, Kernels]:
    """Return the releases and their kernels as the file has them."""
    table = json.loads(text)
    kernels: Kernels = {}
    for domain, operators in table["kernels"].items():
        for op_type, rows in operators.items():
            for first, last, types, releases in rows:
                named = tuple(sorted((name, table["types"][n]) for name, n in types.items()))
                for release in table["sets"][releases].split():
                    found = Kernel(domain, op_type, first, last, named)
                    kernels.setdefault(release, []).append(found)
    return table["releases"], {release: sorted(found) for release, found in kernels.items()}


def _order(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _number(texts: Iterable[str]) -> dict[str, int]:
    """Return numbers for texts, the most frequent first."""
    counts = Counter(texts)
    ordered = sorted(counts, key=lambda text: (-counts[text], text))
    return {text: number for number, text in enumerate(ordered)}


def format_table(releases: Releases, kernels: Kernels) -> str:
    """Return the JSON text: sorted, a line for each release and for each operator."""
    having: dict[Kernel, list[str]] = {}
    for release in sorted(kernels, key=_order):
        if len(set(kernels[release])) != len(kernels[release]):
            raise ValueError(f"{release} has a kernel twice")
        for kernel in kernels[release]:
            having.setdefault(kernel, []).append(release)
    sets = _number(" ".join(found) for found in having.values())
    types = _number(text for kernel in having for _, text in kernel.types)
    operators: dict[str, dict[str, list[Any]]] = {}
    for kernel in sorted(having):
        named = {name: types[text] for name, text in kernel.types}
        row = [kernel.first, kernel.last, named, sets[" ".join(having[kernel])]]
        operators.setdefault(kernel.domain, {}).setdefault(kernel.op_type, []).append(row)

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    def spread(items: Iterable[tuple[str, str]]) -> str:
        return "{\n" + ",\n".join(f"{compact(name)}:{text}" for name, text in items) + "}"

    domains = (
        (domain, spread((op_type, compact(rows)) for op_type, rows in by_type.items()))
        for domain, by_type in operators.items()
    )
    members = {
        "releases": spread(
            (name, compact(releases[name])) for name in sorted(releases, key=_order)
        ),
        "types": "[\n" + ",\n".join(map(compact, types)) + "]",
        "sets": "[\n" + ",\n".join(map(compact, sets)) + "]",
        "kernels": spread(domains),
    }
    return "{" + ",\n".join(f"{compact(name)}:{text}" for name, text in members.items()) + "}\n"


def make_table(text: str | None, *, with_kernels: bool) -> str:
    """Return the file with the ``onnxruntime`` that can be imported in it."""
    releases, kernels = read_table(text) if text else ({}, {})
    said = read_release()
    release = shorten_release(said["version"])
    releases = {**releases, **list_documented(), release: said}
    kernels.pop(release, None)
    if with_kernels:
        kernels[release] = read_kernels()
    return format_table(releases, kernels)


def main() -> int:
    """Write the file, or compare it with the committed one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--without-kernels", action="store_true")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    sys.path[:0] = arguments.wheel
    before = TABLE.read_text(encoding="utf-8") if TABLE.exists() else None
    text = make_table(before, with_kernels=not arguments.without_kernels)
    if arguments.check:
        print(f"{TABLE.name} {'is current' if text == before else 'differs'}")
        return 0 if text == before else 1
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE.name} written, {len(text):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
