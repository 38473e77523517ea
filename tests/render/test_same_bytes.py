"""Pictures of one model have the same bytes each time, also where sets have another order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import pytest

from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import draw_picture
from tests.corpus import LIGHT_MODELS
from tests.processes import started
from tests.test_known_architectures import find_file
from tests.zoo import ZOO

MODELS = [*ZOO, *LIGHT_MODELS]
#: format and options; of each model one of them is drawn, and the first where that has no layout
PICTURES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("svg", {}),
    ("html", {}),
    ("dot", {}),
    ("svg", {"theme": "dark", "legend": True}),
    ("html", {"details": "all"}),
    ("svg", {"page": "a4", "wrap": 3, "title": "T"}),
    ("svg", {"direction": "LR", "share": "macs"}),
    ("html", {"theme": "dark", "page": "slide"}),
    ("svg", {"details": "all", "wrap": True}),
    ("dot", {"details": "all"}),
    ("svg", {"page": "column"}),
)
#: reads a path, a format and options from each line of its input; writes a digest for each
_SERVER = """
import json, sys
from hashlib import sha256
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import draw_picture
for line in sys.stdin:
    path, format, options = json.loads(line)
    print(sha256(draw_picture(load(path), format, **options)).hexdigest(), flush=True)
"""


@pytest.fixture(scope="module")
def draw_elsewhere() -> Iterator[Callable[[str, str, dict[str, Any]], str]]:
    """Return the digest of a picture that a process with another order of sets draws."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {
        **os.environ,
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with started([sys.executable, "-c", _SERVER], env=environment, **pipes) as process:

        def draw(path: str, format: str, options: dict[str, Any]) -> str:
            process.stdin.write(json.dumps([path, format, options]) + "\n")
            process.stdin.flush()
            return str(process.stdout.readline().strip())

        yield draw
        process.stdin.close()


@pytest.mark.parametrize("name", MODELS)
def test_two_processes_draw_the_same(
    name: str, draw_elsewhere: Callable[[str, str, dict[str, Any]], str]
) -> None:
    path = str(find_file(name))
    model = load(path)
    drawn = [PICTURES[MODELS.index(name) % len(PICTURES)]]
    if drawn[0][0] == "dot":
        drawn.append(PICTURES[0])
    for format, options in drawn:
        here = sha256(draw_picture(model, format, **options)).hexdigest()
        assert here == draw_elsewhere(path, format, options), f"{format} with {options}"


def test_every_kind_of_picture_is_drawn_of_several_models() -> None:
    assert len(MODELS) > 5 * len(PICTURES)
