"""Whether models of the corpus have no overlaps, all inside its frame, and no edge lost.

But for those of :mod:`tests.layout.test_geometry`, which has both views of them and more.
"""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions
from tests.corpus import MADE, corpus_file, list_only_beside
from tests.layout.test_geometry import MODELS
from tests.scene_check import find_geometry_faults
from tests.wiring_check import find_lost_edges

#: of larger models only the first view is looked at here; the benchmark opens all of them
MOST_NODES = 1500
NAMES = [name for name in (*MADE, *list_only_beside("**/*")) if name not in MODELS]
FOLDERS = sorted({name.split("/")[0] for name in NAMES if "/" in name})


def list_models(folder: str) -> Iterator[tuple[str, Model]]:
    for name in NAMES:
        if name.startswith(f"{folder}/"):
            try:
                yield name, load(corpus_file(name))
            except NetloupeError:
                continue


def find_faults(folder: str, engine: LayoutEngine) -> dict[str, list[str]]:
    """Return what is wrong with the models of a folder, by their names and views."""
    faults: dict[str, list[str]] = {}
    for name, model in list_models(folder):
        for expand in ("auto", "all"):
            if expand == "all" and len(model.graph.nodes) > MOST_NODES:
                continue
            options = ViewOptions.parse({"expand": expand})
            picture = make_picture(model, options, composer=Composer(engine), deadline=600)
            found = find_geometry_faults(picture.scene, picture.view, picture.insets)
            for view in (picture.view, *(inset.view for inset in picture.insets)):
                found += find_lost_edges(view)
            if found:
                faults[f"{name} {expand}"] = found[:3]
    return faults
