"""Account for every file of the corpus: opened with what, or refused with which message.

    python -m tests.account_corpus [FOLDER]

Without a folder it takes ../shared/corpus beside the repository. Prints a line for each file and
a summary. Files are opened in processes that take some each, and what fails there in one of its
own; a traceback, more than ten seconds of work or more than 1 GB is a failure, and so is a count of
nodes, initializers or edges that differs from that of the ``onnx`` package's objects, or for Caffe2
from a count of the messages themselves (:mod:`tests.count_caffe2`). Exit status 1 where anything
failed.

An edge is a use of a name by a node (one for each of its inputs, so twice where it uses a name
twice) that resolves to a node's output, in the same graph or in one around it. Of a name that
is defined again the last definition before the use counts, else the first.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
from google.protobuf import json_format, text_format

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from netloupe.commands.info import summarize_model
from netloupe.explorer.errors import NetloupeError, ReadingError
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2
from tests.corpus import CORPUS
from tests.count_caffe2 import count_caffe2

_SECONDS = 10
_BYTES = 10**9
#: a process of its own for each would take longer than most files do; a process takes so many, and
#: no more once it keeps so many bytes of them
_TOGETHER = 40
_MOST_KEPT = 2 * 10**8
_NOT_MODELS = {"README.md", "INDEX.tsv"}


def main(arguments: list[str]) -> int:
    """Account for a folder; return the exit status."""
    folder = Path(arguments[0]) if arguments else CORPUS
    if not folder.is_dir():
        print(f"{folder} does not exist")
        return 0
    compared = ("compared with onnx", "compared with Caffe2 messages")
    totals = dict.fromkeys(("opened", "refused", "failed", *compared), 0)
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if not path.is_dir() and path.name not in _NOT_MODELS
    ]
    for path, account in zip(paths, account_for(paths), strict=True):
        totals[account["result"]] += 1
        if "compared" in account:
            totals[account["compared"]] += 1
        shown = str(path.relative_to(folder)).encode("unicode_escape").decode()
        print(f"{account['result']:<7} {shown}: {account['line']}", flush=True)
    print(", ".join(f"{count} {name}" for name, count in totals.items()))
    return 1 if totals["failed"] else 0


def account_for(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Yield what became of each file, found out by processes that take some files each.

    What fails there is tried again by a process of its own, and that counts.
    """
    _import_all()
    done = 0
    while done < len(paths):
        some = paths[done : done + _TOGETHER]
        accounts = _ask(some)
        for path, account in zip(some, accounts, strict=False):
            is_first_try = account["result"] == "failed" and len(some) > 1
            yield _ask([path])[0] if is_first_try else account
        done += len(accounts)


def _ask(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return what became of files, or of the first of them, found out by one process.

    Notes
    -----
    What a process holds of earlier files is on the account of later ones, too, so that more of
    them fail than would alone, and none less.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(paths, writer)
    os.close(writer)
    answer = b""
    # the other library works in this time, too, and perhaps beside busy processes
    patience = 12 * _SECONDS
    deadline = time.monotonic() + patience
    with os.fdopen(reader, "rb") as file:
        while select.select([file], [], [], max(0.0, deadline - time.monotonic()))[0]:
            piece = os.read(file.fileno(), 2**16)
            if not piece:
                break
            answer += piece
            deadline = time.monotonic() + patience
        else:
            os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    accounts = [json.loads(line) for line in answer.splitlines()]
    for number, account in enumerate(accounts):
        failure = ""
        if account["seconds"] > _SECONDS:
            failure = f"took {account['seconds']:.1f} s"
        elif usage.ru_maxrss * 1024 - account["held"] > _BYTES:
            failure = f"took {usage.ru_maxrss // 1024 - account['held'] // 2**20} MB"
        if failure:
            accounts[number] = {"result": "failed", "line": failure}
    if status or not accounts:
        line = f"no answer in time, status {status}"
        accounts[len(paths) - 1 :] = []  # where it answered for all and did not end well
        accounts.append({"result": "failed", "line": line})
    return accounts


@cache
def _import_all() -> None:
    """Open a model of each format, or else every process would import anew what that needs."""
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] y) { y = Relu(x) }'
    net = caffe2_pb2.NetDef(name="n", op=[caffe2_pb2.OperatorDef(type="Relu", input=["x"])])
    for model in (onnx.parser.parse_model(text), net):
        summarize_model(load(model))


def _answer(paths: Sequence[Path], pipe: int) -> None:
    """Open files, write what became of each to a pipe, and end this process."""
    # what the process that this was forked from holds is not to count
    reserved, held = _measure_memory()
    resource.setrlimit(resource.RLIMIT_AS, (reserved + 4 * _BYTES,) * 2)
    for path in paths:
        account = _open(path)
        account["held"] = held
        os.write(pipe, json.dumps(account).encode() + b"\n")
        if _measure_memory()[1] - held > _MOST_KEPT:
            break
    os._exit(0)


def _measure_memory() -> tuple[int, int]:
    """Return how many bytes this process has reserved, and how many it holds."""
    reserved, held, *_ = Path("/proc/self/statm").read_text().split()
    return int(reserved) * resource.getpagesize(), int(held) * resource.getpagesize()


def _open(path: Path) -> dict[str, Any]:
    """Open a file; return what became of it, and in what time of this process."""
    begin = time.process_time()  # other processes may be at work, too
    account: dict[str, Any]
    try:
        try:
            model = load(path)
            summary = summarize_model(model)
        except ReadingError:  # a reader's mistake
            raise
        except NetloupeError as error:
            account = {"result": "refused", "line": str(error).removeprefix(f"{path}: ")}
            if "\n" in str(error):
                account = {"result": "failed", "line": f"not one line: {error!r}"}
            account["seconds"] = time.process_time() - begin
        else:
            seconds = time.process_time() - begin
            totals, count = summary["totals"], len(summary["warnings"])
            account = {
                "result": "opened",
                "line": f"{totals['nodes']} nodes and {count} warnings as "
                f"{model.container}/{model.format}",
                "seconds": seconds,
            }
            account |= _compare(path, model)
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        line = f"{type(error).__name__}: {str(error)[:200]!r} at {place.name}:{place.lineno}"
        account = {"result": "failed", "line": line, "seconds": 0}
    return account


def _compare(path: Path, model: Model) -> dict[str, Any]:
    """Return a failure where the counts differ from those of another way to count."""
    data = path.read_bytes()
    if model.format == "Caffe2":
        init = model.metadata.get("init net file")
        theirs = count_caffe2(
            data,
            model.container,
            model.header.message,
            path.with_name(init).read_bytes() if init else None,
        )
        way, whose = "compared with Caffe2 messages", "in the messages"
    elif model.format == "ONNX":
        proto = _parse_with_onnx(data, model.container)
        theirs = count_theirs(proto) if proto is not None else None
        way, whose = "compared with onnx", "by the onnx package"
    else:
        return {}
    if theirs is None:
        return {}
    ours = count_ours(model)
    if ours != theirs:
        line = f"nodes, initializers, edges are {ours}, but {theirs} {whose}"
        return {"result": "failed", "line": line}
    return {"compared": way}


def _parse_with_onnx(data: bytes, container: str) -> Any:
    if container.endswith(" in gzip"):
        data = gzip.decompress(data)
    try:
        if container.startswith("protobuf text"):
            return text_format.Parse(data.decode(), onnx.ModelProto())
        if container.startswith("protobuf JSON"):
            return json_format.Parse(data.decode(), onnx.ModelProto())
        if container.startswith("ONNX text"):
            return onnx.parser.parse_model(data.decode())
        return onnx.ModelProto.FromString(data)
    except Exception:  # what onnx cannot read is not compared
        return None


def count_ours(model: Model) -> tuple[int, int, int]:
    """Return the numbers of nodes, initializers and edges of a model of ours."""
    graphs = model.graphs
    return (
        sum(len(graph.nodes) for graph in graphs),
        sum(len(graph.initializers) + len(graph.sparse_initializers) for graph in graphs)
        # filled in the file, and inputs all the same
        + sum("placeholder" in value.metadata for value in model.graph.inputs),
        sum(
            value is not None and value.producer is not None
            for graph in graphs
            for node in graph.nodes
            for value in node.inputs
        ),
    )


def count_theirs(proto: Any) -> tuple[int, int, int]:
    """Return the numbers of nodes, initializers and edges of an ``onnx.ModelProto``."""
    main_scope = _Scope(proto.graph, _names_of_inputs(proto.graph), ())
    counted = [*_count(main_scope)]
    for function in proto.functions:
        counted += _count(_Scope(function, set(function.input), ()))
        for attribute in function.attribute_proto:
            for graph in _graphs_of(attribute):
                counted += _count(_Scope(graph, _names_of_inputs(graph), ()))
    for training in proto.training_info:
        for field, outer in (("initialization", ()), ("algorithm", (main_scope,))):
            if training.HasField(field):
                graph = getattr(training, field)
                counted += _count(_Scope(graph, _names_of_inputs(graph), outer))
    nodes, initializers, edges = zip(*counted, strict=True)
    return sum(nodes), sum(initializers), sum(edges)


class _Scope:
    """A graph or function body of the ``onnx`` package, and where its names are defined."""

    def __init__(self, proto: Any, inputs: set[Any], outer: tuple[_Scope, ...]) -> None:
        self.proto = proto
        self.outer = outer
        self.definitions: dict[Any, list[int]] = {name: [-1] for name in inputs}
        for index, node in enumerate(proto.node):
            for name in node.output:
                self.definitions.setdefault(name, []).append(index)

    def is_edge(self, name: Any, index: int) -> bool:
        """Return whether the use of a name by the node at an index is an edge."""
        if not name:
            return False
        found = self.definitions.get(name)
        if found:
            return max([found[0], *(place for place in found[1:] if place < index)]) >= 0
        for scope in self.outer:
            if name in scope.definitions:
                return scope.definitions[name][0] >= 0
        return False


def _count(scope: _Scope) -> Iterator[tuple[int, int, int]]:
    proto = scope.proto
    initializers = 0
    if hasattr(proto, "initializer"):
        initializers = len(proto.initializer) + len(proto.sparse_initializer)
    edges = sum(
        scope.is_edge(name, index) for index, node in enumerate(proto.node) for name in node.input
    )
    yield len(proto.node), initializers, edges
    for node in proto.node:
        for attribute in node.attribute:
            for graph in _graphs_of(attribute):
                inner = _Scope(graph, _names_of_inputs(graph), (scope, *scope.outer))
                yield from _count(inner)


def _names_of_inputs(graph: Any) -> set[Any]:
    return {
        *(info.name for info in graph.input),
        *(tensor.name for tensor in graph.initializer),
        *(sparse.values.name for sparse in graph.sparse_initializer),
    }


def _graphs_of(attribute: Any) -> list[Any]:
    return [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    sys.exit(main(sys.argv[1:]))
