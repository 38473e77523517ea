"""Exact amounts of symbols, and the texts that files write for dimensions."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netloupe import BindingError
from netloupe.explorer.costs.polynomial import (
    Amount,
    TooLargeError,
    divide_down,
    divide_exactly,
    find_larger,
    is_never_less,
    list_symbols,
    symbol,
    write_expression,
)
from netloupe.explorer.costs.symbols import Symbols
from netloupe.explorer.costs.wording import write_amount, write_share

N, M = symbol("n"), symbol("m")
FACTORS = st.integers(-9, 9)


def make(factors: list[int]) -> Amount:
    a, b, c, d = factors
    return a * N * N + b * N * M + c * M + d


def compute(amount: Amount, n: int, m: int) -> int:
    return int(eval(write_expression(amount), {"n": n, "m": m}))


POLYNOMIALS = st.lists(FACTORS, min_size=4, max_size=4).map(make)


@given(POLYNOMIALS, POLYNOMIALS, st.integers(0, 7), st.integers(1, 7))
def test_sums_and_products_are_those_of_numbers(a: Amount, b: Amount, n: int, m: int) -> None:
    assert compute(a + b, n, m) == compute(a, n, m) + compute(b, n, m)
    assert compute(a - b, n, m) == compute(a, n, m) - compute(b, n, m)
    assert compute(a * b, n, m) == compute(a, n, m) * compute(b, n, m)
    assert (a == b) == (write_expression(a) == write_expression(b))
    if a == b:
        assert hash(a) == hash(b)


@given(POLYNOMIALS, POLYNOMIALS)
def test_a_product_divides_exactly(a: Amount, b: Amount) -> None:
    if b != 0:
        assert divide_exactly(a * b, b) == a


@given(POLYNOMIALS, st.integers(1, 6), st.integers(1, 6), FACTORS, st.integers(0, 20))
def test_quotients_round_down_also_one_inside_another(
    a: Amount, first: int, second: int, more: int, n: int
) -> None:
    found = divide_down(divide_down(a, first) + more, second)
    assert compute(found, n, n + 3) == (compute(a, n, n + 3) // first + more) // second


def test_quotients_of_quotients_look_alike_however_they_came_about() -> None:
    half = divide_down(N - 1, 2) + 1
    assert str(half) == "((n + 1)//2)"
    assert divide_down(half - 1, 2) + 1 == divide_down(N - 1, 4) + 1
    assert divide_down(4 * N + 6, 4) == N + 1
    assert divide_down(6 * N, 3) == 2 * N


def test_which_is_larger_whatever_the_sizes() -> None:
    assert is_never_less(2 * N + M, N)
    assert not is_never_less(N, M)
    assert find_larger(3 * N, N) == 3 * N
    assert find_larger(3 * N + M, N + 2 * M) == 3 * N + 2 * M
    assert list_symbols(divide_down(N * M + 1, 2) * M) == ["m", "n"]


@pytest.mark.parametrize(
    "grow",
    [
        lambda amount, number: (amount + M) * (amount + 1),
        lambda amount, number: divide_down(amount * M + 1, number + 2),
        lambda amount, number: amount * 2**40,
    ],
    ids=["terms", "quotients", "factors"],
)
def test_amounts_beyond_all_sense_are_refused_at_once(
    grow: Callable[[Amount, int], Amount],
) -> None:
    with pytest.raises(TooLargeError):
        reduce(grow, range(100), N)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("batch_size", "batch_size"),
        ("past + 1", "past + 1"),
        ("4*s0", "4*s0"),
        ("s0 // 2", "((s0)//2)"),
        ("floor(height/2 - 1/2) + 1", "((height + 1)//2)"),
        ("ceil(h/32)", "((h + 31)//32)"),
        ("(a + b)*2 - a", "a + 2*b"),
        ("3", "3"),
        ("unk__12", "unk__12"),
        # what is no such expression is a symbol as it stands
        ("a/2", "a/2"),
        ("Max(1, s0)", "Max(1, s0)"),
        ("日本", "日本"),
        ("2 +", "2 +"),
        ("a b", "a b"),
        ("1/0", "1/0"),
        ("(" * 500, "(" * 199 + "…"),
    ],
)
def test_dimensions_are_read_as_exporters_write_them(text: str, written: str) -> None:
    assert write_expression(Symbols().read(text)) == written


def test_sizes_take_the_place_of_symbols_inside_expressions() -> None:
    symbols = Symbols({"height": 225, "Max(1, s0)": 7})
    assert symbols.read("floor(height/2 - 1/2) + 1") == 113
    assert symbols.read("Max(1, s0)") == 7


@pytest.mark.parametrize("size", [-1, True, 2**63, 1.5, "3", None])
def test_what_is_no_size_is_refused(size: object) -> None:
    with pytest.raises(BindingError, match="batch cannot have the size"):
        Symbols({"batch": [size]})  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.00 k"),
        (9996, "10.0 k"),
        (99960, "100 k"),
        (999_499, "999 k"),
        (999_500, "1.00 M"),
        (4_089_184_256, "4.09 G"),
        (10**21, "1.00e+21"),
        (86_000_000_000 * N, "86.0 G · n"),
        (N, "n"),
        (2000 * N * N - 5 * M + 7, "2.00 k · n² − 5 · m + 7"),
        (sum((symbol(f"s{i}") for i in range(9)), start=0), "s0 + s1 + s2 + s3 + …"),
    ],
)
def test_amounts_are_written_with_three_digits(amount: Amount, text: str) -> None:
    assert write_amount(amount) == text


def test_shares_are_told_where_they_depend_on_no_symbol() -> None:
    assert write_share(63 * N, 100 * N) == "63 %"
    assert write_share(N * 2 + M * 2, N * 4 + M * 4) == "50 %"
    assert write_share(N, N + M) == ""
    assert write_share(1, 1000) == "< 1 %"
    assert write_share(0, 5) == "0 %"
    assert write_share(1, 0) == ""
