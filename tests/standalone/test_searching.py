"""Pages find what a kernel finds: the same things, in the same order, said in the same words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.search.search import search_model
from netloupe.explorer.session.lookup import list_hits
from netloupe.explorer.standalone.levels import write_levels
from netloupe.explorer.standalone.search_block import write_search
from netloupe.explorer.view import Item, View
from netloupe.proto import onnx_pb2
from tests.corpus import shared_model
from tests.onnx_text import load_text
from tests.standalone.composing import Script, open_script, search_page

MODELS = [
    "exported/gpt2.legacy.onnx",
    "exported/unet.dynamo.onnx",
    "exported/condloop.dynamo.onnx",
    "exported/lstm.legacy-functions.onnx",
    "exported/mobilenetv3.legacy.onnx",
    "exported/distilgpt2_merged.legacy.onnx",
    "quantized/bert.qdq.onnx",
    "features/control_flow_3deep.onnx",
    "features/functions_nested_transformer.onnx",
]
QUERIES = [
    *("matmul", "CONV", "constant", "weight", "bias", "input", "main", "body", "shape", "0"),
    *("kernel_shape = [3, 3]", "axis=1", "axes = [-1]", "conv kernel_shape=[3,", "to = 1"),
    *("h.3 attn", "layer.1 query", "norm layer.11", "mlp h.0-11", "attention matmul 3", "gelu"),
    *("float32", "layer zebra", "float32 h.3 conv1d", "self-attention", "=", "a=", "[1", "  "),
    " ".join(f"{letter}" for letter in "abcdefghijklmnopqrstuvwxyz") + " 0 1 2 3 4 5 / . _",
]
EXPRESSIONS = [
    *(".", "^conv", r"h\.\d/attn", r"layer\.1\d/$", "matmul|gemm", r"_\d+$", r"^\s*axis = 1$"),
    *(r"/attn/$", "(?:self|query)", r"float32\[", "ATTENTION", r"a\-b|\/mlp", "x*$", "^$"),
]
ODD = """g (bool c, float[N] x) => (float[N] y) <float[2] weight = {1.0, 2.0}> {
    [first] a = LeakyRelu <alpha = 0.25> (x)
    b = Add (a, weight)
    [choose] y = If (c) <
        then_branch = then () => (float[N] p) { [inner_Neg] p = Neg (b) },
        else_branch = else () => (float[N] q) { [fft] q = com.microsoft.Rfft <axes = [1, 2]> (b) }
    >
}"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    with open_script(tmp_path_factory.mktemp("search"), "search_page") as script:
        yield script


def write_page(view: View) -> tuple[bytes, bytes]:
    """Return the levels of a view, and what can be found in them."""
    numbers: dict[str, int] = {}

    def note(number: int, path: str, _around: Item, _depth: int) -> None:
        numbers[path] = number

    return write_levels(view, Labels(), look=note), write_search(view, numbers)


def search_kernel(view: View, text: str, regex: bool) -> dict[str, Any]:
    """Return what a kernel answers, without what no picture of the graph shows.

    It has recognised the groups that the page shows, as the page has.
    """

    def is_shown(path: str) -> bool:
        item = view.shown(path)
        return item is not None and item is not view.root

    found = search_model(
        view.model, text, regex=regex, find_tree=lambda graph: view.borders(graph).tree
    )
    hits, total = list_hits((hit for hit in found if is_shown(hit.path)), view)
    return {"type": "hits", "hits": hits, "total": total, "id": "1"}


def compare(script: Script, model: Model, queries: list[tuple[str, bool]]) -> int:
    """Return how many hits a page and a kernel have, which are the same."""
    view = View(model)
    answers = search_page(script, *write_page(view), queries)
    count = 0
    for (text, regex), answer in zip(queries, answers, strict=True):
        expected = search_kernel(view, text, regex)
        for hit, other in zip(answer["hits"], expected["hits"], strict=True):
            if hit["kind"] == "initializer" and hit["shown"]:
                # one of the boxes where it is a row
                other["shown"] = hit["shown"]
        assert answer == expected, text
        count += answer["total"]
    return count


@pytest.mark.parametrize("name", MODELS)
def test_pages_find_what_a_kernel_finds(script: Script, name: str) -> None:
    queries = [(text, False) for text in QUERIES] + [(text, True) for text in EXPRESSIONS]
    assert compare(script, shared_model(name), queries) > 40


def test_attributes_domains_and_bodies_are_found(script: Script) -> None:
    words = ["axes=[1, 2]", "com.microsoft", "else", "alpha = 0.25 leaky", "inner choose", "#1"]
    queries = [(text, False) for text in words] + [
        ("^fi|^in.er", True),
        ("fft axes = [2, 1]", True),
    ]
    assert compare(script, load_text(ODD), queries) > 5


def test_capitals_and_small_letters_of_any_script_are_the_same(script: Script) -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    names = ["x", "Straße", "STRASSE", "ΟΔΟΣ", "Größe"]
    for before, name in pairwise(names):
        proto.graph.node.add(op_type="Relu", name=name, input=[before], output=[name])
    proto.graph.input.add(name="x")
    proto.graph.output.add(name=names[-1])
    words = ["strasse", "STRASSE", "straße", "οδος", "οδοσ", "GRÖSSE", "größe"]
    model = load(proto.SerializeToString())
    assert compare(script, model, [(text, False) for text in words]) > len(words)


def test_long_texts_are_found_by_their_beginning(script: Script) -> None:
    name = "a" * 390 + "middle" + "b" * 30 + "end"
    model = load_text(
        f"g (float[N] x) => (float[N] y) {{ [{name}] a = Relu (x) [o] y = Relu (a) }}"
    )
    queries = [
        ("middle", False),
        ("end", False),
        ("end", True),
        ("aab?", True),
        ("relu end", False),
    ]
    assert compare(script, model, queries) > 0
    (found,) = search_page(script, *write_page(View(model)), [("middle", False)])
    assert [hit["path"] for hit in found["hits"]] == [f"main/{name}"]


def test_expressions_that_are_none_are_told(script: Script) -> None:
    queries = [(text, True) for text in ("(", "*", "[", "(?P<a")]
    answers = search_page(script, *write_page(View(load_text(ODD))), queries)
    for (text, _), answer in zip(queries, answers, strict=True):
        assert answer["type"] == "error"
        assert answer["message"].startswith(f"the regular expression '{text}' is not valid: ")
