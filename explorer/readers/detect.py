"""Detection: what the bytes are, judged by content and never by the file's name."""

from __future__ import annotations

from dataclasses import dataclass

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.model import Model

from .onnx import read_onnx
from .source import Source


@dataclass(frozen=True, slots=True)
class _Impostor:
    """Something that is often found where a model was expected."""

    offset: int
    magic: bytes
    what: str
    advice: str


_IMPOSTORS = (
    _Impostor(
        0,
        b"version https://git-lfs",
        "a Git LFS pointer, not the model itself",
        "Fetch the file with `git lfs pull`.",
    ),
    _Impostor(0, b"\x89PNG\r\n\x1a\n", "a PNG picture", "Give a model file."),
    _Impostor(0, b"\xff\xd8\xff", "a JPEG picture", "Give a model file."),
    _Impostor(0, b"GIF8", "a GIF picture", "Give a model file."),
    _Impostor(0, b"%PDF-", "a PDF document", "Give a model file."),
    _Impostor(0, b"PK\x03\x04", "a zip archive (a torch .pt file?)", "Export the model to ONNX."),
    _Impostor(0, b"\x1f\x8b", "gzip-compressed data", "Unpack it with gunzip first."),
    _Impostor(0, b"\x89HDF\r\n\x1a\n", "an HDF5 file (Keras?)", "Convert it to ONNX."),
    _Impostor(4, b"TFL3", "a TensorFlow Lite model", "Convert it to ONNX."),
    _Impostor(4, b"ORTM", "an ONNX Runtime .ort file", "Give the ONNX file it was made from."),
    _Impostor(0, b"\x80\x02", "a Python pickle", "Export the model to ONNX."),
    _Impostor(0, b"\x80\x03", "a Python pickle", "Export the model to ONNX."),
    _Impostor(0, b"\x80\x04", "a Python pickle", "Export the model to ONNX."),
    _Impostor(0, b"\x80\x05", "a Python pickle", "Export the model to ONNX."),
    _Impostor(0, b"GGUF", "a GGUF file", "netloupe reads ONNX models."),
    _Impostor(0, b"\x93NUMPY", "a numpy array", "Give a model file."),
)


def read_model(source: Source) -> Model:
    """Read a model of whatever known format the bytes are.

    Raises
    ------
    ModelFormatError
        Where they are no model, with what they seem to be instead.
    """
    refuse_impostors(source)
    return read_onnx(source)


def refuse_impostors(source: Source) -> None:
    """Raise ModelFormatError where the bytes are known to be something else than a model."""
    head = source.head
    if not head:
        raise ModelFormatError(f"{source.name}: the file is empty. Export or download it again.")
    for impostor in _IMPOSTORS:
        end = impostor.offset + len(impostor.magic)
        if head[impostor.offset : end] == impostor.magic:
            raise ModelFormatError(f"{source.name}: is {impostor.what}. {impostor.advice}")
    text = head[:512].lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html", b"<?xml")):
        raise ModelFormatError(
            f"{source.name}: is a web page or XML, not a model (a failed download?). "
            "Download it again."
        )
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < source.size:
        raise ModelFormatError(
            f"{source.name}: is a safetensors file: weights without a graph. Give the model file."
        )
