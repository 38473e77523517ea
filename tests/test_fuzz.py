"""Mutation fuzzing over all readers, and that the fuzzer finds what is planted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz import choose_seed
from tests.fuzz import main as fuzz
from tests.fuzzing.mutants import READERS, list_seeds, make_mutant
from tests.fuzzing.supervisor import run
from tests.fuzzing.target import PERIODS, Looks, list_elements
from tests.onnx_text import load_text

#: of each reader, with its seeds, so that each way to look has its turn; by time instead where that
#: is asked for
MUTANTS = max(PERIODS.values())
SECONDS = os.environ.get("NETLOUPE_FUZZ_SECONDS")


def test_mutants_of_all_readers() -> None:
    most = None if SECONDS else MUTANTS * len(READERS)
    account = run(float(SECONDS or 3600), choose_seed(), most=most)
    print(account)
    assert not account.findings, str(account)
    # all readers have had their seeds and more, and some of their mutants opened
    assert most is None or set(account.tried.values()) == {MUTANTS}
    assert set(account.tried) == set(account.opened) == set(READERS)
    assert min(account.opened.values()) > 0


@pytest.mark.parametrize("reader", READERS)
def test_a_mutant_is_made_again_from_its_number(reader: str) -> None:
    mutants = [make_mutant(reader, "seed", number) for number in range(40, 60)]
    assert mutants == [make_mutant(reader, "seed", number) for number in range(40, 60)]
    assert mutants != [make_mutant(reader, "other", number) for number in range(40, 60)]
    contents = [tuple(files.values()) for files in mutants]
    assert len(set(contents)) > 10


def test_every_look_has_its_turn_and_every_element() -> None:
    for look, period in PERIODS.items():
        turns = [number for number in range(MUTANTS) if Looks(number).include(look)]
        assert len(turns) == MUTANTS // period
        assert Looks().include(look)
    assert not all(Looks(0).include(look) for look in PERIODS)
    model = load_text("main (float[2] x) => (float[2] y) { a = Relu (x) b = Abs (a) y = Neg (b) }")
    elements = list_elements(model)
    chosen = [Looks(number).choose(elements) for number in range(16)]
    assert {id(one) for part in chosen for one in part} == set(map(id, elements))
    assert max(map(len, chosen)) < len(elements) == len(Looks().choose(elements))


PLANTED = {
    "onnx": "KeyError",
    "onnx scanned": "crashes",
    "onnx protobuf text": "hangs",
    "onnx JSON": "slow",
    "onnx text": "memory",
    "caffe2 NetDef": "RecursionError",
    "caffe2 PlanDef": "SystemExit",
}


@pytest.mark.parametrize("reader", PLANTED)
def test_planted_faults_are_found(reader: str, tmp_path: Path) -> None:
    planted = "tests.fuzzing.planted.try_files"
    waits = 10 if PLANTED[reader] == "hangs" else 100
    account = run(200, "0", readers=[reader], keep=tmp_path, waits=waits, most=4, target=planted)
    assert account.tried[reader] == 4  # it goes on after a crash
    (finding,) = account.findings.values()
    assert (finding.kind, finding.reader, finding.number) == (PLANTED[reader], reader, 1)
    # the files are kept, and the report says how to make them again
    (folder,) = tmp_path.iterdir()
    assert (folder / "model").read_bytes() == list_seeds(reader)[1]
    assert reader in (folder / "finding.txt").read_text()
    assert f"--reader '{reader}' --seed 0 --only 1" in str(account)


def test_a_kept_file_is_tried_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model"
    path.write_bytes(list_seeds("onnx")[0])
    assert fuzz(["--reader", "onnx", "--replay", str(path)]) == 0
    assert capsys.readouterr().out == "opened\n"
    assert fuzz(["--reader", "onnx", "--seed", "0", "--only", "0", "--inline-seeds"]) == 0
    assert capsys.readouterr().out == "opened\n"
