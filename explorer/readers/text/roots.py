"""Roots of text: which message a protobuf text or JSON file describes, judged by its names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.readers.containers import decode_marked_text
from netloupe.explorer.readers.message_writer import fields_of
from netloupe.proto import caffe2_pb2, onnx_data_pb2, onnx_pb2

from .protobuf_json import JsonError, encode_json, load_json
from .protobuf_text import ParsedText, TextError, list_top_names, parse_text

#: messages that a file may hold, with names of which each has at least one; those first win
#: where names fit several
_ROOTS: tuple[tuple[Any, set[str]], ...] = (
    (onnx_pb2.ModelProto.DESCRIPTOR, {"graph", "functions", "training_info", "ir_version"}),
    (caffe2_pb2.NetDef.DESCRIPTOR, {"op", "external_input", "external_output"}),
    (onnx_pb2.GraphProto.DESCRIPTOR, {"node", "initializer", "input", "output"}),
    (onnx_pb2.FunctionProto.DESCRIPTOR, {"node", "opset_import"}),
    (onnx_pb2.TensorProto.DESCRIPTOR, {"data_type"}),
    (onnx_data_pb2.SequenceProto.DESCRIPTOR, {"elem_type"}),
    (onnx_data_pb2.OptionalProto.DESCRIPTOR, {"elem_type"}),
    (onnx_data_pb2.MapProto.DESCRIPTOR, {"key_type"}),
    (caffe2_pb2.PlanDef.DESCRIPTOR, {"network", "execution_step"}),
    (caffe2_pb2.TensorProtos.DESCRIPTOR, {"protos"}),
    (caffe2_pb2.TensorShapes.DESCRIPTOR, {"shapes"}),
    (caffe2_pb2.TensorProto.DESCRIPTOR, {"data_type", "dims"}),
    (caffe2_pb2.QTensorProto.DESCRIPTOR, {"precision"}),
    (caffe2_pb2.BlobProto.DESCRIPTOR, {"tensor", "content", "qtensor"}),
    (caffe2_pb2.DBReaderProto.DESCRIPTOR, {"db_type"}),
)

#: names that no schema of ours has together, and whose they are
_FOREIGN = (
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

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_NAME_FIRST = re.compile(rb"(?:[\s]++|#[^\n]*+)*+(?:[A-Za-z_]\w*|\d+)\s*+[:{<]")


def is_json(head: bytes) -> bool:
    """Return whether the first bytes are those of a JSON object or list."""
    return re.match(rb"\s*+[\[{]\s*+[\"{\[\]}\d]", head) is not None and not _CONTROL.search(head)


def is_text(head: bytes) -> bool:
    """Return whether the first bytes are text: protobuf text, or some other that is no model."""
    if _CONTROL.search(head):
        return False
    return bool(_NAME_FIRST.match(head)) or len(head.decode("utf-8", "ignore")) > len(head) // 5


def parse_text_root(data: bytes, name: str) -> ParsedText:
    """Turn protobuf text of whatever message we know into its bytes.

    Raises
    ------
    ModelFormatError
        Where it is none, or damaged.
    """
    text = decode_marked_text(data)
    if not _NAME_FIRST.match(text[:4096]):
        raise ModelFormatError(f"{name}: is text, but no ONNX model. Check which file it is.")
    names = list_top_names(text[: 2**20])
    problem = None
    for root in _rank_roots(names, name, "text"):
        try:
            return parse_text(text, root)._replace(root=root.full_name)
        except TextError as error:
            problem = problem or error
    raise ModelFormatError(f"{name}: is protobuf text with an error: {problem}. Correct it.")


def parse_json_root(data: bytes, name: str) -> ParsedText:
    """Turn protobuf JSON of whatever message we know into its bytes; raises as the text does."""
    try:
        value = load_json(decode_marked_text(data))
    except JsonError as error:
        raise ModelFormatError(
            f"{name}: is JSON that cannot be read: {error}. Export or download it again."
        ) from None
    if not isinstance(value, dict):
        raise ModelFormatError(f"{name}: is a JSON list, not a model. Check which file it is.")
    problem = None
    for root in _rank_roots(value, name, "JSON"):
        try:
            return encode_json(value, root)._replace(root=root.full_name)
        except JsonError as error:
            problem = problem or error
    raise ModelFormatError(f"{name}: is protobuf JSON with an error: {problem}. Correct it.")


def _rank_roots(names: Iterable[str], name: str, form: str) -> list[Any]:
    """Return the messages whose fields the names are, the likeliest first."""
    given = set(names)
    for signs, what, advice in _FOREIGN:
        if signs <= given:
            raise ModelFormatError(f"{name}: is {what}. {advice}")
    scores = []
    for root, signs in _ROOTS:
        fields = fields_of(root)
        known = {fields[name].name for name in given if name in fields}
        if known & signs:
            scores.append((2 * len(known) - len(given), root))
    if not scores:
        shown = ", ".join(sorted(given)[:5])
        shown = " ".join(shown.split())[:100]
        raise ModelFormatError(
            f"{name}: is {form}, but no model: it begins with {shown or 'nothing'}. "
            "Check which file it is."
        )
    best = max(score for score, _ in scores)
    return [root for score, root in sorted(scores, key=lambda s: -s[0]) if score >= best - 1]
