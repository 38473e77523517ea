"""Kinds of network that are told by how all of a graph is wired, each with a near miss."""

from __future__ import annotations

import numpy as np
import pytest

from .networks import Network, Shape


def activate(net: Network, x: str, taken: int, given: int, size: int = 3, **more: object) -> str:
    return net.add("Relu", net.conv(x, taken, given, size, **more))


def track(*, is_shared: bool, correlates: bool) -> str:
    """Return what is said of two pictures that pass convolutions, of one set or of two."""
    net = Network()
    found: list[str] = []
    kernels = [[net.weight(8, taken, 3, 3) for taken in (3, 8, 8)] for _ in range(2)]
    for place, name in enumerate(("template", "search")):
        x = net.take(name, (1, 3, 16 * (1 + place), 16 * (1 + place)))
        for kernel in kernels[0 if is_shared else place]:
            x = net.add("Relu", net.add("Conv", x, kernel, kernel_shape=[3, 3], strides=[2, 2]))
        found.append(x)
    template, search = found
    if correlates:
        return net.finish(net.add("Conv", search, template)).architecture.sentence
    pooled = [net.add("Flatten", net.add("GlobalAveragePool", x)) for x in found]
    return net.finish(net.add("Sub", *pooled)).architecture.sentence


def test_a_siamese_network_has_its_weights_on_both_inputs() -> None:
    assert track(is_shared=True, correlates=True).startswith("Siamese network with correlation: ")
    assert track(is_shared=True, correlates=False).startswith("Siamese network: ")
    assert not track(is_shared=False, correlates=True).startswith("Siamese")


def detect(*, chooses: bool, crops: bool) -> str:
    """Return what is said of boxes from maps, and of what is made of regions of these."""
    net = Network()
    x = activate(net, net.take("image", (1, 3, 32, 32)), 3, 8, strides=[2, 2])
    for _ in range(3):
        x = activate(net, x, 8, 8)
    boxes = net.add("Reshape", net.conv(x, 8, 4, 1), net.numbers(1, -1, 4))
    scores = net.add("Reshape", net.conv(x, 8, 1, 1), net.numbers(1, 1, -1))
    if not chooses:
        rows = net.add("Reshape", boxes, net.numbers(-1, 4))
    else:
        chosen = net.add("NonMaxSuppression", boxes, scores, net.numbers(10))
        places = net.add("Gather", chosen, net.numbers(2), axis=1)
        rows = net.add("GatherND", net.add("Reshape", boxes, net.numbers(-1, 4)), places)
    if not crops:
        return net.finish(rows).architecture.sentence
    images = net.store(np.zeros(10, np.int64))
    regions = net.add("RoiAlign", x, rows, images, output_height=4, output_width=4)
    features = net.add("Flatten", activate(net, regions, 8, 8))
    return net.finish(net.linear(features, 128, 5)).architecture.sentence


def test_a_two_stage_detector_cuts_out_what_it_chose() -> None:
    assert detect(chooses=True, crops=True).startswith("Two-stage detector: ")
    assert not detect(chooses=True, crops=False).startswith("Two-stage")
    assert not detect(chooses=False, crops=True).startswith("Two-stage")


def grow(shape: Shape, taken: int, given: int, times: int) -> str:
    """Return what is said of a row of convolutions that becomes twice as large several times."""
    net = Network()
    x = net.take("x", shape)
    if len(shape) == 2:
        x = net.add("Reshape", net.linear(x, taken, 16 * 8), net.numbers(1, 8, 4, 4))
        taken = 8
    x = activate(net, x, taken, 8)
    for _ in range(times):
        x = net.add("Resize", x, "", net.store(np.array([1, 1, 2, 2], np.float32)))
        x = activate(net, x, 8, 8)
    return net.finish(net.conv(x, 8, given)).architecture.sentence


def test_a_picture_that_grows_is_made_sharper_and_a_vector_is_decoded() -> None:
    assert grow((1, 3, 24, 24), 3, 3, 2).startswith("Super-resolution network: ")
    assert grow((1, 16), 16, 3, 3).startswith("Convolutional decoder: ")
    for told in (grow((1, 4, 24, 24), 4, 3, 2), grow((1, 3, 24, 24), 3, 3, 0)):
        assert told.startswith("Convolutional network: ")


def decode(*, taken: Shape = (1, 16), channels: int = 3, times: int = 3) -> str:
    """Return what is said of a vector that becomes maps, with attention between their places."""
    net = Network()
    x = net.take("x", taken)
    if len(taken) > 2:
        x = net.add("Flatten", x)
    x = net.add("Reshape", net.linear(x, 16, 16 * 8), net.numbers(1, 8, 4, 4))
    for _ in range(times):
        x = net.add("Resize", x, "", net.store(np.array([1, 1, 2, 2], np.float32)))
        x = activate(net, x, 8, 8)
    keys, values = (
        net.add("MaxPool", net.conv(x, 8, 8, 1), kernel_shape=[2, 2], strides=[2, 2]),
    ) * 2
    rows = [net.add("Reshape", one, net.numbers(0, 8, -1)) for one in (net.conv(x, 8, 8, 1), keys)]
    scores = net.add("MatMul", net.add("Transpose", rows[0], perm=[0, 2, 1]), rows[1])
    shares = net.add("Transpose", net.add("Softmax", scores, axis=-1), perm=[0, 2, 1])
    mixed = net.add("MatMul", net.add("Reshape", values, net.numbers(0, 8, -1)), shares)
    side = 4 * 2**times
    x = net.add("Add", x, net.add("Reshape", mixed, net.numbers(1, 8, side, side)))
    end = net.conv(x, 8, channels)
    return net.finish(end, shape=(1, channels, side, side)).architecture.sentence


def test_a_vector_is_decoded_with_attention_between_the_layers() -> None:
    assert decode().startswith("Convolutional decoder: ")
    for told in (decode(channels=5), decode(times=1), decode(taken=(1, 1, 4, 4))):
        assert not told.startswith("Convolutional decoder: ")


def separate(*, masks: str, shape: Shape) -> str:
    """Return what is said of a wave that is convolved, masked and convolved back."""
    net = Network()
    x = net.take("wave", (1, 1, 800))
    x = net.add("Conv", x, net.weight(16, 1, 16), kernel_shape=[16], strides=[8])
    features = net.add("Relu", x)
    y = features
    for _ in range(3):
        y = net.add("PRelu", net.add("Conv", y, net.weight(16, 16, 1), kernel_shape=[1]), "slope")
    y = net.add("Sigmoid", y)
    masked = net.add("Mul", features, y) if masks == "features" else y
    kernel = net.weight(16, 1, 16)
    given = net.add("ConvTranspose", masked, kernel, kernel_shape=[16], strides=[8])
    net.weights[0].name = "slope"
    return net.finish(given, shape=shape).architecture.sentence


def test_masks_of_a_wave_are_multiplied_with_what_they_are_made_of() -> None:
    told = separate(masks="features", shape=(1, 2, 800))
    assert told.startswith("Time-domain separation network (2 sources): ")
    assert separate(masks="features", shape=(1, 1, 800)).startswith("Time-domain mask network: ")
    assert not separate(masks="none", shape=(1, 2, 800)).startswith("Time-domain")


def separate_each(*, masks: str) -> str:
    """Return what is said where each of two sources is taken out and convolved back."""
    net = Network()
    x = net.take("wave", (1, 1, 800))
    x = net.add("Conv", x, net.weight(16, 1, 16), kernel_shape=[16], strides=[8])
    features = net.add("Relu", x)
    y = net.add("Tanh", net.add("Conv", features, net.weight(16, 16, 1), kernel_shape=[1]))
    y = net.add("Relu", net.add("Conv", y, net.weight(32, 16, 1), kernel_shape=[1]))
    y = net.add("Transpose", net.add("Reshape", y, net.numbers(1, 2, 16, 99)), perm=[1, 0, 2, 3])
    row = [net.add("Unsqueeze", features, net.numbers(0)) for _ in range(2)]
    both = net.add("Concat", *row, axis=0)
    other = net.add("Mul", y, y) if masks == "themselves" else net.add("Mul", both, y)
    kernel = net.weight(16, 1, 16)
    given = []
    for source in range(2):
        one = net.add("Gather", other, net.store(np.array(source, np.int64)), axis=0)
        one = net.add("ConvTranspose", one, kernel, kernel_shape=[16], strides=[8])
        given.append(net.add("Unsqueeze", net.add("Squeeze", one, net.numbers(1)), net.numbers(2)))
    return net.finish(net.add("Concat", *given, axis=2), shape=(1, 800, 2)).architecture.sentence


def test_each_source_may_be_convolved_back_by_itself() -> None:
    """As of C. Subakan and others, Attention Is All You Need in Speech Separation, 2021."""
    told = separate_each(masks="features")
    assert told.startswith("Time-domain separation network (2 sources): ")
    assert "Time-domain" not in separate_each(masks="themselves")


def classify_points(*, kernel: int, largest: bool) -> str:
    net = Network()
    x = net.take("points", (1, 3, 64))
    for taken in (3, 16):
        weights = net.weight(16, taken, kernel)
        x = net.add("Relu", net.add("Conv", x, weights, kernel_shape=[kernel]))
    x = net.add("ReduceMax" if largest else "ReduceMean", x, net.numbers(2), keepdims=0)
    x = net.add("Relu", net.linear(x, 16, 16))
    return net.finish(net.linear(x, 16, 4)).architecture.sentence


def test_points_are_taken_alone_before_their_maximum() -> None:
    assert classify_points(kernel=1, largest=True).startswith("Point network: ")
    assert not classify_points(kernel=3, largest=True).startswith("Point")
    assert not classify_points(kernel=1, largest=False).startswith("Point")


@pytest.mark.parametrize("kind", ["sparse", "tables", "dense", "kept", "diagonal"])
def test_edges_of_a_graph_are_stored(kind: str) -> None:
    net = Network()
    x = net.take("joints", (1, 8, 10, 7))
    edges = np.eye(7, dtype=np.float32) * 0.5
    edges += 0 if kind == "diagonal" else np.eye(7, k=1, dtype=np.float32)
    for _ in range(3):
        if kind in ("tables", "kept"):
            wide = net.add("Reshape", net.conv(x, 8, 24, 1), net.numbers(1, 3, 8, 10, 7))
            table = net.store(np.full((3, 7, 7), 0.5, np.float32))
            equation = "nkctv,kvw->nctw" if kind == "tables" else "nkctv,kvw->nkctw"
            y = net.add("Einsum", wide, table, equation=equation)
            y = y if kind == "tables" else net.add("ReduceSum", y, net.numbers(1), keepdims=0)
        else:
            table = net.store(edges if kind in ("sparse", "diagonal") else edges + 0.25)
            y = net.add("MatMul", net.conv(x, 8, 8, 1), table)
        x = activate(net, y, 8, 8, 3)
    told = net.finish(net.conv(x, 8, 4, 1)).architecture.sentence
    is_graph = kind in ("sparse", "tables")
    assert told.startswith("Graph convolutional network (7 nodes): ") == is_graph


def test_a_table_with_a_bias_and_an_activation_is_no_weight() -> None:
    def tell(*, is_activated: bool) -> int:
        net = Network()
        x = net.take("x", (1, 9, 16))
        table = net.add("Add", net.weight(1, 9, 16), net.weight(16))
        table = net.add("Relu", table) if is_activated else table
        return net.finish(net.add("Add", net.linear(x, 16, 16), table)).costs().parameters

    assert tell(is_activated=False) == 9 * 16 + 16 + 16 * 16 + 16
    assert tell(is_activated=True) == 16 + 16 * 16 + 16


def test_zeros_along_several_axes_are_no_weights_and_zeros_of_channels_are() -> None:
    def count(*dims: int) -> int:
        net = Network()
        x = net.take("x", (1, 9, 16))
        zeros = net.store(np.zeros(dims, np.float32))
        x = net.add("Add", net.linear(x, 16, 16), net.add("Mul", net.add("Exp", x), zeros))
        return net.finish(x).costs().parameters

    assert count(1, 9, 16) == 16 * 16 + 16
    assert count(16) == 16 * 16 + 16 + 16


def test_distances_that_each_head_has_vectors_for_are_biases_of_attention() -> None:
    def count(*dims: int) -> tuple[int, int]:
        net = Network()
        query, key, value = (net.take(name, (1, 2, 9, 4)) for name in ("q", "k", "v"))
        scores = net.add("MatMul", query, key)
        more = net.add("MatMul", query, net.weight(*dims))
        more = net.add("GatherElements", more, net.take("places", (1, 2, 9, 9), 7), axis=3)
        shares = net.add("Softmax", net.add("Add", scores, more), axis=-1)
        costs = net.finish(net.add("MatMul", shares, value)).costs()
        return costs.parameters, costs.attention_biases

    assert count(1, 2, 4, 17) == (0, 2 * 4 * 17)
    assert count(2, 4, 32) == (0, 2 * 4 * 32)
    assert count(4, 17) == (4 * 17, 0)  # learned, the same for all heads
