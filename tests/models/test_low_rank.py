"""Vectors in the pool stay with their rows, in their order, whatever is dropped or sorted."""

import numpy as np

from semibandit.models.low_rank import LowRankPool

D, ROWS = 3, 4


def filled(n=20, seed=0):
    """A pool with n random vectors, and the same as a list for each row."""
    random, pool, expected = np.random.default_rng(seed), LowRankPool.start(D, "float64"), {}
    pool.reserve_rows(0, ROWS, ROWS)
    pool.start_rows(0, ROWS)
    for _ in range(n):
        row, v = int(random.integers(ROWS)), random.standard_normal(D)
        pool.reserve(1)
        pool.append(row, v)
        expected.setdefault(row, []).append(v)
    return pool, expected


def check(pool, expected, rows=ROWS):
    for row in range(rows):
        np.testing.assert_array_equal(
            pool.vectors(row), np.array(expected.get(row, [])).reshape(-1, D)
        )
    x, norm2 = np.array([0.5, -1.0, 2.0]), np.full(rows, 5.0)
    pool.lower_norms(x, norm2)
    many = np.full((2, rows), 5.0)
    pool.lower_norms_of_many(np.array([x, 2 * x]), many)
    lost = np.array([sum((v @ x) ** 2 for v in expected.get(row, [])) for row in range(rows)])
    np.testing.assert_allclose(norm2, 5.0 - lost)
    np.testing.assert_allclose(many, [5.0 - lost, 5.0 - 4 * lost])


def test_a_row_has_its_vectors_in_their_order():
    check(*filled())
    check(*filled(0))


def test_sorting_changes_nothing_but_places():
    pool, expected = filled()
    pool.sort()
    check(pool, expected)
    assert np.all(np.diff(pool.row_of) >= 0)
    pool.reserve(1)
    pool.append(2, np.ones(D))
    expected[2].append(np.ones(D))
    check(pool, expected)


def test_dropped_vectors_are_removed_once_they_are_the_greater_part():
    pool, expected = filled(40)
    for row in (0, 1):
        pool.drop(row)
        expected.pop(row)
        check(pool, expected)
    before = pool.n
    pool.drop(2)
    expected.pop(2)
    pool.compact()
    assert pool.n == len(expected[3]) < before
    check(pool, expected)


def test_rows_that_are_kept_close_up():
    pool, expected = filled()
    pool.keep_rows(2, np.array([-1, 0, -1, 1]))
    check(pool, {0: expected[1], 1: expected[3]}, rows=2)


def test_arrays_give_the_pool_back():
    pool, expected = filled()
    pool.drop(1)
    expected.pop(1)
    check(LowRankPool.from_arrays(pool.arrays(), ROWS, D, np.float64), expected)
