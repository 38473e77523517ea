"""What a network is for is said where what it takes and gives makes that sure."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto

from .networks import Network, Shape


class Ends(Network):
    """Networks whose inputs and outputs have names."""

    def wave(self, x: str, taken: int, given: int, size: int = 3, step: int = 1) -> str:
        how = {"kernel_shape": [size], "pads": [size // 2] * 2, "strides": [step]}
        return self.add("Conv", x, self.weight(given, taken, size), **how)

    def grow(self, x: str, taken: int, given: int, step: int) -> str:
        how = {"kernel_shape": [2 * step], "strides": [step]}
        return self.add("ConvTranspose", x, self.weight(taken, given, 2 * step), **how)

    def tell(self, x: str, name: str, shape: Shape | None = None) -> str:
        """Return the first words of what is said of a network whose output has a name."""
        end = self.add("Identity", x)
        self.nodes[-1].output[0] = name
        assert end != name
        return self.finish(name, shape=shape).architecture.sentence.partition(":")[0]


def _restore(
    *, adds: bool = True, name: str = "y", taken: int = 3, given: int = 3, size: int = 32
) -> str:
    net = Ends()
    image = net.take("x", (1, taken, 32, 32))
    x = net.add("Relu", net.conv(image, taken, 8))
    for _ in range(3):
        x = net.add("Relu", net.conv(x, 8, 8))
    x = net.conv(x, 8, given)
    x = net.add("Add", x, image) if adds else x
    return net.tell(x, name, (1, given, size, size))


@pytest.mark.parametrize("names", [{"adds": True}, {"adds": False, "name": "restored"}])
def test_an_image_that_is_made_of_one_of_its_size_is_told_so(names: dict[str, object]) -> None:
    assert _restore(**names) == "Image-to-image convolutional network"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changed",
    [
        {"adds": False},  # three maps may be of three classes
        {"adds": False, "name": "mask_image", "given": 1},
        {"adds": False, "name": "restored", "taken": 4, "given": 4},
        {"adds": False, "name": "imagenet"},
    ],
)
def test_maps_that_are_no_image_are_not(changed: dict[str, object]) -> None:
    assert _restore(**changed) == "Convolutional network"  # type: ignore[arg-type]


def _speak(
    *, name: str = "y", growth: tuple[int, ...] = (8, 8), given: int = 1, tokens: bool = True
) -> str:
    net = Ends()
    if tokens:
        x = net.block(net.block(net.embed("ids")))
        x = net.add("Transpose", x, perm=[0, 2, 1])
    else:
        x = net.take("frames", (1, 8, 20))
    for step in growth:
        x = net.add("LeakyRelu", net.grow(x, 8, 8, step))
    x = net.wave(net.add("Relu", net.wave(x, 8, 8, 7)), 8, given, 7)
    return net.tell(x, name)


def test_tokens_of_which_something_heard_is_made_are_told() -> None:
    mixed = "Network of convolutions and attention"
    assert _speak() == f"{mixed} from tokens to waveform"
    assert _speak(name="mel_post", growth=(), given=80) == f"{mixed} for speech synthesis"
    assert _speak(growth=(8, 4)) == mixed  # no wave of so few numbers for each token
    assert _speak(given=4) == mixed
    assert _speak(name="meld", growth=(), given=80) == mixed


def test_frames_of_which_a_wave_is_made_are_told() -> None:
    assert _speak(tokens=False) == "1-D convolutional network that generates a waveform"
    assert _speak(tokens=False, growth=(8, 4)) == "1-D convolutional network"


def _separate(
    name: str, *, taken: str = "mixture", shape: Shape = (1, 4, 1024), places: int = 1024
) -> str:
    net = Ends()
    x = net.add("Relu", net.wave(net.take(taken, (1, 1, places)), 1, 8))
    x = net.wave(net.add("Relu", net.wave(x, 8, 8)), 8, 4)
    return net.tell(x, name, shape)


def test_sources_that_are_taken_apart_are_told_by_their_name() -> None:
    assert _separate("sources") == "1-D convolutional network for source separation"
    assert _separate("classes") == "1-D convolutional network"
    assert _separate("sources", shape=(1, 1, 1024)) == "1-D convolutional network"
    assert _separate("sources", taken="steps", places=64) == "1-D convolutional network"


@pytest.mark.parametrize(
    ("taken", "places", "pooled", "is_told"),
    [
        ("waveform", 4000, True, True),
        ("waveform", 40, True, False),
        ("heart", 4000, True, False),
        ("waveform", 4000, False, False),
    ],
)
def test_features_of_a_wave_are_told_to_be_of_one(
    taken: str, places: int, pooled: bool, is_told: bool
) -> None:
    net = Ends()
    x = net.add("Relu", net.wave(net.take(taken, (1, 1, places)), 1, 8, 9, 4))
    x = net.add("Relu", net.wave(x, 8, 8))
    if pooled:
        x = net.linear(net.add("Flatten", net.add("GlobalAveragePool", x)), 8, 10)
    told = net.tell(x, "y", (1, 10) if pooled else (1, 8, places // 4))
    assert (told == "1-D convolutional network on raw waveforms") == is_told


@pytest.mark.parametrize(
    ("shape", "dtype", "begin"),
    [
        ((1, 3, 32, 32), TensorProto.FLOAT, "Vision network of "),
        ((1, 8, 32, 32), TensorProto.FLOAT, "Network of "),
    ],
)
def test_several_kinds_of_layers_on_an_image_are_a_vision_network(
    shape: Shape, dtype: int, begin: str
) -> None:
    net = Ends()
    x = net.take("x", shape, dtype)
    for taken in (int(shape[1]), 8, 8):
        x = net.add("Relu", net.conv(x, taken, 8, strides=[2, 2]))
    x = net.add("Reshape", x, net.numbers(0, 8, -1))
    x = net.block(net.block(net.add("Transpose", x, perm=[0, 2, 1])))
    x = net.linear(net.add("ReduceMean", x, net.numbers(1), keepdims=0), 8, 10)
    assert net.tell(x, "y", (1, 10)).startswith(begin)


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_transformer_on_an_image_alone_is_a_vision_transformer(is_alone: bool) -> None:
    net = Ends()
    image = net.take("x", (1, 3, 32, 32))
    x = net.add("Conv", image, net.weight(8, 3, 8, 8), kernel_shape=[8, 8], strides=[8, 8])
    x = net.add("Transpose", net.add("Reshape", x, net.numbers(0, 8, -1)), perm=[0, 2, 1])
    x = x if is_alone else net.add("Add", x, net.linear(net.take("at", (1, 16, 4)), 4, 8))
    x = net.linear(net.block(net.block(x)), 8, 8)
    x = net.block(net.block(x))
    x = net.linear(net.add("ReduceMean", x, net.numbers(1), keepdims=0), 8, 10)
    told = net.tell(x, "y", (1, 10))
    assert (told == "Vision transformer") == is_alone, told


@pytest.mark.parametrize(
    ("count", "given", "said"),
    [
        (5, 1, "over 5 categorical fields"),
        (2, 1, ""),
        (5, 3, ""),
    ],
)
def test_categories_that_are_looked_up_each_in_its_table_are_counted(
    count: int, given: int, said: str
) -> None:
    net = Ends()
    fields = net.take("fields", (1, count), TensorProto.INT64)
    rows = []
    for place in range(count):
        column = net.add("Gather", fields, net.store(np.int64(place)), axis=1)
        rows.append(net.add("Gather", net.weight(20 + place, 8), column))
    x = net.add("Concat", *rows, axis=1)
    x = net.add("Relu", net.linear(x, 8 * count, 16))
    x = net.linear(net.add("Relu", net.linear(x, 16, 16)), 16, given)
    told = net.tell(net.add("Sigmoid", x), "y", (1, given))
    assert told == f"Feed-forward network {said}".rstrip(), told
