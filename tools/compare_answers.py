"""Write down what netloupe says of many models, and compare that with what it says after a change.

    python tools/compare_answers.py write BEFORE [PATH …] [--tree FOLDER]
    python tools/compare_answers.py compare BEFORE AFTER

``write`` opens models in files and folders: without any those of the tests, those that the
``onnx`` package ships and, where that folder is there, those of ../shared/corpus. What is packed
with xz is unpacked first. Asked of each are: ``info``, the tree of groups, what is told of each
node, ``check``, ``audit``, the first picture, and the difference from its neighbour, where a model
stands there from both exporters (``NAME.legacy.onnx`` and ``NAME.dynamo.onnx``). A line of JSON for
each goes to a file that gzip packs. ``--tree`` asks the netloupe of another folder, as of an older
commit.

``compare`` prints each answer that changed and ends with status 1 where any did, or where a model
is in one of the files only.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import hashlib
import json
import lzma
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx

ROOT = Path(__file__).resolve().parent.parent
_ENDINGS = (".json", ".onnx", ".onnxtext", ".onnxtxt", ".ort", ".pb", ".pbtxt", ".textproto")
#: nodes of a model that are asked for; pictures are drawn of models that have fewer
_MOST_NODES = 3000
#: lines of a difference that are printed of each answer
_MOST_LINES = 12


def list_models(paths: list[Path], unpacked: Path) -> Iterator[tuple[str, Path]]:
    """Yield what names each model in both files, and where it is.

    Of several that are called the same, those behind the first have a number behind it.
    """
    named: Counter[str] = Counter()
    for number, path in enumerate(paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            name = f"{path.name}/{name}" if path.is_dir() else name
            if name.endswith(".xz") and name.removesuffix(".xz").endswith(_ENDINGS):
                name = name.removesuffix(".xz")
                place = unpacked / str(number) / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(lzma.decompress(file.read_bytes()))
            elif name.endswith(_ENDINGS):
                place = file
            else:
                continue
            named[name] += 1
            yield name if named[name] == 1 else f"{name} ({named[name]})", place


def ask(path: Path, folder: Path) -> dict[str, str]:
    """Return what netloupe says of a model, without the folder that it is in."""
    from netloupe.explorer.readers.load import load

    try:
        model = load(path)
    except Exception as error:  # whatever it is, it is the answer
        return {"load": _say(error, folder)}
    asked = {"info": _tell_all, "groups": _list_groups, "nodes": _list_nodes}
    asked |= {"check": _check, "audit": _audit, "picture": _draw, "diff": _differ}
    return {kind: _try(question, model, folder) for kind, question in asked.items()}


def _try(question: Callable[[Any], str], model: Any, folder: Path) -> str:
    try:
        return question(model).replace(str(folder), "")
    except Exception as error:
        return _say(error, folder)


def _say(error: Exception, folder: Path) -> str:
    return f"{type(error).__name__}: {error}".replace(str(folder), "")


def _tell_all(model: Any) -> str:
    from netloupe.commands.info import summarize_model

    return json.dumps(summarize_model(model), sort_keys=True, default=str, indent=1)


def _list_groups(model: Any) -> str:
    lines: list[str] = []
    pending = [(0, model.groups)]
    while pending and len(lines) < _MOST_NODES:
        depth, group = pending.pop()
        told = (group.kind, group.label, group.path, group.recognised, group.node_count)
        lines.append("  " * depth + " | ".join(map(str, told)))
        pending += [(depth + 1, inner) for inner in reversed(group.groups)]
    return "\n".join(lines)


def _list_nodes(model: Any) -> str:
    from netloupe.explorer.describe.nodes import describe_node
    from netloupe.explorer.describe.text import format_text

    nodes = [node for graph in model.graphs for node in graph.nodes][:_MOST_NODES]
    return "\n".join(f"{node.path}\n{format_text(describe_node(node))}" for node in nodes)


def _check(model: Any) -> str:
    from netloupe.explorer.checks import check
    from netloupe.explorer.describe.findings import format_findings

    return format_findings(check(model, with_notes=False))


def _audit(model: Any) -> str:
    from netloupe.explorer.audit import audit
    from netloupe.explorer.describe.audits import format_audit

    return format_audit(audit(model))


def _draw(model: Any) -> str:
    if model.node_count >= _MOST_NODES:
        return "not drawn"
    return hashlib.sha256(model.to_svg().encode()).hexdigest()


def _differ(model: Any) -> str:
    from netloupe.explorer.compare import diff
    from netloupe.explorer.describe.differences import format_diff
    from netloupe.explorer.readers.load import load

    path = Path(str(model.source))
    twin = path.with_name(path.name.replace(".legacy.", ".dynamo."))
    if twin == path or not twin.is_file():
        return ""
    return format_diff(diff(model, load(twin)))


def write(parsed: argparse.Namespace) -> int:
    """Write the answers to all models into a file."""
    sys.path.insert(0, str(parsed.tree.resolve()))
    warnings.simplefilter("ignore")
    paths = parsed.paths or [
        ROOT / "tests" / "zoo",
        Path(onnx.__file__).parent / "backend" / "test" / "data" / "light",
        ROOT.parent / "shared" / "corpus",
    ]
    count = 0
    with tempfile.TemporaryDirectory() as folder, gzip.open(parsed.out, "wt") as out:
        models = [*list_models([path for path in paths if path.exists()], Path(folder))]
        for name, path in models:
            answers = ask(path, path.parent)
            out.write(json.dumps({"model": name, **answers}) + "\n")
            count += 1
    print(f"{count:,} models asked", file=sys.stderr)
    return 0 if count else 1


def read(path: Path) -> dict[str, dict[str, str]]:
    """Return the answers in a file by model."""
    with gzip.open(path, "rt") as lines:
        found = [json.loads(line) for line in lines]
    return {answers.pop("model"): answers for answers in found}


def compare(parsed: argparse.Namespace) -> int:
    """Print which answers changed, and how."""
    before, after = read(parsed.before), read(parsed.after)
    lone = sorted(before.keys() ^ after.keys())
    for name in lone:
        print(f"{name}: only in {parsed.before if name in before else parsed.after}")
    changed: Counter[str] = Counter()
    same = refused = 0
    for name in sorted(before.keys() & after.keys()):
        one, other = before[name], after[name]
        kinds = [kind for kind in one | other if one.get(kind, "") != other.get(kind, "")]
        changed.update(kinds)
        same += not kinds
        refused += "load" in other
        for kind in kinds:
            print(f"{name}: {kind}")
            _print_changes(one.get(kind, ""), other.get(kind, ""))
    told = ", ".join(f"{kind} of {count:,}" for kind, count in sorted(changed.items()))
    print(f"{same:,} models as before, {refused:,} of all refused; changed: {told or 'nothing'}")
    return 1 if lone or changed else 0


def _print_changes(before: str, after: str) -> None:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    shown = [line for line in lines if line[:3] not in ("---", "+++")]
    for line in shown[:_MOST_LINES]:
        print(f"    {line[:200]}")
    if len(shown) > _MOST_LINES:
        print(f"    … {len(shown) - _MOST_LINES:,} more lines")


def main() -> int:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("write")
    one.add_argument("out", type=Path)
    one.add_argument("--tree", type=Path, default=ROOT)
    one.add_argument("paths", nargs="*", type=Path)
    one.set_defaults(run=write)
    two = commands.add_parser("compare")
    two.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    two.set_defaults(run=compare)
    parsed = parser.parse_args()
    status: int = parsed.run(parsed)
    return status


if __name__ == "__main__":
    sys.exit(main())
