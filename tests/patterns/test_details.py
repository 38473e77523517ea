"""What is known of blocks: names in JSON, what several share, and kinds of one's own."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields

import pytest

from netloupe.explorer.describe import to_json
from netloupe.explorer.describe.graphs import describe_group
from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.patterns import (
    BlockDetails,
    FeatureDetails,
    FoundBlock,
    convolution_details,
    transformer_details,
)
from netloupe.explorer.patterns import details as common_details
from netloupe.explorer.patterns.convolution_details import (
    ConvolutionDetails,
    ResidualDetails,
    SeparableDetails,
)
from netloupe.explorer.patterns.details import NO_DETAILS, RecurrentDetails, span_features
from netloupe.explorer.patterns.transformer_details import (
    AttentionDetails,
    ExpertsDetails,
    MlpDetails,
    TransformerDetails,
)
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file

_KINDS = [
    kind
    for module in (common_details, convolution_details, transformer_details)
    for kind in vars(module).values()
    if isinstance(kind, type)
    and issubclass(kind, BlockDetails)
    and kind.__module__ == module.__name__
]


@dataclass(frozen=True, slots=True, kw_only=True)
class HashingDetails(BlockDetails):
    """Of a kind that others make."""

    tables: int | None = None
    is_signed: bool = False


@pytest.mark.parametrize("kind", _KINDS)
def test_nothing_is_known_by_default(kind: type[BlockDetails]) -> None:
    assert kind().to_mapping() == {}
    assert {field.name for field in fields(kind)} >= {*kind.json_first}
    assert pickle.loads(pickle.dumps(kind())) == kind()


@pytest.mark.parametrize("kind", _KINDS)
def test_each_field_is_told_of(kind: type[BlockDetails]) -> None:
    told = "".join(base.__doc__ or "" for base in kind.__mro__)
    named = {name for line in told.splitlines() for name in line.strip().split(", ")}
    assert {field.name for field in fields(kind)} <= named


def test_names_and_their_order_in_json() -> None:
    convolution = ConvolutionDetails(kernel=(3, 3), stride=2, groups=8).with_features((8, 16))
    assert [*convolution.to_mapping().items()] == [
        *(("in", 8), ("out", 16), ("kernel", (3, 3)), ("stride", 2), ("groups", 8)),
    ]
    separable = SeparableDetails(kernel=(3, 3), stride=2).with_features((8, 16))
    assert [*separable.to_mapping()] == ["kernel", "stride", "in", "out"]
    recurrent = RecurrentDetails(layers=2, bidirectional=True).with_features((8, 16))
    assert [*recurrent.to_mapping()] == ["layers", "in", "out", "bidirectional"]


def test_what_is_known_of_parts_has_their_kind_before_its_name() -> None:
    attention = AttentionDetails(heads=4, causal=True)
    dense = TransformerDetails(
        order="pre-norm", attention=attention, feeding=MlpDetails(gated=True)
    )
    assert dense.to_mapping() == {
        "order": "pre-norm",
        "attention_heads": 4,
        "attention_causal": True,
        "mlp_gated": True,
    }
    sparse = TransformerDetails(feeding=ExpertsDetails(experts=8, top=2))
    assert sparse.to_mapping() == {"experts_experts": 8, "experts_top": 2}


def test_what_blocks_share() -> None:
    one = TransformerDetails(
        norm="RMSNorm",
        attention=AttentionDetails(heads=4, head_width=8, causal=True),
        feeding=MlpDetails(activation="SiLU", widths=(8, 32, 8)),
    )
    two = TransformerDetails(
        norm="RMSNorm",
        attention=AttentionDetails(heads=8, head_width=8, causal=True),
        feeding=ExpertsDetails(experts=4, widths=(8, 32, 8)),
    )
    assert one.keep_shared([one, two]) == TransformerDetails(
        norm="RMSNorm", attention=AttentionDetails(head_width=8, causal=True)
    )
    # kinds that differ share what they both have
    residual = ResidualDetails(in_features=8, out_features=8, stride=2, projection=True)
    separable = SeparableDetails(in_features=8, out_features=16, kernel=(3, 3), stride=2)
    assert residual.keep_shared([separable]) == ResidualDetails(in_features=8, stride=2)


def test_details_are_read_as_of_their_kind_or_nothing_is_known() -> None:
    separable = SeparableDetails(kernel=(3, 3)).with_features((8, 16))
    assert separable.read_as(ConvolutionDetails) is separable
    assert separable.read_as(FeatureDetails).in_out == (8, 16)
    assert separable.read_as(MlpDetails) == MlpDetails()
    assert NO_DETAILS.in_out is None
    assert span_features(separable, FeatureDetails(in_features=16, out_features=4)) == (8, 4)
    assert span_features(separable, FeatureDetails(in_features=16)) is None


@pytest.mark.parametrize(
    ("groups", "channels", "is_depthwise"),
    [(8, 8, True), (4, 8, False), (8, None, False), (None, None, False), (None, 8, False)],
)
def test_a_convolution_is_depthwise_where_groups_are_known_to_be_channels(
    groups: int | None, channels: int | None, is_depthwise: bool
) -> None:
    assert ConvolutionDetails(groups=groups, in_features=channels).is_depthwise is is_depthwise


def test_blocks_of_a_kind_of_ones_own() -> None:
    details = HashingDetails(tables=3, is_signed=True)
    found = FoundBlock("hashing", "Hashing", frozenset({0}), 0, details=details)
    assert found.details.to_mapping() == {"tables": 3, "is_signed": True}
    assert found.details.read_as(HashingDetails).tables == 3
    assert details.keep_shared([HashingDetails(tables=3)]) == HashingDetails(tables=3)


def test_a_group_in_json() -> None:
    tree = build_group_tree(load(corpus_file("exported/gpt2.legacy.onnx")).graph)
    block = to_json(describe_group(tree.find("h.3")))["recognised"]
    assert block["details"]["attention_heads"] == 4
    assert block["details"]["mlp_widths"] == [48, 192, 48]
