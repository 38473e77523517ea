"""Impostors: what is often found where a model was expected.

Most are known by their first bytes, other formats of models by their outermost fields or, where
they are text, by the names of these.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import NamedTuple

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.tensors.pointers import LFS_MAGIC, LFS_POINTER
from netloupe.proto.grammars import DELIMITED, VARINT
from netloupe.proto.wire import ReadRange

from .protobuf.top_fields import TopFields, look_inside
from .source import Source

_EXPORT = "Export the model to ONNX."
_CONVERT = "Convert it to ONNX."
_UNPACK = "Unpack it and give the model file inside."
_NO_MODEL = "Give a model file."
_EXPORTED_PROGRAM = "a program of torch.export (.pt2, a zip archive)"
_EXPORT_PROGRAM = (
    'Write ONNX of it: torch.onnx.export(torch.export.load("model.pt2"), dynamo=True)'
    '.save("model.onnx").'
)

# tried with ONNX Runtime 1.31: nodes and weights come back, optimized as they were in the file
_FROM_ORT = (
    "Give the ONNX file it was made from, or convert it with ONNX Runtime: "
    'python -c "import onnxruntime as r; o = r.SessionOptions(); '
    "o.graph_optimization_level = r.GraphOptimizationLevel.ORT_DISABLE_ALL; "
    "o.add_session_config_entry('session.save_model_format', 'ONNX'); "
    "o.optimized_model_filepath = 'model.onnx'; r.InferenceSession('model.ort', o)\""
)


_FROM_MLIR = "netloupe reads ONNX and Caffe2. Give the ONNX file it was made from."


class Impostor(NamedTuple):
    """Something else than a model, and what to do about it."""

    what: str
    advice: str


_MAGICS: tuple[tuple[int, bytes, str, str], ...] = (
    (
        0,
        LFS_MAGIC,
        f"{LFS_POINTER.what}, not the model itself",
        f"{LFS_POINTER.advice}.",
    ),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG picture", _NO_MODEL),
    (0, b"\xff\xd8\xff", "a JPEG picture", _NO_MODEL),
    (0, b"GIF8", "a GIF picture", _NO_MODEL),
    (8, b"WEBP", "a WebP picture", _NO_MODEL),
    (0, b"%PDF-", "a PDF document", _NO_MODEL),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file (Keras?)", _CONVERT),
    (4, b"TFL3", "a TensorFlow Lite model", _CONVERT),
    (4, b"ORTM", "an ONNX Runtime .ort file", _FROM_ORT),
    (0, b"GGUF", "a GGUF file", "netloupe reads ONNX models."),
    (0, b"\x93NUMPY", "a numpy array", _NO_MODEL),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (0, b"BZh", "bzip2-compressed data", "Unpack it with bunzip2 first."),
    (0, b"\xfd7zXZ\x00", "xz-compressed data", "Unpack it with unxz first."),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard-compressed data", "Unpack it with unzstd first."),
    (257, b"ustar", "a tar archive", _UNPACK),
    (0, b"\x7fELF", "a program or library (ELF)", _NO_MODEL),
    (0, b"MZ\x90\x00", "a Windows program or library", _NO_MODEL),
    (0, b"ptrt", "a TensorRT engine", "Give the ONNX file it was made from."),
    (0, b"ftrt", "a TensorRT engine", "Give the ONNX file it was made from."),
    (0, b"SQLite format 3\x00", "an SQLite database", _NO_MODEL),
    (0, b"7767517\n", "an ncnn model", "Give the ONNX file it was made from."),
    (0, b"ML\xefR", "MLIR bytecode", _FROM_MLIR),
)

_ZIP_KINDS = (
    (b"models/model.json", _EXPORTED_PROGRAM, _EXPORT_PROGRAM),
    (b"serialized_exported_program.json", _EXPORTED_PROGRAM, _EXPORT_PROGRAM),
    (b"data.pkl", "a torch checkpoint or TorchScript file (a zip archive)", _EXPORT),
    (b"constants.pkl", "a TorchScript file (a zip archive)", _EXPORT),
    (b".npy", "a numpy archive (.npz)", _NO_MODEL),
    (b"model.weights.h5", "a Keras model (a zip archive)", _CONVERT),
    (b"Manifest.json", "a Core ML package (a zip archive)", _CONVERT),
    (b"saved_model.pb", "a zip archive with a TensorFlow SavedModel", _CONVERT),
    (b".onnx", "a zip archive with an ONNX file inside", _UNPACK),
)

#: names that no schema of ours has together, and whose they are
_FOREIGN_NAMES = (
    ({"layer"}, "a Caffe (not Caffe2) network", "Convert it to ONNX."),
    ({"layers"}, "a Caffe (not Caffe2) network", "Convert it to ONNX."),
    ({"node", "versions"}, "a TensorFlow GraphDef", "Convert it to ONNX."),
    ({"saved_model_schema_version"}, "a TensorFlow SavedModel", "Convert it to ONNX."),
    ({"class_name", "config"}, "a Keras model description", "Convert the model to ONNX."),
    ({"nodes", "arg_nodes"}, "an MXNet symbol file", "Convert the model to ONNX."),
    ({"weight_map"}, "an index of safetensors files", "Give the model file."),
    ({"cells", "nbformat"}, "a Jupyter notebook", "Give a model file."),
    ({"specificationVersion"}, "a Core ML model", "Convert it to ONNX."),
)

#: an entry of a zip archive's directory whose name is that of a model; 42 bytes come before it
_ZIPPED_MODEL = rb"PK\x01\x02[\x00-\xff]{42}([^\x00-\x1f]{1,200}?\.onnx)"
_MOST_NAMED = 5

_TAIL_BYTES = 4096  # the end of a zip archive lists what is in it

#: how a module of MLIR begins, in text: aliases, resources and comments, or the operation itself
_MLIR = re.compile(
    rb"(?:\s*//[^\n]*\n|\s*[#!][\w.$]+ = [^\n]*\n)*\s*\"?(?:builtin\.)?"
    rb"(?:module(?:\"?\(|\s+@|\s+attributes\b|\s*\{)|(?:func\.)?func(?:\"?\(|\s+(?:\w+\s+)?@))"
)
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_MARKUP = re.compile(
    rb"\s*<(?:!doctype html|html|\?xml|!--|head|body|svg|error)[\s>]", re.IGNORECASE
)


def find_impostor(head: bytes, tail: bytes, size: int) -> Impostor | None:
    """Return what the bytes are known to be instead of a model, or None.

    Parameters
    ----------
    head, tail
        The first and the last few thousand bytes.
    size
        The number of all bytes.
    """
    for offset, magic, what, advice in _MAGICS:
        if head[offset : offset + len(magic)] == magic:
            return Impostor(what, advice)
    if head.startswith(b"PK\x03\x04"):
        for sign, what, advice in _ZIP_KINDS:
            if sign in head or sign in tail:
                return _tell_several(tail) or Impostor(what, advice)
        return Impostor("a zip archive", _UNPACK)
    if _MLIR.match(head):
        return Impostor("MLIR text", _FROM_MLIR)
    if _PICKLE.match(head):
        return Impostor("a Python pickle", _EXPORT)
    if _MARKUP.match(head):
        return Impostor("a web page or XML, not a model (a failed download?)", "Download it again.")
    # eight bytes of length, then JSON
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < size:
        return Impostor(
            "a safetensors file: weights without a graph", "Give the model file beside it."
        )
    return None


def _tell_several(tail: bytes) -> Impostor | None:
    """Return a zip archive of several models, going by the names at its end; None for others."""
    names = [
        name.decode("utf-8", "replace")
        for name in re.findall(_ZIPPED_MODEL, tail)
        if b"\0" not in name
    ]
    found = [*dict.fromkeys(names)]
    if len(found) < 2:
        return None
    shown = ", ".join(found[:_MOST_NAMED]) + (" and others" if len(found) > _MOST_NAMED else "")
    return Impostor(
        f"a zip archive with several ONNX files ({shown})",
        "Unpack it and give one of them, or all of them to check, info or audit.",
    )


def refuse_impostors(source: Source) -> None:
    """Raise ModelFormatError where the bytes are known to be something else than a model."""
    if not source.size:
        raise ModelFormatError(f"{source.name}: the file is empty. Export or download it again.")
    with source.open() as read:
        tail = read(_TAIL_BYTES, max(0, source.size - _TAIL_BYTES))
    impostor = find_impostor(source.head, tail, source.size)
    if impostor is not None:
        raise ModelFormatError(f"{source.name}: is {impostor.what}. {impostor.advice}")


def refuse_foreign_names(names: Set[str], name: str) -> None:
    """Raise ModelFormatError where the outermost names of a text are those of another format.

    ``name`` is that of the source.
    """
    for signs, what, advice in _FOREIGN_NAMES:
        if signs <= names:
            raise ModelFormatError(f"{name}: is {what}. {advice}")


def refuse_foreign(source: Source, top: TopFields) -> None:
    """Raise ModelFormatError where the outermost fields of a file are those of another format.

    Ask only where no format of ours is recognised.
    """
    with source.open() as read:
        foreign = _identify_foreign(top, read)
    if foreign:
        raise ModelFormatError(f"{source.name}: is {foreign}. Convert it to ONNX.")


def _identify_foreign(top: TopFields, read: ReadRange) -> str:
    """Return what else a protobuf file is that has nothing to do with ONNX, or the empty string."""
    if top.has(100, DELIMITED) and top.has(1, DELIMITED):
        return "a Caffe (not Caffe2) network"
    if top.has(1, VARINT) and top.has(2, DELIMITED) and any(n >= 200 for n in top.numbers):
        return "a Core ML model"
    if top.has(1, VARINT) and top.has(2, DELIMITED) and top.numbers <= {1, 2}:
        meta = look_inside(top.first(2), read)  # type: ignore[arg-type]
        if meta.is_whole and (meta.has(2, DELIMITED) or meta.has(1, DELIMITED)):
            return "a TensorFlow SavedModel"
    node = top.first(1)
    if node is not None and top.numbers <= {1, 2, 3, 4}:
        inner = look_inside(node, read)
        if inner.is_whole and inner.has(1, DELIMITED) and inner.has(2, DELIMITED):
            attribute = inner.first(5)
            entry = look_inside(attribute, read) if attribute is not None else None
            if entry is None or entry.has(2, DELIMITED):
                return "a TensorFlow GraphDef"
    return ""
