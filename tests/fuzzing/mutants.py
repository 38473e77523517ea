"""Readers and their mutants: the mutant of a number is the same on every machine."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import cache
from random import Random

from netloupe.proto import onnx_pb2

from . import operator_models, seeds
from .mutators import mutate_binary, mutate_bytes, mutate_text
from .seeds import Files

Mutator = Callable[[Random, bytes, "tuple[bytes, ...]"], bytes]


@cache
def list_seeds(reader: str, corpus: bool = False) -> tuple[bytes, ...]:
    """Return the sound files of a reader; with ``corpus`` also small ones beside the repository."""
    if reader in ("onnx", "onnx scanned"):
        folders = ("ort_testdata", "features", "quantized", "sklearn", "hostile")
        found = seeds.onnx_models()
    elif reader in ("onnx protobuf text", "onnx JSON"):
        write = seeds.write_text if reader == "onnx protobuf text" else seeds.write_json
        folders = ("dynamo_textproto",) if reader == "onnx protobuf text" else ()
        parsed = (onnx_pb2.ModelProto.FromString(data) for data in seeds.onnx_models())
        found = tuple(map(write, parsed))
    elif reader == "onnx text":
        folders, found = ("glow_onnxtxt",), seeds.onnx_texts()
    elif reader in ("caffe2 protobuf text", "caffe2 JSON"):
        write = seeds.write_text if reader == "caffe2 protobuf text" else seeds.write_json
        messages = [m for root in seeds.CAFFE2_ROOTS for m in seeds.caffe2_messages(root)]
        folders, found = (), tuple(map(write, [seeds.init_net(), *messages]))
    else:
        root = reader.removeprefix("caffe2 ")
        folders = ("caffe2", "caffe2_derived") if root == "NetDef" else ()
        found = tuple(message.SerializeToString() for message in seeds.caffe2_messages(root))
    if corpus:
        found += tuple(data for folder in folders for data in seeds.corpus_files(folder))
    return found


#: of the readers that are given one file
MUTATORS: dict[str, Mutator] = {
    "onnx": mutate_binary,
    "onnx scanned": mutate_binary,
    "onnx protobuf text": mutate_text,
    "onnx JSON": mutate_text,
    "onnx text": mutate_text,
    **{f"caffe2 {root}": mutate_binary for root in seeds.CAFFE2_ROOTS},
    "caffe2 protobuf text": mutate_text,
    "caffe2 JSON": mutate_text,
}
#: sound files in which only what they say is odd, each with a changed twin
ODD: dict[str, Callable[[Random, int], Files]] = {
    "onnx operators": operator_models.make_onnx,
    "caffe2 operators": operator_models.make_caffe2,
}
#: given two files that are read as one model
PAIRS = ("caffe2 with init net",)
READERS = (*MUTATORS, "onnx with external data", *PAIRS, "gzip", *ODD)


def make_mutant(reader: str, seed: str, number: int, corpus: bool = False) -> Files:
    """Return the files of a mutant; number 0 and the ones after it are the seeds themselves.

    Parameters
    ----------
    reader
        One of `READERS`.
    seed
        Of the chance that the mutants of this run are made by.
    number
        Of the mutant.
    corpus
        Whether small files beside the repository are seeds, too.
    """
    chance = Random(f"{seed}:{reader}:{number}")
    if reader in ODD:
        return ODD[reader](chance, number)
    if reader == "onnx with external data":
        return _mutate_external(chance, number)
    if reader in PAIRS:
        return _mutate_pair(chance)
    if reader == "gzip":
        inner = chance.choice(list(MUTATORS))
        data = gzip.compress(_mutate(chance, inner, -1, corpus), 1, mtime=0)
        damaged = chance.random() < 0.3
        return {"model.gz": mutate_bytes(chance, data, (data,)) if damaged else data}
    return {"model": _mutate(chance, reader, number, corpus)}


def _mutate(chance: Random, reader: str, number: int, corpus: bool) -> bytes:
    found = list_seeds(reader, corpus)
    if 0 <= number < len(found):
        return found[number]
    return MUTATORS[reader](chance, chance.choice(found), found)


def _mutate_external(chance: Random, number: int) -> Files:
    found = seeds.external_models()
    if number < len(found):
        return found[number]
    files = dict(chance.choice(found))
    others = tuple(entry["model.onnx"] for entry in found)
    files["model.onnx"] = mutate_binary(chance, files["model.onnx"], others)
    if chance.random() < 0.3:
        files["w.bin"] = files["w.bin"][: chance.randrange(65)]
    return files


def _mutate_pair(chance: Random) -> Files:
    nets = list_seeds("caffe2 NetDef")
    init = seeds.init_net().SerializeToString()
    net = nets[0]
    if chance.random() < 0.8:
        init = mutate_binary(chance, init, (init, *nets))
    if chance.random() < 0.4:
        net = mutate_binary(chance, chance.choice(nets), nets)
    return {"predict_net.pb": net, "init_net.pb": init}
