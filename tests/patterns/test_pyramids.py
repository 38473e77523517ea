"""Steps of feature pyramids, down to fine features and back."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file
from tests.onnx_text import load_text


def tell(body: str) -> str:
    """Return what follows fine features ``f`` and coarse ones ``u``, which others take, too."""
    graph = load_text(f"""
        g (float[1, 4, 16, 16] x) => (float y, float z)
        <float[4] two = {{1, 1, 2, 2}}, float[4] one = {{1, 1, 1, 1}}, int64[4] pd = {{4, 4, 1, 1}},
         int64[4] kd = {{4, 4, 3, 3}}, int64[4] wd = {{4, 8, 3, 3}}>
        {{ p = ConstantOfShape (pd)  k = ConstantOfShape (kd)  w = ConstantOfShape (wd)
           f = Relu (x)  u = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (f)
           {body} }}
    """).graph
    first = next(node.index for node in graph.nodes if node.op_type == "MaxPool")
    found = recognise([n for n in graph.nodes[first + 1 :] if n.op_type != "Neg"])
    return found.text if found is not None else ""


SUM = "r = Resize (u, , two)  l = Conv (f, p)  s = Add (l, r)  y = Conv (s, k)  z = Neg (s)"
ASIDE = (
    "l = Conv (u, p)  r = Resize (l, , two)  c = Concat <axis = 1> (r, f)  y = Conv (c, w)"
    "  z = Neg (l)"
)
BACK = "d = Conv <strides = [2, 2]> (v, k)  c = Concat <axis = 1> (d, f)  y = Conv (c, w)"


@pytest.mark.parametrize(
    ("body", "old", "new", "text"),
    [
        # T. Lin and others, 2017, figure 3
        (SUM, "", "", "FPN step, top-down ×2"),
        (SUM, "(f, p)", "(f, k)", ""),  # the lateral convolution is no 1×1
        (SUM, "two", "one", ""),  # nothing is made larger
        (SUM, "Add (l, r)", "Mul (l, r)", ""),
        (SUM, "Conv (f, p)", "Conv (u, p)", ""),  # not of finer features
        (SUM, "y = Conv (s, k)", "y = Relu (s)", ""),
        # side by side, as YOLO and RT-DETR have it
        (ASIDE, "", "", "FPN step, top-down ×2"),
        (ASIDE, "z = Neg (l)", "z = Neg (f)", ""),  # no path goes back from there
        (ASIDE, "axis = 1", "axis = 2", ""),
    ],
)
def test_a_step_from_coarse_features_to_fine_ones(body: str, old: str, new: str, text: str) -> None:
    told = tell(body.replace(old, new) if old else body)
    assert told == text if text else "FPN" not in told


@pytest.mark.parametrize(
    ("old", "new", "is_step"),
    [
        ("", "", True),
        ("strides = [2, 2]", "strides = [1, 1]", False),
        ("d = Conv <strides = [2, 2]> (v, k)", "d = Conv <strides = [2, 2]> (v, p)", False),
        ("(d, f)", "(d, v)", False),  # joined with what is made smaller itself
        ("y = Conv (c, w)", "y = Relu (c)", False),
    ],
)
def test_a_step_back_from_fine_features_to_coarse_ones(old: str, new: str, is_step: bool) -> None:
    """S. Liu and others, 2018, figure 2."""
    body = BACK.replace(old, new) if old else BACK
    graph = load_text(f"""
        g (float[1, 4, 8, 8] x) => (float y, float z)
        <int64[4] pd = {{4, 4, 1, 1}}, int64[4] kd = {{4, 4, 3, 3}}, int64[4] wd = {{4, 8, 3, 3}}>
        {{ p = ConstantOfShape (pd)  k = ConstantOfShape (kd)  w = ConstantOfShape (wd)
           f = Relu (x)  v = Sigmoid (f)  z = Neg (f)  {body} }}
    """).graph
    found = recognise(graph.nodes[6:])
    assert (found is not None and found.text == "PAN step, bottom-up /2") == is_step


def test_steps_of_a_pyramid_are_of_another_resolution_each_and_no_repeat() -> None:
    """Y. Zhao and others, RT-DETR, 2024, figure 4: what fuses features of two scales, twice."""
    tree = build_group_tree(load(corpus_file("exported/rtdetr.legacy.onnx")).graph)
    found = tree.find("main/model/model/encoder/")
    assert isinstance(found, Group)
    assert not [group for group in found.inner_groups() if group.kind == "repeat"]


@pytest.mark.parametrize("model", ["unet", "segmentation_unet", "vae_decoder", "densenet"])
def test_other_models_have_no_pyramid(model: str) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/{model}.legacy.onnx")).graph)
    texts = [group.recognised.name for group in tree.groups.values() if group.recognised]
    assert not {"FPN step", "PAN step"} & {*texts}
