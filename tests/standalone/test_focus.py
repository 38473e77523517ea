"""The page of a neighbourhood alone."""

from __future__ import annotations

from netloupe.explorer.readers.load import load
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file


def test_what_is_outside_of_a_neighbourhood_is_looked_for_in_vain() -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    node = next(node for node in model.graph.nodes if node.op_type == "Shape")
    options = ViewOptions.parse({"focus": node.path, "hops": 1})
    page, _ = make_page(model, options)
    assert node.name.encode() in page
    assert len(page) < 1_000_000
