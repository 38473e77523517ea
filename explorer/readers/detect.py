"""Detection: what the bytes are, judged by content and never by the file's name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from netloupe.explorer.errors import ModelFormatError, SourceError
from netloupe.explorer.model import Model, ModelWarning
from netloupe.explorer.notation import join_parts
from netloupe.explorer.readers.caffe2.model import find_init_net, leads_out, read_caffe2
from netloupe.explorer.readers.caffe2.parts import parse_caffe2
from netloupe.explorer.readers.caffe2.roots import recognize_caffe2
from netloupe.explorer.readers.onnx.data import read_onnx_data
from netloupe.explorer.readers.onnx.model import read_onnx
from netloupe.explorer.readers.text.onnx_text import is_onnx_text, parse_onnx_text
from netloupe.explorer.readers.text.roots import is_json, is_text, parse_json_root, parse_text_root

from .containers import GZIP_MAGIC, decode_marked_text, unpack_gzip
from .impostors import find_impostor
from .message_writer import LENGTH, VARINT, encode_varint
from .parts import Parts
from .roots import (
    MODEL_FIELDS,
    TopFields,
    find_repetitions,
    identify_foreign,
    identify_onnx,
    is_odd_tensor,
    scan_fields,
)
from .source import Source, open_source

_TAIL_BYTES = 4096  # the end of a zip archive lists what is in it

#: values that are no tensors (onnx-data.proto)
_DATA = ("SequenceProto", "OptionalProto", "MapProto")
#: field numbers that lead from a ModelProto to a message that stands alone
_WRAPPINGS = {"GraphProto": (7,), "FunctionProto": (25,), "TensorProto": (5, 7)}


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The binary protobuf that a source holds in some container.

    Parameters
    ----------
    source
        The binary form; the source itself where it is in no container.
    container
        ``protobuf``, ``protobuf text``, ``protobuf JSON`` or ``ONNX text``, perhaps ``in gzip``.
    unknown
        Names of a text that no schema of ours knows, which were left out.
    root
        Full name of the message that a text or JSON was read as; "" where that is open.
    """

    source: Source
    container: str = "protobuf"
    unknown: tuple[str, ...] = ()
    root: str = ""


def read_model(source: Source, init: Source | None = None, *, beside: Path | None = None) -> Model:
    """Read a model of whatever known format the bytes are.

    Parameters
    ----------
    source
        The bytes.
    init
        The init net of a Caffe2 net.
    beside
        The file that the bytes come from: where no init net is given, one is looked for beside
        it under the usual names.

    Raises
    ------
    ModelFormatError
        Where they are no model, with what they seem to be instead; or where an init net is
        given for something else than a Caffe2 net.
    """
    unwrapped = unwrap_source(source)
    parts = find_caffe2(unwrapped)
    if parts is not None:
        model = _read_caffe2(parts, init, beside)
    elif init is not None:
        raise ModelFormatError(
            f"{source.name}: is no Caffe2 net, and only these have an init net. Load it alone."
        )
    else:
        model = _read_protobuf(unwrapped.source, unwrapped.root.rpartition(".")[2])
    model.source = source.name
    model.container = unwrapped.container
    if unwrapped.unknown:
        names = ", ".join(unwrapped.unknown)
        model.warnings.append(
            ModelWarning("model", f"what the schema does not know is left out: {names}")
        )
    return model


def unwrap_source(source: Source) -> Unwrapped:
    """Return the binary protobuf of a source in any container: gzip, text, JSON.

    Raises
    ------
    ModelFormatError
        Where the bytes are known to be something else, or the container is damaged.
    """
    if source.head[:2] != GZIP_MAGIC:
        return _unwrap_text(source)
    unpacked = unpack_gzip(source.data, source.name)
    inner = Source(f"{source.name} (unpacked from gzip)", unpacked, source.files)
    if inner.head[:2] == GZIP_MAGIC:
        raise ModelFormatError(f"{source.name}: is gzip within gzip. Unpack it with gunzip first.")
    unwrapped = _unwrap_text(inner)
    return replace(unwrapped, container=f"{unwrapped.container} in gzip")


def _unwrap_text(source: Source) -> Unwrapped:
    """Return the binary form of what is not compressed."""
    refuse_impostors(source)
    head = decode_marked_text(source.head)
    if is_onnx_text(head):
        data = parse_onnx_text(decode_marked_text(source.data), source.name)
        return Unwrapped(Source(source.name, data, source.files), "ONNX text")
    if is_json(head):
        parsed, container = parse_json_root(source.data, source.name), "protobuf JSON"
    elif is_text(head):
        parsed, container = parse_text_root(source.data, source.name), "protobuf text"
    else:
        return Unwrapped(source)
    binary = Source(source.name, parsed.data, source.files)
    return Unwrapped(binary, container, parsed.unknown, parsed.root)


def find_caffe2(unwrapped: Unwrapped) -> Parts | None:
    """Return the Caffe2 message that a source holds, parsed; None for anything else.

    A small net may look like an ONNX model without a version, or like a lone graph or function,
    but not the other way round.

    Raises
    ------
    ModelFormatError
        Where it is a Caffe2 message, but damaged.
    """
    source = unwrapped.source
    if unwrapped.root:
        package, _, root = unwrapped.root.rpartition(".")
        return parse_caffe2(source, root) if package == "netloupe.caffe2" else None
    with source.open() as read:
        top = scan_fields(read, 0, source.size)
        kind = identify_onnx(top, read)
        if kind.endswith(("TensorProto", *_DATA)) or (kind == "ModelProto" and top.has(1, VARINT)):
            return None
    return recognize_caffe2(source, top)


def _read_caffe2(parts: Parts, init: Source | None, beside: Path | None) -> Model:
    """Read a Caffe2 message with its init net: the one given, or the one found beside it."""
    if init is not None:
        model = read_caffe2(parts, _parse_init_net(init))
        parts.source.files.add(init.files)
        return model
    is_net = parts.proto.DESCRIPTOR.name == "NetDef"
    found = find_init_net(beside) if is_net and beside is not None else None
    if found is None or beside is None:
        return read_caffe2(parts)
    try:
        if leads_out(found, beside):  # nobody named it: a downloaded folder may hold any link
            raise SourceError(
                f"{found}: is a link out of its folder. Give it with --init or as init=… to use it."
            )
        init = open_source(found)
        fills = _parse_init_net(init)
    except (SourceError, ModelFormatError) as error:
        model = read_caffe2(parts)
        model.warnings.append(ModelWarning("model", f"the init net is not used: {error}"))
        return model
    model = read_caffe2(parts, fills)
    parts.source.files.add(init.files)
    model.metadata["init net file"] = found.name
    return model


def _parse_init_net(source: Source) -> Parts:
    parts = find_caffe2(unwrap_source(source))
    if parts is None or parts.proto.DESCRIPTOR.name != "NetDef":
        raise ModelFormatError(
            f"{source.name}: is no Caffe2 NetDef, so it is no init net. Check which file it is."
        )
    return parts


def _read_protobuf(source: Source, root: str = "") -> Model:
    """Read what is no Caffe2 message; ``root`` is the message, where a text says which."""
    if root in _DATA:
        return read_onnx_data(source, root)
    with source.open() as read:
        top = scan_fields(read, 0, source.size)
        kind = identify_onnx(top, read)
        foreign = "" if kind else identify_foreign(top, read)
        if not kind and not foreign and is_odd_tensor(top, read):
            kind = "TensorProto"
    if kind == "ModelProto":
        if top.is_cut_short:
            raise ModelFormatError(
                f"{source.name}: is an ONNX model that is cut short. Export or download it again."
            )
        model = read_onnx(source)
        _warn_of_unknown_fields(model, top)
        _warn_of_repetitions(model, top)
        return model
    if kind.endswith(_DATA):
        return read_onnx_data(source, kind)
    if kind:
        return _read_alone(source, kind)
    if foreign:
        raise ModelFormatError(f"{source.name}: is {foreign}. Convert it to ONNX.")
    # what is left is for the reader to refuse
    return read_onnx(source)


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


def _read_alone(source: Source, kind: str) -> Model:
    """Read a graph, function or tensor that stands alone, as a test data set has it."""
    data = source.data
    for number in _WRAPPINGS[kind]:
        data = encode_varint(number << 3 | LENGTH) + encode_varint(len(data)) + data
    model = read_onnx(Source(source.name, data, source.files))
    model.format = f"ONNX {kind}"
    # a message within a model has no version of its own
    model.warnings = [warning for warning in model.warnings if "IR version" not in warning.message]
    return model


def refuse_impostors(source: Source) -> None:
    """Raise ModelFormatError where the bytes are known to be something else than a model."""
    if not source.size:
        raise ModelFormatError(f"{source.name}: the file is empty. Export or download it again.")
    with source.open() as read:
        tail = read(_TAIL_BYTES, max(0, source.size - _TAIL_BYTES))
    impostor = find_impostor(source.head, tail, source.size)
    if impostor is not None:
        raise ModelFormatError(f"{source.name}: is {impostor.what}. {impostor.advice}")
