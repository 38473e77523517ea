"""What a model could do to the machine, or tells of the one it was made on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import Tensor, find_nodes_where, find_nodes_with
from netloupe.explorer.model.node_keys import key_whole_attributes, may_have_attributes
from netloupe.explorer.notation import clip_text, write_bytes, write_count, write_dims

#: operators that run code that the model names or holds (ONNX Runtime, PyTorch, extensions)
_RUNNING_CODE = frozenset(
    {"PyOp", "PythonOp", "PythonOpGrad", "PyCustomOp", "Python", "PythonDLPack", "ScriptModule"}
)
#: signs of a program in a text: what it begins with, or calls that no setting of an operator has
_CODE = re.compile(
    r"#!\s*/|<script\b|<\?php|\b(?:eval|exec|__\w+__|os\.system|subprocess\.\w+)\s*\("
    r"|\bimport\s+(?:os|sys|subprocess|socket)\b|powershell\s+-",
    re.IGNORECASE,
)
_HOME = re.compile(r"(?<![\w.-])(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})[^/\\\s\"',:;]+")
_MARKUP = re.compile(r"<\s*(?:script|iframe|object|embed|img|svg|a)\b[^>]*>", re.IGNORECASE)
#: so many characters of a text are looked at
_MOST_TEXT = 100_000
_LARGE_TEXT = 2**20
#: protobuf reads a message up to here (its documentation, Proto Limits), and this is near it
_PROTOBUF_LIMIT, _NEAR_LIMIT = 2**31 - 1, 1_900_000_000
#: tensors are stored at multiples of a page, of 64 KiB on some machines
_LARGEST_GAP = 2**16
#: a tensor that claims so many bytes, which are not in the file, is a bomb
_LARGE_CLAIM = 2**30


def _find_external(subject: Subject) -> Iterator[Occurrence]:
    for hit in subject.noted.get("external-data", ()):
        is_refused = "will not be read" in hit.message
        yield hit if is_refused else hit._replace(severity="warning")


def _find_code_operators(subject: Subject) -> Iterator[Occurrence]:
    for graph in subject.graphs:
        running = find_nodes_where(graph, lambda operator: operator.op_type in _RUNNING_CODE)
        for index in running.tolist():
            node = graph.nodes[index]
            if node.function is None:
                name = graph.dialect.name_operator(node.domain, node.op_type)[:100]
                yield Occurrence(node.path, f"{name} runs Python", {"operator": name}, name)


def _find_code(subject: Subject) -> Iterator[Occurrence]:
    for graph in subject.graphs:
        judged: set[bytes] = set()
        for node in graph.nodes:
            if not may_have_attributes(node):
                continue
            key = key_whole_attributes(node)
            if key in judged:
                continue
            judged.add(key)
            for name, attribute in node.attributes.items():
                text = attribute.value
                if isinstance(text, bytes):
                    text = text[:_MOST_TEXT].decode("latin-1")
                found = _CODE.search(text[:_MOST_TEXT]) if isinstance(text, str) else None
                if found:
                    yield Occurrence(
                        node.path,
                        f"its attribute {name[:60]!r} looks like a program: {found.group()[:60]!r}",
                        {"attribute": name[:200], "found": found.group()[:60]},
                    )


def _list_texts(subject: Subject) -> Iterator[tuple[str, str, str]]:
    """Yield path, name and text of what people may have written into the model."""
    model = subject.model
    yield model.path, "the documentation", model.doc
    for key, text in model.metadata.items():
        yield model.path, f"the metadata {key[:60]!r}", text
    for graph in subject.graphs:
        yield graph.path, "the documentation", graph.doc
        for key, text in graph.metadata.items():
            yield graph.path, f"the metadata {key[:60]!r}", text


def _find_homes(subject: Subject) -> Iterator[Occurrence]:
    for path, name, text in _list_texts(subject):
        found = _HOME.search(text[:_MOST_TEXT])
        if found:
            shown = clip_text(found.group(), 60)
            yield Occurrence(path, f"{name} names a home folder: {shown!r}", {"found": shown}, name)


def _find_markup(subject: Subject) -> Iterator[Occurrence]:
    for path, name, text in _list_texts(subject):
        found = _MARKUP.search(text[:_MOST_TEXT])
        if found:
            shown = clip_text(found.group(), 60)
            yield Occurrence(path, f"{name} holds markup: {shown!r}", {"found": shown}, name)


def _find_large_texts(subject: Subject) -> Iterator[Occurrence]:
    for path, name, text in _list_texts(subject):
        if len(text) > _LARGE_TEXT:
            message = f"{name} has {write_count(len(text), 'character')}"
            yield Occurrence(path, message, {"characters": len(text)}, name)


def _find_bombs(subject: Subject) -> Iterator[Occurrence]:
    """Yield fills that make very much from a few bytes."""
    for graph in subject.graphs:
        for index in find_nodes_with(graph, "fills", "stores_constant").tolist():
            node = graph.nodes[index]
            dims: tuple[int, ...] | None = None
            if not node.operator.has("stores_constant"):
                fact = subject.fact(node.output(0))
                if fact.dims is not None and all(isinstance(dim, int) for dim in fact.dims):
                    dims = tuple(dim for dim in fact.dims if isinstance(dim, int))
                size = fact.bytes
            else:
                constant = node.details.constant
                if not isinstance(constant, Tensor) or constant.storage == "raw_data":
                    continue
                dims, size = constant.dims, constant.nbytes
                if constant.external or (constant.stored_bytes or 0) * 4 > (size or 0):
                    continue
            if isinstance(size, int) and size > _LARGE_CLAIM and dims is not None:
                yield Occurrence(
                    node.path,
                    f"fills {write_dims(dims)}: {write_bytes(size)} from nothing",
                    {"bytes": size, "dims": list(dims[:16])},
                )


def _find_large_file(subject: Subject) -> Iterator[Occurrence]:
    """Yield a model in one message of protobuf that is near, or beyond, what protobuf takes."""
    model = subject.model
    size = model.files.own_size if model.files is not None else 0
    if size <= _NEAR_LIMIT or model.container != "protobuf":
        return
    is_beyond = size > _PROTOBUF_LIMIT
    yield Occurrence(
        model.path,
        f"the file has {write_bytes(size)}: "
        + ("more than protobuf reads" if is_beyond else "little less than protobuf reads")
        + f", {_PROTOBUF_LIMIT:,} bytes",
        {"bytes": size, "limit": _PROTOBUF_LIMIT},
        severity="error" if is_beyond else None,
    )


def _find_unused_bytes(subject: Subject) -> Iterator[Occurrence]:
    """Yield files of external data with more in them than tensors take."""
    model = subject.model
    if model.files is None:
        return
    ranges: dict[str, list[tuple[int, int]]] = {}
    firsts: dict[str, Tensor] = {}
    for graph in subject.graphs:
        for tensor in graph.initializers:
            external = tensor.external
            if external is not None:
                size = external.length if external.length is not None else tensor.nbytes
                begin = external.offset or 0
                ranges.setdefault(external.location, []).append((begin, begin + (size or 0)))
                firsts.setdefault(external.location, tensor)
    for location, taken in ranges.items():
        external = firsts[location].external
        size = model.files.find_external_size(external) if external is not None else 0
        unused = _count_unused(taken, size)
        if unused:
            yield Occurrence(
                firsts[location].path,
                f"{write_bytes(unused)} of the {write_bytes(size)} of {location[:100]!r}, where it "
                "is stored, are of no tensor",
                {"bytes": unused, "file_bytes": size, "location": location[:200]},
                location[:200],
            )


def _count_unused(taken: list[tuple[int, int]], size: int) -> int:
    """Return how many bytes lie between ranges and behind them; small gaps align tensors."""
    unused = end = 0
    for begin, stop in [*sorted(taken), (size, size)]:
        unused += begin - end if begin - end > _LARGEST_GAP else 0
        end = max(end, stop)
    return unused


RULES = (
    Rule(
        "NL-S01",
        "external-data",
        "error",
        "External data that will not be read",
        "The file is missing, too short, or leads out of the model's folder, to what a model has "
        "no business with.",
        "Put the file beside the model, or save it anew with relative locations.",
        "ONNX, ExternalData.md; onnx-doctor ONNX021 to ONNX025",
        _find_external,
    ),
    Rule(
        "NL-S02",
        "code-operator",
        "error",
        "An operator that runs code",
        "Whoever loads the model with its library runs what the author wrote.",
        "Run it only where the author is trusted.",
        "ONNX Runtime, PyOp; onnxruntime-extensions",
        _find_code_operators,
    ),
    Rule(
        "NL-S03",
        "code-like-attribute",
        "warning",
        "An attribute that looks like a program",
        "No standard operator runs texts; a custom one may.",
        "Read it before running the model.",
        "practice; Netron #117",
        _find_code,
    ),
    Rule(
        "NL-S04",
        "home-folder",
        "note",
        "A home folder in metadata or documentation",
        "It tells who exported the model, and where.",
        "Remove it before publishing, as in `del m.metadata_props[:]`.",
        "practice: privacy",
        _find_homes,
    ),
    Rule(
        "NL-S05",
        "markup",
        "note",
        "Markup in metadata or documentation",
        "Programs that show it unescaped run it. netloupe escapes it.",
        "Remove it.",
        "practice",
        _find_markup,
    ),
    Rule(
        "NL-S06",
        "large-text",
        "note",
        "Metadata or documentation over a million characters",
        "Every loader keeps it in memory.",
        "Keep it beside the model.",
        "onnx-doctor SIM002",
        _find_large_texts,
    ),
    Rule(
        "NL-S07",
        "large-fill",
        "warning",
        "A fill of more than a gigabyte",
        "A few bytes of file take the memory of the machine.",
        "Check the shape; run the model only with a limit on memory.",
        "practice",
        _find_bombs,
    ),
    Rule(
        "NL-S08",
        "near-protobuf-limit",
        "warning",
        "A file near the 2 GiB that protobuf reads, or beyond",
        "Beyond, onnx.load and most runtimes refuse it; near, the next layer makes it so.",
        "Store the weights outside: `onnx.save(m, path, save_as_external_data=True)`.",
        "protobuf.dev, Proto Limits; ONNX, ExternalData.md",
        _find_large_file,
    ),
    Rule(
        "NL-S09",
        "unused-external-bytes",
        "warning",
        "A file of external data with more in it than tensors",
        "It is downloaded for nothing, and anything may be hidden there.",
        "Save the model anew: `onnx.save(m, path, save_as_external_data=True)`.",
        "ONNX, ExternalData.md; practice",
        _find_unused_bytes,
    ),
)
