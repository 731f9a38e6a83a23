"""The paper's statements are judged for real: a panel made to break one is found out."""

import numpy as np
import pytest

from semibandit.experiments.paper.findings import findings, lost_labels, mean_interval
from semibandit.experiments.paper.options import ReproduceOptions
from semibandit.experiments.paper.plans import BASELINE, METHODS, SQUARE
from semibandit.experiments.paper.point import Point
from semibandit.experiments.paper.report import committed_verdicts

ORDERS = (0.99, 1.0, 1.01)  # what an order of the rows multiplies all losses by
BLOCKS = np.array([0.9, 1.1, 1.0, 1.05, 0.95])  # and a block of the rows
IMPROVES, BEST_HAMMING, BEST_RIGHT, BEST_RANKING, CLOSE_LEFT, CLOSE_HAMMING = range(6)
CLOSE_RIGHT, CLOSE_RANKING, SQUARE_HAMMING, SQUARE_RIGHT, SQUARE_RANKING = range(6, 11)


def point(value, orders=ORDERS):
    """A point with this mean, whose running average falls to it."""
    return Point(
        [
            {
                "ac": value * order,
                "hamming": value * order,
                "p_rank_per_slot": value * order,
                "blocks": dict.fromkeys(
                    ("ac", "hamming", "p_rank_per_slot"), value * order * BLOCKS
                ),
                "marks": [1, 100, 1000],
                "curve": [2 * value * order, 1.5 * value * order, value * order],
                "size": 2.0,
                "precision": 0.5,
                "rounds": 1000,
                "last_shown": {"7": 1000, "3": 120},
            }
            for order in orders
        ]
    )


def good_panels(orders=ORDERS):
    """Numbers in which every statement about Mediamill holds."""
    by_slots = {1: 1.3, 5: 1.0, 20: 1.2}
    level = dict(zip(METHODS, (1.1, 1.2, 1.3, 1.4, 1.0), strict=True))
    panels = {"left": {}, "middle": {}, "right": {}, "ranking": {}}
    for method in METHODS:
        panels["left"][method] = {None: point(level[method], orders)}
        panels["middle"][method] = {
            S: point(level[method] * f, orders) for S, f in by_slots.items()
        }
        ranking = 1.05 if "logistic" in method else level[method]
        for panel in ("right", "ranking"):
            panels[panel][method] = {S: point(ranking * f, orders) for S, f in by_slots.items()}
    return panels


def verdicts(panels, data="mediamill"):
    return [found.verdict for found in findings(data, panels)]


def test_all_hold_if_all_is_well():
    found = findings("mediamill", good_panels())
    assert [f.verdict for f in found] == ["holds"] * 11
    assert not any(f.reason for f in found)
    assert all(f.paper.startswith("“") for f in found)
    assert "S=1 minus S=5: 0.33" in found[BEST_HAMMING].numbers
    assert found[SQUARE_HAMMING].numbers.startswith("square is better than with every R at S=1, 5")


def test_one_order_decides_nothing():
    """An order of the rows says nothing of other orders."""
    assert verdicts(good_panels(ORDERS[:1])) == ["undecided"] * 11


@pytest.mark.parametrize(
    ("number", "panel", "method", "S", "value"),
    [
        (BEST_HAMMING, "middle", SQUARE, (20,), 0.5),
        (BEST_RIGHT, "right", SQUARE, (1,), 0.5),
        (BEST_RANKING, "ranking", SQUARE, (20,), 0.5),
        (CLOSE_LEFT, "left", SQUARE, (None,), 1.4),
        (CLOSE_HAMMING, "middle", SQUARE, (20,), 1.8),
        (CLOSE_RIGHT, "right", SQUARE, (1,), 1.8),
        (CLOSE_RANKING, "ranking", SQUARE, (5,), 1.8),
        (SQUARE_HAMMING, "middle", "SlateUCB, logistic R=4", (1, 5), 0.5),
        (SQUARE_RIGHT, "right", SQUARE, (1, 5), 0.5),
        (SQUARE_RANKING, "ranking", SQUARE, (1, 5), 0.5),
    ],
)
def test_each_can_differ_and_says_why(number, panel, method, S, value):
    panels = good_panels()
    for slots in S:
        panels[panel][method][slots] = point(value)
    found = findings("mediamill", panels)[number]
    assert found.verdict == "differs"
    assert any(character.isdigit() for character in found.reason)


def test_a_loss_that_rises_differs_but_the_baselines_may():
    """The statement is about the algorithm; OBR's numbers say how the rows change."""

    def rising(one):
        curves = [[0.1, 0.1 * result["ac"], result["ac"]] for result in one.results]
        return Point([result | {"curve": c} for result, c in zip(one.results, curves, strict=True)])

    panels = good_panels()
    panels["left"][BASELINE][None] = rising(panels["left"][BASELINE][None])
    assert verdicts(panels)[IMPROVES] == "holds"
    panels["left"]["SlateUCB, logistic R=4"][None] = rising(
        panels["left"]["SlateUCB, logistic R=4"][None]
    )
    found = findings("mediamill", panels)[IMPROVES]
    assert found.verdict == "differs"
    assert "+1.26" in found.reason


def test_the_exception_is_mediamills_alone():
    """On other data sets the square loss has to be better for the ranking loss, too."""
    assert verdicts(good_panels(), "yeast")[SQUARE_RIGHT:] == ["differs", "differs"]
    panels = good_panels()
    for panel in ("right", "ranking"):
        for S, f in {1: 1.3, 5: 1.0}.items():
            panels[panel][SQUARE][S] = point(f)
    assert verdicts(panels, "yeast")[SQUARE_RIGHT:] == ["holds", "holds"]
    assert verdicts(panels)[SQUARE_RIGHT:] == ["differs", "differs"]


def test_what_orders_do_not_agree_on_is_undecided():
    panels = good_panels()
    panels["left"][SQUARE][None] = point(1.25, (0.8, 1.0, 1.2))
    assert verdicts(panels)[CLOSE_LEFT] == "undecided"


def test_methods_are_compared_on_the_same_rows():
    """Rows and orders are a hundred times as uneven as the difference, which both methods share."""
    orders = (0.2, 1.0, 1.8)
    panels = good_panels(orders)
    for S, square in panels["middle"][SQUARE].items():
        assert np.ptp(square.values("hamming")) > 1.0
        panels["middle"]["SlateUCB, logistic R=2"][S] = shifted(square, -0.01)
    assert verdicts(panels)[SQUARE_HAMMING] == "differs"


def shifted(one, by):
    """The point with a loss that is larger by so much in every block of every order."""
    blocks = [{key: b + by for key, b in result["blocks"].items()} for result in one.results]
    return Point([result | {"blocks": b} for result, b in zip(one.results, blocks, strict=True)])


def test_intervals_cover_the_mean_over_other_orders_and_rows():
    """At least 95% of them, of 500 draws of 10 orders and 20 blocks with effects of their own."""
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(500):
        orders, blocks = random.standard_normal((10, 1)), random.standard_normal(20)
        found = mean_interval(3.0 + orders + blocks + random.standard_normal((10, 20)))
        covered += found.low <= 3.0 <= found.high
    assert covered >= 0.95 * 500


def test_lost_labels_are_those_not_shown_in_the_second_half():
    assert lost_labels({"rounds": 1000, "last_shown": {"7": 900, "3": 499, "4": 0}}) == {
        "3": 499,
        "4": 0,
    }


def test_the_verdicts_of_a_longer_run_are_shown_beside():
    """They are about the statements that are judged today, from more orders than usual."""
    kept = committed_verdicts()
    assert kept["command"].startswith(
        "semibandit reproduce --sets mediamill,delicious-98,tags-world"
    )
    for data, verdicts in kept["verdicts"].items():
        assert {one.statement for one in findings(data, good_panels())} == set(verdicts)
        assert {one["verdict"] for one in verdicts.values()} <= {"holds", "differs", "undecided"}
        assert all(one["reason"] for one in verdicts.values() if one["verdict"] == "differs")
        assert kept["seeds"][data] > max(ReproduceOptions().seeds)
