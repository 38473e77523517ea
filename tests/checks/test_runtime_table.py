"""The file with releases of ONNX Runtime: its form, and what the installed release says."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from netloupe.explorer.checks.kernels import find_kernels, list_domains, list_known, list_releases
from netloupe.explorer.checks.runtimes import list_runtimes
from tests.judges import IS_MEANT

_ROOT = Path(__file__).resolve().parents[2]
#: releases whose kernels are in the file
_KNOWN = ("1.17", "1.20", "1.24", "1.28", "1.32")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = _ROOT / "tools" / "make_runtime_table.py"
    spec = importlib.util.spec_from_file_location("make_runtime_table", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_gives_back_what_was_put_in(script: ModuleType) -> None:
    kernel = script.Kernel
    releases = {
        "1.9": {"opsets": {"": 15}, "ir_version": 8},
        "1.10": {"version": "1.10.0", "opsets": {"": 15, "ai.onnx.ml": 2}, "ir_version": 8},
    }
    shared = kernel("", "Abs", 6, 12, (("T", "float32 float64"),))
    kernels = {
        "1.9": [shared, kernel("", "Abs", 13, 0, (("T", "float32"),))],
        "1.10": [shared, kernel("d", "Op", 1, 0, ()), kernel("d", "Op", 1, 0, (("x", "int64"),))],
    }
    text = script.format_table(releases, kernels)
    assert script.read_table(text) == (releases, kernels)
    assert list(script.read_table(text)[0]) == ["1.9", "1.10"]
    turned = {release: found[::-1] for release, found in reversed(kernels.items())}
    assert script.format_table(dict(reversed(releases.items())), turned) == text
    assert text.count('"Abs"') == text.count('"float32 float64"') == 1
    with pytest.raises(ValueError, match=r"1\.9 has a kernel twice"):
        script.format_table(releases, {"1.9": [shared, shared]})


def test_the_committed_file_is_written_as_the_script_writes_it(script: ModuleType) -> None:
    text = script.TABLE.read_text(encoding="utf-8")
    releases, kernels = script.read_table(text)
    assert script.format_table(releases, kernels) == text
    assert len(text) < 300_000
    assert tuple(kernels) == tuple(list_known()) == _KNOWN
    assert {name: releases[name] for name in script.DOCUMENTED} == script.list_documented()
    assert list(releases) == [f"1.{number}" for number in range(33)]
    assert releases == list_releases()


@pytest.mark.parametrize("release", _KNOWN)
def test_kernels_are_read_as_they_were_written(script: ModuleType, release: str) -> None:
    kernels = script.read_table(script.TABLE.read_text(encoding="utf-8"))[1][release]
    operators = Counter((each.domain, each.op_type) for each in kernels)
    assert len(kernels) > 1_000
    assert list_domains(release) == {each.domain for each in kernels}
    for (domain, op_type), count in operators.items():
        found = find_kernels(release, domain, op_type)
        assert len(found) == count
        expected = [each for each in kernels if (each.domain, each.op_type) == (domain, op_type)]
        read = [
            script.Kernel(
                domain,
                op_type,
                each.first,
                each.last,
                tuple(sorted((name, " ".join(sorted(t))) for name, t in each.types.items())),
            )
            for each in found
        ]
        assert sorted(read) == expected


def test_what_is_not_in_the_file_has_no_kernel() -> None:
    assert find_kernels("1.32", "", "NoSuchOperator") == ()
    assert find_kernels("1.32", "no.such.domain", "Abs") == ()
    assert find_kernels("1.31", "", "Abs") == ()
    assert list_domains("1.31") == frozenset()


@pytest.mark.skipif(not IS_MEANT, reason="the kernels are those for Linux on x86-64")
def test_the_file_says_what_the_installed_release_says(script: ModuleType) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    release = script.shorten_release(onnxruntime.__version__)
    said = list_releases().get(release, {})
    if said.get("version") != onnxruntime.__version__ or release not in _KNOWN:
        pytest.skip(f"of ONNX Runtime {onnxruntime.__version__} the kernels are not in the file")
    from onnxruntime.capi._pybind_state import get_all_opkernel_def

    def shorten(text: str) -> str:
        return str(script.shorten_type(text))

    there = Counter(
        (
            each.domain,
            each.op_name,
            each.version_range[0],
            0 if each.version_range[1] == 2**31 - 1 else each.version_range[1],
            frozenset((n, frozenset(map(shorten, t))) for n, t in each.type_constraints.items()),
        )
        for each in get_all_opkernel_def()
    )
    here = Counter(
        (domain, op_type, each.first, each.last, frozenset(each.types.items()))
        for domain, op_type in {(key[0], key[1]) for key in there}
        for each in find_kernels(release, domain, op_type)
    )
    assert here == there
    text = script.TABLE.read_text(encoding="utf-8")
    assert script.make_table(text, with_kernels=True) == text  # operator sets and IR version too


def test_a_release_is_added_with_or_without_its_kernels(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"version": "1.99.1", "opsets": {"": 50}, "ir_version": 20}
    kernel = script.Kernel("", "Abs", 13, 0, (("T", "float32"),))
    monkeypatch.setattr(script, "read_release", lambda: said)
    monkeypatch.setattr(script, "read_kernels", lambda: [kernel])
    before = script.TABLE.read_text(encoding="utf-8")
    releases, kernels = script.read_table(script.make_table(before, with_kernels=True))
    assert releases["1.99"] == said
    assert kernels["1.99"] == [kernel]
    assert kernels.keys() == {*_KNOWN, "1.99"}
    added = script.format_table(releases, kernels)
    releases, kernels = script.read_table(script.make_table(added, with_kernels=False))
    assert releases["1.99"] == said
    assert tuple(kernels) == _KNOWN
    first = script.read_table(script.make_table(None, with_kernels=True))
    assert first == ({**script.list_documented(), "1.99": said}, {"1.99": [kernel]})


def test_runtimes_tell_whether_their_kernels_are_known() -> None:
    known = {each.release for each in list_runtimes().values() if each.has_kernels}
    assert known == {*_KNOWN}
    newest = list_runtimes()["ort-1.32"]
    assert (newest.opsets[""], newest.opsets["ai.onnx.ml"], newest.ir_version) == (28, 5, 14)
    assert (list_runtimes()["ort-1.26"].opsets[""], list_runtimes()["ort-1.26"].ir_version) == (
        26,
        13,
    )
