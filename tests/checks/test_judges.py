"""``check`` beside two judges, onnx's full check and ONNX Runtime's loading, on small models.

``tests/benchmarks/judges.py`` does the same with all models that there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest

from tests.benchmarks.judges import report
from tests.checks.shape_cases import CASES
from tests.corpus import MADE, corpus_file
from tests.judges import (
    Judgement,
    Judges,
    explain,
    judge,
    list_missed,
    list_without_kernel,
    list_wronged,
)

pytest.importorskip("onnxruntime")

_DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
_LARGEST = 50_000


def _list_files(folder: Path) -> Iterator[tuple[str, Path]]:
    for number, case in enumerate(CASES):
        for is_right in (True, False):
            path = folder / f"{number}.{'right' if is_right else 'wrong'}.onnx"
            path.write_bytes(case.make(is_right=is_right).SerializeToString())
            yield f"{case} {path.suffixes[0]}", path
    for name in MADE:
        if name.endswith(".onnx") and not name.startswith("exported/"):
            path = corpus_file(name)
            if path.stat().st_size < _LARGEST:
                yield name, path
    for path in sorted(_DATA.rglob("*.onnx")):
        if path.stat().st_size < _LARGEST:
            yield str(path.relative_to(_DATA)), path


@pytest.fixture(scope="module")
def judgements(tmp_path_factory: pytest.TempPathFactory) -> list[Judgement]:
    files = [*_list_files(tmp_path_factory.mktemp("judged"))]
    assert len(files) > 400
    with Judges() as judges:
        return [judge(name, path, judges) for name, path in files]


def test_what_a_judge_refuses_is_told(judgements: list[Judgement]) -> None:
    refused = [each for each in judgements if each.checker or each.runtime]
    assert len(refused) > 50
    assert [f"{each.name}: {reason[:300]}" for each, reason in list_missed(judgements)] == []


def test_where_a_kernel_is_missing_that_is_told(judgements: list[Judgement]) -> None:
    assert [each.name for each in list_without_kernel(judgements)] == []


def test_what_both_accept_is_no_error(judgements: list[Judgement]) -> None:
    # of the cases that break a demand judges see some only when they run
    others = [each for each in judgements if not each.name.endswith(".wrong")]
    accepted = [each for each in others if not each.checker and not each.runtime]
    assert len(accepted) > 100
    assert [f"{each.name}: {errors}" for each, errors in list_wronged(others)] == []


def test_a_refusal_is_explained_only_by_what_is_not_the_models_fault() -> None:
    assert explain("NOT_IMPLEMENTED : Could not find an implementation for Add(6)")
    assert not explain("[ShapeInferenceError] Incompatible dimensions for matrix multiplication")
    assert not explain("Type Error: Type parameter (T) of Optype (Add) bound to different types")


_SHAPES = "[ShapeInferenceError] Incompatible dimensions"


@pytest.mark.parametrize(
    ("found", "is_told"),
    [
        (("NL-G02", "warning", "no node uses it"), False),
        (("NL-T05", "warning", "the output is stated as float32[1]"), True),
        (("NL-T01", "error", "takes no such type"), True),
    ],
)
def test_a_refusal_is_told_by_an_error_or_what_fits(
    found: tuple[str, str, str], is_told: bool
) -> None:
    refused = Judgement("a", _SHAPES, "", findings=(found,))
    assert refused.is_told is is_told
    assert len([*list_missed([refused])]) == (not is_told)
    assert report([refused]) == (not is_told)


@pytest.mark.parametrize(
    ("rule", "said", "is_accounted_for"),
    [
        ("NL-L03", "it is given twice", False),
        ("NL-Q01", "3 of its 3 scales cannot be used: scale[0] = 0", True),
        ("NL-Q02", "it has 2 scales, but 1 zero point", False),
        ("NL-S01", "its external data will not be read: its offset is negative (-16)", True),
        ("NL-S01", "its external data will not be read: it is a link", False),
    ],
)
def test_an_error_in_what_both_accept_is_accounted_for_by_its_case(
    rule: str, said: str, is_accounted_for: bool
) -> None:
    accepted = Judgement("a", "", "", findings=((rule, "error", said),))
    assert len([*list_wronged([accepted])]) == (not is_accounted_for)
    assert report([accepted]) == (not is_accounted_for)
