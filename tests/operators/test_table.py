"""The committed table against what the script makes from the installed ``onnx``."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

onnx = pytest.importorskip("onnx")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "make_operator_table", ROOT / "tools" / "make_operator_table.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_what_the_script_makes(script: ModuleType) -> None:
    text = script.TABLE.read_text(encoding="utf-8")
    recorded = json.loads(text)["sources"]["onnx"]
    if recorded != onnx.__version__:
        pytest.skip(f"the table is made from onnx {recorded}, installed is {onnx.__version__}")
    assert script.make_table() == text


def test_declarations_are_shared_with_an_earlier_version(script: ModuleType) -> None:
    first, second = {"inputs": ["X"]}, {"inputs": ["X", "Y"]}
    shared = script.share_versions({"13": first, "7": second, "1": first, "9": second})
    assert shared == {"1": first, "7": second, "9": 7, "13": 1}
    assert list(shared) == ["1", "7", "9", "13"]


def test_onnx_counts_before_contrib(script: ModuleType) -> None:
    merged = script.merge_operators(
        [{"": {"Op": {"1": {"inputs": ["X"]}}}}, {"": {"Op": {"1": {}, "2": {}}, "Other": {}}}]
    )
    assert merged == {"": {"Op": {"1": {"inputs": ["X"]}, "2": {}}, "Other": {}}}


def test_floats_are_spelled_as_short_as_32_bits_allow(script: ModuleType) -> None:
    assert script.shorten_float(0.009999999776482582) == 0.01
