"""Query, key and value, or gate and up, that one model has as one projection by a joined weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

import netloupe
from netloupe.explorer.compare import Diff, JoinedProjection, Pair, match_models, projections
from netloupe.explorer.describe import describe_element
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.describe.text import format_text
from netloupe.explorer.model import Model
from netloupe.explorer.panes.pairs import write_pairs
from netloupe.explorer.readers.load import load
from netloupe.explorer.review.differences import list_diff_items
from netloupe.proto import caffe2_pb2
from tests.compare.scoring import score_pairs
from tests.compare.twins import make_twin
from tests.corpus import corpus_file
from tests.standalone.reading import read_block

WIDTH, SIZES = 16, (16, 8, 8)
Arrays = dict[str, np.ndarray]


def draw(seed: int = 0, sizes: Sequence[int] = SIZES) -> Arrays:
    """Return weights and biases of query, key and value: shapes (16, size) and (size,)."""
    chance = np.random.default_rng(seed)
    found = {}
    for name, size in zip("qkv", sizes, strict=True):
        found[f"w{name}"] = chance.standard_normal((WIDTH, size)).astype(np.float32)
        found[f"b{name}"] = chance.standard_normal(size).astype(np.float32)
    return found


def build(nodes: str, arrays: Arrays, *, behind: str = "") -> Model:
    """Return a norm, some projections of what it gives, and an attention behind them."""
    return load(write(nodes, arrays, behind=behind).SerializeToString())


def write(nodes: str, arrays: Arrays, *, behind: str = "") -> onnx.ModelProto:
    """Return the same as the ``onnx`` package has it."""
    behind = (
        behind
        or """
        kk = Concat<axis = -1>(k, k)
        kt = Transpose(kk)
        s = MatMul(q, kt)
        p = Softmax(s)
        c = MatMul(p, v)
        o = MatMul(c, wo)"""
    )
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["": 21, "com.microsoft": 1]>
        net (float[6, {WIDTH}] x) => (float[6, {WIDTH}] y) {{
            h = LayerNormalization(x, scale, shift)
            {nodes}
            {behind}
            y = Add(x, o)
        }}"""
    )
    chance = np.random.default_rng(99)
    given = {
        "scale": chance.standard_normal(WIDTH).astype(np.float32),
        "shift": chance.standard_normal(WIDTH).astype(np.float32),
        "wo": chance.standard_normal((8, WIDTH)).astype(np.float32),
        **arrays,
    }
    used = {value for node in model.graph.node for value in node.input}
    for key, array in given.items():
        if key in used:
            model.graph.initializer.append(numpy_helper.from_array(array, key))
    return model


def make_separate(arrays: Arrays | None = None, *, bias: str = "qkv", behind: str = "") -> Model:
    nodes = [
        f"{one}0 = MatMul(h, w{one}) {one} = Add({one}0, b{one})"
        if one in bias
        else f"{one} = MatMul(h, w{one})"
        for one in "qkv"
    ]
    return build(" ".join(nodes), arrays or draw(), behind=behind)


#: how a product with a joined weight may be written, without what cuts it
PRODUCTS = {
    "product and sum": "m = MatMul(h, w) j = Add(b, m)",
    "Gemm": "j = Gemm(h, w, b)",
    "turned Gemm": "j = Gemm<transB = 1>(h, w, b)",
    "Transpose before": "t = Transpose<perm = [1, 0]>(w) m = MatMul(h, t) j = Add(m, b)",
    "no bias": "j = MatMul(h, w)",
}
TURNED = ("turned Gemm", "Transpose before")
#: how it may be cut
CUTS: dict[str, Callable[[Sequence[str], Sequence[int]], str]] = {
    "Split": lambda names, sizes: f"{', '.join(names)} = Split<axis = -1>(j, sizes)",
    "Split along axis 1": lambda names, sizes: f"{', '.join(names)} = Split<axis = 1>(j, sizes)",
    "Slices": lambda names, sizes: " ".join(
        f"{name} = Slice(j, begin{place}, end{place}, axis)" for place, name in enumerate(names)
    ),
}


def make_joined(
    arrays: Arrays | None = None,
    *,
    order: str = "qkv",
    product: str = "product and sum",
    cut: str = "Split",
    dtype: type = np.float32,
    nodes: str = "",
    behind: str = "",
) -> Model:
    """Return the network of :func:`make_separate` with one projection by a joined weight."""
    arrays = arrays or draw()
    weight = np.concatenate([arrays[f"w{one}"] for one in order], axis=1)
    sizes = [arrays[f"w{one}"].shape[1] for one in order]
    ends = np.cumsum(sizes)
    given = {
        "w": (weight.T if product in TURNED else weight).astype(dtype),
        "b": np.concatenate([arrays[f"b{one}"] for one in order]).astype(dtype),
        "sizes": np.array(sizes, np.int64),
        "axis": np.array([-1], np.int64),
    }
    for place, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        given[f"begin{place}"] = np.array([end - size], np.int64)
        last = end if end < ends[-1] else np.iinfo(np.int64).max
        given[f"end{place}"] = np.array([last], np.int64)
    nodes = nodes or f"{PRODUCTS[product]} {CUTS[cut](order, sizes)}"
    return build(nodes, given, behind=behind)


def find_joint(found: Diff) -> tuple[Pair, JoinedProjection]:
    """Return the one pair of projections of which one model has one for several."""
    ((pair, joint),) = found.matching.joined.items()
    assert found.fused == [pair]
    return pair, joint


def list_operators(pair: Pair) -> tuple[str, str]:
    left, right = (" ".join(node.op_type for node in side) for side in (pair.left, pair.right))
    return left, right


@pytest.mark.parametrize("order", ["qkv", "vqk"])
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("product", PRODUCTS)
def test_a_joined_projection_is_paired_with_the_three(product: str, cut: str, order: str) -> None:
    separate = make_separate(bias="" if product == "no bias" else "qkv")
    joined = make_joined(order=order, product=product, cut=cut)
    for left, right in ((separate, joined), (joined, separate)):
        found = netloupe.diff(left, right)
        pair, joint = find_joint(found)
        assert (pair.key, pair.confidence) == ("weights", 0.95)
        assert joint.is_left == (left is joined)
        assert [one.weight.name for one in joint.parts] == [f"w{one}" for one in order]
        sizes = [SIZES["qkv".index(one)] for one in order]
        assert [one.stop for one in joint.parts] == np.cumsum(sizes).tolist()
        # nothing is left over, and nothing else is said to differ
        constants = {"Transpose"} if product == "Transpose before" else set()
        assert {node.op_type for node in found.left_alone + found.right_alone} <= constants
        assert not found.tensors
        assert not found.left_tensors
        assert not found.right_tensors
        assert found.verdict == "structure"
        # the parts are what the three give
        values = {one.name: other.name for one, other in found.matching.values.items()}
        assert {name: values[name] for name in "qkv"} == {name: name for name in "qkv"}
        told = format_diff(found)
        words = "one joined projection instead of three: "
        if left is joined:
            words = "three projections instead of one joined projection: "
        assert words + " → ".join(" + ".join(side.split()) for side in list_operators(pair)) in told


def test_parts_that_are_rounded_or_rescaled_are_compared_one_by_one() -> None:
    arrays = draw()
    changed = {**arrays, "wq": arrays["wq"] / 4, "bv": arrays["bv"] + 1}
    separate = make_separate(arrays)
    for left, right in (
        (separate, make_joined(changed, product="turned Gemm")),
        (make_joined(changed), separate),
    ):
        found = netloupe.diff(left, right)
        _, joint = find_joint(found)
        assert found.equal_tensors >= 4  # and those of the other nodes
        weight, bias = found.tensors
        assert weight.part is not None
        assert (weight.part.start, weight.part.stop, weight.part.outputs) == (0, 16, 32)
        assert weight.part.is_left == joint.is_left
        assert weight.numbers is not None
        assert weight.numbers.count == 256
        # the length of 3/4 of a weight, as a share of it and of a quarter of it
        assert weight.numbers.relative == pytest.approx(3.0 if joint.is_left else 0.75)
        assert weight.numbers.cosine == pytest.approx(1.0)
        assert bias.numbers is not None
        assert bias.numbers.largest == pytest.approx(1.0, rel=1e-6)
        assert str(bias.part) == "outputs 24 to 31 of 32"
        told = format_diff(found)
        line = "main/%w, outputs 0 to 15 of 32 → main/%wq: 100 % of 256 numbers changed"
        if not joint.is_left:
            line = "main/%wq → main/%w, outputs 0 to 15 of 32: 100 % of 256 numbers changed"
        assert line in told
        mine = joint.weight
        assert [one.part for one in found.list_tensor_differences(mine)] == [weight.part]
        assert found.find_tensor_difference(mine) is weight


def test_float16_is_a_change_of_type_of_each_part() -> None:
    half = make_joined(
        dtype=np.float16,
        nodes="""
        wf = Cast<to = 1>(w) bf = Cast<to = 1>(b)
        m = MatMul(h, wf) q, k, v = Split<axis = -1>(m, sizes)""",
    )
    found = netloupe.diff(make_separate(bias=""), half)
    find_joint(found)
    for one in found.tensors:
        assert [(change.what, change.right) for change in one.changes] == [("dtype", "float16")]
        assert one.numbers is not None
        assert 0 < one.numbers.relative < 2**-10
    assert len(found.tensors) == 3


def test_weights_that_were_trained_anew_are_paired_by_what_follows() -> None:
    """No number tells the order, but each part goes where one of the others went."""
    before, after = draw(1), draw(2)
    found = netloupe.diff(make_separate(before), make_joined(after, order="kvq"))
    pair, joint = find_joint(found)
    assert (pair.key, pair.confidence) == ("place", 0.5)
    assert [one.weight.name for one in joint.parts] == ["wk", "wv", "wq"]
    distances = {one.left.name: one.numbers.relative for one in found.tensors if one.numbers}
    for name in (f"{kind}{one}" for kind in "wb" for one in "qkv"):
        away = np.linalg.norm(after[name].astype(float) - before[name])
        assert distances[name] == pytest.approx(away / np.linalg.norm(before[name].astype(float)))


def test_equal_weights_are_told_apart_by_what_follows() -> None:
    arrays = draw(sizes=(8, 8, 8))
    arrays["wk"], arrays["bk"] = arrays["wq"], arrays["bq"]
    behind = "kt = Transpose(k) s = MatMul(q, kt) p = Softmax(s) c = MatMul(p, v) o = MatMul(c, wo)"
    separate = make_separate(arrays, behind=behind)
    found = netloupe.diff(separate, make_joined(arrays, order="kvq", behind=behind))
    _, joint = find_joint(found)
    assert [one.weight.name for one in joint.parts] == ["wk", "wv", "wq"]
    assert not found.tensors


GATED = "g = Sigmoid(q) o0 = Mul(g, k) o = MatMul(o0, wo)"
ALIKE = "o0 = Mul(q, k) o = MatMul(o0, wo)"


def make_mlp(*, is_joined: bool, behind: str, seed: int = 0) -> Model:
    """Return a gate and what it scales, both of 8 outputs."""
    arrays = draw(seed, (8, 8, 8))
    nodes = "q = MatMul(h, wq) k = MatMul(h, wk)"
    if is_joined:
        nodes = "j = MatMul(h, w) q, k = Split<axis = -1, num_outputs = 2>(j)"
        arrays = {"w": np.concatenate([arrays["wq"], arrays["wk"]], axis=1)}
    return build(nodes, arrays, behind=behind)


def test_gate_and_up_are_two() -> None:
    left, right = (make_mlp(is_joined=joined, behind=GATED) for joined in (False, True))
    found = netloupe.diff(left, right)
    pair, _ = find_joint(found)
    assert list_operators(pair) == ("MatMul MatMul", "MatMul Split")
    assert "one joined projection instead of two" in format_diff(found)


def test_a_reshape_may_cut_what_numbers_tell_apart() -> None:
    """Which outputs are whose follows from the numbers: what follows is compared as ever."""
    nodes = """m = MatMul(h, w) j = Add(m, b) r = Reshape(j, shape)
        q, k, v = Split<axis = 1>(r, ones)"""
    arrays = draw(sizes=(8, 8, 8))
    weight = np.concatenate([arrays[f"w{one}"] for one in "qkv"], axis=1)
    bias = np.concatenate([arrays[f"b{one}"] for one in "qkv"])
    behind = "s = Sub(q, k) c0 = Mul(s, v) c = Reshape(c0, flat) o = MatMul(c, wo)"
    shapes = {"shape": np.array([6, 3, 8]), "ones": np.ones(3, np.int64), "flat": np.array([6, 8])}
    found = netloupe.diff(
        make_separate(arrays, behind=behind.replace("c = Reshape(c0, flat)", "c = Identity(c0)")),
        build(nodes, {"w": weight, "b": bias, **shapes}, behind=behind),
    )
    pair, joint = find_joint(found)
    assert list_operators(pair) == (" ".join(["MatMul Add"] * 3), "MatMul Add")
    assert [one.part for one in joint.parts] == [None] * 3
    assert {node.op_type for node in found.right_alone} == {"Reshape", "Split"}


def misplace(arrays: Arrays) -> np.ndarray:
    """Return weights joined head by head, two outputs of each in turn, and not one by one."""
    parts = [arrays[f"w{one}"].reshape(WIDTH, -1, 2) for one in "qkv"]
    return np.concatenate(parts, axis=2).reshape(WIDTH, -1)


def _near_misses() -> dict[str, tuple[Model, Model]]:
    arrays, other = draw(), draw(5)
    even, alike = draw(sizes=(8, 8, 8)), "s = Add(q, k) c = Add(s, v) o = MatMul(c, wo)"
    longer = {**arrays, "wv": np.concatenate([arrays["wv"], other["wv"]], axis=1)}
    weight = np.concatenate([even[f"w{one}"] for one in "qkv"], axis=1)
    zero = {**arrays, **{f"b{one}": np.zeros_like(arrays[f"b{one}"]) for one in "qkv"}}
    product = "m = MatMul({}, w) q, k, v = Split<axis = -1, num_outputs = 3>(m)"
    scattered = "q = MatMul(h, wq) k = MatMul(x, wk) v = MatMul(h, wv)"
    return {
        "another input": (
            make_separate(even, bias="", behind=alike),
            build(product.format("x"), {"w": weight}, behind=alike),
        ),
        "two inputs": (
            build(scattered, even, behind=alike),
            build(product.format("h"), {"w": weight}, behind=alike),
        ),
        "other numbers, all three used alike": (
            make_separate(even, bias="", behind=alike),
            build(product.format("h"), {"w": weight[::-1].copy()}, behind=alike),
        ),
        "two of three": (
            make_separate(even, bias="", behind=alike),
            build(
                product.format("h"),
                {"w": np.concatenate([even["wq"], even["wk"], other["wv"]], axis=1)},
                behind=alike,
            ),
        ),
        "too many outputs": (
            make_separate(arrays, bias=""),
            make_joined(longer, product="no bias"),
        ),
        "joined head by head": (
            make_separate(even, bias="", behind=alike),
            build(product.format("h"), {"w": misplace(even)}, behind=alike),
        ),
        "a bias that only one has": (make_separate(arrays, bias="qv"), make_joined(arrays)),
        "a bias that the joined one lacks": (
            make_separate(arrays),
            make_joined(arrays, product="no bias"),
        ),
        "a factor": (
            make_separate(zero),
            make_joined(
                zero, nodes="j = Gemm<alpha = 0.5>(h, w, b) q, k, v = Split<axis = -1>(j, sizes)"
            ),
        ),
        "other numbers, both used alike": (
            make_mlp(is_joined=False, behind=ALIKE, seed=1),
            make_mlp(is_joined=True, behind=ALIKE, seed=2),
        ),
    }


NEAR_MISSES = _near_misses()


@pytest.mark.parametrize("miss", NEAR_MISSES)
def test_what_is_not_the_same_is_no_joined_projection(miss: str) -> None:
    for left, right in (NEAR_MISSES[miss], NEAR_MISSES[miss][::-1]):
        found = netloupe.diff(left, right)
        assert not found.matching.joined
        assert "joined projection" not in format_diff(found)
        assert found.left_alone
        assert found.right_alone


def test_a_bias_of_zeros_is_none() -> None:
    """As of Whisper, whose keys have no bias."""
    arrays = {**draw(), "bk": np.zeros(8, np.float32)}
    for product in ("product and sum", "turned Gemm"):
        found = netloupe.diff(
            make_separate(arrays, bias="qv"), make_joined(arrays, product=product)
        )
        find_joint(found)
        assert not found.tensors


def make_attention(arrays: Arrays) -> Model:
    """Return an attention as one operator of onnxruntime; it takes three axes."""
    nodes = "h3 = Identity(h) c = com.microsoft.Attention<num_heads = 1>(h3, w, b)"
    joined = {
        "w": np.concatenate([arrays[f"w{one}"] for one in "qkv"], axis=1),
        "b": np.concatenate([arrays[f"b{one}"] for one in "qkv"]),
    }
    return build(nodes, joined, behind="o = MatMul(c, wo)")


def test_an_attention_with_its_projection_is_what_is_written_out() -> None:
    arrays = draw(sizes=(8, 8, 8))
    behind = "kt = Transpose(k) s = MatMul(q, kt) p = Softmax(s) c = MatMul(p, v) o = MatMul(c, wo)"
    separate, fused = make_separate(arrays, behind=behind), make_attention(arrays)
    for left, right in ((separate, fused), (fused, separate)):
        found = netloupe.diff(left, right)
        pair, _ = find_joint(found)
        written_out = " ".join(["MatMul Add"] * 3) + " Transpose MatMul Softmax MatMul"
        assert {*list_operators(pair)} == {written_out, "Attention"}
        assert not found.left_tensors
        assert not found.right_tensors
        assert not {node.op_type for node in found.left_alone + found.right_alone} - {"Identity"}
        assert "Attention with a joined projection" in format_diff(found)


def test_of_an_attention_that_gives_more_only_the_projections_are_paired() -> None:
    """What is written out gives its probabilities to the outside as well."""
    arrays = draw(sizes=(8, 8, 8))
    behind = """kt = Transpose(k) s = MatMul(q, kt) p = Softmax(s) c = MatMul(p, v)
        z = ReduceSum(p) o1 = MatMul(c, wo) o = Add(o1, z)"""
    found = netloupe.diff(make_separate(arrays, behind=behind), make_attention(arrays))
    pair, _ = find_joint(found)
    assert list_operators(pair) == (" ".join(["MatMul Add"] * 3), "Attention")


def test_pairs_made_and_broken_by_hand_count_more() -> None:
    left, right = make_separate(), make_joined()
    query = next(node for node in left.graph.nodes if node.outputs[0].name == "q0")
    product = next(node for node in right.graph.nodes if node.op_type == "MatMul")
    for words in ({"unpin": [(query, product)]}, {"pin": [(query, product)]}):
        matching = match_models(left, right, **words)
        assert not matching.joined
    assert [pair.key for pair in matching.pairs if pair.left == (query,)] == ["by hand"]


def test_tables_and_reviews_tell_the_parts() -> None:
    arrays = draw()
    found = netloupe.diff(make_separate(arrays), make_joined({**arrays, "wk": arrays["wk"] * 2}))
    told = encode_diff(found)
    (fused,) = told["nodes"]["fused"]
    assert fused["joined"]["side"] == "b"
    assert [part["start"] for part in fused["joined"]["parts"]] == [0, 16, 24]
    items = [item for item in list_diff_items(found) if "joined" in item.title]
    assert [item.title for item in items] == ["One joined projection instead of three"]
    assert ("parts", "main/%wq, main/%wk, main/%wv") in items[0].evidence
    frame = found.to_dataframe()
    assert "numbers, outputs 16 to 23 of 32" in [*frame["what"]]
    assert [(one.name, other.name) for one, other in find_joint(found)[1].list_pairs()] == [
        (f"{kind}{one}", kind) for one in "qkv" for kind in "wb"
    ]
    merged = found.merged
    assert sum(node.op_type == "MatMul" for node in merged.graph.nodes) == 4
    product = next(node for node in merged.graph.nodes if node.outputs[0].name == "m")
    text = format_text(describe_element(merged, product))
    assert "one joined projection instead of three" in text
    assert "main/%wk → main/%w, outputs 16 to 23 of 32" in text
    integers, values = read_block(write_pairs(found))
    rows = zip(integers["left"], integers["right"], strict=True)
    pairs = {(values["texts"][left], values["texts"][right]) for left, right in rows}
    assert {("main/%wk", "main/%w"), ("main/%bv", "main/%b")} <= pairs


def test_weights_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    """Without the file of its weight a joined projection is paired by what follows alone."""
    arrays = draw()
    weight = np.concatenate([arrays[f"w{one}"] for one in "qkv"], axis=1)
    nodes = "m = MatMul(h, w) q, k, v = Split<axis = -1>(m, sizes)"
    proto = write(nodes, {"w": weight, "sizes": np.array(SIZES)})
    path = tmp_path / "joined.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="numbers.bin", size_threshold=1024)
    left = make_separate(arrays, bias="")
    assert find_joint(netloupe.diff(left, netloupe.load(path)))[0].key == "weights"
    (tmp_path / "numbers.bin").unlink()
    found = netloupe.diff(left, netloupe.load(path))
    assert find_joint(found)[0].key == "place"
    assert [(one.numbers, one.are_unread) for one in found.tensors] == [(None, True)] * 3
    assert "3 weights could not be read" in format_diff(found)


def test_after_very_many_comparisons_what_follows_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = make_separate(), make_joined()
    monkeypatch.setattr(projections, "_MOST_COMPARISONS", 5)  # three, two and one tell the order
    assert [pair.key for pair in match_models(left, right).joined] == ["place"]
    monkeypatch.setattr(projections, "_MOST_COMPARISONS", 6)
    assert [pair.key for pair in match_models(left, right).joined] == ["weights"]


def test_what_follows_is_no_reason_to_part_a_named_pair() -> None:
    """The newer model has the query by itself as well, under the name that it had."""
    square = {f"w{one}{one}": draw(seed)["wk"][:8] for seed, one in enumerate("qkv", 7)}
    arrays = {**draw(sizes=(8, 8, 8)), **square}
    behind = """qq = MatMul(q, wqq) kk = MatMul(k, wkk) vv = MatMul(v, wvv)
        kt = Transpose(kk) s = MatMul(qq, kt) p = Softmax(s) c = MatMul(p, vv)"""
    nodes = '["/query"] q = MatMul(h, wq) k = MatMul(h, wk) v = MatMul(h, wv)'
    left = build(nodes, arrays, behind=f"{behind} o = MatMul(c, wo)")
    for numbers, key in ((arrays, "weights"), (draw(3, (8, 8, 8)), "")):
        weight = np.concatenate([numbers[f"w{one}"] for one in "qkv"], axis=1)
        nodes = '["/query"] e = MatMul(h, we) j = MatMul(h, w) q, k, v = Split<axis = -1>(j, sizes)'
        given = {"w": weight, "we": draw(4)["wk"], "sizes": np.array([8, 8, 8]), **square}
        later = f"{behind} d = Add(c, e) o = MatMul(d, wo)"
        matching = match_models(left, build(nodes, given, behind=later))
        assert [pair.key for pair in matching.joined] == [key] * bool(key)


def make_caffe2(arrays: Arrays, *, is_joined: bool) -> Model:
    """Return three FC of Caffe2, or one and a Split; their weights have outputs along axis 0."""
    net = caffe2_pb2.NetDef(name="n", external_input=["x"], external_output=["y"])
    init = caffe2_pb2.NetDef(name="n_init")
    net.op.add(type="Relu", input=["x"], output=["h"])
    given = arrays
    if is_joined:
        given = {
            "wj": np.concatenate([arrays[f"w{one}"] for one in "qkv"], axis=1),
            "bj": np.concatenate([arrays[f"b{one}"] for one in "qkv"]),
        }
    for one in "j" if is_joined else "qkv":
        net.op.add(type="FC", input=["h", f"w{one}", f"b{one}"], output=[one])
    if is_joined:
        cut = net.op.add(type="Split", input=["j"], output=[*"qkv"])
        cut.arg.add(name="axis").i = 1
        cut.arg.add(name="split").ints.extend(SIZES)
    net.op.add(type="Concat", input=[*"qkv"], output=["y", "dims"])
    for name, array in given.items():
        stored = array.T
        fill = init.op.add(type="GivenTensorFill", output=[name])
        fill.arg.add(name="shape").ints.extend(stored.shape)
        fill.arg.add(name="values").floats.extend(stored.reshape(-1).tolist())
        net.external_input.append(name)
    return load((net, init))


def test_projections_of_caffe2_are_joined_too() -> None:
    arrays = draw()
    changed = {**arrays, "wk": 2 * arrays["wk"]}
    left, right = make_caffe2(arrays, is_joined=False), make_caffe2(changed, is_joined=True)
    found = netloupe.diff(left, right)
    pair, joint = find_joint(found)
    assert list_operators(pair) == ("FC FC FC", "FC Split")
    assert [one.part.name if one.part else "" for one in joint.parts] == ["q", "k", "v"]
    (one,) = found.tensors
    assert one.numbers is not None
    assert (one.left.name, one.numbers.relative) == ("wk", pytest.approx(1.0))


@pytest.mark.parametrize(
    ("name", "count"),
    [("exported/distilbert.dynamo.onnx", 6), ("exported/whisper.dynamo.onnx", 18)],
)
def test_exported_networks_with_joined_projections_are_paired_whole(name: str, count: int) -> None:
    """Whisper: keys without bias, and keys and values of 12 layers that take one value."""
    twin = make_twin("projections joined", onnx.load(corpus_file(name)), "changed")
    assert twin is not None
    found = netloupe.diff(*(load(side.SerializeToString()) for side in (twin.left, twin.right)))
    score, wrong = score_pairs(twin, found.matching.pairs)
    assert (score.precision, score.recall, wrong) == (1.0, 1.0, [])
    assert len(found.matching.joined) == len(found.fused) == count
    assert all(change.aspect for one in found.tensors for change in one.changes)
    assert not any(one.numbers or one.are_unread for one in found.tensors)
    assert not found.left_tensors
    assert not found.right_tensors


def test_two_of_three_may_be_joined() -> None:
    arrays = draw()
    both = {"w": np.concatenate([arrays["wq"], arrays["wk"]], axis=1), "wv": arrays["wv"]}
    nodes = "j = MatMul(h, w) q, k = Split<axis = -1>(j, sizes) v = MatMul(h, wv)"
    right = build(nodes, both | {"sizes": np.array(SIZES[:2])})
    found = netloupe.diff(make_separate(arrays, bias=""), right)
    pair, _ = find_joint(found)
    assert list_operators(pair) == ("MatMul MatMul", "MatMul Split")
    assert not found.left_alone
    assert not found.right_alone
    assert not found.left_tensors


@pytest.mark.parametrize(
    "cut",
    [
        "q, k, v = Split<axis = -1, split = [1, 2]>(m)",
        "q, k, v = Split<axis = -1>(m, none)",
        "q, k, v = Split<axis = -1>(m, negative)",
        "q, k, v = Split<axis = 0>(m, sizes)",
        'q, k, v = Split<axis = -1, split = "16, 8, 8">(m)',
        "q, k, v = Split<axis = 1.5>(m, sizes)",
        "q, k, v = Split<axis = -1>(m, m)",
        "q = Slice(m) k = Slice(m, none) v = Slice(m, none, none, none)",
        "q = Slice(m, begin0, end0, axis, none) k = Slice(m, m, m) v = Slice(m, sizes, sizes)",
        'q = Slice<starts = ["a"]>(m) k = Slice<starts = [0]>(m) v = Slice<axes = 1>(m)',
    ],
)
def test_cuts_that_are_wrong_are_no_parts(cut: str) -> None:
    arrays = {"none": np.zeros(0, np.int64), "negative": np.array([-8, 20, 20])}
    given = draw()
    weight = np.concatenate([given[f"w{one}"] for one in "qkv"], axis=1)
    arrays |= {"w": weight, "sizes": np.array(SIZES), "axis": np.array([-1])}
    arrays |= {"begin0": np.array([0]), "end0": np.array([16])}
    right = build(f"m = MatMul(h, w) {cut}", arrays)
    found = netloupe.diff(make_separate(given, bias=""), right)
    _, joint = find_joint(found)  # the numbers tell
    assert [one.part for one in joint.parts] == [None] * 3
