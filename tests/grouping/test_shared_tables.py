"""Tables that are looked up, and multiplied with again where a model tells words apart."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping.shared_tables import find_shared_tables
from tests.onnx_text import load_text


@pytest.mark.parametrize(
    ("product", "is_shared"),
    [
        ("turned = Transpose (table)  y = MatMul (rows, turned)", True),
        ("turned = Transpose (table)  y = Gemm (rows, turned, bias)", True),
        ("y = Gemm <transB = 1> (rows, table, bias)", True),
        ("y = Gemm <transB = 1> (rows, other, bias)", False),
        ("y = Gemm (rows, small, bias)", False),
    ],
)
def test_a_product_shares_the_table_whatever_its_other_operands_are(
    product: str, is_shared: bool
) -> None:
    def store(name: str, *dims: int, start: int = 0) -> str:
        numbers = ", ".join(str(n + start) for n in range(dims[0] * dims[1]))
        return f"float[{dims[0]}, {dims[1]}] {name} = {{{numbers}}}"

    stored = [store("table", 5, 4), store("other", 5, 4, start=7), store("small", 4, 3)]
    columns = 3 if "small" in product else 5
    graph = load_text(f"""
        g (int64[1, 3] ids) => (float[3, {columns}] y)
        <{", ".join(stored)}, {store("bias", 3, columns)}, int64[2] dims = {{3, 4}}>
        {{ found = Gather (table, ids)  rows = Reshape (found, dims)  {product} }}
    """).graph
    shared = {node.op_type for node in find_shared_tables(graph).tables}
    assert ("Gather" in shared) is is_shared
