"""Our classes beside those of ``onnx`` in one process. Each case needs a fresh interpreter."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = "from netloupe.proto import caffe2_pb2, onnx_pb2, unknown_enums"
USE = """
ours = onnx_pb2.ModelProto(ir_version=8)
theirs = onnx.ModelProto.FromString(ours.SerializeToString())
assert theirs.ir_version == 8 and type(theirs) is not type(ours)
"""


def run_python(code: str) -> str:
    completed = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


@pytest.mark.parametrize("imports", [f"{OURS}\nimport onnx", f"import onnx\n{OURS}"])
def test_both_import_orders_work(imports: str) -> None:
    run_python(imports + USE)


def test_our_classes_do_not_import_onnx() -> None:
    loaded = run_python(f"{OURS}\nimport sys\nprint(*sys.modules)").split()
    assert "netloupe.proto.onnx_pb2" in loaded
    assert [name for name in loaded if name.split(".")[0] in {"onnx", "numpy", "caffe2"}] == []
