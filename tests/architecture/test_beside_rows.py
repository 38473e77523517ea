"""Stages of equal branches of convolutions that stand side by side."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.claims import Said, read_counts
from tests.architecture.test_modules import Named


def _tell(*, is_chain: bool = False, is_unlike: bool = False, name: str = "stage") -> str:
    """Return the sentence of a stem and four stages of two branches.

    Parameters
    ----------
    is_chain
        Whether the second branch of a stage takes what the first one gives.
    is_unlike
        Whether it has a layer more.
    name
        What an author calls a branch.
    """
    net = Named()
    x = net.take("x", (1, 3, 32, 32))
    for taken, given in ((3, 8), (8, 8), (8, 16)):
        x = net.add("Relu", net.conv(x, taken, given))
    net.within(0, "stem0")
    last, width = x, 16
    for stage in range(1, 5):
        count = 3 if stage == 1 else 4
        given = []
        for branch in (1, 2):
            start = len(net.nodes)
            y = given[0] if is_chain and branch == 2 else last
            before = 8 if is_chain and branch == 2 else width
            for _ in range(count + (is_unlike and branch == 2)):
                y = net.add("Relu", net.conv(y, before, 8, 5 if stage > 1 else 3))
                before = 8
            given.append(net.conv(y, 8, 8, 1))
            net.within(start, f"{name}{stage}_{branch}")
        last, width = net.add("Concat", *given, x, axis=1), 32
    return net.finish(*given).architecture.sentence


def test_branches_are_counted_in_each_stage() -> None:
    assert (
        "2 branches of 4 convolutions side by side with a concatenated skip, "
        "3 blocks of 2 branches of 5 convolutions side by side" in _tell()
    )


@pytest.mark.parametrize("case", ["is_chain", "is_unlike"])
def test_rows_that_lead_on_or_differ_are_no_branches(case: str) -> None:
    assert "side by side" not in _tell(**{case: True})


def test_rows_that_an_author_names_keep_their_name() -> None:
    assert "side by side" not in _tell(name="head")


def test_branches_are_counted_with_all_that_they_hold() -> None:
    told = "5 blocks of 2 branches of 7 convolutions side by side"
    assert [*read_counts(told, ["convolution"])] == [Said("convolution", 70)]
