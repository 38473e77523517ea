"""What is told of two models is the same each time, also where sets have another order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256

import pytest

import netloupe
from netloupe.explorer.describe.difference_json import encode_diff
from tests.test_known_architectures import find_file

#: of these very much differs, and nodes stand elsewhere
_NAMES = ("bert", "vit")
_ELSEWHERE = """
import sys
from tests.compare.test_same_bytes import tell
spare = [object() for _ in range(100_000)]  # objects stand elsewhere in memory, too
print(*map(tell, sys.argv[1:]))
"""


def tell(name: str) -> str:
    """Return a digest of what is told of the exports of a model by two exporters."""
    left, right = (
        find_file(f"exported/{name}.{exporter}.onnx") for exporter in ("legacy", "dynamo")
    )
    found = netloupe.diff(left, right)
    told = json.dumps(encode_diff(found, most=None)) + found.to_panes()
    for path in (left, right):  # each process unpacks models elsewhere
        told = told.replace(str(path.parent), "")
    return sha256(told.encode()).hexdigest()


@pytest.mark.parametrize("name", _NAMES)
def test_another_process_tells_the_same(name: str) -> None:
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    path = os.pathsep.join(filter(None, sys.path))
    told = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE, name],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout
    assert told.strip() == tell(name)
