"""Calls of functions are told as blocks where it is known what most of their weights are for."""

from __future__ import annotations

import pytest

from tests.onnx_text import load_text


@pytest.mark.parametrize(("width", "told"), [(1, "Network: block of linear layer."), (64, "")])
def test_calls_are_not_told_beside_larger_ones_that_are_unknown(width: int, told: str) -> None:
    model = load_text(f"""
        <ir_version: 8, opset_import: ["": 17, "local": 1]>
        main (float[2, 64] x) => (float[2, 8] y)
        <int64[2] strange = {{{width}, 64}}, int64[2] linear = {{64, 8}}> {{
            other = ConstantOfShape (strange)
            weight = ConstantOfShape (linear)
            hidden = local.Other (x, other)
            y = local.Linear (hidden, weight)
        }}
        <domain: "local", opset_import: ["": 17, "elsewhere": 1]>
        Other (x, w) => (y) {{ y = elsewhere.Strange (x, w) }}
        <domain: "local", opset_import: ["": 17]>
        Linear (x, w) => (y) {{ y = MatMul (x, w) }}
        """)
    assert model.architecture.sentence == told
