"""Networks whose steps or blocks are written out one after another, built inline."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load

WIDTH = 8


class Writer:
    """Writes nodes one after the other, named as an exporter names them.

    Parameters
    ----------
    naming
        ``legacy``: scoped names, further calls of a module numbered; ``plain``: no names at all.
    """

    def __init__(self, naming: str = "legacy") -> None:
        self.naming = naming
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []
        self.outputs: list[str] = []
        self.inputs: dict[str, list[int]] = {}

    def add(self, scope: str, op_type: str, *inputs: str, **attributes: object) -> str:
        """Add a node in a scope; return its result."""
        number = sum(node.op_type == op_type for node in self.nodes)
        place = f"{scope}/" if scope else ""
        name = f"/{place}{op_type}" + (f"_{number}" if number and not scope else "")
        result = f"{name}_output_0" if self.naming == "legacy" else f"t{len(self.nodes)}"
        while any(result in node.output for node in self.nodes):
            result += "0"
        node = helper.make_node(op_type, inputs, [result], **attributes)
        node.name = name if self.naming == "legacy" else ""
        self.nodes.append(node)
        return result

    def weight(self, name: str, *dims: int) -> str:
        """Add a weight unless it is there; return its name."""
        if all(tensor.name != name for tensor in self.tensors):
            elements = np.arange(np.prod(dims), dtype=np.float32).reshape(dims)
            self.tensors.append(numpy_helper.from_array(elements + len(self.tensors), name))
        return name

    def load(self) -> Model:
        """Return the model."""
        return load(self.make())

    def make(self) -> onnx.ModelProto:
        """Return the file of the model."""
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
            for name, dims in self.inputs.items()
        ]
        outputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs
        ]
        graph = helper.make_graph(self.nodes, "main", inputs, outputs, self.tensors)
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def call(name: str, number: int) -> str:
    """Return how torch's older exporter names the call of a module: ``cell``, ``cell_1``."""
    return f"{name}_{number}" if number else name


def make_recurrent(
    steps: int = 5, *, naming: str = "legacy", shared: bool = True, copies: bool = False
) -> Model:
    """Return a plain recurrent layer that is written out, with an output at each step.

    Parameters
    ----------
    steps
        How many.
    naming
        As for :class:`Writer`.
    shared
        Whether all steps use the same weights.
    copies
        Whether each step takes the weights through nodes that cast and turn them.
    """
    writer = Writer(naming)
    writer.inputs = {f"x{step}": [1, WIDTH] for step in range(steps)} | {"h": [1, WIDTH]}
    state = "h"
    for step in range(steps):
        scope = call("cell", step)
        weights = []
        for kind in ("input", "state", "result"):
            weight = writer.weight(kind if shared else f"{kind}.{step}", WIDTH, WIDTH)
            if copies:
                weight = writer.add(scope, "Identity", weight)
                weight = writer.add(scope, "Transpose", weight, perm=[1, 0])
            weights.append(weight)
        taken = writer.add(scope, "MatMul", f"x{step}", weights[0])
        kept = writer.add(scope, "MatMul", state, weights[1])
        both = writer.add(scope, "Add", taken, kept)
        state = writer.add(scope, "Tanh", both)
        given = writer.add(scope, "MatMul", state, weights[2])
        writer.outputs.append(writer.add(scope, "Relu", given))
    return writer.load()


def make_lstm(steps: int = 4, *, naming: str = "legacy", takes_states: bool = False) -> Model:
    """Return an LSTM that is written out, its states zero before the first step, or inputs."""
    writer = Writer(naming)
    writer.inputs = {f"x{step}": [1, WIDTH] for step in range(steps)}
    if takes_states:
        writer.inputs |= {"h0": [1, WIDTH], "c0": [1, WIDTH]}
        state, cell = "h0", "c0"
    else:
        state, cell = writer.weight("h0", 1, WIDTH), writer.weight("c0", 1, WIDTH)
    for step in range(steps):
        scope = call("cell", step)
        gates = []
        for gate, squash in zip("ifog", ("Sigmoid", "Sigmoid", "Sigmoid", "Tanh"), strict=True):
            taken = writer.add(scope, "MatMul", f"x{step}", writer.weight(f"{gate}x", WIDTH, WIDTH))
            kept = writer.add(scope, "MatMul", state, writer.weight(f"{gate}h", WIDTH, WIDTH))
            gates.append(writer.add(scope, squash, writer.add(scope, "Add", taken, kept)))
        enter, forget, give, fresh = gates
        kept = writer.add(scope, "Mul", forget, cell)
        cell = writer.add(scope, "Add", kept, writer.add(scope, "Mul", enter, fresh))
        state = writer.add(scope, "Mul", give, writer.add(scope, "Tanh", cell))
        given = writer.add(scope, "MatMul", state, writer.weight("result", WIDTH, WIDTH))
        writer.outputs.append(writer.add(scope, "Relu", given))
    return writer.load()


def make_refinement(steps: int = 5) -> Model:
    """Return an estimate that is looked up and updated step by step, as an optical flow is.

    The exporter has computed a part of the first look-up beforehand.
    """
    writer = Writer()
    writer.inputs = {"start": [1, WIDTH], "table": [1, WIDTH]}
    estimate = "start"
    for step in range(steps):
        looked = estimate
        for number in range(6):
            if step or number > 1:
                looked = writer.add(
                    "", "Mul" if number % 2 else "Div", looked, writer.weight("two", 1)
                )
        looked = writer.add("", "Max", looked, "table")
        scope = call("update", step)
        changed = looked
        for number in range(4):
            weight = writer.weight(f"update.{number}", WIDTH, WIDTH)
            changed = writer.add(
                f"{scope}/{call(f'layer{number}', step)}", "MatMul", changed, weight
            )
            changed = writer.add(f"{scope}/{call(f'layer{number}', step)}", "Relu", changed)
        estimate = writer.add("", "Add", estimate, changed)
    result = writer.add("", "Sub", estimate, "start")
    writer.nodes[-1].output[0] = "flow"
    assert result
    writer.outputs = ["flow"]
    return writer.load()


def make_skip_stack(blocks: int = 6, *, is_pruned: bool = False) -> Model:
    """Return blocks with a stream of residuals and a sum of what each gives: the result.

    Parameters
    ----------
    blocks
        How many.
    is_pruned
        Whether the last block lacks all that only a next one would take.
    """
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    stream, total = "x", ""
    for block in range(blocks):
        scope = f"blocks.{block}"
        gated = writer.add(
            f"{scope}/gate", "MatMul", stream, writer.weight(f"gate.{block}", WIDTH, WIDTH)
        )
        gated = writer.add(f"{scope}/gate", "Relu", gated)
        given = writer.add(
            f"{scope}/skip", "MatMul", gated, writer.weight(f"skip.{block}", WIDTH, WIDTH)
        )
        if block < blocks - 1 or not is_pruned:
            weight = writer.weight(f"res.{block}", WIDTH, WIDTH)
            kept = writer.add(f"{scope}/res", "MatMul", gated, weight)
        if block < blocks - 1:
            stream = writer.add(scope, "Add", kept, stream)
        total = writer.add("", "Add", total, given) if total else given
    writer.outputs = [writer.add("", "Relu", total)]
    return writer.load()


def make_towers(towers: int = 3) -> Model:
    """Return an encoder that runs once for each input, and compares what it gives."""
    writer = Writer()
    writer.inputs = {f"x{tower}": [1, WIDTH] for tower in range(towers)}
    given = []
    for tower in range(towers):
        value = f"x{tower}"
        for layer in range(4):
            scope = f"{call('encoder', tower)}/{call(f'layer{layer}', tower)}"
            weight = writer.weight(f"layer{layer}", WIDTH, WIDTH)
            value = writer.add(scope, "MatMul", value, weight)
            value = writer.add(scope, "Relu", value)
        given.append(value)
    writer.outputs = [writer.add("", "Concat", *given, axis=0)]
    return writer.load()


def add_layers(writer: Writer, scope: str, value: str, count: int) -> str:
    """Add layers of one module, each with weights of its own; return what they give."""
    for layer in range(count):
        weight = writer.weight(f"{scope}.{layer}", WIDTH, WIDTH)
        value = writer.add(f"{scope}/layer{layer}", "MatMul", value, weight)
        value = writer.add(f"{scope}/layer{layer}", "Relu", value)
    return value


def make_branches(stages: int = 3, branches: int = 3) -> Model:
    """Return stages that each add what modules make of one value, as those of a vocoder do."""
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    value = "x"
    for stage in range(stages):
        value = add_layers(writer, f"up.{stage}", value, 1)
        total = ""
        for branch in range(branches):
            given = add_layers(writer, f"res.{branches * stage + branch}", value, 3)
            total = writer.add("", "Add", total, given) if total else given
        value = writer.add("", "Mul", total, writer.weight("third", 1))
    writer.outputs = [value]
    return writer.load()


def make_two_in_a_row() -> Model:
    """Return like modules, the first four in series, and two more on another value."""
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    value = "x"
    for part in range(4):
        value = add_layers(writer, f"part.{part}", value, 2)
    other = "x"
    for part in range(4, 6):
        other = add_layers(writer, f"part.{part}", other, 2)
    writer.outputs = [writer.add("", "Concat", value, other, axis=1)]
    return writer.load()


def make_stack(blocks: int = 4, *, last_width: int = WIDTH, between: bool = False) -> Model:
    """Return modules with an activation behind each, written outside of them, but for the last.

    Parameters
    ----------
    blocks
        How many.
    last_width
        How many features the last one gives.
    between
        Whether something that no other block has stands before the last one.
    """
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    value = "x"
    for block in range(blocks):
        is_last = block == blocks - 1
        if between and is_last:
            value = writer.add("", "Softmax", value)
        scope, inner = f"blocks.{block}", value
        for layer in range(3):
            width = last_width if is_last and layer == 2 else WIDTH
            weight = writer.weight(f"{block}.{layer}", WIDTH, width)
            inner = writer.add(f"{scope}/linear{layer}", "MatMul", inner, weight)
            inner = writer.add(scope, "Tanh", inner) if layer < 2 else inner
        value = inner if is_last else writer.add("", "Relu", inner)
    writer.outputs = [value]
    return writer.load()


def make_controller(steps: int = 5) -> Model:
    """Return a cell with single nodes behind it, at each step; before the first its start is taken.

    The other steps put together what they take from the one before.
    """
    writer = Writer()
    writer.inputs = {f"x{step}": [1, WIDTH] for step in range(steps)} | {"starts": [2, WIDTH]}
    state, place = "x0", writer.weight("place", 1)
    for step in range(steps):
        taken = writer.add("", "Max", f"x{step}", state) if step else f"x{step}"
        scope = call("cell", step)
        for number in range(3):
            weight = writer.weight(f"cell.{number}", WIDTH, WIDTH)
            taken = writer.add(f"{scope}/linear{number}", "MatMul", taken, weight)
            taken = writer.add(scope, "Tanh", taken)
        start = writer.add("", "Gather", "starts", place) if not step else state
        for number in range(4):
            key = writer.add("", "MatMul", taken, writer.weight(f"key.{number}", WIDTH, WIDTH))
            start = writer.add("", "Mul", start, writer.add("", "Sigmoid", key))
        state = start
        given = writer.add("", "MatMul", state, writer.weight("given", WIDTH, WIDTH))
        writer.outputs.append(writer.add("", "Relu", given))
    return writer.load()


def make_memory(steps: int = 5) -> Model:
    """Return a memory that is read and written by shares, at each step, as by attention.

    The shares of a step are mixed with those of the one before, and a sum of them is kept, too.
    """
    writer = Writer()
    writer.inputs = {f"x{step}": [1, WIDTH] for step in range(steps)}
    writer.inputs |= {name: [1, WIDTH] for name in ("read", "shares", "so_far")}
    writer.inputs["memory"] = [WIDTH, WIDTH]
    read, shares, so_far, memory = "read", "shares", "so_far", "memory"
    one = writer.weight("one", 1)
    for step in range(steps):
        scope = call("step", step)
        taken = writer.add(scope, "Concat", f"x{step}", read, shares, so_far, axis=1)
        taken = writer.add(scope, "MatMul", taken, writer.weight("taken", 4 * WIDTH, WIDTH))
        shares = writer.add(scope, "Softmax", taken)
        so_far = writer.add(scope, "Add", so_far, shares)
        read = writer.add(scope, "MatMul", shares, memory)
        erased = writer.add(scope, "Mul", shares, writer.add(scope, "Sigmoid", read))
        erased = writer.add(scope, "Sub", one, erased)
        kept = writer.add(scope, "Mul", memory, erased)
        memory = writer.add(scope, "Add", kept, read)
        given = writer.add(scope, "MatMul", read, writer.weight("given", WIDTH, WIDTH))
        writer.outputs.append(writer.add(scope, "Relu", given))
    return writer.load()
