"""The account of all files, ours and those beside the repository; what hostile ones are told."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.corpus import CORPUS, MADE, corpus_file, list_beside

_ROOT = Path(__file__).resolve().parent.parent


class Accounts(NamedTuple):
    """What became of each file of a folder: ``opened`` or ``refused``, and what was said of it."""

    status: int
    lines: list[str]
    errors: str

    def find(self, name: str) -> tuple[str, str]:
        """Return result and line of a file by its path in the folder."""
        shown = f" {name.encode('unicode_escape').decode()}: "
        (line,) = (line for line in self.lines if line[7:].startswith(shown))
        return line.split()[0], line[7 + len(shown) :]


@pytest.fixture(scope="module")
def find_accounts(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Accounts]:
    """Return the accounts of all of our files, or of all beside the repository, made once."""

    @cache
    def find(whose: str) -> Accounts:
        folder = CORPUS
        if whose == "ours":
            folder = tmp_path_factory.mktemp("ours")
            for name in MADE:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(corpus_file(name), folder / name)
        done = subprocess.run(
            [sys.executable, "-m", "tests.account_corpus", str(folder)],
            cwd=_ROOT,
            env={"PYTHONPATH": str(_ROOT), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        return Accounts(done.returncode, done.stdout.splitlines(), done.stderr)

    return find


@pytest.mark.parametrize("whose", ["ours", "beside"] if CORPUS.is_dir() else ["ours"])
def test_every_file_opens_or_is_refused_in_one_line(
    whose: str, find_accounts: Callable[[str], Accounts]
) -> None:
    status, lines, errors = find_accounts(whose)
    failed = [line for line in lines if line.startswith("failed")]
    assert status == 0, failed or errors
    assert len(lines) == 1 + len(MADE) if whose == "ours" else len(lines) > 600
    assert " 0 failed" in lines[-1]


#: of five files one ends its process, one takes for ever, one takes memory
_MISBEHAVING = """
import json, os, time
from pathlib import Path
from netloupe.explorer.errors import NetloupeError
from tests import account_corpus

def load(path):
    match path.name:
        case "b":
            os._exit(3)
        case "c":
            time.sleep(600)
        case "d":
            bytearray(b'x') * (3 * 10**8)
    raise NetloupeError(f"{path}: no model")

account_corpus.load = load
account_corpus._import_all = lambda: None
account_corpus._BYTES = 10**8 * 2
account_corpus._SECONDS = 0.5
print(json.dumps([*account_corpus.account_for([Path(name) for name in "abcde"])]))
"""


def test_files_that_fail_are_told_and_the_others_as_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MISBEHAVING],
        cwd=_ROOT,
        env={"PYTHONPATH": str(_ROOT), "PATH": ""},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    first, *failed, last = [(each["result"], each["line"]) for each in json.loads(done.stdout)]
    assert first == last == ("refused", "no model")
    assert [result for result, _ in failed] == ["failed"] * 3
    ended, late, large = [line for _, line in failed]
    assert ended == "no answer in time, status 768"
    assert late == "no answer in time, status 9"
    assert re.fullmatch(r"took \d{3} MB", large)


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
def test_hostile_files_say_what_is_wrong_with_them(
    file: str, find_accounts: Callable[[str], Accounts]
) -> None:
    from netloupe.explorer.readers.load import load

    whose, _, path = file.rpartition(":")
    result, line = find_accounts(whose or "ours").find(path)
    name = path.removeprefix("hostile/")
    if name in _REFUSED:
        assert result == "refused"
        assert _REFUSED[name] in line
        return
    assert result == "opened", line
    if name in _WARNED:
        warnings = " ".join(map(str, load(corpus_file(file)).all_warnings()))
        assert _WARNED[name] in warnings
