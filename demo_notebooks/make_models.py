"""Train and write the small models that the demo notebooks look at.

All read the digits that scikit-learn brings along (8x8 grey images, ten classes), so nothing
is downloaded. A quarter of the images, the same in every run, is held out to measure accuracy.

digits_cnn.onnx
    A residual network with squeeze-and-excite gates, written by torch's exporter. Batch
    normalizations are folded into their convolutions first. Stack traces are removed from the
    node metadata, because they hold paths of the machine that exported the model.
digits_cnn.qdq.onnx
    The same network in int8, with QuantizeLinear and DequantizeLinear pairs, weights per output
    channel, calibrated on training images. Two things are wrong on purpose, so that a review has
    something to find. The scale of the last layer's bias is 1.7 times what it should be, the
    product of the scales of input and weight. And in one channel of `blocks.1.first` the range of
    the weights ends at the 60th percentile of their magnitudes, so that the others saturate. The
    table also has the accuracy of the int8 model without it.
digits_cnn.retrained.onnx
    The network of digits_cnn.onnx, trained from another start: the same graph, other weights.
digits_cnn.reexported.onnx
    The network and the weights of digits_cnn.onnx, written by torch's older exporter, which gives
    other names to nodes and values and traces another way.
digits_refine.onnx
    Control flow and functions. A Loop classifies shifted copies of one image and adds up the
    logits. An If in its body stops as soon as the mean vote is confident; otherwise an inner If
    lets very doubtful images vote once more after a Scan over their rows has straightened them.
    The classifier is a function that calls functions, down to one whose attributes are references.

Seeds are fixed and one thread is used: on one machine, two runs write the same bytes. Another
processor or another version of a library may round differently, and then the weights differ.

Usage: pip install -r requirements.txt; python make_models.py [--output FOLDER]
"""

import argparse
import logging
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

Images = NDArray[np.float32]  # count, 1, 8, 8; 0 is background and 1 is full ink
Labels = NDArray[np.int64]  # count
Split = tuple[Images, Labels, Images, Labels]  # training images and labels, held-out ones

Network = TypeVar("Network", bound=nn.Module)

SEED = 7
EPOCHS = 40
CLASSES = 10
SEED_AGAIN = 8
CLIPPED_LAYER = "blocks.1.first"
CLIPPED_CHANNEL = 5
CLIPPED_PERCENTILE = 60.0
WRONG_BIAS = "head.classify.bias"
WRONG_BIAS_FACTOR = 1.7
LICENSE = "Apache-2.0"


class ConvNormAct(nn.Module):
    """A 3x3 convolution, its normalization and, unless told otherwise, a ReLU."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1, activate: bool = True) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.norm: nn.BatchNorm2d | nn.Identity = nn.BatchNorm2d(outputs)
        self.act = nn.ReLU() if activate else nn.Identity()

    def forward(self, features: Tensor) -> Tensor:
        """Map (batch, inputs, height, width) to (batch, outputs, height / stride, ...)."""
        result: Tensor = self.act(self.norm(self.conv(features)))
        return result

    def fold_norm(self) -> None:
        """Fold the batch normalization into the convolution; for evaluation only."""
        if isinstance(self.norm, nn.BatchNorm2d):
            self.conv = fuse_conv_bn_eval(self.conv, self.norm)
            self.norm = nn.Identity()


class SqueezeExcite(nn.Module):
    """Weigh each channel by a gate computed from the means of all channels (Hu et al. 2018)."""

    def __init__(self, channels: int, reduced: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, reduced, 1)
        self.act = nn.ReLU()
        self.expand = nn.Conv2d(reduced, channels, 1)
        self.gate = nn.Sigmoid()

    def forward(self, features: Tensor) -> Tensor:
        """Keep the shape (batch, channels, height, width)."""
        gates: Tensor = self.gate(self.expand(self.act(self.reduce(self.pool(features)))))
        return features * gates


class ResidualBlock(nn.Module):
    """Two convolutions and a gate, added to what came in."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = ConvNormAct(channels, channels)
        self.second = ConvNormAct(channels, channels, activate=False)
        self.excite = SqueezeExcite(channels, channels // 4)
        self.act = nn.ReLU()

    def forward(self, features: Tensor) -> Tensor:
        """Keep the shape (batch, channels, height, width)."""
        result: Tensor = self.act(features + self.excite(self.second(self.first(features))))
        return result


class Head(nn.Module):
    """Channel means, then one linear layer."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.classify = nn.Linear(channels, CLASSES)

    def forward(self, features: Tensor) -> Tensor:
        """Map (batch, channels, height, width) to logits (batch, 10)."""
        result: Tensor = self.classify(self.flatten(self.pool(features)))
        return result


class DigitsCNN(nn.Module):
    """The network of digits_cnn.onnx: a stem, four equal blocks at half size, a head."""

    def __init__(self, channels: int = 24) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            ConvNormAct(1, channels // 2), ConvNormAct(channels // 2, channels, stride=2)
        )
        self.blocks = nn.Sequential(*(ResidualBlock(channels) for _ in range(4)))
        self.head = Head(channels)

    def forward(self, image: Tensor) -> Tensor:
        """Map images (batch, 1, 8, 8) to logits (batch, 10)."""
        result: Tensor = self.head(self.blocks(self.stem(image)))
        return result


class ConvInstanceNorm(nn.Module):
    """A 3x3 convolution, an instance normalization, a ReLU: digits::ConvNormRelu in torch."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.InstanceNorm2d(outputs, affine=True)

    def forward(self, features: Tensor) -> Tensor:
        """Map (batch, inputs, height, width) to (batch, outputs, height / stride, ...)."""
        return functional.relu(self.norm(self.conv(features)))


class RefineClassifier(nn.Module):
    """The classifier of digits_refine.onnx, only to train its weights."""

    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.stem = ConvInstanceNorm(1, channels)
        self.block1 = nn.Sequential(
            ConvInstanceNorm(channels, channels), ConvInstanceNorm(channels, channels)
        )
        self.down = ConvInstanceNorm(channels, channels, stride=2)
        self.block2 = nn.Sequential(
            ConvInstanceNorm(channels, channels), ConvInstanceNorm(channels, channels)
        )
        self.head = nn.Linear(channels * 16, CLASSES)

    def forward(self, image: Tensor) -> Tensor:
        """Map images (batch, 1, 8, 8) to logits (batch, 10)."""
        features = self.stem(image)
        features = features + self.block1(features)
        features = self.down(features)
        features = features + self.block2(features)
        result: Tensor = self.head(features.flatten(1))
        return result

    def list_norm_convs(self) -> dict[str, ConvInstanceNorm]:
        """Name the five places of a ConvNormRelu as REFINE_TEXT names them."""
        names = ("stem", "block1_first", "block1_second", "down", "block2_first", "block2_second")
        layers = (m for m in self.modules() if isinstance(m, ConvInstanceNorm))
        return dict(zip(names, layers, strict=True))


# Weights are added by `write_refine`: constants in Classifier, and the head as initializers.
REFINE_TEXT = """
<ir_version: 10, opset_import: ["" : 20, "digits" : 1]>
digits_refine (float[1, 1, 8, 8] image, float threshold = {0.99})
    => (float[1, 10] logits, float[views] confidence)
<
    int64[5, 2] shifts = {1, 1, 0, 1, 2, 1, 1, 0, 1, 2},
    int64 max_views = {5},
    int64[2] window = {8, 8},
    int64[2] spatial_axes = {2, 3},
    int64[4] margins = {1, 1, 1, 1},
    float doubt = {0.8},
    float[1, 10] no_logits = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    float no_votes = {0},
    float one_vote = {1},
    bool start = {1}
>
{
    [pad_image] padded = Pad (image, margins, , spatial_axes)
    [refine] total, votes, confidence = Loop (max_views, start, no_logits, no_votes) <
        body = look_at_view (int64 view, bool unsure, float[1, 10] total_in, float votes_in)
            => (bool go_on, float[1, 10] total_out, float votes_out, float view_confidence)
        {
            [select_shift] shift = Gather <axis = 0> (shifts, view)
            [find_end] end = Add (shift, window)
            [cut_view] shifted = Slice (padded, shift, end, spatial_axes)
            [classify_view] view_logits = digits.Classifier (shifted, head_weight, head_bias)
            [add_logits] summed = Add (total_in, view_logits)
            [count_vote] counted = Add (votes_in, one_vote)
            [average] mean_logits = Div (summed, counted)
            [to_probabilities] probabilities = Softmax <axis = -1> (mean_logits)
            [find_confidence] view_confidence = ReduceMax <keepdims = 0> (probabilities)
            [is_confident] confident = GreaterOrEqual (view_confidence, threshold)
            [stop_or_look_again] go_on, total_out, votes_out = If (confident) <
                then_branch = stop () => (bool done, float[1, 10] total_stop, float votes_stop)
                {
                    [say_stop] done = Constant <value = bool {0}> ()
                    [keep_total] total_stop = Identity (summed)
                    [keep_votes] votes_stop = Identity (counted)
                },
                else_branch = look_again ()
                    => (bool more, float[1, 10] total_more, float votes_more)
                {
                    [is_doubtful] doubtful = Less (view_confidence, doubt)
                    [straighten_or_not] total_more, votes_more = If (doubtful) <
                        then_branch = straighten ()
                            => (float[1, 10] total_straight, float votes_straight)
                        {
                            [measure_slant] slant = digits.Slant (shifted)
                            [centre] centre = Constant <value = float {-3.5}> ()
                            [find_first_offset] first_offset = Mul (slant, centre)
                            [row_shape] row_shape = Constant <value = int64[2] {8, 8}> ()
                            [to_rows] rows = Reshape (shifted, row_shape)
                            [row_margins] row_margins = Constant <value = int64[2] {2, 2}> ()
                            [row_axes] row_axes = Constant <value = int64[1] {1}> ()
                            [pad_rows] padded_rows = Pad (rows, row_margins, , row_axes)
                            [shear] last_offset, straight_rows = Scan (first_offset, padded_rows)
                            <
                                num_scan_inputs = 1,
                                body = shear_row (float offset, float[12] row)
                                    => (float next_offset, float[8] straight_row)
                                {
                                    [whole] whole = Floor (offset)
                                    [fraction] fraction = Sub (offset, whole)
                                    [to_index] index = Cast <to = 7> (whole)
                                    [near] near = Constant <value = int64[1] {2}> ()
                                    [near_start] near_start = Add (index, near)
                                    [width] width = Constant <value = int64[1] {8}> ()
                                    [near_end] near_end = Add (near_start, width)
                                    [cut_near] near_row = Slice (row, near_start, near_end)
                                    [far] far = Constant <value = int64[1] {1}> ()
                                    [far_start] far_start = Add (near_start, far)
                                    [far_end] far_end = Add (near_end, far)
                                    [cut_far] far_row = Slice (row, far_start, far_end)
                                    [difference] difference = Sub (far_row, near_row)
                                    [weigh] weighed = Mul (difference, fraction)
                                    [interpolate] straight_row = Add (near_row, weighed)
                                    [move_on] next_offset = Add (offset, slant)
                                }
                            >
                            [image_shape] image_shape = Shape (shifted)
                            [to_image] straight = Reshape (straight_rows, image_shape)
                            [classify_straight] straight_logits =
                                digits.Classifier (straight, head_weight, head_bias)
                            [add_straight] total_straight = Add (summed, straight_logits)
                            [count_straight] votes_straight = Add (counted, one_vote)
                        },
                        else_branch = keep () => (float[1, 10] total_kept, float votes_kept)
                        {
                            [keep_sum] total_kept = Identity (summed)
                            [keep_count] votes_kept = Identity (counted)
                        }
                    >
                    [say_more] more = Constant <value = bool {1}> ()
                }
            >
        }
    >
    [mean_vote] logits = Div (total, votes)
}
<domain: "digits", opset_import: ["" : 20]>
ConvNormRelu <strides, epsilon: float = 0.00001> (X, W, scale, bias) => (Y)
{
    [conv] mapped = Conv <strides: ints = @strides, pads = [1, 1, 1, 1]> (X, W)
    [norm] normal = InstanceNormalization <epsilon: float = @epsilon> (mapped, scale, bias)
    [relu] Y = Relu (normal)
}
<domain: "digits", opset_import: ["" : 20, "digits" : 1]>
ResidualBlock <epsilon: float = 0.00001> (X, W1, scale1, bias1, W2, scale2, bias2) => (Y)
{
    [first] inner = digits.ConvNormRelu <strides = [1, 1], epsilon: float = @epsilon>
        (X, W1, scale1, bias1)
    [second] change = digits.ConvNormRelu <strides = [1, 1], epsilon: float = @epsilon>
        (inner, W2, scale2, bias2)
    [add] Y = Add (X, change)
}
<domain: "digits", opset_import: ["" : 20, "digits" : 1]>
Classifier (image, head_weight, head_bias) => (logits)
{
    [stem] stem = digits.ConvNormRelu <strides = [1, 1]> (image, stem_W, stem_scale, stem_bias)
    [block1] features = digits.ResidualBlock (stem,
        block1_first_W, block1_first_scale, block1_first_bias,
        block1_second_W, block1_second_scale, block1_second_bias)
    [down] halved = digits.ConvNormRelu <strides = [2, 2]> (features, down_W, down_scale, down_bias)
    [block2] refined = digits.ResidualBlock (halved,
        block2_first_W, block2_first_scale, block2_first_bias,
        block2_second_W, block2_second_scale, block2_second_bias)
    [flatten] flat = Flatten <axis = 1> (refined)
    [head] logits = Gemm <transB = 1> (flat, head_weight, head_bias)
}
<domain: "digits", opset_import: ["" : 20]>
Slant (image) => (slant)
{
    [ramp] ramp = Constant <value_floats = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> ()
    [column_shape] column_shape = Constant <value_ints = [8, 1]> ()
    [ramp_down] ramp_down = Reshape (ramp, column_shape)
    [tiny] tiny = Constant <value_float = 0.001> ()
    [ink] ink = ReduceSum <keepdims = 0> (image)
    [mass] mass = Max (ink, tiny)
    [weigh_x] weighed_x = Mul (image, ramp)
    [sum_x] sum_x = ReduceSum <keepdims = 0> (weighed_x)
    [mean_x] mean_x = Div (sum_x, mass)
    [weigh_y] weighed_y = Mul (image, ramp_down)
    [sum_y] sum_y = ReduceSum <keepdims = 0> (weighed_y)
    [mean_y] mean_y = Div (sum_y, mass)
    [from_mean_x] dx = Sub (ramp, mean_x)
    [from_mean_y] dy = Sub (ramp_down, mean_y)
    [weigh_dy] image_dy = Mul (image, dy)
    [weigh_dx_dy] image_dx_dy = Mul (image_dy, dx)
    [covariance] covariance = ReduceSum <keepdims = 0> (image_dx_dy)
    [weigh_dy_dy] image_dy_dy = Mul (image_dy, dy)
    [spread_y] spread_y = ReduceSum <keepdims = 0> (image_dy_dy)
    [variance] variance = Max (spread_y, tiny)
    [divide] raw_slant = Div (covariance, variance)
    [least] least = Constant <value_float = -0.5> ()
    [most] most = Constant <value_float = 0.5> ()
    [limit] slant = Clip (raw_slant, least, most)
}
"""

REFINE_DOCS = {
    "ConvNormRelu": "3x3 convolution, instance normalization, ReLU.",
    "ResidualBlock": "Two ConvNormRelu, added to what came in. The shape stays.",
    "Classifier": "Logits of one 8x8 image; the backbone's trained weights are constants in here.",
    "Slant": "Columns that the ink moves per row: covariance of x and y over variance of y, "
    "limited to half a column. A blank image has slant 0.",
    "look_at_view": "Classifies one shifted view and adds its logits to the total.",
    "stop": "Sure enough: ends the loop.",
    "look_again": "Not sure: goes on to the next view.",
    "straighten": "Undoes the slant of this view and lets it vote once more.",
    "keep": "Leaves the total as it is.",
    "shear_row": "One row, moved sideways by linear interpolation between two cuts.",
    "refine": "One turn for each shifted view, at most five.",
    "stop_or_look_again": "Stops the loop when the mean vote reaches the threshold.",
    "straighten_or_not": "Only very doubtful images are straightened, for a second vote.",
    "shear": "Moves each row sideways by the slant, in proportion to its distance from the middle.",
}


def load_split() -> Split:
    """Scale the digits to 0..1 and hold a quarter of each class out."""
    pixels, labels = load_digits(return_X_y=True)
    images = (pixels / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    train, test, train_labels, test_labels = train_test_split(
        images, labels.astype(np.int64), test_size=0.25, random_state=SEED, stratify=labels
    )
    return train, train_labels, test, test_labels


def distort(images: Tensor) -> Tensor:
    """Shift by up to one pixel and shear by up to 0.3, each image of (count, 1, 8, 8) its own."""
    transform = torch.eye(2, 3).repeat(len(images), 1, 1)
    transform[:, 0, 1] = torch.rand(len(images)) * 0.6 - 0.3
    transform[:, :, 2] = torch.rand(len(images), 2) * 0.5 - 0.25  # the image is 2 wide
    grid = functional.affine_grid(transform, list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, align_corners=False)


def train_network(
    architecture: type[Network], images: Images, labels: Labels, seed: int = SEED
) -> Network:
    """Build a network, train it with distorted images and leave it in evaluation mode."""
    torch.manual_seed(seed)
    network = architecture()
    inputs, targets = torch.from_numpy(images), torch.from_numpy(labels)
    batches = len(inputs) // 64
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=0.01, total_steps=EPOCHS * batches
    )
    network.train()
    for _ in range(EPOCHS):
        order = torch.randperm(len(inputs))
        for chosen in order[: batches * 64].reshape(batches, 64):
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(distort(inputs[chosen])), targets[chosen])
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
    return network.eval()


def open_session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    """Load a model into onnxruntime, with one thread and without warnings."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run_model(model: onnx.ModelProto, images: Images, output: str) -> NDArray[np.float32]:
    """Run all images as one batch and give one output."""
    result: NDArray[np.float32] = open_session(model).run([output], {"image": images})[0]
    return result


def measure_accuracy(model: onnx.ModelProto, images: Images, labels: Labels) -> float:
    """Share of images whose largest logit is at their label."""
    logits = run_model(model, images, "logits")
    return float((logits.argmax(axis=1) == labels).mean())


def list_graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Give a graph and every graph inside its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from list_graphs(attribute.g)


def count_nodes(model: onnx.ModelProto) -> int:
    """Count the nodes of every graph, subgraph and function body once."""
    in_functions = sum(len(function.node) for function in model.functions)
    return in_functions + sum(len(graph.node) for graph in list_graphs(model.graph))


def fold_norms(network: DigitsCNN) -> DigitsCNN:
    """Fold each normalization of a trained network into the convolution before it."""
    for module in network.modules():
        if isinstance(module, ConvNormAct):
            module.fold_norm()
    return network


def export_cnn(network: DigitsCNN) -> onnx.ModelProto:
    """Export with torch's exporter, without the stack traces it leaves on the nodes."""
    program = torch.onnx.export(
        network,
        (torch.zeros(2, 1, 8, 8),),
        dynamo=True,
        verbose=False,
        input_names=["image"],
        output_names=["logits"],
        dynamic_shapes={"image": {0: torch.export.Dim("batch")}},
    )
    if program is None:
        raise RuntimeError("torch.onnx.export returned no program")
    model = program.model_proto
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if not entry.key.endswith("stack_trace")]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    model.graph.name = "digits_cnn"
    model.producer_version = model.producer_version.partition("+")[0]  # not for which device
    return model


def export_by_tracing(network: DigitsCNN) -> onnx.ModelProto:
    """Export with torch's older exporter, which traces the network and names all else anew."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traced.onnx"
        torch.onnx.export(
            network,
            (torch.zeros(2, 1, 8, 8),),
            path,
            dynamo=False,  # deprecated, and still what many files come from
            opset_version=18,
            input_names=["image"],
            output_names=["logits"],
            dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}},
        )
        return onnx.load(path)


def describe_images(model: onnx.ModelProto) -> None:
    """State what the input means, with the specification's denotations and keys."""
    image = model.graph.input[0]
    image.doc_string = "Grey images of handwritten digits: 0 is background, 1 is full ink."
    image.type.denotation = "IMAGE"
    meanings = ("DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE")
    for dimension, meaning in zip(image.type.tensor_type.shape.dim, meanings, strict=True):
        dimension.denotation = meaning
    model.graph.output[0].doc_string = "One score for each digit, not normalized."
    add_metadata(
        model,
        {
            "Image.BitmapPixelFormat": "Gray8",
            "Image.NominalPixelRange": "Normalized_0_1",
            "dataset": "scikit-learn digits, 25 % held out",
            "license": LICENSE,
        },
    )


def add_metadata(model: onnx.ModelProto, entries: dict[str, str]) -> None:
    """Set entries of the model's metadata_props, replacing those of the same key."""
    merged = {entry.key: entry.value for entry in model.metadata_props} | entries
    onnx.helper.set_model_props(model, merged)


class TrainingImages(CalibrationDataReader):  # type: ignore[misc]
    """Hands the quantizer one image at a time."""

    def __init__(self, images: Images) -> None:
        self.remaining = iter(images[:, None])

    def get_next(self) -> dict[str, Images] | None:
        """Give the next input, or None at the end."""
        image = next(self.remaining, None)
        return None if image is None else {"image": image}


def clip_channel(model: onnx.ModelProto) -> dict[str, list[dict[str, Any]]]:
    """Give the ranges of the clipped layer's weight: in one channel a percentile of magnitudes.

    Returns
    -------
    dict
        For onnxruntime's option TensorQuantOverrides: the tensor's name to a range for each output
        channel.
    """
    name = f"{CLIPPED_LAYER}.conv.weight"
    weight = next(
        numpy_helper.to_array(tensor) for tensor in model.graph.initializer if tensor.name == name
    )
    magnitudes = np.abs(weight).reshape(len(weight), -1)
    limits = magnitudes.max(axis=1)
    limits[CLIPPED_CHANNEL] = np.percentile(magnitudes[CLIPPED_CHANNEL], CLIPPED_PERCENTILE)
    return {
        name: [
            {"axis": 0, "rmin": np.float32(-limit), "rmax": np.float32(limit)} for limit in limits
        ]
    }


def spoil_bias(model: onnx.ModelProto) -> None:
    """Multiply the scale of the last layer's bias, and leave the integers as they are."""
    dequantize = next(node for node in model.graph.node if WRONG_BIAS in node.output)
    scale = next(tensor for tensor in model.graph.initializer if tensor.name == dequantize.input[1])
    wrong = numpy_helper.to_array(scale) * np.float32(WRONG_BIAS_FACTOR)
    scale.CopyFrom(numpy_helper.from_array(wrong, scale.name))


def quantize_cnn(
    model: onnx.ModelProto, images: Images, overrides: dict[str, list[dict[str, Any]]]
) -> onnx.ModelProto:
    """Quantize to int8, each convolution together with the ReLU that follows it."""
    source = onnx.ModelProto()
    source.CopyFrom(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quantized.onnx"
        quantize_static(
            source,
            path,
            TrainingImages(images),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QInt8,
            weight_type=QuantType.QInt8,
            extra_options={
                "QDQKeepRemovableActivations": True,
                "OpTypesToExcludeOutputQuantization": ["Conv"],
                "TensorQuantOverrides": overrides,
            },
        )
        return onnx.load(path)


def add_weights(model: onnx.ModelProto, network: RefineClassifier) -> None:
    """Put the backbone's weights into digits::Classifier and the head's into the main graph."""
    constants: list[onnx.NodeProto] = []
    for place, layer in network.list_norm_convs().items():
        weights = {"W": layer.conv.weight, "scale": layer.norm.weight, "bias": layer.norm.bias}
        for role, weight in weights.items():
            name = f"{place}_{role}"
            tensor = numpy_helper.from_array(weight.detach().numpy(), name)
            constants.append(onnx.helper.make_node("Constant", [], [name], name, value=tensor))
    classifier = next(function for function in model.functions if function.name == "Classifier")
    calls = list(classifier.node)
    del classifier.node[:]
    classifier.node.extend(constants + calls)
    for name, parameter in network.head.named_parameters():
        model.graph.initializer.append(
            numpy_helper.from_array(parameter.detach().numpy(), f"head_{name}")
        )


def build_refine(network: RefineClassifier) -> onnx.ModelProto:
    """Parse the text, add weights and documentation."""
    model = onnx.parser.parse_model(REFINE_TEXT)
    add_weights(model, network)
    graphs = list(list_graphs(model.graph))
    nodes = [node for graph in graphs for node in graph.node]
    for element in (*model.functions, *graphs, *nodes):
        element.doc_string = REFINE_DOCS.get(element.name, "")
    model.graph.input[1].doc_string = "Confidence at which the loop stops; 0.99 when not given."
    model.graph.output[1].doc_string = "Confidence of the mean vote after each view."
    return model


def refine_all(model: onnx.ModelProto, images: Images, labels: Labels) -> tuple[float, float]:
    """Accuracy of the refined logits, and the mean number of views an image took."""
    session = open_session(model)
    results = [session.run(None, {"image": image[None]}) for image in images]
    correct = [logits.argmax() == label for (logits, _), label in zip(results, labels, strict=True)]
    return float(np.mean(correct)), float(np.mean([len(views) for _, views in results]))


def write_model(model: onnx.ModelProto, path: Path, doc: str, accuracy: float) -> None:
    """Describe, check and save, and print the model's row of the table."""
    describe_images(model)
    add_metadata(model, {"accuracy": f"{accuracy:.4f}"})
    model.doc_string = doc
    model.model_version = 1
    model.domain = "org.netloupe.demo"
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString(deterministic=True))
    nodes = count_nodes(model)
    print(f"{path.name:<28}{path.stat().st_size:>9}{nodes:>7}{accuracy:>10.2%}")


def main() -> None:
    """Train, quantize, build and write all models."""
    parser = argparse.ArgumentParser(description="Write the models of the demo notebooks.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "models")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore", category=FutureWarning)
    warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"torch\.onnx|__main__")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    images, labels, test_images, test_labels = load_split()
    print(f"{'file':<28}{'bytes':>9}{'nodes':>7}{'accuracy':>10}")

    network = fold_norms(train_network(DigitsCNN, images, labels))
    cnn = export_cnn(network)
    cnn_accuracy = measure_accuracy(cnn, test_images, test_labels)
    write_model(
        cnn,
        folder / "digits_cnn.onnx",
        "Residual network with squeeze-and-excite gates for 8x8 digits.",
        cnn_accuracy,
    )

    sound = quantize_cnn(cnn, images, {})
    sound_accuracy = measure_accuracy(sound, test_images, test_labels)
    quantized = quantize_cnn(cnn, images, clip_channel(cnn))
    spoil_bias(quantized)
    add_metadata(quantized, {"accuracy.float": f"{cnn_accuracy:.4f}"})
    write_model(
        quantized,
        folder / "digits_cnn.qdq.onnx",
        "digits_cnn in int8. Two things are wrong on purpose, as an exercise in review; "
        "make_models.py says which.",
        measure_accuracy(quantized, test_images, test_labels),
    )
    print(f"{'  without what is wrong':<44}{sound_accuracy:>10.2%}")

    again = export_cnn(fold_norms(train_network(DigitsCNN, images, labels, SEED_AGAIN)))
    write_model(
        again,
        folder / "digits_cnn.retrained.onnx",
        "digits_cnn, trained from another start.",
        measure_accuracy(again, test_images, test_labels),
    )
    traced = export_by_tracing(network)
    write_model(
        traced,
        folder / "digits_cnn.reexported.onnx",
        "digits_cnn, written by torch's older exporter.",
        measure_accuracy(traced, test_images, test_labels),
    )

    classifier = train_network(RefineClassifier, images, labels)
    refine = build_refine(classifier)
    refine.producer_name, refine.producer_version = "netloupe demo", "1"
    accuracy, views = refine_all(refine, test_images, test_labels)
    write_model(
        refine,
        folder / "digits_refine.onnx",
        "Classifies shifted and straightened views of a digit until the mean vote is confident.",
        accuracy,
    )
    with torch.inference_mode():
        single = classifier(torch.from_numpy(test_images)).argmax(dim=1).numpy() == test_labels
    print(f"{'  one view only':<44}{single.mean():>10.2%}")
    print(f"  views an image took: {views:.2f} of at most 5")


if __name__ == "__main__":
    main()
