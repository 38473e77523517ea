"""What a box is called in the picture stands where its node is told."""

from __future__ import annotations

from netloupe.explorer.describe import describe_path
from netloupe.explorer.readers.load import load
from netloupe.explorer.search.search import search_model
from netloupe.explorer.view import View
from tests.corpus import corpus_file


def test_a_node_whose_box_has_another_name_is_told_by_both() -> None:
    model = load(corpus_file("exported/resnet50.dynamo.onnx"))
    view = View(model)
    labels = view.borders(model.graph).tree.node_labels
    renamed = [
        (model.graph.nodes[index], label)
        for index, label in labels.items()
        if label not in (model.graph.nodes[index].name, model.graph.nodes[index].op_type)
    ]
    assert len(renamed) > 10
    for node, label in renamed[:5]:
        told = describe_path(model, node.path, view)
        assert told.title == node.op_type
        assert told.subtitle.startswith(f"{label} · ")
        # without a picture there is no such name
        assert label not in describe_path(model, node.path).subtitle.split(" · ")
    node, label = next((n, label) for n, label in renamed if not n.name.endswith(label))
    (hit,) = (
        hit
        for hit in search_model(model, node.name, find_tree=lambda graph: view.borders(graph).tree)
        if hit.path == node.path
    )
    assert (hit.title, hit.detail) == (node.name, f"{label} · {node.op_type}")
