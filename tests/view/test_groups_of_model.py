"""All views of a model have its own groups, as long as these are those that would be found."""

from __future__ import annotations

from netloupe.explorer.grouping import Group, GroupTree, find_tree
from netloupe.explorer.model.graph import give_inferred_types
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import View
from tests.corpus import corpus_file, shared_model
from tests.onnx_text import load_text

_VIT = "exported/vit.legacy.onnx"


def list_names(tree: GroupTree) -> dict[str, str]:
    """Return what groups are said to be, by path."""
    groups = dict.fromkeys(tree.groups.values())
    return {group.path: found.name for group in groups if (found := group.recognised) is not None}


def test_views_share_the_groups_that_a_model_keeps() -> None:
    model = shared_model(_VIT)
    tree = find_tree(model, model.graph)
    assert View(model).borders(model.graph).tree is tree
    assert View(model, grouping="names").borders(model.graph).tree is not tree
    assert View(model, only=frozenset({1, 2})).borders(model.graph).tree is not tree
    assert View(model, unnamed=("Self-attention",)).borders(model.graph).tree is not tree


def test_the_model_keeps_names_that_a_view_leaves_out() -> None:
    model = load(corpus_file(_VIT))
    view, other = View(model), View(model)
    tree = find_tree(model, model.graph)
    before = list_names(tree)
    view.open(next(path for path, name in before.items() if name == "Self-attention"))
    was_open = view.open_state()
    view.leave_unnamed(("Self-attention",))
    own = view.borders(model.graph).tree
    assert "Self-attention" not in list_names(own).values()
    assert list_names(tree) == before
    assert other.borders(model.graph).tree is tree
    assert view.open_state() == was_open
    drawn = [item.element for item in view.items.values() if isinstance(item.element, Group)]
    assert drawn
    assert all(own.groups[group.path] is group for group in drawn)
    view.leave_unnamed(())
    assert list_names(own) == before
    assert view.borders(model.graph).tree is own


def test_shape_arithmetic_that_is_drawn_stays_so_where_names_are_left_out() -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    view = View(model)
    view.show_shapes()
    shown = view.borders(model.graph).shown_shapes
    assert shown
    view.leave_unnamed(("Self-attention",))
    assert view.borders(model.graph).shown_shapes == shown


def test_groups_are_found_anew_once_types_are_inferred() -> None:
    model = load_text("""
        <ir_version: 8, opset_import: ["" : 17]>
        main (float[2, 3] x) => (float[2, 3] y) { t = Relu (x)  y = Relu (t) }
        """)
    before = View(model).borders(model.graph).tree
    value = model.graph.nodes[0].outputs[0]
    assert value is not None
    give_inferred_types(model.graph, {value.key: model.graph.inputs[0].type})
    assert View(model).borders(model.graph).tree is not before
