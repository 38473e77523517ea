"""Trees of every export without its names: each node once, whatever structure alone finds."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from netloupe.explorer.grouping import build_group_tree
from tests.corpus import corpus_file, list_beside
from tests.grouping.blank_names import load_blank
from tests.grouping.test_tree import check_tree
from tests.zoo import ZOO

PACKED = ".xz"
NAMES = [name for name in ZOO if name.startswith("exported/")]
NAMES += list_beside(f"architectures/*.onnx{PACKED}")


@pytest.mark.parametrize("name", NAMES)
def test_every_export_has_a_sound_tree(name: str, tmp_path: Path) -> None:
    path = corpus_file(name)
    if path.name.endswith(PACKED):
        unpacked = tmp_path / path.name.removesuffix(PACKED)
        unpacked.write_bytes(lzma.decompress(path.read_bytes()))
        path = unpacked
    check_tree(build_group_tree(load_blank(path)))
