"""ONNX's entry in the pipeline: models, and what stands alone of what they hold."""

from __future__ import annotations

from netloupe.explorer.model import Model, ModelWarning
from netloupe.explorer.notation import join_parts
from netloupe.explorer.readers.format import (
    Around,
    Certainty,
    Content,
    Format,
    Match,
    TextRoot,
)
from netloupe.explorer.readers.protobuf.top_fields import TopFields
from netloupe.explorer.readers.source import Source
from netloupe.explorer.readers.text.onnx_text import ONNX_TEXT
from netloupe.proto import onnx_data_pb2, onnx_pb2
from netloupe.proto.grammars import DELIMITED, VARINT
from netloupe.proto.wire import encode_varint

from .elements import ELEMENTS
from .model import read_onnx
from .parts import damage
from .recognition import MODEL_FIELDS, find_repetitions, identify_onnx, is_odd_tensor

#: values that are no tensors (onnx-data.proto)
_DATA = ("SequenceProto", "OptionalProto", "MapProto")
#: field numbers that lead from a ModelProto to a message that stands alone
_WRAPPINGS = {"GraphProto": (7,), "FunctionProto": (25,), "TensorProto": (5, 7)}


def _identify(content: Content) -> Match | None:
    """Return which message a content is; what is nothing else may be a damaged model."""
    package, _, root = content.root.rpartition(".")
    if package not in ("", onnx_pb2.DESCRIPTOR.package, onnx_data_pb2.DESCRIPTOR.package):
        return None
    if root in _DATA:
        return Match(Certainty.SURE, root)
    top = content.top
    with content.source.open() as read:
        kind = identify_onnx(top, read)
        if not kind:
            odd = is_odd_tensor(top, read)
            return Match(Certainty.POSSIBLE, "TensorProto" if odd else "")
    # a small Caffe2 net may look like a model without a version, or like a lone graph or
    # function, but not the other way round
    is_sure = kind.endswith(("TensorProto", *_DATA)) or (
        kind == "ModelProto" and top.has(1, VARINT)
    )
    return Match(Certainty.SURE if is_sure or root else Certainty.LIKELY, kind)


def _read(content: Content, match: Match, around: Around) -> Model:
    source, kind = content.source, match.root
    if kind.endswith(_DATA):
        from .data import read_onnx_data

        return read_onnx_data(source, kind)
    if kind in _WRAPPINGS:
        return _read_alone(source, kind)
    if kind and content.top.is_cut_short:
        raise damage(source, how="cut short")
    model = read_onnx(source, is_recognized=bool(kind))
    if kind:
        _warn_of_unknown_fields(model, content.top)
        _warn_of_repetitions(model, content.top)
    return model


def _read_alone(source: Source, kind: str) -> Model:
    """Read a graph, function or tensor that stands alone, as a test data set has it."""
    data = source.data
    for number in _WRAPPINGS[kind]:
        data = encode_varint(number << 3 | DELIMITED) + encode_varint(len(data)) + data
    model = read_onnx(Source(source.name, data, source.files))
    model.format = f"ONNX {kind}"
    # a message within a model has no version of its own
    model.warnings = [warning for warning in model.warnings if "IR version" not in warning.message]
    return model


def _warn_of_unknown_fields(model: Model, top: TopFields) -> None:
    unknown = sorted(top.numbers - MODEL_FIELDS)
    if unknown:
        shown = join_parts([str(number) for number in unknown[:5]], len(unknown))
        model.warnings.append(
            ModelWarning("model", f"the file has fields that the schema does not know: {shown}")
        )


def _warn_of_repetitions(model: Model, top: TopFields) -> None:
    repeated = find_repetitions(top)
    if repeated:
        model.warnings.insert(
            0,
            ModelWarning(
                "model",
                f"the file gives {', '.join(repeated)} more than once, as models written one "
                "after the other do; protobuf makes one model of them",
            ),
        )


ONNX_FORMAT = Format(
    "ONNX",
    _identify,
    _read,
    roots=tuple(
        TextRoot(message.DESCRIPTOR, frozenset(signs), ELEMENTS)
        for message, signs in (
            (onnx_pb2.ModelProto, {"graph", "functions", "training_info", "ir_version"}),
            (onnx_pb2.GraphProto, {"node", "initializer", "input", "output"}),
            (onnx_pb2.FunctionProto, {"node", "opset_import"}),
            (onnx_pb2.TensorProto, {"data_type"}),
            (onnx_data_pb2.SequenceProto, {"elem_type"}),
            (onnx_data_pb2.OptionalProto, {"elem_type"}),
            (onnx_data_pb2.MapProto, {"key_type"}),
        )
    ),
    text_forms=(ONNX_TEXT,),
    models=frozenset({"ModelProto", "GraphProto"}),
    suffixes=(".onnx", ".onnx.gz", ".onnxtext", ".onnxtxt"),
)
