"""Pages and a kernel name the same boxes for every element, in several states of the view."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator

import pytest

from netloupe.explorer.view import View, list_showing
from tests.standalone.composing import Script, open_at_random, open_script, write_state
from tests.standalone.test_searching import write_page
from tests.view.test_showing import MODELS, list_elements, load_model


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    with open_script(tmp_path_factory.mktemp("places"), "list_places") as script:
        yield script


@pytest.mark.parametrize("name", MODELS)
def test_a_page_names_the_boxes_that_a_kernel_names(name: str, script: Script) -> None:
    model = load_model(name)
    views = []
    for state in range(4):
        view = View(model)
        open_at_random(view, random.Random(state), 4 * state)
        views.append(view)
    # what is in functions, and groups that are hidden at first, have no path of their own in a page
    paths = [
        path
        for path in list_elements(views[0])
        if not path.startswith("functions/") and not path.endswith("shape/")
    ]
    levels, search = write_page(View(model))
    asked = {
        **{
            name: base64.b64encode(block).decode()
            for name, block in zip(("levels", "search"), (levels, search), strict=True)
        },
        "states": [write_state(view.root) for view in views],
        "paths": paths,
    }
    lines = script.ask(asked)
    for view, line in zip(views, lines, strict=True):
        found = json.loads(line)
        for path in paths:
            items = list_showing(view, path)
            # what an open box gives has an edge, by which it is marked
            if not any(item.is_open and item.repeat is None for item in items):
                assert sorted(found.get(path, [])) == sorted(item.key for item in items), path
