"""Columns of tensors say of each what its message says, or nothing."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netloupe.proto.onnx_pb2 import TensorProto
from netloupe.proto.tensor_columns import MOST_DIMENSIONS, TensorColumns, read_tensor_columns
from tests.wire_writer import field

Facts = tuple[bytes, tuple[int, tuple[int, ...]] | None, int]


def facts_of(messages: list[bytes]) -> list[Facts]:
    data = b"".join(messages)
    bounds = np.cumsum([0, *map(len, messages)], dtype=np.int64)
    columns: TensorColumns = read_tensor_columns(data, bounds)
    assert len(columns.codes) <= len(messages)
    return [
        (data[start:end], columns.form(form) if form >= 0 else None, size)
        for (start, end), form, size in zip(
            columns.names.tolist(), columns.forms.tolist(), columns.raw_sizes.tolist(), strict=True
        )
    ]


@given(
    st.lists(
        st.builds(
            TensorProto,
            name=st.text(max_size=3) | st.just("x" * 300),
            dims=st.lists(st.integers(0, 2**20), max_size=MOST_DIMENSIONS),
            data_type=st.integers(0, 23),
            raw_data=st.binary(max_size=3) | st.just(b"1" * 20_000),
            doc_string=st.none() | st.text(max_size=3),
        ),
        max_size=8,
    )
)
def test_plain_tensors_are_as_their_messages(protos: list[TensorProto]) -> None:
    assert facts_of([proto.SerializeToString() for proto in protos]) == [
        (proto.name.encode(), (proto.data_type, tuple(proto.dims)), len(proto.raw_data))
        for proto in protos
    ]


def test_of_what_is_written_otherwise_the_form_is_not_known() -> None:
    plain = TensorProto(name="w", data_type=1, dims=[1], raw_data=b"1234")
    others = [
        TensorProto(name="w", data_type=1, dims=[1], float_data=[1]),
        TensorProto(name="w", data_type=1, dims=[1]),
        TensorProto(name="w", data_type=1, dims=[-1], raw_data=b"1234"),
        TensorProto(name="w", data_type=-1, dims=[1], raw_data=b"1234"),
        TensorProto(name="w", data_type=1, dims=[2**40], raw_data=b"1234"),
        TensorProto(name="w", data_type=1, dims=[1] * 5, raw_data=b"1234"),
        TensorProto(name="w", data_type=1, dims=[1], raw_data=b"1234", data_location=1),
        TensorProto(),
    ]
    messages = [other.SerializeToString() for other in others]
    messages.append(plain.SerializeToString() + field(1, b"\x01"))  # packed dimensions
    messages.append(plain.SerializeToString() + field(300, b""))
    messages.append(plain.SerializeToString() * 20)
    found = facts_of([*messages, plain.SerializeToString()])
    assert [form for _, form, _ in found] == [None] * len(messages) + [(1, (1,))]


def test_of_what_is_given_again_the_last_counts() -> None:
    twice = TensorProto(name="a", data_type=1, raw_data=b"1").SerializeToString()
    twice += TensorProto(name="bc", data_type=2, raw_data=b"12").SerializeToString()
    assert facts_of([twice]) == [(b"bc", (2, ()), 2)]
    assert facts_of([]) == []
