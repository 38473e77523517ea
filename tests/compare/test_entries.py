"""What differs is told once, blocks first, and everywhere by the same numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper

import netloupe
from netloupe.explorer.compare import REAL_LEVELS, Diff, diff
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.difference_page import format_markdown
from netloupe.explorer.describe.difference_summary import write_verdict
from netloupe.explorer.describe.difference_words import write_difference_heading
from netloupe.explorer.describe.differences import format_diff, list_told
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Node
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.differences import title_difference
from netloupe.explorer.review import encode_review, take_review
from tests.compare.networks import make_layers, make_normed
from tests.compare.twins import make_twin
from tests.onnx_text import load_text

COUNT = 6


def copy(model: ModelProto) -> ModelProto:
    return ModelProto.FromString(model.SerializeToString())


def compare(left: ModelProto, right: ModelProto) -> Diff:
    return diff(*(load(model.SerializeToString()) for model in (left, right)))


def find_layer(model: ModelProto, number: int) -> list[object]:
    return [node for node in model.graph.node if node.name.startswith(f"/layers.{number}/")]


def exchange_weights(first: int = 2, second: int = 3) -> ModelProto:
    model = make_layers(COUNT)
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    for part in ("weight", "bias"):
        one, other = (stored[f"layers.{n}.fc.{part}"] for n in (first, second))
        one.raw_data, other.raw_data = other.raw_data, one.raw_data
    return model


def put_in_order(order: list[int]) -> ModelProto:
    """Return the layers in another order, each with its own names and weights."""
    model = make_layers(COUNT)
    nodes = [copy_node(node) for node in model.graph.node]
    placed, given = [nodes[0]], "h0"
    for number in order:
        for node in nodes:
            if node.name.startswith(f"/layers.{number}/"):
                node.input[:] = [given if name == f"h{number}" else name for name in node.input]
                placed.append(node)
        given = f"h{number + 1}"
    nodes[-1].input[0] = given
    del model.graph.node[:]
    model.graph.node.extend([*placed, nodes[-1]])
    return model


def copy_node(node: object) -> object:
    return type(node).FromString(node.SerializeToString())  # type: ignore[attr-defined]


def leave_out(*numbers: int) -> ModelProto:
    model = make_layers(COUNT)
    for number in numbers:
        for node in find_layer(model, number):
            model.graph.node.remove(node)  # type: ignore[arg-type]
        for node in model.graph.node:
            before = f"h{number}"
            node.input[:] = [before if name == f"h{number + 1}" else name for name in node.input]
    kept = {name for node in model.graph.node for name in node.input}
    for tensor in [t for t in model.graph.initializer if t.name not in kept]:
        model.graph.initializer.remove(tensor)
    return model


def change_operators() -> ModelProto:
    model = make_layers(COUNT)
    for node in model.graph.node:
        node.op_type = "Sigmoid" if node.op_type == "Tanh" else node.op_type
    model.graph.node[-1].attribute.append(helper.make_attribute("axis", 0))
    model.opset_import[0].version += 1
    model.producer_name, model.graph.doc_string = "someone", "a text"
    return model


def train() -> ModelProto:
    model = make_layers(COUNT)
    for number, tensor in enumerate(model.graph.initializer):
        array = numpy_helper.to_array(tensor) * np.float32(1 + 0.01 * number)
        tensor.CopyFrom(numpy_helper.from_array(array.astype(np.float32), tensor.name))
    return model


def take_another_input() -> ModelProto:
    model = train()
    model.graph.input[0].name = model.graph.node[0].input[1] = "tokens"
    model.graph.initializer.append(numpy_helper.from_array(np.ones(3, np.float32), "unused"))
    return model


def insert_nodes() -> ModelProto:
    """Return layers behind each of which something stands that has a weight of its own."""
    model = make_layers(COUNT)
    scale = numpy_helper.from_array(np.full(4, 0.5, np.float32), "scale")
    model.graph.initializer.append(scale)
    for number in range(0, COUNT, 2):
        last = find_layer(model, number)[-1]
        place = [*model.graph.node].index(last)  # type: ignore[arg-type]
        name, inner = f"h{number + 1}", f"inner{number}"
        model.graph.node[place].output[0] = inner
        node = helper.make_node("Mul", [inner, "scale"], [name], f"/Mul_{number}")
        model.graph.node.insert(place + 1, node)
    return model


def move_node() -> ModelProto:
    model = make_layers(COUNT)
    model.graph.node[7].name = "/layers.2/act/Tanh_1"
    return model


def rename_all() -> ModelProto:
    model = change_operators()
    for number, node in enumerate(model.graph.node):
        node.name = f"n{number}"
    return model


def fold_norms() -> tuple[ModelProto, ModelProto]:
    twin = make_twin("norms folded", make_normed())
    assert twin is not None
    return twin.left, twin.right


PAIRS: dict[str, Callable[[], tuple[ModelProto, ModelProto]]] = {
    "same": lambda: (make_layers(COUNT), make_layers(COUNT)),
    "weights exchanged": lambda: (make_layers(COUNT), exchange_weights()),
    "blocks in another order": lambda: (make_layers(COUNT), put_in_order([0, 1, 3, 2, 4, 5])),
    "block removed": lambda: (make_layers(COUNT), leave_out(3)),
    "blocks added": lambda: (leave_out(1, 4), make_layers(COUNT)),
    "operators": lambda: (make_layers(COUNT), change_operators()),
    "all renamed": lambda: (make_layers(COUNT), rename_all()),
    "trained": lambda: (make_layers(COUNT), train()),
    "another input": lambda: (make_layers(COUNT), take_another_input()),
    "nodes inserted": lambda: (make_layers(COUNT), insert_nodes()),
    "node moved": lambda: (make_layers(COUNT), move_node()),
    "others": lambda: (make_layers(COUNT), make_normed()),
    "norms folded": fold_norms,
}


@pytest.fixture(params=PAIRS)
def found(request: pytest.FixtureRequest) -> Diff:
    return compare(*PAIRS[request.param]())


def test_each_node_that_differs_is_in_one_entry(found: Diff) -> None:
    told: Counter[Node] = Counter()
    for entry in found.entries:
        told.update((*entry.left_nodes, *entry.right_nodes))
        if entry.topic != "aspect":
            told.update(node for pair in entry.pairs for node in pair.right)
    assert {*told.values()} <= {1}
    in_weights = {node for node in found.states if node not in told}
    assert len(in_weights) == found.counts.reweighted
    assert {found.states[node] for node in in_weights} <= {"changed"}
    moved = [entry for entry in found.entries if entry.topic == "moved"]
    assert sum(entry.count for entry in moved) == found.counts.moved
    equal = [entry for entry in found.entries if entry.level == "equal"]
    others = {node for entry in (*moved, *equal) for pair in entry.pairs for node in pair.right}
    others |= {node for entry in equal for pair in entry.pairs for node in pair.left}
    assert {*told} - others <= {*found.states}


def test_each_weight_that_differs_is_in_one_entry(found: Diff) -> None:
    counts = found.counts
    real = [entry for entry in found.entries if entry.level not in ("written", "unread")]
    assert sum(len(entry.tensors) for entry in real) == counts.weights_changed
    for side, expected in (
        ("left_tensors", found.left_tensors),
        ("right_tensors", found.right_tensors),
    ):
        told = [tensor for entry in real for tensor in getattr(entry, side)]
        assert sorted(map(id, told)) == sorted(map(id, expected))
    assert (counts.weights_removed, counts.weights_added) == (
        len(found.left_tensors),
        len(found.right_tensors),
    )


def test_text_list_json_and_report_count_the_same(found: Diff) -> None:
    real = [entry for entry in found.entries if entry.is_real]
    levels = Counter(entry.level for entry in found.entries)
    encoded = encode_diff(found)
    assert encoded["counts"]["differences"] == {
        "real": len(real),
        **{level: levels[level] for level in ("moved", "equal", "unread", "version", "written")},
    }
    assert len(encoded["differences"]) == len(found.entries)
    told = {part.title: len(part.entries) for part in list_told(found)}
    assert told.get("Differences", 0) == len(real)
    assert sum(told.values()) == len(found.entries)
    review = take_review(found)
    assert Counter(item.level for item in review) == levels
    headings = [write_difference_heading(found, entry) for entry in real]
    assert [item.title for item in review if item.level in REAL_LEVELS] == headings
    said = re.match(r"(\d+) difference", review.verdict)
    assert (int(said[1]) if said else 0) == len(real)
    sent = encode_review(review)  # what chips and badge of a page count
    assert Counter(sent["levels"][row[1]][0] for row in sent["items"]) == levels
    for text in (format_diff(found), format_markdown(found)):
        lines = re.findall(r"^(?:### )?Differences: (\d+)$", text, re.MULTILINE)
        assert [*map(int, lines)] == ([len(real)] if real else [])
        assert write_verdict(found) in text


def test_picture_title_sentence_and_json_count_the_same(found: Diff) -> None:
    counts, encoded = found.counts, encode_diff(found)
    nodes, weights = encoded["counts"]["nodes"], encoded["counts"]["weights"]
    assert (nodes["changed"], nodes["added"], nodes["removed"], nodes["moved"]) == counts[1:5]
    fused = [
        pair["b"] for pair in encoded["nodes"]["fused"] if not pair.get("fold", {}).get("equal")
    ]
    own = len(encoded["nodes"]["changed"]) + sum(map(len, fused))
    assert own == counts.changed - counts.reweighted
    assert len(encoded["tensors"]["changed"]) == weights["changed"] + weights["unread"]
    title = title_difference(found)
    for name in ("kept", "changed", "added", "removed"):
        assert f"{name} {nodes[name]:,}" in title
        assert f"{name} {nodes[name]:,}" in format_diff(found)
    # what boxes of the outermost level say, which is all that is inside them
    paints, tree = found.paints, find_tree(found.merged, found.merged.graph)
    marked = 0
    for child in tree.root.children:
        paint = paints.get(child.path)
        if paint is not None and isinstance(child, Node):
            marked += 1
        elif paint is not None:
            marked += int(paint.mark) if paint.mark.isdigit() else child.node_count
    assert marked == counts.changed + counts.added + counts.removed + counts.moved
    sentence = write_verdict(found)
    for noun, expected in (
        (r"(?:other )?nodes?", {"added": counts.added, "removed": counts.removed}),
        (r"(?:other )?weights?", {"added": weights["added"], "removed": weights["removed"]}),
    ):
        for what, most in expected.items():
            for number in re.findall(rf"(\d+) {noun} {what}", sentence):
                assert int(number) <= most


@pytest.mark.parametrize("kind", [*PAIRS])
def test_what_is_real_comes_before_what_is_only_written(kind: str) -> None:
    found = compare(*PAIRS[kind]())
    is_real = [entry.is_real for entry in found.entries]
    assert is_real == sorted(is_real, reverse=True)
    text = format_diff(found)
    if "Differences: " in text and "Only written otherwise: " in text:
        assert text.index("Differences: ") < text.index("Only written otherwise: ")
    assert "now main/n" not in text
    for place in re.findall(r"^  (\S+): now (\S+)$", text, re.MULTILINE):
        assert place[0] != place[1]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("same", "The models are identical."),
        (
            "weights exchanged",
            "The structure is the same: weights of layers.2 and layers.3 exchanged.",
        ),
        (
            "blocks in another order",
            "The structure is the same: layers.2 and layers.3 exchanged.",
        ),
        ("block removed", "The models differ: layers.3 removed."),
        ("blocks added", "The models differ: layers.1 and layers.4 added."),
        (
            "operators",
            "The models differ: Tanh became Sigmoid in 6 places; Softmax: attribute axis added: 0.",
        ),
        ("node moved", "The models are identical but for names."),
        ("nodes inserted", "The models differ: 3 nodes added with 1 weight (Mul)."),
    ],
)
def test_the_first_sentence_is_about_blocks_and_operators(kind: str, sentence: str) -> None:
    left, right = PAIRS[kind]()
    found = compare(left, right)
    assert write_verdict(found) == sentence
    assert encode_diff(found)["summary"] == sentence
    assert sentence in format_markdown(found)
    assert repr(found) == f"<Diff: {sentence}>"
    assert take_review(found).headline == sentence
    assert sentence in format_diff(found).splitlines()


def test_weights_are_summed_up_with_the_middle_and_the_worst() -> None:
    found = compare(*PAIRS["trained"]())
    sentence = (
        "12 weights of 6 products and 6 Add changed by 6.5 % in the median, 12 % at most (L2)"
    )
    assert sentence in write_verdict(found)
    (weights, biases) = [entry for entry in found.entries if entry.topic == "weight"]
    assert weights.count == biases.count == COUNT
    text = format_diff(found)
    assert "main/%layers.5.fc.bias (and 5 alike): relative (L2) 12 %, median of all 7 %" in text


def test_an_output_that_is_what_it_was_is_not_told_whatever_gives_it() -> None:
    inner = "[a] p = Exp (x) [b] q = Softmax (p) [c] y = Identity (q)"
    left = f"g (float[2] x) => (float[2] y) {{ {inner} }}"
    right = left.replace("y = Identity (q)", "r = Identity (q) [d] y = Sin (r)")
    found = diff(load_text(left), load_text(right))
    assert write_verdict(found) == "The models differ: 1 node added (Sin)."
    assert "float32[2] → float32[2]" not in format_diff(found)


def test_many_statements_of_one_kind_are_counted() -> None:
    right = make_layers(COUNT)
    for number in range(9):
        right.metadata_props.add(key=f"key{number}", value="text")
    right.producer_name = "someone"
    text = format_diff(compare(make_layers(COUNT), right))
    assert text.endswith('texts for people: metadata 9 times; producer "" → someone')


def test_an_exchange_needs_the_same_numbers() -> None:
    left, right = make_layers(COUNT), exchange_weights()
    (tensor,) = [t for t in right.graph.initializer if t.name == "layers.2.fc.weight"]
    array = numpy_helper.to_array(tensor).copy()
    array[1, 2] += 1  # no place that a sample looks at is needed to see it
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    found = compare(left, right)
    told = [entry for entry in found.entries if entry.topic == "exchange"]
    assert [len(entry.tensors) for entry in told] == [2]  # both biases
    assert "2 weights of 2 products changed" in write_verdict(found)


def test_weights_that_go_around_are_exchanged() -> None:
    left, right = make_layers(COUNT), make_layers(COUNT)
    stored = {tensor.name: tensor for tensor in right.graph.initializer}
    data = [stored[f"layers.{number}.fc.weight"].raw_data for number in (1, 2, 4)]
    for number, held in zip((1, 2, 4), data[1:] + data[:1], strict=True):
        stored[f"layers.{number}.fc.weight"].raw_data = held
    sentence = write_verdict(compare(left, right))
    assert sentence.endswith("weights of layers.1, layers.2 and layers.4 exchanged.")


def test_blocks_that_take_each_others_place_are_told_where_more_differs() -> None:
    def make(order: list[int], extra: bool) -> ModelProto:
        lines, given = [], "x"
        weights = {}
        for number in order:
            block = f"/blocks.{number}"
            lines += [
                helper.make_node(
                    "MatMul", [given, f"w{number}"], [f"m{number}"], f"{block}/MatMul"
                ),
                helper.make_node("Tanh", [f"m{number}"], [f"t{number}"], f"{block}/Tanh"),
            ]
            given = f"t{number}"
        for number in range(5):
            spread = np.random.default_rng(number).standard_normal((4, 4))
            weights[f"w{number}"] = spread.astype(np.float32)
        if extra:
            lines.append(helper.make_node("Abs", [given], ["abs"], "/Abs"))
            given = "abs"
        lines.append(helper.make_node("Softmax", [given], ["y"], "/Softmax"))
        ends = [helper.make_tensor_value_info(name, 1, ["n", 4]) for name in "xy"]
        graph = helper.make_graph(lines, "g", ends[:1], ends[1:])
        for name, array in weights.items():
            graph.initializer.append(numpy_helper.from_array(array, name))
        imports = [helper.make_opsetid("", 21)]
        return helper.make_model(graph, ir_version=10, opset_imports=imports)

    found = compare(make([0, 1, 2, 3, 4], False), make([0, 3, 2, 1, 4], True))
    assert write_verdict(found) == (
        "The models differ: blocks.1 and blocks.3 exchanged; 1 node added (Abs)."
    )
    assert found.counts.changed == 4  # both, and what is behind them


@pytest.mark.parametrize("kind", [*PAIRS])
def test_nobody_calls_a_model_a_replacement_for_its_ends_alone(kind: str) -> None:
    found = compare(*PAIRS[kind]())
    told = format_diff(found) + format_markdown(found) + str(encode_diff(found))
    assert "drop-in" not in told + take_review(found).summary
    expected = "Inputs or outputs are not" if kind in ("another input", "others") else "Same inputs"
    assert expected in told


def test_wider_inputs_are_not_the_same() -> None:
    left, right = make_layers(2), make_layers(2)
    left.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 3
    found = compare(left, right)
    assert found.is_compatible
    assert not found.has_same_interface
    assert "Inputs and outputs are compatible" in format_diff(found)


def test_levels_that_are_real_are_those_of_the_picture() -> None:
    assert {"added", "removed", "changed"} == REAL_LEVELS
    assert netloupe.diff  # the public door to all of it
