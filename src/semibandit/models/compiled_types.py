"""What the compiled functions of this room take: arrays with names.

In all of them -1 (`NONE`) says that there is none. A row is a touched label of `FullState`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semibandit._util.arrays import Floats, Ints

__all__ = [
    "NO_FADING",
    "Contexts",
    "Errors",
    "FadingArrays",
    "Looks",
    "Products",
    "Rows",
    "UpdateLog",
    "UpdatedRows",
    "WindowArrays",
]


class Rows(NamedTuple):
    """The touched labels: their weights, and their A⁻¹ as a dense matrix or in low-rank form."""

    row_of: Ints  # label -> its row
    label_of: Ints  # row -> its label
    w: Floats  # row -> weights
    block_of: Ints  # row -> its dense matrix
    A_inv: Floats  # dense matrices, each as one line of d² numbers
    newest_of: Ints  # row -> its newest low-rank vector v
    before: Ints  # vector -> the one before it of the same row
    V: Floats  # the vectors


class Errors(NamedTuple):
    """The rounding errors of compensated matrices, see `DenseBlocks`."""

    error_of: Ints  # row -> its rounding error
    error: Floats  # rounding errors, each as one line of d² numbers


class UpdatedRows(NamedTuple):
    """The touched labels and all that updates change, with room for what they may add."""

    rows: Rows
    updates: Ints  # row -> how often it was updated
    errors: Errors
    vector_of: Ints  # low-rank vector -> its row
    used: Ints  # two numbers: how many rows and how many vectors there are


class Contexts(NamedTuple):
    """Contexts x_b, in the orders in which they are read fast."""

    X: Floats  # line by line; at least d columns
    XT: Floats  # by feature, in chunks of a few contexts (see `simd`)
    twice: Floats  # 2·XT
    xx: Floats  # x_b·x_b


class Products(NamedTuple):
    """The products A⁻¹x_b of rows whose updates will need most of them."""

    product_of: Ints  # row -> its products
    P: Floats  # products × contexts × d


class Looks(NamedTuple):
    """Margins w·x_b and squared norms x_b·A⁻¹x_b, a line per row and a column per context."""

    margin: Floats
    norm2: Floats


class UpdateLog(NamedTuple):
    """The updates A⁻¹ -= v vᵀ of one window, in the order in which they came."""

    used: Ints  # one number: how many updates there are
    newest: Ints  # row -> its newest update
    before: Ints  # update -> the one before it of the same row
    row_of: Ints  # update -> its row
    V: Floats  # update -> v
    VX: Floats  # update -> v·x_b for the contexts after it


class FadingArrays(NamedTuple):
    """How rows fade over some rounds, see `Fading`: in round t row j has c = factor[j]·grow[t].

    All arrays are empty if nothing is forgotten.
    """

    now: int  # the clock before the rounds
    since: Ints  # row -> the clock at which it was last folded
    factor: Floats  # row -> c before the rounds
    grow: Floats  # round -> how much c has grown by then


NO_FADING = FadingArrays(0, np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))


class WindowArrays(NamedTuple):
    """All that the rounds of a window read and write."""

    contexts: Contexts
    rows: Rows
    products: Products
    looks: Looks
    log: UpdateLog
    fading: FadingArrays
    opened: Ints  # the rows that were looked at when it was opened, sorted
