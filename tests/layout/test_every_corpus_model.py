"""Every model of the corpus that opens: no overlaps, all inside its frame, and no edge lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.load import load
from netloupe.explorer.model import Model
from netloupe.explorer.picture import ViewOptions, make_picture
from tests.corpus import CORPUS
from tests.scene_check import find_geometry_faults
from tests.wiring_check import find_lost_edges

#: of larger models only the first view is looked at here; the benchmark opens all of them
MOST_NODES = 1500
FOLDERS = sorted(path for path in CORPUS.iterdir() if path.is_dir()) if CORPUS.is_dir() else []


def list_models(folder: Path) -> Iterator[tuple[str, Model]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                yield str(path.relative_to(folder)), load(path)
            except NetloupeError:
                continue


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


@pytest.mark.skipif(not FOLDERS, reason="../shared/corpus is not here")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_geometry_and_edges(engine: LayoutEngine, folder: Path) -> None:
    faults: dict[str, list[str]] = {}
    for name, model in list_models(folder):
        for expand in ("auto", "all"):
            if expand == "all" and len(model.graph.nodes) > MOST_NODES:
                continue
            options = ViewOptions.parse({"expand": expand})
            picture = make_picture(model, options, composer=Composer(engine), deadline=60)
            found = find_geometry_faults(picture.scene, picture.view)
            found += find_lost_edges(picture.view)
            if found:
                faults[f"{name} {expand}"] = found[:3]
    assert faults == {}
