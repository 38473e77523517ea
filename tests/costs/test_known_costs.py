"""MACs and parameters of networks whose numbers are known.

Of the convolutional networks and ViT they are those of torchvision's ``_ops`` and ``num_params``;
of a transformer encoder MACs are layers × (12 L H² + 2 L² H), and GPT-2 has a head besides.
"""

from __future__ import annotations

import pytest

from netloupe import load
from netloupe.explorer.costs import count_graphs
from tests.corpus import light_file

from .networks import (
    make_alexnet,
    make_bert,
    make_gpt2,
    make_mobilenet_v2,
    make_resnet,
    make_vgg16,
    make_vit,
)

RESNETS = {
    18: ((2, 2, 2, 2), False, 1_814_073_344, 11_689_512),
    34: ((3, 4, 6, 3), False, 3_663_761_408, 21_797_672),
    50: ((3, 4, 6, 3), True, 4_089_184_256, 25_557_032),
    101: ((3, 4, 23, 3), True, 7_801_405_440, 44_549_160),
    152: ((3, 8, 36, 3), True, 11_513_626_624, 60_192_808),
}


def test_alexnet_vgg_and_mobilenet() -> None:
    known = {
        make_alexnet: (714_188_480, 61_100_840),
        make_vgg16: (15_470_264_320, 138_357_544),
        make_mobilenet_v2: (300_774_272, 3_504_872),
    }
    for make, numbers in known.items():
        costs = make().costs()
        assert (costs.macs, costs.parameters) == numbers
        assert costs.unknown == ()


@pytest.mark.parametrize("depth", RESNETS)
def test_resnets(depth: int) -> None:
    counts, is_deep, macs, parameters = RESNETS[depth]
    costs = make_resnet(counts, is_deep=is_deep).costs()
    assert (costs.macs, costs.parameters, costs.unknown) == (macs, parameters, ())


def test_a_vision_transformer() -> None:
    costs = make_vit().costs()
    assert (costs.macs, costs.parameters) == (17_563_828_224, 86_567_656)
    assert costs.unknown == ()


@pytest.mark.parametrize(
    ("layers", "width", "length", "macs"),
    [
        (12, 768, 128, 11_173_625_856),
        (12, 768, 384, 35_332_816_896),
        (12, 768, 512, 48_318_382_080),
        (24, 1024, 128, 39_460_012_032),
    ],
)
def test_bert_encoders(layers: int, width: int, length: int, macs: int) -> None:
    assert make_bert(layers, width, 1, length).costs().macs == macs


def test_gpt2_with_its_head_tied_to_the_embedding() -> None:
    costs = make_gpt2(1, 1024).costs()
    assert (costs.macs, costs.parameters) == (145_824_153_600, 124_439_808)


def test_symbols_stay_in_a_polynomial_and_get_sizes_later() -> None:
    model = make_bert(12, 768, "batch", "seq")
    costs = model.costs()
    assert costs.macs is None
    assert costs.macs_expression == "18432*batch*seq**2 + 84934656*batch*seq"
    assert costs.symbols == ("batch", "seq")
    assert eval(costs.macs_expression, {"batch": 1, "seq": 384}) == 35_332_816_896
    assert model.costs(bind={"batch": 1, "seq": 384}).macs == 35_332_816_896
    half = model.costs(bind={"seq": 128})
    assert half.macs_expression == "11173625856*batch"
    vit = make_vit("batch").costs()
    assert vit.macs_expression == "17563828224*batch"


@pytest.mark.parametrize(
    ("name", "macs", "parameters"),
    [
        ("light_resnet50.onnx", 4_089_184_256, 25_557_032),
        # sums over the tables of the papers: E of VGG, SqueezeNet 1.1, GoogLeNet
        ("light_vgg19.onnx", 19_632_062_464, 143_667_240),
        ("light_squeezenet.onnx", 349_151_936, 1_235_496),
        ("light_inception_v1.onnx", 1_431_556_352, 6_998_552),
    ],
)
def test_models_that_onnx_ships_without_their_weights(
    name: str, macs: int, parameters: int
) -> None:
    """Most weights are fills of their shape, and an initializer that nothing uses is none."""
    model = load(light_file(name))
    costs = model.costs()
    assert (costs.macs, costs.parameters, costs.unknown) == (macs, parameters, ())
    assert model.totals.parameters == parameters
    assert sum(count_graphs(model, [graph]).parameters for graph in model.graphs) == parameters
