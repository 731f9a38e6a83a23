"""The examination probability of each position, from slates that were drawn at random."""

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.position_bias import position_bias
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.plackett_luce import PlackettLuceSlates
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.request import Request

THETA = np.array([1.0, 0.7, 0.4, 0.25])
ITEMS = list("abcdefgh")
P = np.linspace(0.9, 0.2, len(ITEMS))  # how likely each label is relevant
BEST = ITEMS[:4]  # what the learner shows: the better label at the better position


def log_of(distribution, n, seed=0, *, slots=4, item=True, group=lambda i: "", theta=THETA):
    """Visits in which slates were drawn so, and clicked if relevant and looked at."""
    random, visits = np.random.default_rng(seed), []
    relevance = dict(zip(ITEMS, P, strict=True))
    for i in range(n):
        shown = distribution.sample(random, ITEMS)
        chance = np.array([relevance[label] for label in shown]) * theta[: len(shown)]
        known = distribution.item_propensity(shown) if item else None
        visits.append(LoggedVisit(
            Request(np.empty(0), slots, None, None, i), shown, random.random(len(shown)) < chance,
            distribution.slate_propensity(shown), distribution.prefix_propensity(shown), known,
            distribution, group(i),
        ))  # fmt: skip
    return [chunk(visits[i : i + 900]) for i in range(0, n, 900)]


def chunk(visits):
    return VisitChunk(visits=visits, items=[ITEMS] * len(visits))


def mixed(epsilon, slate=BEST):
    return Mixture([(1 - epsilon, FixedSlate(slate)), (epsilon, UniformSlates(8, 4))])


LOGS = {
    "uniform": lambda: log_of(UniformSlates(8, 4), 4000),
    "mixed": lambda: log_of(mixed(0.3), 8000),
    "mixed with short slates": lambda: log_of(mixed(0.3, BEST[:2]), 8000),
    "mixed with probes": lambda: log_of(
        Mixture([(0.7, FixedSlate(BEST[:2], "h", 0.3)), (0.3, UniformSlates(8, 4))]), 8000
    ),
    "Plackett-Luce": lambda: log_of(
        PlackettLuceSlates(dict(zip(ITEMS, np.linspace(1, 0, 8), strict=True)), 4), 2000, item=False
    ),
}


@pytest.mark.parametrize("kind", LOGS)
def test_it_finds_how_likely_positions_are_looked_at(kind):
    found = position_bias(LOGS[kind]())
    assert found.refused is None
    assert found.notes == []
    for one, theta in zip(found.positions, THETA, strict=True):
        assert abs(one.examination - theta) <= one.high - one.low < 0.25  # 4 deviations
        assert one.mean_weight == pytest.approx(1.0, abs=0.1)
    assert found.examination == [one.examination for one in found.positions]


def test_click_rates_alone_mislead():
    naive = np.mean([v.clicked for some in log_of(mixed(0.3), 4000) for v in some.visits], axis=0)
    assert naive[3] / naive[0] < THETA[3] - 0.03  # the better labels stand higher


def test_the_interval_covers_the_truth_as_often_as_it_says():
    covered = [
        one.low <= theta <= one.high
        for seed in range(30)
        for one, theta in zip(
            position_bias(log_of(UniformSlates(8, 4), 400, seed)).positions[1:],
            THETA[1:],
            strict=True,
        )
    ]
    assert np.mean(covered) >= 0.90


def test_visits_of_one_visitor_are_one_for_the_interval():
    every = position_bias(log_of(UniformSlates(8, 4), 2000))
    few = log_of(UniformSlates(8, 4), 2000, group=lambda i: f"visitor {i % 40}")
    assert position_bias(few).examination == every.examination
    assert position_bias(few).positions[3].low != every.positions[3].low


def test_pages_with_less_room_do_not_distort_it():
    """Short pages are of visitors who click less: only pages with the position are compared."""
    long = log_of(UniformSlates(8, 4), 3000)
    short = log_of(UniformSlates(8, 2), 3000, slots=2, theta=THETA * 0.3)
    for one, theta in zip(position_bias(long + short).positions, THETA, strict=True):
        assert one.low <= theta <= one.high


def test_a_position_that_is_looked_at_more_than_the_first_is_scaled_to_1():
    found = position_bias(log_of(UniformSlates(8, 3), 5000, theta=np.array([0.4, 0.8, 0.4, 0.4])))
    assert max(found.examination) == found.examination[1] == 1.0
    assert found.examination[0] == pytest.approx(0.5, abs=0.06)
    assert sb.Greedy(2, 3, examination=found.words).examination[1] == 1.0


def test_too_little_is_refused_and_it_says_how_much_is_needed():
    found = position_bias(log_of(mixed(0.05), 700))
    with pytest.raises(InputError, match=r"position . has .* effective visits .*about [\d,]+ vis"):
        _ = found.examination
    assert "--randomise mixed:0.05" in found.refused
    assert found.json()["examination"] is None
    enough = int(found.refused.split("about ")[1].split()[0].replace(",", ""))
    assert 700 < enough < 20_000
    assert position_bias(log_of(mixed(0.05), int(1.3 * enough), seed=1)).refused is None


def test_positions_after_the_last_that_is_known_are_like_it():
    rare = np.array([1.0, 0.7, 0.4, 0.002])
    found = position_bias(log_of(UniformSlates(8, 4), 4000, theta=rare))
    assert len(found.examination) == 3
    assert found.positions[3].examination is None
    assert "for position 3 is taken for those after it" in found.notes[0]


def test_probabilities_that_are_wrong_or_missing_are_noticed():
    chunks = log_of(UniformSlates(8, 4), 2000)
    for visit in (visit for some in chunks for visit in some.visits):
        visit.item_propensity = visit.item_propensity * 0.8
    assert "mean weight at position 1 is 1.25" in position_bias(chunks).refused
    for visit in chunks[0].visits:
        visit.item_propensity = visit.item_propensity * 0.0
    for visit in chunks[1].visits:
        visit.item_propensity = visit.logging = None
    left_out = position_bias(chunks).left_out
    assert left_out["shown with probability 0"] == len(chunks[0].visits)
    assert left_out["decisions without the probabilities of labels at positions"] == 900
    assert "no visit of the log has known" in position_bias([]).refused
    one = log_of(UniformSlates(8, 1), 900, slots=1)
    assert "nothing to compare" in position_bias(one).refused
