"""What a closed group that is no known block says it is made of, and what changes over a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import onnx.parser
import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.inner_parts import Stages
from netloupe.explorer.grouping.ports import Ports
from netloupe.explorer.grouping.stack_changes import list_changes
from netloupe.explorer.patterns import IDEA, TRIM, WORK, Ingredient
from netloupe.explorer.patterns.details import NO_DETAILS, BlockDetails, FeatureDetails
from netloupe.explorer.patterns.transformer_details import (
    AttentionDetails,
    MlpDetails,
    TransformerDetails,
)
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.contents_words import wrap_rows, write_contents


def chain(*names: str, rank: int = WORK) -> list[Ingredient]:
    """Return parts each of which takes from the one before it."""
    return [
        Ingredient(
            name,
            "linear" if name == "Linear" else name,
            TRIM if name in ("ReLU", "LayerNorm") else rank,
            before=frozenset({number - 1} if number else ()),
        )
        for number, name in enumerate(names)
    ]


def write(ingredients: list[Ingredient], most: int = 60) -> tuple[str, str]:
    return write_contents(ingredients, lambda text: len(text) <= most)


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["Linear", "ReLU", "Linear", "ReLU", "Linear"], "(Linear · ReLU) ×2 · Linear"),
        (["Conv", "Conv", "Conv"], "Conv ×3"),
        (["Conv", "ReLU", "Linear", "LayerNorm", "Linear"], "Conv · Linear ×2"),
    ],
)
def test_a_chain_counts_what_repeats_and_leaves_out_what_is_trim_where_it_is_long(
    names: list[str], parts: str
) -> None:
    assert write(chain(*names))[0] == parts


@pytest.mark.parametrize("times", [2, 3, 9])
@pytest.mark.parametrize("is_first", [True, False])
def test_layers_with_a_gate_beside_them_are_a_chain(times: int, *, is_first: bool) -> None:
    """An activation that takes what a layer takes, too, and multiplies what that gives."""
    parts = [Ingredient("Conv", "conv", WORK)] if is_first else []
    for _ in range(times):
        start = len(parts)
        before = frozenset({start - 1} if start else ())
        parts += [
            Ingredient("Linear", "linear", WORK, before=before),
            Ingredient("Depthwise conv", "conv", WORK, before=frozenset({start})),
            Ingredient("GELU", "activation", TRIM, before=frozenset({start})),
            Ingredient("Linear", "linear", WORK, before=frozenset({start + 1, start + 2})),
        ]
    unit = f"(Linear · Depthwise conv · Linear) ×{times}"
    assert write(parts)[0] == (f"Conv · {unit}" if is_first else unit)


def test_layers_beside_each_other_are_no_chain() -> None:
    parts = [
        Ingredient("Linear", "linear", WORK),
        Ingredient("Depthwise conv", "conv", WORK),
        Ingredient("GELU", "activation", TRIM, before=frozenset({1})),
        Ingredient("Linear", "linear", WORK, before=frozenset({0, 2})),
    ]
    assert "·" not in write(parts)[0]


@pytest.mark.parametrize(("before", "parts"), [((), "Max and mean pool · Linear"), ((0,), "")])
def test_a_maximum_and_a_mean_beside_each_other_are_one_part(
    before: tuple[int, ...], parts: str
) -> None:
    parts_in = [
        Ingredient("ReduceMax", "ReduceMax", TRIM),
        Ingredient("ReduceMean", "ReduceMean", TRIM, before=frozenset(before)),
        Ingredient("Linear", "linear", WORK, before=frozenset({1} if before else {0, 1})),
    ]
    told, _ = write(parts_in)
    assert told == (parts or "ReduceMax · ReduceMean · Linear")


def test_what_is_no_chain_says_its_ideas() -> None:
    names = ["Self-attention", "Cross-attention", "MLP", "Self-attention", "Cross-attention"]
    ingredients = [Ingredient(name, name, IDEA) for name in names]
    ingredients.insert(0, Ingredient("LayerNorm", "norm", TRIM))
    assert write(ingredients)[0] == "Self-attention ×2, Cross-attention ×2, MLP"
    # what there is no room for stands below, or it is said that there is more
    told = "Self-attention ×2, Cross-attention ×2, MLP"
    assert wrap_rows(told, lambda text: len(text) <= 40) == [
        "Self-attention ×2, Cross-attention ×2,",
        "MLP",
    ]
    assert write(ingredients, most=40)[0] == told
    assert write(ingredients, most=20)[0] == "Self-attention ×2, …"


def test_a_chain_of_several_ideas_says_them_in_their_order() -> None:
    heads = AttentionDetails(heads=2, head_width=8)
    names = ["Residual block", "GroupNorm", "Conv", "Transformer decoder block", "Conv"] * 2
    ingredients = [
        Ingredient(
            name,
            "conv" if name == "Conv" else name,
            {"GroupNorm": TRIM, "Conv": WORK}.get(name, IDEA),
            facts=("2 heads × 8",) if "decoder" in name else (),
            details=TransformerDetails(attention=heads) if "decoder" in name else NO_DETAILS,
            before=frozenset({number - 1} if number else ()),
        )
        for number, name in enumerate(names)
    ]
    whole = "(Residual block · Transformer decoder block) ×2", "2 heads × 8"
    assert write(ingredients) == whole
    assert write(ingredients, most=40)[0] == "(Residual block · Attention) ×2"
    # beside attention that stands alone, as a decoder's beside the blocks of its encoder, it is
    # not counted as such
    alone = ingredients[3]._replace(name="Self-attention", details=heads, before=frozenset())
    blocks = [ingredients[3]._replace(before=frozenset({place})) for place in range(2)]
    assert write([alone, *blocks], most=40)[0] == "Attention · Transformer block ×2"
    assert write(ingredients[:6])[0] == (
        "Residual block · Transformer decoder block · Residual block"
    )
    assert write(ingredients[:1] + ingredients[5:6], most=40)[0] == "Residual block ×2"


def write_widths_of(kind: str, name: str, widths: list[int]) -> tuple[str, str]:
    """Return what is said of a chain of parts of these widths."""
    ingredients = [
        Ingredient(
            name,
            kind,
            WORK,
            details=FeatureDetails(in_features=taken, out_features=given),
            before=frozenset({number - 1} if number else ()),
        )
        for number, (taken, given) in enumerate(pairwise(widths))
    ]
    return write(ingredients)


def test_where_room_is_short_residual_blocks_are_told_by_their_idea() -> None:
    ideas = chain(
        "Cross-covariance attention", "Residual block with gated depthwise MLP", rank=IDEA
    )
    assert write(ideas, 90)[0] == " · ".join(one.name for one in ideas)
    assert write(ideas, 50)[0] == "Cross-covariance attention · Gated depthwise MLP"
    gated = chain("Cross-covariance attention", "Residual block with gate", rank=IDEA)
    ideas = chain("Cross-covariance attention", "Residual block", "MLP", rank=IDEA)
    of_kind = ideas[0]._replace(details=AttentionDetails(heads=2))
    told = "Cross-covariance attention · Residual block · MLP"
    assert write([of_kind, *ideas[1:]], 45)[0] == told
    usual = of_kind._replace(name="Self-attention")
    assert write([usual, *ideas[1:]], 34)[0] == "Attention · Residual block · MLP"
    assert "Residual block" in write(gated, 55)[0]
    assert "Gate" not in write(gated, 40)[0].split(" · ")


def test_a_block_of_cross_attention_is_told_from_others() -> None:
    def make(attention: str, place: int, *facts: str) -> Ingredient:
        details = TransformerDetails(attention=AttentionDetails(attention=attention))
        before = frozenset({place - 1} if place else ())
        return Ingredient("Transformer block", "known", IDEA, facts, details, before)

    own = make("Self-attention", 1)
    for facts, told in (
        (("tanh gates",), "Gated cross-attention block · Transformer block"),
        ((), "Cross-attention block · Transformer block"),
    ):
        assert write([make("Cross-attention", 0, *facts), own])[0] == told
    blocks = [make("Self-attention", 0), own]
    assert write(blocks)[0] == "Transformer block ×2"
    # what learned queries attend to among themselves may be stored, as in a decoder's first layer
    first = make("Cross-attention", 0, "5 × 8 learned queries")
    decoder = own._replace(name="Transformer decoder block")
    assert write([first, decoder])[0] == "Transformer block · Transformer decoder block"
    assert write([first, own])[0] == "Cross-attention block · Transformer block"


def test_of_few_convolutions_each_width_is_told_of_many_each_once() -> None:
    assert write_widths_of("conv", "Conv", [3, 8, 8, 2]) == ("Conv ×3", "3 → 8 → 8 → 2")
    assert write_widths_of("conv", "Conv", [3, 8, 8, 8]) == ("Conv ×3", "3 → 8")
    many = write_widths_of("conv", "Conv", [3, 8, 8, 8, 16, 16, 2])
    assert many == ("Conv ×6", "3 → 8 → 16 → 2")


def test_of_linear_layers_each_width_is_told_so_that_none_is_lost() -> None:
    assert write_widths_of("linear", "Linear", [3, 8, 8, 2]) == ("Linear ×3", "3 → 8 → 8 → 2")
    many = write_widths_of("linear", "Linear", [63, *[256] * 8, 4])
    assert many == ("Linear ×9", "63 → 256 ×8 → 4")
    alike = write_widths_of("linear", "Linear", [32] * 9)
    assert alike == ("Linear ×8", "32 → 32 ×8")  # eight layers
    assert write_widths_of("linear", "Linear", [*[32] * 9, 3])[1] == "32 → 32 ×8 → 3"
    falling = write_widths_of("linear", "Linear", [9, 8, 7, 6, 5, 4, 3, 2])
    assert falling == ("Linear ×7", "9 → 8 → … → 2")


def test_an_mlp_that_ends_in_an_activation_keeps_its_hidden_layer() -> None:
    mlp = MlpDetails(activation="tanh", widths=(2, 64, 64))
    ingredients = [
        Ingredient("MLP", "known", IDEA, ("2 → 64 → 64", "tanh"), mlp),
        Ingredient("tanh", "activation", TRIM, before=frozenset({0})),
    ]
    assert write(ingredients) == ("MLP", "2 → 64 → 64")


def test_what_is_called_again_is_counted_once() -> None:
    names = ["Residual block", "Residual block", "Linear"]
    once = [Ingredient(name, name, IDEA if "b" in name else WORK) for name in names]
    again = [one._replace(times=0) for one in once]
    called = [*once, *again, *again, *again]
    assert write(called) == ("Residual block ×2, Linear", "called 4 times")
    # the first of five steps computes with stored numbers, and is no part
    assert write_contents(called, lambda text: len(text) <= 60, steps=5).facts == "called 5 times"
    assert write_contents(called, lambda text: len(text) <= 60, steps=7).facts == "called 4 times"
    # what is called another number of times, or has a part of its own, is not called so
    assert write([*once, *again[:2]])[1] == ""


def make_linears(widths: Sequence[tuple[int, int]]) -> list[Ingredient]:
    return [
        Ingredient(
            "Linear",
            "linear",
            WORK,
            details=FeatureDetails(in_features=taken, out_features=given),
            before=frozenset({number}),
        )
        for number, (taken, given) in enumerate(widths)
    ]


def test_a_chain_tells_no_width_of_the_values_of_an_attention() -> None:
    first = Ingredient("Self-attention", "attention", IDEA)
    linears = make_linears([(192, 256), (256, 512), (512, 256)])
    assert write([first, *linears])[1] == "256 → 512 → 256"
    assert write([first, *linears[:1]])[1] == ""


@pytest.mark.parametrize("is_one", [True, False])
def test_what_an_mlp_has_inside_is_not_told_as_what_enters(is_one: bool) -> None:
    first = Ingredient("Transformer block", "known", IDEA)
    if is_one:
        mlp = MlpDetails(widths=(32, 128, 32))
        parts = [Ingredient("MLP", "known", IDEA, details=mlp, before=frozenset({0}))]
    else:
        parts = make_linears([(32, 128), (128, 32)])
    assert write([first, *parts])[1] == ""


def make_track(kind: str, taken: int, given: int, *before: int) -> Ingredient:
    details = FeatureDetails(in_features=taken, out_features=given)
    rank = IDEA if kind == "gate" else WORK
    return Ingredient(kind.title(), kind, rank, details=details, before=frozenset(before))


#: vectors and scalars of a geometric vector perceptron (B. Jing and others, 2021, figure 1)
_PERCEPTRON = [
    make_track("linear", 3, 8),
    Ingredient("L2 norm", "l2", TRIM, before=frozenset({0})),
    make_track("linear", 34, 32, 1),
    make_track("linear", 32, 8, 2),
    make_track("gate", 8, 8, 0, 3),
]


@pytest.mark.parametrize(
    ("taken", "told"),
    [
        # what a gate takes comes of both
        (((0, 3, 3), (0, 26)), "3 → 8, 34 → 32 → 8"),
        # what is joined on maps of one kind goes with the stream
        (((0, 3, 8, 8), (0, 26, 8, 8)), "3 → 8"),
    ],
)
def test_scalars_and_vectors_have_widths_of_their_own(
    taken: tuple[tuple[int, ...], ...], told: str
) -> None:
    ports = Ports(taken, taken[:1], has_maps=False)
    facts = write_contents(_PERCEPTRON, lambda text: len(text) <= 60, ports).facts
    assert facts == told


def test_a_part_that_takes_what_another_gives_goes_on_with_its_course() -> None:
    parts = [make_track("linear", 3, 8), make_track("linear", 34, 32, 0)]
    parts.append(make_track("linear", 8, 5, 0, 1))
    ports = Ports(((0, 3, 3), (0, 26)), ((0, 5, 3),), has_maps=False)
    assert write_contents(parts, lambda text: len(text) <= 60, ports).facts == "3 → 8 → 5, 34 → 32"


def test_a_layer_behind_linear_ones_takes_no_places() -> None:
    parts = [make_track("linear", 1, 1), make_track("linear", 21, 16, 0)]
    assert write(parts)[1] == "1 → 16"
    assert write([make_track("conv", 8, 1), make_track("linear", 64, 16, 0)])[1] == "8 → 1 → 16"


def test_what_is_counted_alone_is_in_brackets() -> None:
    parts = [one._replace(kind="conv") for one in chain(*["Conv · ReLU"] * 5)]
    assert write(parts)[0] == "(Conv · ReLU) ×5"


@pytest.mark.parametrize(
    ("stages", "told"),
    [
        # of one kind of module, however many layers are in each
        (Stages(("GVP",) * 3), "GVP ×3"),
        # a chain of modules, with what repeats in it
        (Stages(("Stem", *("Down", "Mix") * 2), is_chain=True), "Stem · (Down · Mix) ×2"),
        # what stands side by side is none, and all layers are told
        (Stages(("left", "right")), "L2 norm ×3, Gate ×3, Linear ×9"),
        # what is in a container is no stage of its name
        (Stages(("layer", "Stem"), is_chain=True), "L2 norm ×3, Gate ×3, Linear ×9"),
        (Stages(("Stem", *("layers",) * 2)), "L2 norm ×3, Gate ×3, Linear ×9"),
        (Stages(), "L2 norm ×3, Gate ×3, Linear ×9"),
    ],
)
def test_modules_are_told_where_they_say_more_than_layers(stages: Stages, told: str) -> None:
    parts = [Ingredient("L2 norm", "l2", IDEA), Ingredient("Gate", "gate", IDEA)] * 3
    parts += [Ingredient("Linear", "linear", WORK)] * 9
    found = write_contents(parts, lambda text: len(text) <= 40, find_stages=lambda: stages)
    assert found.parts == told


def stack(*blocks: str, weights: Mapping[str, tuple[int, ...]] | None = None) -> Group:
    """Return a stack of blocks in ONNX's text form, each of which takes ``x0``, ``x1`` …"""
    weights = weights or {"w": (8, 8, 3, 3)}
    dims = ", ".join(
        f"int64[4] d{name} = {{{str(one).strip('()')}}}" for name, one in weights.items()
    )
    made = " ".join(f"{name} = ConstantOfShape (d{name})" for name in weights)
    nodes = "\n".join(
        line.replace("IN", f"x{number}").replace("OUT", f"x{number + 1}").replace("_N", str(number))
        for number, line in enumerate(blocks)
    )
    text = (
        '<ir_version: 8, opset_import: ["": 17]> g (float[1, 8, 64, 64] x0) => '
        f"(float[1, 8, N, N] x{len(blocks)}) <{dims}> {{ {made} {nodes} }}"
    )
    graph = load(onnx.parser.parse_model(text).SerializeToString()).graph
    root = build_group_tree(graph, "none").root
    repeat = Group("repeat", graph, "main/r/", "r", "", root)
    done = len(weights)
    for number, line in enumerate(blocks):
        block = Group("block", graph, f"main/r/{number}/", str(number), "", repeat)
        block.node_count = line.count("(")
        block.children = list(graph.nodes[done : done + block.node_count])
        done += block.node_count
        repeat.add(block)
    repeat.node_count = done - len(weights)
    return repeat


_CONV = "OUT = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (IN, w)"


def test_a_stack_says_how_its_dilation_grows() -> None:
    blocks = [_CONV.replace("kernel", f"dilations = [{n}, {n}], kernel") for n in (1, 2, 4, 8)]
    assert list_changes(stack(*blocks)) == ["dilation 1 … 8"]
    assert list_changes(stack(*blocks[:3])) == ["dilation 1, 2, 4"]
    assert list_changes(stack(*blocks[:1] * 3)) == []


def test_a_stack_says_that_its_first_block_halves_the_size() -> None:
    first = _CONV.replace("kernel", "strides = [2, 2], kernel")
    repeat = stack(first, _CONV, _CONV)
    assert list_changes(repeat) == ["the first halves the size"]
    assert list_changes(repeat, shown=0) == []


def test_a_block_through_which_a_map_keeps_its_size_does_not_halve_it() -> None:
    block = (
        f"{_CONV.replace('OUT', 'c_N').replace('kernel', 'STRIDES kernel')}\n"
        "m_N = GlobalAveragePool (c_N)\nOUT = Mul (IN, m_N)"
    )
    plain = block.replace("STRIDES", "")
    assert list_changes(stack(block.replace("STRIDES", "strides = [2, 2],"), plain, plain)) == []


def test_a_stack_says_through_which_widths_it_goes_where_it_is_open() -> None:
    weights = {"w0": (16, 8, 3, 3), "w1": (32, 16, 3, 3), "w2": (64, 32, 3, 3)}
    repeat = stack(*[_CONV.replace(", w)", ", w_N)")] * 3, weights=weights)
    assert list_changes(repeat, shown=0) == ["8 → 16 → 32 → 64 channels"]


def test_a_stack_says_nothing_of_what_only_arranges() -> None:
    turned = "t_N = Identity (IN) OUT = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (t_N, w)"
    assert list_changes(stack(turned, _CONV, _CONV), shown=1) == []


def test_a_stack_says_what_the_first_has_alone() -> None:
    pooled = _CONV.replace("OUT", "p_N") + " OUT = GlobalAveragePool (p_N)"
    repeat = stack(_CONV, _CONV, pooled)
    assert list_changes(repeat, shown=1) == ["the last with GlobalAveragePool"]


def test_a_stack_says_of_which_other_kind_its_last_block_is() -> None:
    activated = _CONV.replace("OUT", "c_N") + " OUT = Relu (c_N)"
    other = _CONV.replace("OUT", "c_N") + " OUT = Tanh (c_N)"
    assert list_changes(stack(*[activated] * 3, other)) == ["the last: conv · tanh"]
    assert list_changes(stack(*[activated] * 3, other), shown=3) == ["ReLU, ReLU, ReLU, tanh"]
    amid = list_changes(stack(activated, other, activated, activated))
    assert amid == ["ReLU, tanh, ReLU, ReLU"]


def test_ideas_that_there_is_no_room_for_are_those_that_there_are_least_of() -> None:
    names = ["Depthwise-separable conv"] * 2 + ["Inverted residual"] * 4 + ["ConvNeXt block"]
    ingredients = [Ingredient(name, name, IDEA) for name in names]
    assert write(ingredients, most=25)[0] == "Inverted residual ×4, …"
    every = "Depthwise-separable conv ×2, Inverted residual ×4, ConvNeXt block"
    assert write(ingredients, most=40)[0] == every


def test_parts_of_which_only_some_are_called_again_are_not_called_so() -> None:
    parts = chain("Self-attention", "Linear", "Linear")
    again = [one._replace(times=0) for one in parts[:2]]
    assert "called" not in write([*parts, *again])[1]


def test_convolutions_in_summed_branches_are_counted_with_all_others() -> None:
    """A block of FractalNet has as many as its columns together, and not those of one path."""
    parts = [
        Ingredient("Summed branches", "branches", IDEA, convolutions=3),
        *(Ingredient("Conv · ReLU", "conv", WORK) for _ in range(4)),
    ]
    assert write(parts)[0] == "Summed branches, Conv ×7"
    assert write([Ingredient("MLP", "mlp", IDEA), *parts[:1]])[0] == "MLP, Summed branches"


@pytest.mark.parametrize(
    ("widths", "told"),
    [
        # what two layers of a message passing network take is joined of several values
        ([(96, 32, 32, 32), (32, 128, 32), (96, 32, 32, 32)], "96 → 32"),
        ([(8, 32, 32, 8), (8, 32, 32, 8)], "8 → 8"),
        ([(96, 64), (96, 192, 96)], "96 → 96"),
        ([(16, 1), (64, 64, 1)], "16 → 1 → 64 → 1"),  # of a map of 64 places
        ([(96, 32, 96), (96, 24)], "96 → 32 → 96 → 24"),
    ],
)
def test_mlps_are_no_chain_where_layers_do_not_follow(
    widths: Sequence[tuple[int, ...]], told: str
) -> None:
    parts = []
    for place, each in enumerate(widths):
        before = frozenset({place - 1} if place else ())
        if len(each) > 2:
            details: BlockDetails = MlpDetails(widths=each)
            parts.append(Ingredient("MLP", "mlp", IDEA, details=details, before=before))
        else:
            parts.append(make_track("linear" if place else "conv", *each, *before))
    assert told == write(parts)[1].partition(" · ")[0]


@pytest.mark.parametrize(
    ("behind", "parts", "told"),
    [
        ((), "Linear · Self-attention", "4 heads × 8"),
        # no widths: those of the layer are not of what goes through
        (("MLP",), "Linear · Self-attention · MLP", ""),
    ],
)
def test_a_layer_that_takes_what_a_head_has_tells_no_widths(
    behind: Sequence[str], parts: str, told: str
) -> None:
    """It may gate the positions (WavLM)."""
    own = FeatureDetails(in_features=8, out_features=4)
    heads = AttentionDetails(attention="Self-attention", heads=4, head_width=8)
    mlp = MlpDetails(widths=(32, 64, 32))
    row = [
        Ingredient("Linear", "linear", WORK, ("8 → 4",), own),
        Ingredient("Self-attention", "attention", IDEA, ("4 heads × 8",), heads, frozenset({0})),
        *(Ingredient(name, "mlp", IDEA, (), mlp, frozenset({1})) for name in behind),
    ]
    ports = Ports(taken=((1, 9, 32),), given=((1, 9, 32),), has_maps=False)
    assert write_contents(row, lambda text: len(text) < 60, ports) == (parts, told)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (("8×8", "shifted", "6 heads × 10"), "Shifted window attention · MLP"),
        (("8×8", "6 heads × 10"), "Window attention · MLP"),
    ],
)
def test_attention_in_shifted_windows_is_told_from_that_beside_it(
    facts: tuple[str, ...], told: str
) -> None:
    attention, mlp = chain("Window attention", "MLP", rank=IDEA)
    attention = attention._replace(facts=facts, details=AttentionDetails(heads=6))
    assert write([attention, mlp])[0] == told
