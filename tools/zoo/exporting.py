"""Write a network of torch as ONNX with one of torch's two exporters."""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor, nn


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


class Outputs(Named):
    """A network of transformers that returns only some of its outputs, in a given order."""

    def __init__(
        self, model: nn.Module, names: tuple[str, ...], outputs: tuple[str, ...], **fixed: Any
    ) -> None:
        super().__init__(model, names, **fixed)
        self.outputs = outputs

    def forward(self, *values: Tensor) -> tuple[Tensor, ...]:
        """Return the wanted outputs."""
        found = self.model(**dict(zip(self.names, values, strict=True)), **self.fixed)
        return tuple(found[name] for name in self.outputs)


def export(
    model: nn.Module,
    inputs: dict[str, Tensor],
    outputs: tuple[str, ...],
    dynamo: bool,
    axes: dict[str, dict[int, str]] | None = None,
    *,
    functions: bool = False,
    keep_norms: bool = False,
    fill: bool = True,
) -> onnx.ModelProto:
    """Return a model that one of torch's two exporters writes; ``axes`` names dynamic ones.

    Every parameter gets values of its own, unless ``fill`` is false because it has some: the
    exporters share those that are equal, as biases and norms are before training. With
    ``functions`` the older exporter writes each module as a function; with ``keep_norms`` it
    leaves batch normalizations beside their convolutions.
    """
    with torch.no_grad():
        for parameter in [*model.parameters(), *model.buffers()]:
            if fill and parameter.is_floating_point():
                parameter.add_(torch.rand_like(parameter) / 10)
    # one tensor that stands for two inputs would be taken for one input
    inputs = {name: value.clone() for name, value in inputs.items()}
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters in torch", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        options: dict[str, Any] = {"opset_version": 20 if dynamo else 17, "dynamo": dynamo}
        if dynamo:
            options["external_data"] = False
            if axes:
                options["dynamic_shapes"] = _list_dynamic(model, inputs, axes)
        else:
            options["dynamic_axes"] = axes
            if keep_norms:
                options["training"] = torch.onnx.TrainingMode.PRESERVE
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


def _list_dynamic(
    model: nn.Module, inputs: dict[str, Tensor], axes: dict[str, dict[int, str]]
) -> tuple[Any, ...]:
    """Return what is dynamic of each argument; those of ``*arguments`` are one."""
    shapes = [dict.fromkeys(axes.get(name, {}), torch.export.Dim.DYNAMIC) for name in inputs]
    parameters = list(inspect.signature(model.forward).parameters.values())
    if parameters[-1].kind is not inspect.Parameter.VAR_POSITIONAL:
        return tuple(shapes)
    alone = len(parameters) - 1
    return (*shapes[:alone], tuple(shapes[alone:]))


def export_images(
    model: nn.Module,
    size: int,
    dynamo: bool,
    outputs: tuple[str, ...] = ("logits",),
    *,
    batch: bool = True,
    keep_norms: bool = False,
) -> onnx.ModelProto:
    """Return a network of images ``pixel_values``, whose batch is dynamic if wanted."""
    axes = {"pixel_values": {0: "batch"}} if batch else None
    inputs = {"pixel_values": torch.rand(2 if batch else 1, 3, size, size)}
    return export(model, inputs, outputs, dynamo, axes, keep_norms=keep_norms)
