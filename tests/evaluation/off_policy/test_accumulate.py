import numpy as np
import pytest
from estimators.bandits.ips import Estimator as VwIps
from estimators.bandits.snips import Estimator as VwSnips
from estimators.ccb.pdis_cressieread import Estimator as VwPdis
from slate_worlds import ListedSlates, World

from semibandit.errors import InputError, UnknownLabel
from semibandit.evaluation.off_policy.accumulate import Accumulator
from semibandit.evaluation.off_policy.read_propensities import read_propensities
from semibandit.evaluation.off_policy.reward import read_reward
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.request import Request


def evaluate(visits, targets, items, reward="clicks", size=4096, **options):
    sums = Accumulator(read_reward(reward), **options)
    for start in range(0, len(visits), size):
        sums.add(visits[start : start + size], targets[start : start + size], items)
    return sums.evaluation("target", {"without feedback": 3})


@pytest.fixture(scope="module")
def world():
    return World(seed=1)


@pytest.fixture(scope="module")
def log(world):
    return world.visits(np.random.default_rng(0), 12_000, "cascade")


def test_agrees_with_vw_estimators(world, log):
    visits, targets = log[0][:8000], log[1][:8000]
    ips, snips = VwIps(), VwSnips()
    first = [VwIps() for _ in range(world.S)]
    for visit, target in zip(visits, targets, strict=True):
        p, e = visit.slate_propensity, target.slate_propensity(visit.shown)
        ips.add_example(p, visit.clicked.sum(), e)
        snips.add_example(p, visit.clicked.sum(), e)
        steps = target.prefix_propensity(visit.shown)
        for k in range(world.S):
            first[k].add_example(visit.prefix_propensity[k], visit.clicked[k], steps[k])
    found = evaluate(visits, targets, world.items).estimates
    assert found["IPS"].value == pytest.approx(ips.get(), rel=1e-9)
    assert found["SNIPS"].value == pytest.approx(snips.get(), rel=1e-9)
    assert found["RIPS"].value == pytest.approx(sum(one.get() for one in first), rel=1e-9)


def test_step_factors_of_vw_estimators_give_our_prefix_weights(world, log):
    """PDIS multiplies the factors of each slot; ours are ratios of whole prefixes."""
    vw, ours = VwPdis(), Accumulator(read_reward("clicks"))
    visits, targets = log[0][:500], log[1][:500]
    for visit, target in zip(visits, targets, strict=True):
        e, b = target.prefix_propensity(visit.shown), visit.prefix_propensity
        vw.add_example(
            (b / np.append(1, b[:-1])).tolist(), visit.clicked.tolist(),
            (e / np.append(1, e[:-1])).tolist(),
        )  # fmt: skip
    ours.add(visits, targets, world.items)
    totals = ours.sums.total()
    for k, slot in enumerate(vw._impl):
        assert float(slot.sumw) == pytest.approx(totals["prefix w"][k], rel=1e-9)
        assert float(slot.sumwr) == pytest.approx(totals["prefix wr"][k], rel=1e-9)


def test_what_comes_out(world, log):
    found = evaluate(*log, world.items)
    assert found.visits == 12_000
    assert found.left_out == {"without feedback": 3}
    assert all(check.passed for check in found.checks)
    assert {check.weights for check in found.checks} == {
        "slate",
        "prefix",
        "item",
        "pseudo-inverse",
    }
    truth = world.value(world.target, "cascade")
    for name in ("IPS", "SNIPS", "RIPS", "snRIPS", "DR", "Cascade-DR"):
        one = found.estimates[name]
        assert one.low < one.value < one.high
        assert one.low < truth < one.high, name
    for name in ("IPS", "RIPS", "IIPS"):
        one = found.estimates[name]
        assert one.anytime_low < one.low < one.high < one.anytime_high, name
    assert found.estimates["SNIPS"].anytime_low is None
    assert found.logged.low < world.value(world.log, "cascade") < found.logged.high


def test_chunks_make_no_difference(world, log):
    one, other = (evaluate(*log, world.items, size=size) for size in (12_000, 700))
    for name, found in one.estimates.items():
        again = other.estimates[name]
        assert found.value == pytest.approx(again.value, rel=1e-9), name
        assert (found.low is None) == (name == "DM")
        if found.low is not None:
            assert found.low == pytest.approx(again.low, rel=1e-9), name
        if name in ("IPS", "IIPS", "RIPS"):
            assert found.anytime_high == pytest.approx(again.anytime_high, rel=1e-9), name


def test_the_logs_own_policy_gives_the_plain_mean(world, log):
    visits = log[0][:1000]
    found = evaluate(visits, [visit.logging for visit in visits], world.items)
    plain = np.mean([visit.clicked.sum() for visit in visits])
    assert found.estimates["IPS"].value == plain
    for name in ("SNIPS", "IIPS", "snIIPS", "RIPS", "snRIPS", "PI"):
        assert found.estimates[name].value == pytest.approx(plain, rel=1e-12), name
    assert found.estimates["IPS"].low == found.logged.low
    sizes = {c.weights: c.value for c in found.checks if c.name == "effective sample size"}
    assert sizes == pytest.approx(dict.fromkeys(sizes, 1000))


def shown_for_certain(n, S, size, target, log=None, clicked=None):
    """A log with one slate, or of the slates that `log` draws."""
    items = [f"label {i}" for i in range(n)]
    log = FixedSlate(items[:S]) if log is None else log
    random = np.random.default_rng(0)
    visits = []
    for i in range(size):
        shown = log.sample(random, items)
        visits.append(
            LoggedVisit(
                Request(np.empty(0), S, None, None, i), shown, random.random(len(shown)) < 0.2,
                log.slate_propensity(shown), log.prefix_propensity(shown),
                log.item_propensity(shown), log, "",
            )
        )  # fmt: skip
    return visits, [target] * size, items


def test_a_log_that_never_shows_what_the_policy_does_is_refused():
    target = FixedSlate(["label 0", "label 3"])
    found = evaluate(*shown_for_certain(5, 2, 500, target))
    assert all(one.value is None for one in found.estimates.values())
    assert "The log can show 0% of the whole slates" in found.estimates["IPS"].refused
    assert "The log can show 50% of the labels at positions" in found.estimates["IIPS"].refused
    assert "--randomise mixed:0.05" in found.estimates["RIPS"].refused
    assert "the log has no uniform slates" in found.estimates["PI"].refused
    assert "nothing checks the model" in found.estimates["DM"].refused
    assert found.logged.value is not None


def test_uniform_slates_cover_shorter_ones_as_prefixes_only():
    log = Mixture([(0.5, FixedSlate(["label 0"])), (0.5, UniformSlates(4, 3))])
    target = FixedSlate(["label 1", "label 2"])
    found = evaluate(*shown_for_certain(4, 3, 6000, target, log))
    for name in ("IPS", "SNIPS", "DR"):
        assert "of the same length" in found.estimates[name].refused
    for name in ("RIPS", "snRIPS", "IIPS", "Cascade-DR", "IIPS-DR"):
        assert found.estimates[name].value == pytest.approx(0.4, abs=0.1), name
    assert "differ in length" in found.estimates["PI"].refused


def test_too_few_visits_say_how_many_more():
    log = Mixture([(0.9, FixedSlate(["label 0", "label 1"])), (0.1, UniformSlates(10, 2))])
    target = FixedSlate(["label 2", "label 3"])
    found = evaluate(*shown_for_certain(10, 2, 3000, target, log))
    assert "more visits like these" in found.estimates["IIPS"].refused


def test_rewards_that_are_no_sum_over_positions(world, log):
    found = evaluate(*log, world.items, reward="any").estimates
    for name in ("IIPS", "snIIPS", "PI", "DM", "IIPS-DR"):
        assert "read snRIPS or Cascade-DR" in found[name].refused
    assert found["RIPS"].anytime_high <= 1
    assert found["IPS"].value <= 1


def test_item_propensities_alone_give_item_estimators_alone():
    random = np.random.default_rng(0)
    visits, position = [], random.integers(0, 3, 4000)
    chances = np.array([0.1, 0.2, 0.3, 0.4])
    rates = np.array([0.6, 0.4, 0.2, 0.1])
    for i in range(4000):
        item = random.choice(4, p=chances)
        visits.append(
            LoggedVisit(
                Request(np.empty(0), 3, None, None, i), [int(item)],
                np.array([random.random() < rates[item]]), None, None, chances[[item]], None, "",
                first_position=int(position[i]),
            )
        )  # fmt: skip
    found = evaluate(visits, [UniformSlates(4, 3)] * 4000, range(4)).estimates
    for name in ("IIPS", "snIIPS", "IIPS-DR", "DM"):
        assert found[name].value == pytest.approx(rates.mean(), abs=0.03), name
    for name in ("IPS", "SNIPS", "RIPS", "snRIPS", "DR", "Cascade-DR"):
        assert "4,000 of 4,000 visits do not say how likely" in found[name].refused
    assert "does not say how likely each slate" in found["PI"].refused


def test_visits_with_probability_0_are_left_out_and_counted(world, log):
    visits, targets = log[0][:300], log[1][:300]
    wrong = LoggedVisit(
        visits[0].request, visits[0].shown, ~visits[0].clicked, 0.0, np.zeros(3), np.zeros(3),
        visits[0].logging, "",
    )  # fmt: skip
    found = evaluate([*visits, wrong], [*targets, targets[0]], world.items)
    assert found.visits == 300
    assert found.left_out == {"without feedback": 3, "shown with probability 0": 1}
    assert found.logged == evaluate(visits, targets, world.items).logged


def test_no_visits():
    found = evaluate([], [], ["a"])
    assert found.visits == 0
    assert {one.refused for one in found.estimates.values()} == {"there are no visits"}
    assert found.logged.value is None


def test_visits_that_show_nothing():
    target = ListedSlates({(): 1.0})
    found = evaluate(*shown_for_certain(3, 0, 300, target))
    assert found.estimates["IPS"].value == 0.0
    assert found.estimates["Cascade-DR"].value == 0.0


def test_bad_input(world, log):
    with pytest.raises(InputError, match="confidence = 95, but it must be between 0 and 1"):
        Accumulator(read_reward("clicks"), confidence=95)
    with pytest.raises(UnknownLabel, match="no value for the label"):
        evaluate(log[0][:10], log[1][:10], world.items, reward={"label 0": 1.0})


def test_distributions_that_take_long_are_not_asked_for_every_label():
    """After so many visits only estimators by prefixes remain, and the others say why."""
    slates = {("label 0", "label 1"): 0.5, ("label 1", "label 2"): 0.5}
    log, target = ListedSlates(slates), ListedSlates(dict(zip(slates, (0.4, 0.6), strict=True)))
    visits, targets, items = shown_for_certain(3, 2, 600, target, log)
    for visit in visits:
        visit.item_propensity = None  # as logs of Plackett-Luce have it
    for most, refused in ((10_000, set()), (500, {"IIPS", "snIIPS", "IIPS-DR", "DM", "DR"})):
        sums = Accumulator(read_reward("clicks"))
        sums.slow.most = most
        sums.no_pseudo_inverse = "not asked here"
        for start in range(0, 600, 100):
            sums.add(visits[start : start + 100], targets[start : start + 100], items)
        found = sums.evaluation("target", {}).estimates
        assert {
            one.name for one in found.values() if "takes long" in (one.refused or "")
        } == refused
        assert found["Cascade-DR"].value is not None


def holdout_visits(random, visitors, each, *, by_visitor=True, share=0.05):
    """Visits of a log whose visitors belong to a holdout of uniform slates, or each visit does."""
    mix = Mixture([(1 - share, FixedSlate([0, 1])), (share, UniformSlates(6, 2))])
    member = random.random(visitors) < share
    rate, visits = np.linspace(0.4, 0.05, 6), []
    for i in range(visitors * each):
        who = i % visitors
        held_out = member[who] if by_visitor else random.random() < share
        shown = random.permutation(6)[:2].tolist() if held_out else [0, 1]
        visits.append(
            LoggedVisit(
                Request(np.empty(0), 2, None, None, i), shown, random.random(2) < rate[shown],
                mix.slate_propensity(shown), mix.prefix_propensity(shown),
                mix.item_propensity(shown), mix, group=f"visitor {who}",
            )
        )  # fmt: skip
    return visits


def test_a_holdout_of_few_visitors_is_refused_however_many_visits_they_make():
    for visitors in (1, 8, 100):
        visits = holdout_visits(np.random.default_rng(1), visitors, 8000 // visitors)
        found = evaluate(visits, [UniformSlates(6, 2)] * len(visits), range(6))
        for name in ("IPS", "SNIPS", "snIIPS", "Cascade-DR", "DM"):
            assert found.estimates[name].value is None
        assert "since those of one visitor are drawn together" in found.estimates["IPS"].refused
        assert "more visitors" in found.estimates["IPS"].refused


def test_a_holdout_of_many_visitors_has_no_anytime_intervals_if_they_come_back():
    visits = holdout_visits(np.random.default_rng(2), 4000, 3)
    found = evaluate(visits, [UniformSlates(6, 2)] * len(visits), range(6)).estimates["IPS"]
    assert found.low < 0.45 < found.high
    assert found.anytime_low is None


def test_visits_that_are_drawn_one_by_one_may_be_of_one_visitor():
    visits = holdout_visits(np.random.default_rng(3), 1, 8000, by_visitor=False)
    found = evaluate(visits, [UniformSlates(6, 2)] * len(visits), range(6)).estimates["IPS"]
    assert found.anytime_low < 0.45 < found.anytime_high
    logged = evaluate(visits, [visits[0].logging] * len(visits), range(6)).estimates["IPS"]
    assert logged.value == pytest.approx(np.mean([visit.clicked.sum() for visit in visits]))


def test_slates_so_long_that_no_float_holds_their_probability():
    random, n = np.random.default_rng(1), 200
    best, rate = list(range(5)), np.linspace(0.3, 0.0, n)
    mix = Mixture([(0.5, FixedSlate(best)), (0.5, UniformSlates(n, n))])
    visits = []
    for i in range(2000):
        shown = best if random.random() < 0.5 else random.permutation(n).tolist()
        told = {
            "distribution": mix.json(), "slate_propensity": mix.slate_propensity(shown),
            "prefix_propensity": mix.prefix_propensity(shown).tolist(),
            "item_propensity": mix.item_propensity(shown).tolist(),
        }  # fmt: skip
        clicked = random.random(len(shown)) < rate[shown]
        visits.append(
            LoggedVisit(
                Request(np.empty(0), n, None, None, i), shown, clicked,
                *read_propensities(told, shown), group="",
            )
        )  # fmt: skip
    found = evaluate(visits, [UniformSlates(n, n)] * len(visits), range(n))
    assert found.visits == 2000
    assert found.estimates["RIPS"].low < rate.sum() < found.estimates["RIPS"].high
    assert found.estimates["SNIPS"].value == pytest.approx(rate.sum(), rel=0.02)
    found = evaluate(visits, [FixedSlate(best)] * len(visits), range(n))
    assert found.estimates["RIPS"].low < rate[:5].sum() < found.estimates["RIPS"].high
