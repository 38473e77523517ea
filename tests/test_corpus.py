"""The account of all files, ours and those beside the repository; what hostile ones are told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.account_corpus import account_for
from tests.corpus import CORPUS, MADE, corpus_file, list_beside, write_made

_ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("whose", ["ours", "beside"] if CORPUS.is_dir() else ["ours"])
def test_every_file_opens_or_is_refused_in_one_line(whose: str, tmp_path: Path) -> None:
    if whose == "ours":
        for name in MADE:
            write_made(name, tmp_path)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.account_corpus",
            str(tmp_path if whose == "ours" else CORPUS),
        ],
        cwd=_ROOT,
        env={"PYTHONPATH": str(_ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    failed = [line for line in lines if line.startswith("failed")]
    assert done.returncode == 0, failed or done.stderr
    assert len(lines) == 1 + len(MADE) if whose == "ours" else len(lines) > 600
    assert " 0 failed" in lines[-1]


#: what cannot open, with a word of what is said
_REFUSED = {
    "empty.onnx": "empty",
    "truncated_10pct.onnx": "cut short",
    "truncated_90pct.onnx": "cut short",
    "truncated_minus1.onnx": "cut short",
    "random_2m.onnx": "no ONNX model",
    "ff_64k.onnx": "no ONNX model",
    "wrongtype_torch_zip.onnx": "torch",
    "wrongtype_html.onnx": "web page",
    "wrongtype_pickle.onnx": "pickle",
    "wrongtype_hdf5.h5.onnx": "HDF5",
    "wrongtype_tflite.onnx": "TensorFlow Lite",
    "onnxtxt_truncated.onnxtxt": "line 6",
    "overlong_varint.onnx": "damaged",
    "wrong_wiretype.onnx": "no ONNX model",
}
#: what opens with a warning, with a word of it
_WARNED = {
    "concatenated_twice.onnx": "more than once",
    "cycle_self.onnx": "waits for itself",
    "cycle_scc_dense.onnx": "55 more wait for each other",
    "dup_node_names.onnx": "50 nodes have the name",
    "dup_initializers.onnx": "two initializers",
    "dup_node_outputs.onnx": "defined before",
    "empty_names.onnx": "no op_type",
    "attr_oddities.onnx": "unknown(99)",
    "raw_too_short.onnx": "8 bytes are stored where 24",
    "raw_odd_length.onnx": "23 bytes",
    "raw_and_float_data.onnx": "also holds float_data",
    "dtype_undefined.onnx": "undefined",
    "dtype_neg.onnx": "unknown(-5)",
    "dims_2pow62.onnx": "18446744073709551616",
    "dims_overflow_zero.onnx": "73786976294838206464",
    "dims_rank64.onnx": "65 dimensions",
    "external/traversal_mixed.onnx": "out of the model's folder",
    "external/absolute.onnx": "absolute",
    "external/http_url.onnx": "no network",
    "external/home.onnx": "no such file",
    "external/procmem.onnx": "absolute",
    "external/missing_file.onnx": "no such file",
    "external/no_location.onnx": "no location",
    "external/length_beyond.onnx": "4096",
    "external/offset_negative.onnx": "negative",
    "external/length_vs_dims.onnx": "length is 4",
    "external/dup_keys.onnx": "'location' 2 times",
    "subgraph_shadow.onnx": "hides a value",
    "func_recursive_mutual.onnx": "call each other",
    "func_shadow_std.onnx": "standard operator Relu",
    "invalid_utf8.onnx": "not UTF-8",
    "quant_annotation_bad.onnx": "does not exist",
}


_HOSTILE = [
    name
    for name in (*MADE, *list_beside("hostile/**/*.onnx*"))
    if "hostile/" in name and Path(name).suffix in (".onnx", ".onnxtxt")
]


def test_there_is_a_file_of_every_hostile_kind() -> None:
    made = {name.removeprefix("hostile/") for name in MADE if name.startswith("hostile/")}
    assert made >= {*_REFUSED, *_WARNED}
    index = CORPUS / "hostile" / "INDEX.tsv"
    if index.is_file():
        assert made >= {line.split("\t")[0] for line in index.read_text().splitlines()[1:]}


@pytest.mark.parametrize("file", _HOSTILE)
def test_hostile_files_say_what_is_wrong_with_them(file: str) -> None:
    from netloupe.explorer.readers.load import load

    path, name = corpus_file(file), file.partition("hostile/")[2]
    account = account_for(path)
    if name in _REFUSED:
        assert account["result"] == "refused"
        assert _REFUSED[name] in account["line"]
        return
    assert account["result"] == "opened", account["line"]
    if name in _WARNED:
        warnings = " ".join(map(str, load(path).all_warnings()))
        assert _WARNED[name] in warnings
