import numpy as np
import pytest

from semibandit.evaluation.off_policy.estimators import ESTIMATORS
from semibandit.evaluation.off_policy.intervals import (
    CELLS,
    AnytimeBounds,
    CellSums,
    bootstrap,
    percentiles,
)

IPS, SNIPS = (next(one for one in ESTIMATORS if one.name == name) for name in ("IPS", "SNIPS"))
# Four actions: ope.md's case, with weights up to 10.
B = np.array([0.05, 0.15, 0.3, 0.5])
E = np.array([0.5, 0.2, 0.2, 0.1])
RATE = np.array([0.3, 0.2, 0.15, 0.07])
TRUTH = float(E @ RATE)


def draw(random, size):
    """Weights and clicks."""
    action = random.choice(4, size, p=B)
    return (E / B)[action], (random.random(size) < RATE[action]).astype(float)


def sums_of(w, r, groups=None):
    sums = CellSums()
    cells = sums.cells([""] * w.size if groups is None else groups)
    sums.add(cells, {"visits": np.ones(w.size), "slate w": w, "slate wr": w * r})
    return sums


def test_bootstrap_intervals_cover():
    random, covered, runs = np.random.default_rng(1), np.zeros(2), 300
    for run in range(runs):
        samples = bootstrap(sums_of(*draw(random, 500)), [IPS, SNIPS], seed=run)
        for i, name in enumerate(("IPS", "SNIPS")):
            low, high = percentiles(samples[name], 0.95)
            covered[i] += low <= TRUTH <= high
    assert (covered / runs >= 0.93).all()
    assert (covered / runs <= 0.98).all()


def test_visitors_are_drawn_as_a_whole():
    """Each visitor comes ten times and always does the same, so there is a tenth of the visits."""
    w, r = draw(np.random.default_rng(2), 400)
    once = bootstrap(sums_of(w, r), [IPS])["IPS"]
    groups = [f"visitor {i}" for i in range(400) for _ in range(10)]
    grouped = sums_of(np.repeat(w, 10), np.repeat(r, 10), groups)
    assert bootstrap(grouped, [IPS])["IPS"] == pytest.approx(once)
    ungrouped = bootstrap(sums_of(np.repeat(w, 10), np.repeat(r, 10)), [IPS])["IPS"]
    assert np.std(ungrouped) < 0.5 * np.std(once)


def test_many_groups_share_cells_without_changing_the_interval():
    w, r = draw(np.random.default_rng(3), 30_000)
    groups = [f"visitor {i}" for i in range(30_000)]
    sums = sums_of(w, r, groups)
    assert sums.used == CELLS
    assert sums.cells(["visitor 5", "visitor 29999"]).tolist() == [
        5,
        sums.cells(["visitor 29999"])[0],
    ]
    assert sums.total()["slate wr"] == pytest.approx((w * r).sum())
    standard_error = np.std(w * r) / np.sqrt(w.size)
    assert np.std(bootstrap(sums, [IPS])["IPS"]) == pytest.approx(standard_error, rel=0.1)


def test_samples_are_reproducible_and_one_cell_has_no_interval():
    w, r = draw(np.random.default_rng(4), 50)
    one, same, other = (bootstrap(sums_of(w, r), [IPS], seed)["IPS"] for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    alone = sums_of(w, r, ["a visitor"] * 50)
    assert percentiles(bootstrap(alone, [IPS])["IPS"], 0.95) == (None, None)


def test_anytime_bounds_hold_at_every_moment_where_normal_ones_fail():
    random, runs, size = np.random.default_rng(5), 200, 5000
    looks = np.unique(np.geomspace(20, size, 25).astype(int))
    wrong, wrong_normal, widths = 0, 0, []
    for _ in range(runs):
        w, r = draw(random, size)
        bounds, start, failed = AnytimeBounds(1.0), 0, False
        for end in looks.tolist():
            part = slice(start, end)
            one = np.ones(end - start)
            bounds.add((w * r)[part], (w * (1 - r))[part], one, one)
            low, high = bounds.interval(0.95)
            failed |= not low <= TRUTH <= high
            start = end
        wrong += failed
        widths.append((high - low) / 2)
        t = np.arange(1, size + 1)
        mean = np.cumsum(w * r) / t
        error = np.sqrt(np.maximum(np.cumsum((w * r) ** 2) / t - mean**2, 0) / t)
        wrong_normal += np.any(np.abs(mean - TRUTH)[100:] > 1.96 * error[100:])
    assert wrong <= 0.05 * runs
    assert wrong_normal >= 0.4 * runs
    assert np.mean(widths) < 0.1  # not empty: the normal one's is 0.035


def test_anytime_bounds_of_a_policy_that_learns():
    """The log's policy depends on what was clicked before; the target's value stays the same."""
    random, runs, size, wrong = np.random.default_rng(6), 60, 1500, 0
    for _ in range(runs):
        clicks, shown = np.ones(2), np.full(2, 2.0)
        earned, missed = np.empty(size), np.empty(size)
        for i in range(size):
            best = 0.9 if clicks[0] / shown[0] > clicks[1] / shown[1] else 0.1
            action = int(random.random() >= best)
            w = 0.5 / (best if action == 0 else 1 - best)
            r = random.random() < (0.3, 0.2)[action]
            clicks[action] += r
            shown[action] += 1
            earned[i], missed[i] = w * r, w * (1 - r)
        bounds = AnytimeBounds(1.0)
        for start in range(0, size, 100):
            part, one = slice(start, start + 100), np.ones(100)
            bounds.add(earned[part], missed[part], one, one)
            low, high = bounds.interval(0.95)
            if not low <= 0.25 <= high:
                wrong += 1
                break
    assert wrong <= 0.05 * runs
