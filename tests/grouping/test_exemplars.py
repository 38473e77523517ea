"""A first block that has less than the others does not stand for them."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping.exemplars import is_first_odd
from tests.render.test_member_words import (
    Block,
    Writer,
    begin_sum,
    have_more,
    lack_norm,
    make_fold,
    take_more,
    write_plain,
)


def lack_layer(writer: Writer, number: int, x: str) -> str:
    return writer.linear(writer.linear(x) if number else x)


@pytest.mark.parametrize(
    ("block", "count", "is_odd"),
    [
        (lack_layer, 4, True),
        (lack_norm, 4, True),
        (begin_sum, 4, True),
        (begin_sum, 2, True),
        (lack_layer, 2, False),  # of two neither is more common
        (write_plain, 4, False),
        (have_more, 4, False),
        (take_more, 4, False),
    ],
)
def test_a_first_block_that_has_less(block: Block, count: int, *, is_odd: bool) -> None:
    fold = make_fold(block, count)
    assert is_first_odd([child.children for child in fold.inner_groups()]) is is_odd
