"""Columns: the names and forms of very many serialized TensorProtos, read at once.

Asked for message by message, most of the time goes into the objects in between. Here the fields
of all are walked in arrays: the first of each tensor, then the second, and so on
(https://protobuf.dev/programming-guides/encoding). What is written in another way than plain
tensors of few dimensions are is left to the generated classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

#: tensors of more dimensions, and with more fields, are left out
MOST_DIMENSIONS = 4
_MOST_FIELDS = 16
#: fields of a TensorProto with their wire types, as in onnx.proto
_DIM, _DATA_TYPE, _NAME, _RAW_DATA, _DOC = 0x08, 0x10, 0x42, 0x4A, 0x62
_NUMBERS, _BYTES = (_DIM, _DATA_TYPE), (_NAME, _RAW_DATA, _DOC)
_LONGEST_NUMBER = 4  # bytes


class TensorColumns(NamedTuple):
    """What is known of many tensors: of those that have a name, dimensions, a type and raw data.

    Parameters
    ----------
    names
        Shape (tensors, 2): where the names are in the bytes; 0 and 0 for tensors without a name.
    forms
        The number of each tensor's form; -1 where it says more than the columns tell, or less.
    raw_sizes
        The bytes of each tensor's raw data.
    codes, ranks, dims
        Of each form the number of its type, how many dimensions it has, and these, which are 0
        from there on: shape (forms, ``MOST_DIMENSIONS``).
    """

    names: Integers
    forms: Integers
    raw_sizes: Integers
    codes: Integers
    ranks: Integers
    dims: Integers

    def form(self, number: int) -> tuple[int, tuple[int, ...]]:
        """Return the number of a form's type, and its dimensions."""
        return int(self.codes[number]), tuple(self.dims[number, : self.ranks[number]].tolist())


def read_tensor_columns(data: bytes, bounds: Integers) -> TensorColumns:
    """Return the columns of TensorProtos.

    Parameters
    ----------
    data
        The messages, one after the other, which the runtime has been able to parse.
    bounds
        Where each begins, and the end of the last.
    """
    count = len(bounds) - 1
    array = np.frombuffer(data, np.uint8)
    names, raw_sizes = np.zeros((count, 2), np.int64), np.full(count, -1)
    codes, ranks = np.zeros(count, np.int64), np.zeros(count, np.int64)
    dims = np.zeros((count, MOST_DIMENSIONS), np.int64)
    is_known = np.ones(count, np.bool_)
    rows, at, ends = np.arange(count), bounds[:-1], bounds[1:]
    for _ in range(_MOST_FIELDS):
        left = at < ends
        rows, at, ends = rows[left], at[left], ends[left]
        tags = array[at]
        numbers, at = _read_numbers(array, at + 1)
        is_dim = tags == _DIM
        is_odd = ~np.isin(tags, (*_NUMBERS, *_BYTES)) | (numbers < 0)
        is_odd |= is_dim & (ranks[rows] == MOST_DIMENSIONS)
        if is_odd.any():
            is_known[rows[is_odd]] = False
            rows, at, ends = rows[~is_odd], at[~is_odd], ends[~is_odd]
            tags, numbers, is_dim = tags[~is_odd], numbers[~is_odd], is_dim[~is_odd]
        having = rows[is_dim]
        dims[having, ranks[having]] = numbers[is_dim]
        ranks[having] += 1
        # of fields that are given again the last counts
        codes[rows[tags == _DATA_TYPE]] = numbers[tags == _DATA_TYPE]
        raw_sizes[rows[tags == _RAW_DATA]] = numbers[tags == _RAW_DATA]
        starts = at
        at = at + np.where(np.isin(tags, _BYTES), numbers, 0)
        is_name = tags == _NAME
        names[rows[is_name]] = np.stack([starts[is_name], at[is_name]], 1)
    is_known[rows[at < ends]] = False
    is_known &= raw_sizes >= 0
    forms, firsts = _number_rows(np.column_stack([codes, ranks, dims]))
    forms[~is_known] = -1
    return TensorColumns(names, forms, raw_sizes, codes[firsts], ranks[firsts], dims[firsts])


def _read_numbers(array: npt.NDArray[np.uint8], at: Integers) -> tuple[Integers, Integers]:
    """Return the numbers that are written at some places, -1 for very long ones, and their ends."""
    numbers = array[at].astype(np.int64)
    at = at + 1
    longer = np.flatnonzero(numbers > 127)
    for place in range(1, _LONGEST_NUMBER):
        if not len(longer):
            break
        following = array[at[longer]].astype(np.int64)
        numbers[longer] += (following - 1) << 7 * place  # takes off the bit that says "more"
        at[longer] += 1
        longer = longer[following > 127]
    numbers[longer] = -1
    return numbers, at


def _number_rows(table: Integers) -> tuple[Integers, Any]:
    """Return the numbers of rows, equal ones the same, and the first row of each number."""
    numbers = np.zeros(len(table), np.int64)
    for column in table.T:
        if (column != column[:1]).any():
            _, found = np.unique(column, return_inverse=True)
            _, numbers = np.unique(numbers * len(table) + found, return_inverse=True)
    _, firsts = np.unique(numbers, return_index=True)
    return numbers, firsts
