"""Dense matrices stay with their rows, and so do their rounding errors."""

import numpy as np
import pytest

from semibandit.models.dense import DenseBlocks

D, ROWS = 3, 4


@pytest.fixture
def blocks(monkeypatch):
    """Rows 2, 0 and 3 have matrices, in this order; row 3 has a rounding error."""
    monkeypatch.setattr("semibandit.models.dense.COMPENSATED_FROM", 10)
    blocks = DenseBlocks.start(D, "float64")
    blocks.reserve_rows(0, ROWS, ROWS)
    blocks.start_rows(0, ROWS)
    blocks.reserve(3, ROWS)
    for row in (2, 0, 3):
        blocks.append(row, (row + 1.0) * np.eye(D))
    blocks.subtract(3, np.array([1e-9, 0.1, 0.0]), count=10)
    return blocks


def test_a_row_has_its_matrix(blocks):
    x = np.array([1.0, 2.0, -1.0])
    assert [blocks.has(row) for row in range(ROWS)] == [True, False, True, True]
    np.testing.assert_allclose(blocks.times(2, x), 3.0 * x)
    np.testing.assert_allclose(blocks.norms(x)[:2], [3.0 * 6.0, 6.0])
    norm2 = np.full((2, ROWS), 7.0)
    blocks.norms_of_many(np.array([x, 2 * x]), norm2)
    np.testing.assert_allclose(norm2[:, :3], [[6.0, 7.0, 18.0], [24.0, 7.0, 72.0]])


def test_only_rows_that_were_updated_often_are_compensated(blocks):
    assert blocks.n_errors == 1
    assert blocks.error_of.tolist() == [-1, -1, -1, 0]
    assert blocks.error[0, 0, 0] == pytest.approx(-1e-18)  # 4 - 1e-18 is 4 in floating point
    blocks.compensate(np.array([0, 1, 2]), np.array([9, 10, 10]))
    assert blocks.error_of.tolist() == [-1, -1, 1, 0]  # row 1 has no matrix


def test_a_compensated_sum_keeps_what_rounding_takes(blocks):
    for _ in range(100):
        blocks.subtract(0, np.array([1e-9, 0.0, 0.0]), count=9)
        blocks.subtract(3, np.array([1e-7, 0.0, 0.0]), count=10)
    assert blocks.matrix(0)[0, 0] == 1.0  # lost
    assert 4.0 - blocks.matrix(3)[0, 0] == pytest.approx(1e-12, rel=1e-3)


def test_rows_that_are_kept_close_up(blocks):
    kept = blocks.matrix(3).copy()
    blocks.keep_rows(np.array([1, 3]), np.array([-1, 0, -1, 1]))
    assert (blocks.n, blocks.n_errors) == (1, 1)
    assert blocks.block_of.tolist() == [-1, 0]
    assert blocks.error_of.tolist() == [-1, 0]
    np.testing.assert_array_equal(blocks.matrix(1), kept)


def test_arrays_give_the_matrices_back(blocks):
    again = DenseBlocks.from_arrays(blocks.arrays(ROWS), ROWS, D, np.float64)
    assert again.block_of.tolist() == blocks.block_of.tolist()
    assert again.error_of.tolist() == blocks.error_of.tolist()
    for row in (0, 2, 3):
        np.testing.assert_array_equal(again.matrix(row), blocks.matrix(row))
