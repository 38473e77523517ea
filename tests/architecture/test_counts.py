"""Each number of a sentence is there: networks put together at random, and counted as they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from netloupe.explorer.architecture import Architecture
from netloupe.explorer.architecture.architecture import tell_structure
from netloupe.explorer.readers.load import load
from tests.architecture.networks import Network
from tests.known_exports import EXPORTED_ARCHITECTURES
from tests.test_known_architectures import find_file

_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"
_WIDTH = 8
_STYLES = ("none", "torchscript", "dynamo")
_NOUNS = {
    "residual block": r"residual blocks?",
    "transformer block": r"transformer blocks?|attentions? with MLP|self-attentions?",
    "LSTM layer": r"(?:bidirectional )?LSTM layers?",
    "linear layer": r"linear layers?",
    "convolution": r"(?:\d+×\d+ )?convolutions?",
}
#: what may be left out of what is told of modules and stages
_SMALL_STEPS = ("convolution", "linear layer")
_SMALL = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_NUMBER = rf"(?P<number>\d{{1,3}}(?:,\d{{3}})*|{'|'.join(_SMALL)}) "
_INSIDE = r"(?:[^()]|\([^()]*\))*"
_WAYS = (
    r"(?P<count>two|three|four) (?:heads|streams) "
    rf"\((?:each (?P<each>{_INSIDE})|(?P<inside>{_INSIDE}))\)"
)
_STAGES = r"stages of (?P<stages>\d+(?:\+\d+)+) "


class Composed(Network):
    """Modules in modules with random weights, and how many layers of each kind they have."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = np.random.default_rng(seed)
        self.counts: Counter[str] = Counter()
        self._path: list[tuple[str, str]] = []
        self._paths: list[list[tuple[str, str]]] = []
        self._made: list[str] = []
        self._again: list[str] = []
        self._is_repeated = False

    def weight(self, *dims: int) -> str:
        return self.store(self.random.normal(size=dims).astype(np.float32))

    def add(self, op_type: str, *operands: str, **attributes: object) -> str:
        self._paths.append([*self._path])
        return super().add(op_type, *operands, **attributes)

    def enter(self, name: str, kind: str, make: Callable[[str], str], x: str) -> str:
        """Return what a module gives."""
        self._path.append((name, kind))
        x = make(x)
        self._path.pop()
        return x

    def name_nodes(self, style: str) -> None:
        """Give nodes names as an exporter does."""
        for number, (node, path) in enumerate(zip(self.nodes, self._paths, strict=True)):
            names = [name for name, _ in path]
            if style == "torchscript":
                node.name = "/" + "/".join([*names, f"{node.op_type}_{number}"])
            elif style == "dynamo":
                node.name = f"node_{node.op_type}_{number}"
                dotted = ["", *(".".join(names[: depth + 1]) for depth in range(len(names)))]
                classes = ["Model", *(kind for _, kind in path), f"aten.{node.op_type.lower()}"]
                for key, value in ((_SCOPES, [*dotted, node.name]), (_CLASSES, classes)):
                    node.metadata_props.add(key=key, value=repr(value))

    def convolve(self, x: str) -> str:
        self.counts["convolution"] += 1
        size = 3 + 2 * (self.counts["convolution"] % 2 and not self._is_repeated)
        return self.add("Relu", self.conv(x, _WIDTH, _WIDTH, size))

    def residual(self, x: str) -> str:
        self.counts["residual block"] += 1
        inner = self.add("Relu", self.conv(x, _WIDTH, _WIDTH))
        return self.add("Relu", self.add("Add", x, self.conv(inner, _WIDTH, _WIDTH)))

    def transform(self, x: str) -> str:
        self.counts["transformer block"] += 1
        return self.block(x)

    def recur(self, x: str) -> str:
        self.counts["LSTM layer"] += 1
        form = self.weight(1, 4 * _WIDTH, _WIDTH), self.weight(1, 4 * _WIDTH, _WIDTH)
        y = self.add("LSTM", x, *form, hidden_size=_WIDTH)
        return self.add("Squeeze", y, self.numbers(1))

    def project(self, x: str) -> str:
        self.counts["linear layer"] += 1
        return self.add("Add", x, self.add("Sin", self.linear(x, _WIDTH, _WIDTH)))

    def repeat(self, x: str, layers: Sequence[Callable[[str], str]], times: int) -> str:
        """Return what several calls of the same layers give, one behind another."""
        self._is_repeated = True
        for call in range(times):
            self._made = [] if not call else self._made
            self._again = [*self._made]
            counts, self.counts = self.counts, Counter() if call else self.counts
            for layer in layers:
                x = layer(x)
            self.counts = counts
        self._made, self._again, self._is_repeated = [], [], False
        return x

    def store(self, array: np.ndarray) -> str:
        """Return the name of a weight; in a later call that of the first one."""
        if self._again:
            return self._again.pop(0)
        name = super().store(array)
        self._made.append(name)
        return name


def compose(seed: int, style: str) -> tuple[Architecture, Counter[str]]:
    """Return what is said of a network of random parts, and how many of each kind it has."""
    net = Composed(seed)
    random = net.random
    is_map = bool(random.integers(2))
    shape = (1, _WIDTH, 32, 32) if is_map else (6, 1, _WIDTH)
    x = net.take("x", shape)
    kinds: list[tuple[str, Callable[[str], str]]] = (
        [("ConvUnit", net.convolve), ("Aaa", net.residual)]
        if is_map
        else [("Layer", net.transform), ("LSTM", net.recur), ("Linear", net.project)]
    )

    def stack(y: str) -> str:
        kind, layer = kinds[random.integers(len(kinds))]
        for number in range(random.integers(1, 6)):
            y = net.enter(str(number), kind, layer, y)
        return y

    def mixed(y: str) -> str:
        chosen = [kinds[random.integers(len(kinds))] for _ in range(random.integers(2, 4))]
        for number in range(random.integers(2, 5)):

            def call(z: str) -> str:
                for place, (kind, layer) in enumerate(chosen):
                    z = net.enter(f"part{place}", kind, layer, z)
                return z

            y = net.enter(f"layers.{number}", "Mixed", call, y)
        return y

    def stages(y: str) -> str:
        for number in range(random.integers(2, 5)):
            y = net.enter(f"stages.{number}", "Stage", stack, y)
        return y

    def shared(y: str) -> str:
        layers = [kinds[random.integers(len(kinds))][1] for _ in range(random.integers(1, 3))]
        return net.repeat(y, layers, int(random.integers(2, 6)))

    outputs = []
    names = ("stem", "encoder", "neck", "decoder", "m1", "block")
    for number in range(random.integers(1, 5)):
        form = (stack, mixed, stages, shared)[random.integers(4)]
        name = names[random.integers(len(names))] + ("" if random.integers(3) else f"_{number}")
        x = net.enter(name, name.title(), form, x)
    for number in range(random.integers(0, 4)):
        outputs.append(net.enter(f"heads.{number}", "Head", stack, x))
    net.name_nodes(style)
    faults: list[Exception] = []
    told = tell_structure(net.finish(*(outputs or [x])), faults)
    assert not faults
    return told, net.counts


def count_said(sentence: str) -> dict[str, int | None]:
    """Return the sums of the numbers that a sentence says of each kind; None if one is unknown."""
    said: dict[str, int | None] = {}
    body = sentence.split(": ", 1)[-1].rstrip(".")
    # details of layers that have a count before them
    body = re.sub(
        r" \((?:(?:pre|post)-norm|self-attention \d)[^()]*\)|, (?:pre|post)-norm.*?GELU", "", body
    )
    body = re.sub(_WAYS, _write_out, body)
    body = re.sub(r"stages of \d+(?:, \d+)+ ", lambda found: found[0].replace(", ", "+"), body)
    for item in re.split(r", (?![^()]*\))", body):
        each = re.match(rf"{_NUMBER}[^()]*\(each (.*)\)", item)
        blocks = re.match(rf"{_NUMBER}blocks? (?:of |with |\()", item)
        factor = _read(each["number"]) if each else _read(blocks["number"]) if blocks else 1
        rest = each[2] if each else item[blocks.end() :] if blocks else item
        for kind, noun in _NOUNS.items():
            for found in re.finditer(rf"(?:{_STAGES}|{_NUMBER})?\b(?P<noun>{noun})(?!\w)", rest):
                if found["stages"]:
                    count = sum(map(int, found["stages"].split("+")))
                elif found["number"]:
                    count = _read(found["number"])
                elif found["noun"].endswith("s"):
                    said[kind] = None
                    continue
                else:
                    count = 1
                before = said.get(kind, 0)
                said[kind] = None if before is None else before + factor * count
    return said


def _write_out(found: re.Match[str]) -> str:
    """Return what is said of each of several streams or heads, one after another."""
    if found["each"]:
        return ", ".join([found["each"]] * _read(found["count"]))
    told = []
    for part in found["inside"].split("; "):
        alike = re.match(rf"({'|'.join(_SMALL)}) of (.*)", part)
        told += [alike[2]] * _SMALL.index(alike[1]) if alike else [part]
    return ", ".join(told)


def _read(word: str) -> int:
    return _SMALL.index(word) if word in _SMALL else int(word.replace(",", ""))


@pytest.mark.parametrize("style", _STYLES)
@pytest.mark.parametrize("start", range(0, 120, 10))
def test_each_number_is_there(start: int, style: str) -> None:
    for seed in range(start, start + 10):
        told, counts = compose(seed, style)
        said = count_said(told.sentence)
        assert said, (seed, told.sentence)
        for kind, count in said.items():
            is_right = count is None or count == counts[kind]
            if kind in _SMALL_STEPS and style != "none":
                is_right |= count is not None and count < counts[kind]
            assert is_right, (seed, kind, counts, told.sentence)


@pytest.mark.parametrize("name", sorted(EXPORTED_ARCHITECTURES))
def test_no_rule_fails_on_an_export(name: str) -> None:
    faults: list[Exception] = []
    told = tell_structure(load(find_file(name)), faults)
    assert told.sentence
    assert not faults
