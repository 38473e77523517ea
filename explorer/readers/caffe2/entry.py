"""Caffe2's entry in the pipeline: nets with their init nets, plans, tensors and blobs."""

from __future__ import annotations

from netloupe.explorer.errors import ModelFormatError, SourceError
from netloupe.explorer.model import Model, ModelWarning
from netloupe.explorer.readers.format import (
    Around,
    Certainty,
    Content,
    Format,
    Match,
    TextRoot,
)
from netloupe.explorer.readers.protobuf.parts import Parts
from netloupe.explorer.readers.source import Source, open_source
from netloupe.proto import caffe2_pb2

from .elements import ELEMENTS
from .init_net import find_init_net, leads_out
from .parts import parse_caffe2
from .recognition import recognize_caffe2


def _identify(content: Content) -> Match | None:
    parts = _find_message(content)
    return None if parts is None else Match(Certainty.SURE, parts.proto.DESCRIPTOR.name, parts)


def _find_message(content: Content) -> Parts | None:
    """Return the message that a content is, parsed; None for none."""
    if not content.root:
        return recognize_caffe2(content.source, content.top)
    package, _, root = content.root.rpartition(".")
    is_own = package == caffe2_pb2.DESCRIPTOR.package
    return parse_caffe2(content.source, root) if is_own else None


def _read(content: Content, match: Match, around: Around) -> Model:
    """Read a message with its init net: the one given, or the one found beside it."""
    from .model import read_caffe2

    parts: Parts = match.parsed
    if around.companion is not None:
        model = read_caffe2(parts, _parse_init_net(around.companion, around))
        parts.source.files.add(around.companion.files)
        return model
    found = None
    if match.root == "NetDef" and around.path is not None:
        found = find_init_net(around.path)
    if found is None or around.path is None:
        return read_caffe2(parts)
    try:
        if leads_out(found, around.path):  # nobody named it: a downloaded folder may hold any link
            raise SourceError(
                f"{found}: is a link out of its folder. Name it as the init net (init) to use it."
            )
        init = open_source(found)
        fills = _parse_init_net(init, around)
    except (SourceError, ModelFormatError) as error:
        model = read_caffe2(parts)
        model.warnings.append(ModelWarning("model", f"the init net is not used: {error}"))
        return model
    model = read_caffe2(parts, fills)
    parts.source.files.add(init.files)
    model.metadata["init net file"] = found.name
    return model


def _parse_init_net(source: Source, around: Around) -> Parts:
    parts = _find_message(around.unwrap(source))
    if parts is None or parts.proto.DESCRIPTOR.name != "NetDef":
        raise ModelFormatError(
            f"{source.name}: is no Caffe2 NetDef, so it is no init net. Check which file it is."
        )
    return parts


CAFFE2_FORMAT = Format(
    "Caffe2",
    _identify,
    _read,
    roots=tuple(
        TextRoot(message.DESCRIPTOR, frozenset(signs), ELEMENTS)
        for message, signs in (
            (caffe2_pb2.NetDef, {"op", "external_input", "external_output"}),
            (caffe2_pb2.PlanDef, {"network", "execution_step"}),
            (caffe2_pb2.TensorProtos, {"protos"}),
            (caffe2_pb2.TensorShapes, {"shapes"}),
            (caffe2_pb2.TensorProto, {"data_type", "dims"}),
            (caffe2_pb2.QTensorProto, {"precision"}),
            (caffe2_pb2.BlobProto, {"tensor", "content", "qtensor"}),
            (caffe2_pb2.DBReaderProto, {"db_type"}),
        )
    ),
    companion="the init net of a Caffe2 net",
    models=frozenset({"NetDef", "PlanDef"}),
    find_companion=find_init_net,
)
