"""What of preparation a drawing shows, and what is one box however many nodes it has."""

from __future__ import annotations

from math import prod

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Model
from netloupe.explorer.roles import Purpose, find_roles
from tests.onnx_text import load_text

_LINE = "\n            "


def store(name: str, *dims: int) -> str:
    """Return the declaration of a stored tensor."""
    numbers = ", ".join(["0.5"] * prod(dims))
    return f"float[{', '.join(map(str, dims))}] {name} = {{{numbers}}}"


def list_purposes(model: Model) -> list[Purpose | None]:
    return [piece.purpose for piece in find_roles(model.graph).pieces]


def list_groups(model: Model) -> list[tuple[str, str]]:
    tree = build_group_tree(model.graph)
    return [(c.kind, c.label) for c in tree.root.children if isinstance(c, Group)]


def write_encoding(frequencies: int, *, joined: bool) -> Model:
    """Write a radiance field: sines and cosines of places, and two layers."""
    steps, parts = [], ["x"]
    for k in range(frequencies):
        steps.append(f"f{k} = Constant <value_float = {2.0**k}> ()")
        steps.append(f"a{k} = Mul (x, f{k})")
        steps.append(f"s{k} = Sin (a{k})")
        steps.append(f"c{k} = Cos (a{k})")
        parts += [f"s{k}", f"c{k}"]
    if joined:
        steps.append(f"e = Concat <axis = -1> ({', '.join(parts)})")
        steps.append("h = MatMul (e, w)")
    else:
        steps.append("y = MatMul (x, v)")
        steps.append(f"e = Concat <axis = -1> (y, {', '.join(parts)})")
        steps.append("h = MatMul (e, w)")
    width = 3 + 6 * frequencies + (0 if joined else 3)
    return load_text(
        f"""main (float[64, 3] x) => (float[64, 4] out)
        <{store("v", 3, 3)}, {store("w", width, 8)}, {store("u", 8, 4)}>
        {{
            {_LINE.join(steps)}
            r = Relu (h)
            out = MatMul (r, u)
        }}"""
    )


@pytest.mark.parametrize("frequencies", [3, 6, 10])
def test_sines_of_what_comes_in_are_an_encoding_of_positions(frequencies: int) -> None:
    model = write_encoding(frequencies, joined=True)
    assert list_purposes(model) == [Purpose("positional encoding", is_idea=True)]
    assert list_groups(model)[0] == ("block", "positional encoding")


def test_sines_that_others_are_joined_with_are_one_encoding() -> None:
    model = write_encoding(5, joined=False)
    expected = Purpose("positional encoding", ("5 frequencies",), is_idea=True)
    assert list_purposes(model) == [expected]


def test_a_vector_for_each_number_is_a_tokenizer_and_a_stored_vector_a_token() -> None:
    model = load_text(
        f"""main (float[2, 6] numbers) => (float[2, 7, 8] out)
        <{store("w", 6, 8)}, {store("b", 6, 8)}, {store("cls", 1, 1, 8)}, {store("u", 8, 8)},
         int64[1] axis = {{2}}, int64[3] sizes = {{2, 1, 1}}, int64[3] again = {{1, 1, 1}}>
        {{
            x = Unsqueeze (numbers, axis)
            y = Mul (x, w)
            tokens = Add (y, b)
            twice = Mul (sizes, again)
            larger = Mul (twice, again)
            first = Expand (cls, larger)
            one = MatMul (numbers, w)
            last = Unsqueeze (one, axis)
            all = Concat <axis = 1> (first, tokens, last)
            h = MatMul (all, u)
            out = Relu (h)
        }}"""
    )
    assert list_purposes(model) == [
        Purpose("feature tokenizer", ("6 numbers to 8 each",), is_idea=True),
        Purpose("learned token", is_idea=True),
    ]


def write_lookups(levels: int, *, serial: bool) -> Model:
    """Write lookups of a stack of maps at places that are computed for each."""
    steps, given = [], []
    taken = "m"
    for k in range(levels):
        steps += [
            f"a{k} = Mul (places, two)",
            f"b{k} = Div (a{k}, two)",
            f"g{k} = Sub (b{k}, two)",
            f"y{k} = GridSample ({taken}, g{k})",
        ]
        given.append(f"y{k}")
        if serial:
            taken = f"y{k}"
    return load_text(
        f"""main (float[1, 3, 8, 8] x, float[1, 8, 8, 2] places) => (float[1, 4, 8, 8] out)
        <{store("w", 4, 3, 1, 1)}, {store("u", 4, 4 * levels, 1, 1)}, float two = {{2.0}}>
        {{
            m = Conv (x, w)
            {_LINE.join(steps)}
            all = Concat <axis = 1> ({", ".join(given)})
            out = Conv (all, u)
        }}"""
    )


def test_places_of_lookups_side_by_side_are_one_box() -> None:
    model = write_lookups(4, serial=False)
    (piece,) = find_roles(model.graph).pieces
    assert (len(piece.nodes), piece.purpose) == (12, Purpose("sampling grid"))


def test_places_of_lookups_that_take_from_one_another_stay_with_them() -> None:
    assert not find_roles(write_lookups(4, serial=True).graph).pieces


def test_sines_that_each_layer_projects_are_no_weight() -> None:
    """As relative positions of Transformer-XL, where the length is fixed."""
    layers, taken = "", "x"
    for k in range(3):
        layers += f"""
            r{k} = MatMul (joined, w)
            t{k} = Transpose <perm = [1, 0]> (r{k})
            s{k} = MatMul ({taken}, t{k})
            p{k} = Softmax (s{k})
            h{k} = MatMul (p{k}, {taken})
            y{k} = MatMul (h{k}, v)"""
        taken = f"y{k}"
    model = load_text(
        f"""main (float[4, 4] x) => (float[4, 4] y2)
        <{store("angles", 4, 2)}, {store("w", 4, 4)}, {store("v", 4, 4)}>
        {{
            sine = Sin (angles)
            cosine = Cos (angles)
            joined = Concat <axis = -1> (sine, cosine)
            {layers}
        }}"""
    )
    assert [purpose and purpose.name for purpose in list_purposes(model)] == [
        "sinusoidal embedding"
    ]


def write_tokens(first: str) -> Model:
    """Write a stored token that is put before those of a stream."""
    return load_text(
        f"""main (float[2, 6, 8] x) => (float[2, 7, 8] out)
        <float[1, 1, 8] place, {store("cls", 1, 1, 8)}, {store("places", 1, 7, 8)},
         {store("u", 8, 8)},
         int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[3] sizes = {{2, 1, 1}},
         int64[3] again = {{1, 1, 1}}>
        {{
            twice = Mul (sizes, again)
            larger = Mul (twice, again)
            place = Slice (places, zero, one, one)
            {first}
            rest = MatMul (x, u)
            all = Concat <axis = 1> (token, rest)
            h = MatMul (all, u)
            out = Relu (h)
        }}"""
    )


def test_a_stored_token_with_its_place_is_one_token() -> None:
    model = write_tokens("sum = Add (cls, place)  token = Expand (sum, larger)")
    assert list_purposes(model) == [Purpose("learned token", is_idea=True)]


def test_a_sum_with_what_comes_in_is_no_stored_token() -> None:
    model = write_tokens(
        """given = Slice (x, zero, one, one)  mean = ReduceMean <keepdims = 1> (given, zero)
        sum = Add (cls, mean)  token = Expand (sum, larger)"""
    )
    assert Purpose("learned token", is_idea=True) not in list_purposes(model)


def write_resized(use: str) -> Model:
    """Write a table of positions that is made as large as a map."""
    return load_text(
        f"""main (float[1, 3, 8, 8] x) => (out)
        <{store("w", 8, 3, 2, 2)}, {store("v", 8, 8)}, {store("table", 1, 8, 6, 6)},
         int64[4] sizes = {{1, 8, 4, 4}}, int64[3] row = {{1, 8, 16}}>
        {{
            larger = Resize <mode = "cubic"> (table, , , sizes)
            flat = Reshape (larger, row)
            places = Transpose <perm = [0, 2, 1]> (flat)
            map = Conv <strides = [2, 2]> (x, w)
            flat_map = Reshape (map, row)
            tokens = Transpose <perm = [0, 2, 1]> (flat_map)
            {use}
        }}"""
    )


def test_a_table_made_as_large_as_a_map_is_of_positions() -> None:
    model = write_resized("sum = Add (tokens, places)  out = MatMul (sum, v)")
    expected = Purpose("position embedding", ("resized from 6 × 6",), is_idea=True)
    assert list_purposes(model) == [expected]


@pytest.mark.parametrize(
    "use",
    [
        "product = Mul (tokens, places)  out = MatMul (product, v)",
        "sum = Add (tokens, places)  out = Softmax (sum)",  # a bias of scores
    ],
)
def test_a_resized_table_that_is_used_otherwise_is_none(use: str) -> None:
    purposes = list_purposes(write_resized(use))
    assert all(one is None or one.name != "position embedding" for one in purposes)
