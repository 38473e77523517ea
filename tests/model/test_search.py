"""Search by name, op type, attribute; plain text or regular expression."""

from __future__ import annotations

import pytest

from netloupe.explorer.errors import ViewError
from netloupe.explorer.load import load
from netloupe.explorer.search import search_model
from tests.corpus import corpus_file
from tests.onnx_text import load_text

MODEL = """g (bool c, float[N] x) => (float[N] y) <float[2] weight = {1.0, 2.0}> {
    [first] a = LeakyRelu <alpha = 0.25> (x)
    [choose] y = If (c) <
        then_branch = then () => (float[N] p) { [inner_Neg] p = Neg (a) },
        else_branch = else () => (float[N] q) { [fft] q = com.microsoft.Rfft <axes = [1, 2]> (a) }
    >
}"""


def find(text: str, regex: bool = False) -> list[tuple[str, str]]:
    hits = search_model(load_text(MODEL), text, regex=regex)
    return [(hit.kind, hit.path) for hit in hits]


def test_names_and_op_types_in_any_case() -> None:
    assert find("FIRST") == [("node", "main/first")]
    assert find("leakyrelu") == [("node", "main/first")]
    assert find("neg") == [("node", "main/choose.then_branch/inner_Neg")]


def test_attributes_and_domains() -> None:
    assert find("alpha = 0.25") == [("node", "main/first")]
    assert find("axes = [1, 2]") == [("node", "main/choose.else_branch/fft")]
    assert find("com.microsoft") == [("node", "main/choose.else_branch/fft")]


def test_values_initializers_and_graphs() -> None:
    assert find("weight") == [("initializer", "main/%weight")]
    assert ("value", "main/choose.then_branch/%p") in find("p")
    assert ("graph", "main/choose.else_branch") in find("else")


def test_regular_expressions() -> None:
    assert find("^fi.st$", regex=True) == [("node", "main/first")]
    assert find("^fi.st$") == []
    assert find("") == find("", regex=True) == []
    for text in ("(", "*", "[", "(?P<a", "a{99999999999}"):
        with pytest.raises(ViewError, match="regular expression"):
            find(text, regex=True)
        assert find(text) == [] or text in ("[", "*", "(")


@pytest.mark.parametrize("name", ["evil_names", "empty_names", "attr_oddities", "invalid_utf8"])
def test_hits_of_hostile_models_lead_somewhere(name: str) -> None:
    model = load(corpus_file(f"hostile/{name}.onnx"))
    hits = list(search_model(model, ".", regex=True))
    assert hits
    for hit in hits:
        assert model[hit.path] is not None
