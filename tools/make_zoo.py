"""Write the skeletons of real architectures into tests/zoo, as torch and onnxruntime export them.

Every network has random weights, its true depth and small widths; nothing is downloaded. In a
skeleton the values of larger tensors are left out and their names, types and shapes are kept:
`tests/zoo.py` fills them in again. The metadata of nodes loses its stack traces, which hold lines
of other projects and paths of this machine.

Usage: pip install -r tools/zoo/requirements.txt; python tools/make_zoo.py [NAME ...]
Tests need none of these packages.
"""

from __future__ import annotations

import lzma
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
import transformers
from torch import Tensor, nn
from zoo.networks import ConditionalScan, DenseNet, Recurrence, Tagger, UNet

ZOO = Path(__file__).resolve().parent.parent / "tests" / "zoo"
MOST_BYTES = 100_000
#: values of tensors of more elements are left out
MOST_ELEMENTS = 16
_LEFT_OUT = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.INT8,
    onnx.TensorProto.UINT8,
)
_STACK_TRACES = "pkg.torch.onnx.stack_trace"


class Named(nn.Module):
    """A network of transformers, called with its arguments in a given order."""

    def __init__(self, model: nn.Module, names: tuple[str, ...], **fixed: Any) -> None:
        super().__init__()
        self.model, self.names, self.fixed = model, names, fixed

    def forward(self, *values: Tensor) -> Any:
        """Return the outputs as a tuple."""
        return self.model(
            **dict(zip(self.names, values, strict=True)), **self.fixed, return_dict=False
        )


def export(
    model: nn.Module,
    inputs: dict[str, Tensor],
    outputs: tuple[str, ...],
    dynamo: bool,
    axes: dict[str, dict[int, str]] | None = None,
    functions: bool = False,
) -> onnx.ModelProto:
    """Return a model that one of torch's two exporters writes; ``axes`` names dynamic ones.

    Every parameter gets values of its own: the exporters share those that are equal, as biases
    and norms are before training.
    """
    with torch.no_grad():
        for parameter in [*model.parameters(), *model.buffers()]:
            if parameter.is_floating_point():
                parameter.add_(torch.rand_like(parameter) / 10)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        options: dict[str, Any] = {"opset_version": 20 if dynamo else 17, "dynamo": dynamo}
        if dynamo:
            options["external_data"] = False
            if axes:
                shapes = [
                    dict.fromkeys(axes.get(name, {}), torch.export.Dim.DYNAMIC) for name in inputs
                ]
                options["dynamic_shapes"] = (tuple(shapes),)
        else:
            options["dynamic_axes"] = axes
        write = torch.onnx.export
        if functions:
            from torch.onnx._internal.torchscript_exporter import utils

            write = utils.export
            options = {"opset_version": 17, "dynamic_axes": axes}
            options["export_modules_as_functions"] = True
        write(
            model.eval(),
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            output_names=list(outputs),
            **options,
        )
        return onnx.load(path)


TOKENS = {0: "batch", 1: "sequence"}


def bert(dynamo: bool) -> onnx.ModelProto:
    config = transformers.BertConfig(
        vocab_size=1000, hidden_size=48, num_attention_heads=4, intermediate_size=192
    )
    model = Named(transformers.BertModel(config), ("input_ids", "attention_mask"))
    ids = torch.ones(2, 16, dtype=torch.int64)
    inputs = {"input_ids": ids, "attention_mask": ids}
    outputs = ("last_hidden_state", "pooler_output")
    return export(model, inputs, outputs, dynamo, dict.fromkeys(inputs, TOKENS))


def gpt2() -> onnx.ModelProto:
    config = transformers.GPT2Config(
        vocab_size=1000, n_positions=128, n_embd=48, n_head=4, use_cache=False
    )
    names = ("input_ids", "attention_mask")
    model = Named(transformers.GPT2LMHeadModel(config), names, use_cache=False)
    ids = torch.ones(2, 16, dtype=torch.int64)
    return export(
        model, dict.fromkeys(names, ids), ("logits",), False, dict.fromkeys(names, TOKENS)
    )


def t5() -> onnx.ModelProto:
    config = transformers.T5Config(
        vocab_size=1000,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=8,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        use_cache=False,
    )
    names = ("input_ids", "decoder_input_ids")
    model = Named(transformers.T5ForConditionalGeneration(config), names, use_cache=False)
    inputs = {
        "input_ids": torch.ones(2, 16, dtype=torch.int64),
        "decoder_input_ids": torch.ones(2, 7, dtype=torch.int64),
    }
    return export(model, inputs, ("logits",), False)


def vit() -> onnx.ModelProto:
    config = transformers.ViTConfig(
        hidden_size=48, num_attention_heads=4, intermediate_size=192, num_labels=10
    )
    model = Named(transformers.ViTForImageClassification(config), ("pixel_values",))
    inputs = {"pixel_values": torch.ones(2, 3, 224, 224)}
    return export(model, inputs, ("logits",), True, {"pixel_values": {0: "batch"}})


def whisper() -> onnx.ModelProto:
    config = transformers.WhisperConfig(
        vocab_size=1000,
        d_model=32,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_source_positions=100,
        max_target_positions=64,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        use_cache=False,
    )
    names = ("input_features", "decoder_input_ids")
    model = Named(transformers.WhisperForConditionalGeneration(config), names, use_cache=False)
    inputs = {
        "input_features": torch.ones(1, 80, 200),
        "decoder_input_ids": torch.ones(1, 7, dtype=torch.int64),
    }
    return export(model, inputs, ("logits",), True)


def segformer() -> onnx.ModelProto:
    config = transformers.SegformerConfig(
        hidden_sizes=[16, 32, 40, 64], decoder_hidden_size=32, num_labels=10
    )
    model = Named(transformers.SegformerForSemanticSegmentation(config), ("pixel_values",))
    return export(model, {"pixel_values": torch.ones(1, 3, 128, 128)}, ("logits",), True)


def unet() -> onnx.ModelProto:
    inputs = {
        "sample": torch.ones(2, 4, 16, 16),
        "timestep": torch.tensor(3),
        "context": torch.ones(2, 7, 16),
    }
    return export(UNet(), inputs, ("out_sample",), True)


def densenet() -> onnx.ModelProto:
    axes = {"input": {0: "batch"}}
    return export(DenseNet(), {"input": torch.ones(1, 3, 224, 224)}, ("output",), False, axes)


def lstm(functions: bool) -> onnx.ModelProto:
    """Return recurrent layers, as one graph or each module as a function."""
    inputs = {"tokens": torch.ones(2, 9, dtype=torch.int64)}
    axes = {"tokens": {0: "batch", 1: "time"}}
    return export(Tagger(), inputs, ("logits",), False, axes, functions)


def scripted() -> onnx.ModelProto:
    inputs = {"x": torch.ones(5, 2, 8), "limit": torch.tensor(3)}
    return export(torch.jit.script(Recurrence().eval()), inputs, ("h",), False)


def conditional_scan() -> onnx.ModelProto:
    return export(ConditionalScan(), {"x": torch.ones(4, 8)}, ("y",), True)


# quantized by onnxruntime


def quantize(work: Callable[[str, str], None]) -> onnx.ModelProto:
    """Return what ``work`` writes into its second path, given the bert of the legacy exporter."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/source.onnx", f"{folder}/target.onnx"
        onnx.save(bert(dynamo=False), source)
        work(source, target)
        return onnx.load(target)


def prepare(source: str) -> str:
    """Return the path of a model made ready to be quantized."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    ready = source.replace(".onnx", ".ready.onnx")
    quant_pre_process(source, ready, skip_symbolic_shape=True)
    return ready


def batches() -> Any:
    from onnxruntime.quantization import CalibrationDataReader

    class Batches(CalibrationDataReader):
        def __init__(self) -> None:
            ids = np.ones((1, 8), np.int64)
            self.left = [{"input_ids": ids * number, "attention_mask": ids} for number in (3, 7)]

        def get_next(self) -> Any:
            return self.left.pop() if self.left else None

    return Batches()


def bert_dynamic() -> onnx.ModelProto:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    return quantize(
        lambda source, target: quantize_dynamic(
            prepare(source), target, weight_type=QuantType.QInt8
        )
    )


def bert_static(operators: bool) -> onnx.ModelProto:
    """Return bert with QLinear operators, per channel, or with Q and DQ pairs."""
    from onnxruntime.quantization import QuantFormat, quantize_static

    return quantize(
        lambda source, target: quantize_static(
            prepare(source),
            target,
            batches(),
            quant_format=QuantFormat.QOperator if operators else QuantFormat.QDQ,
            per_channel=operators,
        )
    )


def bert_int4() -> onnx.ModelProto:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    def work(source: str, target: str) -> None:
        quantizer = MatMulNBitsQuantizer(onnx.load(source), block_size=32)
        quantizer.process()
        quantizer.model.save_model_to_file(target)

    return quantize(work)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/bert.legacy": lambda: bert(dynamo=False),
    "exported/bert.dynamo": lambda: bert(dynamo=True),
    "exported/gpt2.legacy": gpt2,
    "exported/t5.legacy": t5,
    "exported/vit.dynamo": vit,
    "exported/whisper.dynamo": whisper,
    "exported/segformer.dynamo": segformer,
    "exported/unet.dynamo": unet,
    "exported/densenet.legacy": densenet,
    "exported/lstm.legacy": lambda: lstm(functions=False),
    "exported/lstm.legacy-functions": lambda: lstm(functions=True),
    "exported/scripted.legacy": scripted,
    "exported/condloop.dynamo": conditional_scan,
    "quantized/bert.dynamic": bert_dynamic,
    "quantized/bert.qdq": lambda: bert_static(operators=False),
    "quantized/bert.qoperator_perchannel": lambda: bert_static(operators=True),
    "quantized/bert.matmulnbits_int4": bert_int4,
}


def list_graphs(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[Any]:
    """Yield a graph or function and the graphs inside it, at any depth."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from list_graphs(attribute.g)


def strip(model: onnx.ModelProto) -> None:
    """Leave out the values of large tensors, and what tells of the machine."""
    graphs = [g for root in (model.graph, *model.functions) for g in list_graphs(root)]
    nodes = [node for graph in graphs for node in graph.node]
    tensors = [a.t for node in nodes for a in node.attribute if a.HasField("t")]
    for graph in graphs:
        tensors += getattr(graph, "initializer", ())
    for tensor in tensors:
        if tensor.data_type in _LEFT_OUT and np.prod(tensor.dims) > MOST_ELEMENTS:
            for field in ("raw_data", "float_data", "int32_data"):
                tensor.ClearField(field)
    for holder in [model, *graphs, *nodes]:
        kept = [entry for entry in holder.metadata_props if entry.key != _STACK_TRACES]
        del holder.metadata_props[:]
        holder.metadata_props.extend(kept)
        holder.doc_string = ""


def main(names: list[str]) -> int:
    """Write the named skeletons, or all."""
    warnings.simplefilter("ignore")
    most = 0
    for name in names or MODELS:
        torch.manual_seed(0)
        model = MODELS[name]()
        strip(model)
        data = model.SerializeToString(deterministic=True)
        for word in (str(Path.home()), tempfile.gettempdir(), sys.prefix):
            if word.encode() in data:
                raise SystemExit(f"{name} still holds {word}")
        packed = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
        path = ZOO / f"{name}.onnx.xz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed)
        print(f"{name}: {len(model.graph.node)} nodes, {len(packed)} bytes", flush=True)
        most = max(most, len(packed))
    return most > MOST_BYTES


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
