"""The patterns of netloupe: each has an example that is one, and that is none with a change."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc

import onnx
import onnx.parser
import pytest

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.patterns import (
    FoundBlock,
    Operations,
    Pattern,
    find_blocks,
    find_graph_context,
    find_nested_blocks,
    find_small_blocks,
    recognise,
)
from netloupe.explorer.patterns.known_patterns import ARITHMETIC, IDEAS, PARTS, PATTERNS, WHOLES
from netloupe.explorer.patterns.pattern_examples import EXAMPLES
from netloupe.explorer.patterns.registry import FAMILIES, find_block_family
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file, light_file

from .example_models import list_block, list_mutants, read_example

_RECOGNISE = import_module("netloupe.explorer.patterns.recognise")

each_pattern = pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.id)

#: what needs no source, and why
_WITHOUT_SOURCE = {
    "linear": "the product that all others are put together from",
    "embedding": "rows of a table",
    "estimator": "as the specification of ai.onnx.ml has it, which the module names",
    "sublayer": "a half of what transformer-block names the source of",
    "recurrent-layers": "operators of ONNX under their names",
    "similarity": "what similarities names the source of, alone",
    "same": "what it repeats has its source",
    "row": "what stands in it has its source",
    "rearrangement": "it is said by the operators alone",
    "selection": "its operators say what they look for",
    "formula": "it is written as its operators compute it",
}
#: by pattern, the results of the operations that make it one, where there may be other operations
#: beside them. In all others every operation does
_ANCHORS = {
    "experts": {"logits", "shares", "largest", "up", "down", "hidden", "results"},
    "residual-block": {"first", "second", "total", "y"},
    "delta-rule": {"v0", "decay", "g3", "kept", "recalled", "told", "missing", "change"}
    | {"written", "next", "y"},
    "fourier-filter": {"frequencies", "y"},
    "state-space-mixer": {"projected", "gate", "channels", "convolved"}
    | {"dt", "rates", "sums", "of_heads", "passed", "decays", "dt_of_heads", "scaled", "y"},
    "selection": {"best", "y"},
    "state-space-block": {"projected", "convolved", "dt", "dt_of_states", "rates", "sums"}
    | {"decays", "du", "squashed", "gated", "y"},
    "partial-stage": {"wider", "around", "convolved", "again", "total", "joined", "y"},
    "prediction-heads": {"f1", "f2", "f_box", "f_class", "c1", "c2", "c_box", "c_class", "y"},
    "shuffle-unit": {"groups", "shuffled", "spatial", "total", "y"},
    "atrous-pyramid": {"a", "b", "c", "joined", "y"},
    "message-passing": {"sent", "y"},
    "time-mix": {*"abckdry", "moved", "key", "positive", "squared", "gate"},
    "affine-coupling": {"a", "hidden", "positive", "made", "factor", "scaled", "moved", "y"},
    "joined-block": {"joined", "convolved", "again", "y"},
    "volume-rendering": {"alone", "opacity", "sums", "turned", "left", "weights", "wide", "seen"}
    | {"y"},
    "oscillators": {"phase", "y"},
    "vector-attention": {"q", "k", "asked", "keys", "apart", "hidden", "bent", "scores", "shares"}
    | {"weighted", "y"},
    "computed-kernel": {"shares", "mixed", "w", "y"},
    "local-filter": {"padded", "rows", "columns", "turned", "neighbours", "product", "y"},
    "place-attention": {"of_rows", "of_columns", "high", "wide", "once", "y"},
    "branch-attention": {"both", "mean", "shares", "weighted", "y"},
    "grid-scatter": {"canvas"},
    "unpooling": {"back", "same", "values"},
    "global-context": {"scores", "column", "shares", "maps", "mean", "y"},
    "gated-convolution": {"both", "p", "spread", "g1", "once", "projected", "y"},
    "memory-addressing": {"content", "gate", "rest", "new", "old", "mixed", "ring", "moved"}
    | {"sharp", "total", "y"},
    "focal-modulation": {"query", "c1", "c2", "g1", "g2", "modulator", "y"},
}
#: where kinds of block are found that no example is
_MODELS = (
    *("exported/rwkv.legacy.onnx", "exported/bert.legacy.onnx", "exported/mobilenetv2.legacy.onnx"),
    *("exported/rtdetr.legacy.onnx", "exported/yolov8.legacy.onnx", "light_inception_v1.onnx"),
)
#: of 32 frequencies and 5 filters, each a hump above some frequencies beside one another
_HUMPS = ", ".join(
    str(max(0, 4 - abs(frequency - middle)))
    for frequency in range(32)
    for middle in (4, 8, 13, 19, 26)
)
#: what differs from an example whose block is of another kind then
_VARIATIONS = {
    "auto-correlation": [
        ("float[2, 16, 1] z)", "float[2, 16, 1] z, float[2, 16] v, int64[2, 16] places)"),
        ("float[2, 16, 2] y", "float[2, 16] y"),
        ("int64 axis", "int64[1] two = {2}, int64 none = {0}, int64[1] last = {1}, int64 axis"),
        ("y = DFT", "back = DFT"),
        (
            "axis)\n}",
            """axis)
  alike = Gather <axis = 2> (back, none)
  best, which = TopK <axis = 1> (alike, two)
  shares = Softmax <axis = 1> (best)
  first = Gather <axis = 1> (which, re)  share = Gather <axis = 1> (shares, re)
  from = Add (places, first)
  moved = GatherElements <axis = 1> (v, from)
  y = Mul (moved, share)
}""",
        ),
    ],
    "edge-attention": [
        ("float[24, 16] y", "float[64, 16] y"),
        (
            'y = ScatterElements <axis = 0, reduction = "add"> (nothing, places, weighted)',
            "y = Neg (weighted)",
        ),
    ],
    "fixed-transform": [
        ("float[8, 17] y", "float[8, 5] y"),
        ("int64[2] dims = {32, 17}", f"float[32, 5] waves = {{{_HUMPS}}}"),
        ("  angles = ConstantOfShape (dims)\n  waves = Cos (angles)\n", ""),
    ],
    "distances": [("int64[1, 64, 8] y", "float[1, 64, 64] z"), ("distances, y = TopK", "z = Neg")],
    "soft-routing": [
        ("routing (float[4, 8] x)", "routing (float[4, 8] x, float[4, 8] z)"),
        ("two = MatMul (x, w2)", "two = MatMul (z, w2)"),
    ],
    "formula": [
        ("deviation = Exp (log_deviation)", "deviation = Greater (mean, log_deviation)"),
        ("shift = Mul (deviation, noise)", "more = Greater (mean, noise)"),
        ("drawn = Add (mean, shift)", "both = And (deviation, more)"),
        ("float[2, 6] y)", "bool[2, 6] y)"),
        ("y = Tanh (drawn)", "y = Not (both)"),
    ],
    "same": [("Relu (x)", "LpNormalization (x)"), ("Relu (z)", "LpNormalization (z)")],
    "waves": [
        ("}>\n{", "}, int64[2] dims = {16, 16}>\n{ w = ConstantOfShape (dims)"),
        ("y = Concat <axis = 1> (sine", "e = Concat <axis = 1> (sine"),
        ("\n}", "  h = MatMul (e, w)  a = Relu (h)  y = MatMul (a, w) }"),
    ],
}


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Pattern, FoundBlock]]:
    """Give the list of what patterns find from now on, with the pattern of each."""
    told: list[tuple[Pattern, FoundBlock]] = []

    def listen(pattern: Pattern) -> Pattern:
        def find(blocks: object) -> Iterator[FoundBlock]:
            for block in pattern.find(blocks):
                told.append((pattern, block))
                yield block

        return pattern._replace(find=find)

    for name in ("PARTS", "WHOLES", "SMALL", "IDEAS", "ARITHMETIC"):
        patterns = getattr(_RECOGNISE, name)
        monkeypatch.setattr(_RECOGNISE, name, tuple(map(listen, patterns)))
    return told


def test_ids_are_unique_and_each_has_an_example() -> None:
    assert [pattern.id for pattern in PATTERNS] == list(dict.fromkeys(p.id for p in PATTERNS))
    assert EXAMPLES.keys() == {pattern.id for pattern in PATTERNS}
    assert {pattern.family for pattern in PATTERNS} <= {*FAMILIES}


@each_pattern
def test_what_is_found_is_described_with_its_source(pattern: Pattern) -> None:
    first, *_ = re.split(r"(?<=[.:])\s", pattern.description)
    assert re.fullmatch(r"(?s)(Find|Name) .+[.:]", first)
    module = getdoc(sys.modules[pattern.find.__module__]) or ""
    has_source = re.search(r"\b(19|20)\d\d\b", pattern.description + module) is not None
    assert has_source != (pattern.id in _WITHOUT_SOURCE)


@each_pattern
def test_the_example_is_a_model_and_readable(pattern: Pattern) -> None:
    onnx.checker.check_model(onnx.parser.parse_model(EXAMPLES[pattern.id][0]), full_check=True)
    lines = EXAMPLES[pattern.id][0].splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 96


@each_pattern
def test_the_example_is_told_by_its_pattern(
    pattern: Pattern, found: list[tuple[Pattern, FoundBlock]]
) -> None:
    graph = read_example(EXAMPLES[pattern.id][0])
    nodes, context = list_block(graph), find_graph_context(graph)
    told = recognise(nodes, context)
    assert told is not None
    assert told.text == EXAMPLES[pattern.id][1]
    operations = Operations(nodes, context)
    if pattern in (*WHOLES, *IDEAS, *ARITHMETIC):
        block = found[-1][1]
    elif pattern in PARTS:
        (block,) = find_blocks(operations).list_outermost()
    else:  # looked for among few nodes only
        small = {members: name for name, members in find_small_blocks(graph.nodes, context)}
        assert small[operations.list_nodes(range(len(operations)))] == told.name
        block = next(block for one, block in found if one is pattern)
    assert [giver.id for giver, one in found if one is block] == [pattern.id]
    assert len(block.numbers) == len(operations)
    assert told.family == find_block_family(block.kind)


def test_every_kind_is_found_and_no_other(found: list[tuple[Pattern, FoundBlock]]) -> None:
    for pattern in PATTERNS:
        texts = [EXAMPLES[pattern.id][0]]
        if pattern.id in _VARIATIONS:
            text = EXAMPLES[pattern.id][0]
            for old, new in _VARIATIONS[pattern.id]:
                assert old in text
                text = text.replace(old, new)
            texts.append(text)
        for text in texts:
            graph = read_example(text)
            recognise(list_block(graph))
            [*find_small_blocks(graph.nodes, find_graph_context(graph))]
    for name in _MODELS:
        file = light_file(name) if name.startswith("light") else corpus_file(name)
        for group in build_group_tree(load(file).graph).groups.values():
            group.recognised  # noqa: B018 - it is found when it is asked for
    kinds = {(pattern.id, kind) for pattern in PATTERNS for kind in pattern.kinds}
    assert {(pattern.id, block.kind) for pattern, block in found} == kinds


@each_pattern
def test_an_example_with_a_change_is_read_and_not_told_the_same(pattern: Pattern) -> None:
    """Nothing fails in any of them; and with Ceil or Mod for one of its operations it is none.

    Where there may be other operations beside those that make it, exactly these are told.
    """
    anchors: set[str] = set()
    others: set[str] = set()
    changes: Counter[str] = Counter()
    for mutant in list_mutants(EXAMPLES[pattern.id][0]):
        nodes, context = list_block(mutant.graph), find_graph_context(mutant.graph)
        told = recognise(nodes, context)
        find_nested_blocks(mutant.graph.nodes, context)
        [*find_small_blocks(mutant.graph.nodes, context)]
        changes[mutant.change] += 1
        if mutant.change == "replaced":
            is_same = told is not None and told.text == EXAMPLES[pattern.id][1]
            (others if is_same else anchors).add(mutant.place)
    assert changes["replaced"] == len(anchors) + len(others) > 0
    if pattern.id in _ANCHORS:
        assert anchors == _ANCHORS[pattern.id]
    else:
        assert others == set()
