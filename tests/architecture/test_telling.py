"""Where the architecture is told: shell, JSON, inspector and HTML."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import netloupe
from netloupe.commands.cli import main
from netloupe.commands.info import format_summary, summarize_model
from netloupe.explorer.architecture import Architecture, families
from netloupe.explorer.architecture.layer_words import write_given
from netloupe.explorer.describe import describe_contents, describe_model
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.readers.load import load
from netloupe.explorer.session import overview
from tests.architecture.networks import Network
from tests.corpus import LIGHT_MODELS, corpus_file, light_file
from tests.hostile_models import graph_inputs, outputs
from tests.patterns.test_hostile_blocks import write_any
from tests.widgets.test_overview import PATIENCE, ask_first_scene

RESNET = light_file("light_resnet50.onnx")
SENTENCE = (
    "Residual CNN (bottleneck): stages of 3, 4, 6, 3 blocks, 256 → 2,048 channels, 1,000 classes."
)
COSTS = "25.6 M parameters, 4.09 G MACs at 1 × 3 × 224 × 224."


def test_info_says_it_in_its_first_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(RESNET)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == [f"  {SENTENCE}", f"  {COSTS}"]


def test_info_begins_with_the_format_where_nothing_is_told() -> None:
    model = load(corpus_file("runtimes/custom_domain.onnx"))
    lines = format_summary(summarize_model(model), model.dialect).splitlines()
    assert lines[1].startswith("  format")


def test_lines_are_no_longer_than_a_terminal() -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    lines = format_summary(summarize_model(model), model.dialect).splitlines()[1:4]
    assert [len(line) <= 100 for line in lines] == [True] * 3
    assert " ".join(line.strip() for line in lines[:2]).endswith("positions 128.")


def test_json_has_it_and_says_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json", str(RESNET)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["schema"] == 1
    told = summary["architecture"]
    assert told["summary"] == f"{SENTENCE} {COSTS}"
    assert told["text"] == [SENTENCE, COSTS]
    assert told["family"] == "residual CNN (bottleneck)"
    assert [block["count"] for block in told["blocks"]] == [3, 4, 6, 3]
    assert told["facts"]["classes"] == 1000
    assert told["facts"]["input_size"] == [1, 3, 224, 224]
    assert told["facts"]["macs"] == load(RESNET).costs().macs


def test_json_of_a_model_that_is_not_known_has_it_empty() -> None:
    told = summarize_model(load(corpus_file("runtimes/custom_domain.onnx")))["architecture"]
    assert told == {"summary": "", "family": "", "blocks": [], "facts": {}, "text": []}


def test_macs_are_those_of_the_sizes_that_are_given() -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    bind = {"batch": 1, "sequence": 128}
    told = summarize_model(model, bind=bind)["architecture"]
    assert told["facts"]["macs"] == model.costs(bind).macs
    assert told["text"][1].endswith("MACs at 1 × 128.")
    assert "macs" not in model.architecture.facts


def test_models_without_matrices_have_no_parameters_to_tell() -> None:
    net = Network()
    x = net.take("x", (1, 3))
    y = net.add(
        "LinearClassifier",
        x,
        domain="ai.onnx.ml",
        coefficients=[0.5] * 6,
        classlabels_ints=[0, 1],
    )
    told = net.finish(y, shape=(1, 2)).architecture
    assert (told.summary, told.facts) == ("Linear classifier: 2 classes.", {"classes": 2})


def test_a_description_begins_with_it_and_leads_to_the_blocks() -> None:
    model = load(RESNET)
    words, blocks = describe_model(model).sections[:2]
    assert (words.title, words.text) == ("Architecture", f"{SENTENCE}\n{COSTS}")
    assert blocks.title == "Blocks"
    assert [(row.name, row.value) for row in blocks.rows] == [
        ("Bottleneck block", f"×{count}") for count in (3, 4, 6, 3)
    ]
    assert [model.group(row.path).kind for row in blocks.rows] == ["repeat"] * 4
    assert describe_contents(model).sections[0].title == "Model"


def test_an_explorer_does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    real = overview.describe_model
    monkeypatch.setattr(
        overview, "describe_model", lambda model: asked.append(model) or real(model)
    )
    explorer = netloupe.explore(load(RESNET))
    assert asked == []
    ask_first_scene(explorer)
    assert explorer._details.overview.wait(PATIENCE)
    assert explorer.inspector.description.sections[0].title == "Architecture"
    assert asked == [explorer.model]
    explorer.close()


def test_a_page_says_it_above_the_picture(tmp_path: Path) -> None:
    page = load(RESNET).to_html(static=True)
    header = page[: page.index("</header>")]
    assert f'<p class="nl-architecture">{SENTENCE}<br>{COSTS}</p>' in header
    nothing = load(corpus_file("runtimes/custom_domain.onnx")).to_html(static=True)
    assert "<p class" not in nothing[: nothing.index("</header>")]


def test_of_large_graphs_nothing_but_what_the_picture_shows_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def decoder() -> Architecture:
        net = Network()
        x = net.embed()
        for _ in range(8):
            x = net.block(x)
        return net.finish(net.linear(net.norm(x, 8), 8, 100)).architecture

    looked: list[int] = []

    class Counting(families.Outline):
        def __init__(self, graph: Graph, nodes: Sequence[Node]) -> None:
            looked.append(len(nodes))
            super().__init__(graph, nodes)

    monkeypatch.setattr(families, "Outline", Counting)
    whole = decoder()
    assert whole.family == "encoder-only transformer"
    monkeypatch.setattr(families, "MOST_NODES", 40)
    looked.clear()
    folded = decoder()
    assert max(looked) <= 40
    assert folded.sentence == (
        "Transformer: vocabulary 100, 8 transformer blocks (pre-norm LayerNorm; "
        "self-attention 2 heads × 4; MLP 8 → 32, GELU), output over the vocabulary."
    )
    assert [(block.name, block.count) for block in folded.blocks] == [("transformer block", 8)]
    for wide in (graph_inputs(60_000), outputs(60_000)):
        looked.clear()
        assert not load(wide).architecture.family
        assert max(looked, default=0) <= 40


@pytest.mark.parametrize("seed", range(12))
def test_any_operators_wired_in_any_way_are_told_without_failing(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(6):
        model = write_any(chance, chance.randrange(1, 60)).model
        # a rule that fails would be silent: none does
        families.tell_family(model)


def test_many_blocks_beside_one_another_are_of_no_family() -> None:
    net = Network()
    x = net.embed()
    given = [net.block(x) for _ in range(40)]
    told = net.finish(*given).architecture
    assert told.family == ""
    assert "40 " in told.sentence


def test_words_are_the_same_each_time() -> None:
    for name in LIGHT_MODELS[:3]:
        assert load(light_file(name)).architecture == load(light_file(name)).architecture


def test_no_name_of_the_file_is_told() -> None:
    model = load(RESNET)
    model.source = "gpt2.onnx"
    assert model.architecture.sentence == SENTENCE


@pytest.mark.parametrize(
    ("count", "key", "said"),
    [
        (1, "outputs", "1 output"),
        (2, "outputs", "2 outputs"),
        (1, "classes", "1 class"),
        (1000, "classes", "1,000 classes"),
    ],
)
def test_one_of_what_is_given_is_not_told_as_several(count: int, key: str, said: str) -> None:
    assert write_given(count, key) == said
