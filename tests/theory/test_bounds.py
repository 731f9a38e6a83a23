"""The one-step lemmas by brute force, with ties and edges; the theorems by hand and in runs."""

import itertools
import math

import numpy as np
import pytest
from brute_force import ordered_subsets, tables, value
from hypothesis import given
from hypothesis import strategies as st

import semibandit as sb
from reference import FIGURE_2
from semibandit import bounds
from semibandit.errors import InputError

LOSSES = [sb.Square(), sb.Logistic(0.7), sb.Logistic(3.0)]
SHARES = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]) | st.floats(-1, 1)
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1)


@st.composite
def covered_rounds(draw):
    """A loss, and of up to 4 labels p⁺, the true p and ε: Δ is within ε of Δ̂, often at its end."""
    loss, K = draw(st.sampled_from(LOSSES)), draw(st.integers(1, 4))
    margin = loss.R * np.array(draw(st.lists(SHARES, min_size=K, max_size=K)))
    width = 2 * loss.R * np.abs(draw(st.lists(SHARES, min_size=K, max_size=K)))
    off = width * np.array(draw(st.lists(SHARES, min_size=K, max_size=K)))
    upper = loss.prob(np.clip(margin + width, -loss.R, loss.R))
    return loss, upper, loss.prob(np.clip(margin + off, -loss.R, loss.R)), width


def best_by(values):
    """All slates with the least value: whichever a learner takes, the lemma holds."""
    least = min(values.values())
    return [shown for shown, v in values.items() if v <= least + 1e-12]


@given(covered_rounds(), WEIGHTS, st.integers(0, 5), st.sampled_from("dct"), tables())
def test_lemma_5_bounds_the_regret_of_a_covered_round(world, a, slots, kind, table):
    loss, upper, p, width = world
    c = {
        "d": lambda i, s: (s - i + 1) / s,
        "c": lambda i, s: 1.0,
        "t": lambda i, s: table[s - 1][i - 1],
    }[kind]
    slates = list(ordered_subsets(len(p), slots))
    best = min(value(p, shown, a, c) for shown in slates)
    for shown in best_by({shown: value(upper, shown, a, c) for shown in slates}):
        regret = value(p, shown, a, c) - best
        w = [a + (1 - a) * c(j, len(shown)) for j in range(1, len(shown) + 1)]
        assert regret <= 2 * loss.c_L * float(np.dot(w, width[list(shown)])) + 1e-9
        if slots >= len(p):  # what is left of the factor 1 - a
            assert regret <= (1 - a) * len(p) + 1e-9


@given(covered_rounds(), covered_rounds(), WEIGHTS, st.integers(0, 5), tables())
def test_theorem_2_charges_enough_for_a_round_that_is_not_covered(world, other, a, slots, table):
    """Whatever a learner believes, a round costs at most min(1, 4 c_L R) for each slot."""
    loss = world[0]
    p, believed = world[2], np.interp(other[1], [0, 1], loss.prob(np.array([-loss.R, loss.R])))
    believed = np.resize(believed, len(p))
    c = lambda i, s: table[s - 1][i - 1]  # noqa: E731
    slates = list(ordered_subsets(len(p), slots))
    best = min(value(p, shown, a, c) for shown in slates)
    for shown in best_by({shown: value(believed, shown, a, c) for shown in slates}):
        most = min(1.0, 4 * loss.c_L * loss.R) * min(slots, len(p))
        assert value(p, shown, a, c) - best <= most + 1e-9


def test_lemma_5_is_tight_and_the_printed_one_is_not_true():
    """K = 1, a = 1/2, c = 1, Δ̂ = -ε, Δ = -2ε: p⁺ is at the threshold, and the label is shown."""
    loss, eps, a = sb.Square(), 0.25, 0.5
    shown = sb.best_slate(loss.prob([-eps + eps]), a=a, cost=sb.constant)
    assert shown.tolist() == [0]
    regret = value(loss.prob([-2 * eps]), shown, a, sb.constant)
    assert regret == eps == 2 * loss.c_L * eps
    assert 2 * (1 - a) * loss.c_L * eps == eps / 2


def ranking_risk(p, shown, S):
    return sb.expected_loss("p_rank", p, np.array(shown, dtype=np.intp), slots=S)


@given(covered_rounds(), st.integers(1, 5))
def test_lemma_6_bounds_the_ranking_regret_of_a_covered_round(world, slots):
    loss, upper, p, width = world
    S = min(slots, len(p))
    slates = list(ordered_subsets(len(p), slots))
    best = min(ranking_risk(p, shown, slots) for shown in slates)
    for shown in itertools.permutations(range(len(p)), S):
        rest = np.delete(upper, shown)
        if np.all(np.diff(upper[list(shown)]) <= 0) and np.all(rest <= upper[shown[-1]]):
            regret = ranking_risk(p, shown, slots) - best
            assert regret <= 2 * (2 * S - 1) * loss.c_L * width[list(shown)].sum() + 1e-9
    for shown in itertools.permutations(range(len(p)), S):  # whatever a learner believes
        span = float(loss.prob(loss.R) - loss.prob(-loss.R))
        assert ranking_risk(p, shown, slots) - best <= span * S**2 + 1e-9


@pytest.mark.parametrize("S", [1, 2, 3, 7])
def test_lemma_6_is_tight_with_2S_minus_1(S):
    """All p⁺ are 1, and so are all p but that of the label shown first."""
    loss, eps = sb.Square(), 0.5  # Δ̂ = R - ε, Δ = R - 2ε
    p = np.ones(S + 1)
    p[0] = loss.prob(1.0 - 2 * eps)
    regret = ranking_risk(p, range(S), S) - ranking_risk(p, range(1, S + 1), S)
    assert regret == pytest.approx(2 * (2 * S - 1) * loss.c_L * eps)


def by_hand(T, d, K, U2, delta, c1, c2, worst):
    C = U2 + d * c1 / c2**2 * math.log(1 + (T - 1) / d)
    C += 12 / c2 * (c1 / c2 + 3 * worst) * math.log(K * (T + 4) / delta)
    return 2 * C * d * math.log(1 + T / d)  # M of the proof


def test_theorems_1_2_and_3_by_hand():
    T, d, K, U, delta, a, S = 10**6, 6, 12, 2.0, 0.05, 0.3, 4
    M = by_hand(T, d, K, U**2, delta, 4, 1, 2)
    problem = {"T": T, "d": d, "K": K, "U": U, "delta": delta, "loss": sb.Square()}
    ours = 2 * 0.5 * K * math.sqrt(T * M)
    assert bounds.theorem1(**problem, a=a) == pytest.approx(ours)
    assert bounds.theorem1(**problem, a=a, printed=True) == pytest.approx(0.7 * ours)
    of_S = 2 * 0.5 * math.sqrt(S * K * T * M)
    for weight in (0.0, a, 1.0):  # a factor 1 - a is in none of them
        assert bounds.theorem1(**problem, a=weight, slots=S) == pytest.approx(of_S)
    printed = 4 * 0.5 * math.sqrt(M * S * K * T)
    assert bounds.theorem3(**problem, slots=S, printed=True) == pytest.approx(printed)
    assert bounds.theorem3(**problem, slots=S) == pytest.approx((S - 0.5) * printed)
    grown = d * 4 * math.log(1 + (T - 1) / d)
    M = by_hand(T, d, K, grown, delta, 4, 1, 2)
    early = math.ceil(d * (math.exp(U**2 / (4 * d)) - 1))
    later = 2 * 0.5 * math.sqrt(S * K * T * M)
    assert bounds.theorem2(**problem, a=a, slots=S) == pytest.approx(later + early * S)
    assert bounds.theorem2(**problem, a=a, slots=S, printed=True) == pytest.approx(
        0.7 * later + early * 4 * 0.7 * 0.5 * S * 1.0
    )
    assert bounds.theorem3(**problem, slots=S, unknown_norm=True) == pytest.approx(
        (2 * S - 1) * later + early * S**2
    )


@pytest.mark.parametrize("a", [0.0, 0.5, 0.95, 1.0])
def test_theorem_1_without_a_limit_is_at_most_1_minus_a_for_every_label_and_round(a):
    """The footnote on a = 1: all labels are shown, and nothing is lost; with a limit there is."""
    problem = {"T": 50, "d": 5, "K": 9, "U": 1.0, "loss": sb.Logistic(1.0), "a": a}
    for theorem in (bounds.theorem1, bounds.theorem2):
        assert theorem(**problem) == (1 - a) * 9 * 50
        for slots in (8, 9):  # 9: the largest limit, where others are smaller
            assert theorem(**problem, slots=slots) > 9 * 50


def test_bounds_grow_like_the_root_of_the_rounds():
    problem = {"d": 5, "K": 9, "U": 1.0, "loss": sb.Logistic(1.0), "a": 0.0}
    growth = bounds.theorem1(T=2 * 10**12, **problem) / bounds.theorem1(T=10**12, **problem)
    assert math.sqrt(2) < growth < 1.5


@pytest.mark.parametrize(
    ("theorem", "width", "a", "T", "regret", "printed"),
    [
        (bounds.theorem1, sb.KnownNorm(1.0, 0.05), 0.95, 60_000, 3000, 2386),
        (bounds.theorem1, sb.KnownNorm(1.0, 0.05), 0.9, 40_000, 4000, 3768),
        (bounds.theorem2, sb.UnknownNorm(0.05), 0.9, 40_000, 4000, 3814),
    ],
)
def test_regret_is_above_what_theorems_1_and_2_print(theorem, width, a, T, regret, printed):
    """One label that nobody wants, x = 1 and u = -1: it is shown until its width is small."""
    bandit = sb.SlateUCB(1, 1, a=a, cost=sb.constant, width=width, **FIGURE_2)
    lost = sb.replay(bandit, np.ones((T, 1)), np.zeros((T, 1)), progress=False).losses().sum()
    assert lost == pytest.approx(regret)
    problem = {"T": T, "d": 1, "K": 1, "U": 1.0, "loss": sb.Square(), "a": a}
    assert round(theorem(**problem, printed=True)) == printed < lost
    assert lost <= theorem(**problem) + 1e-6


def test_with_slots_ranking_has_regret_where_the_printed_theorem_1_says_0():
    world = sb.Synthetic(5, 10, seed=0)
    bandit = sb.SlateUCB(5, 10, a=1.0, width=sb.KnownNorm(world.U), **FIGURE_2)
    regret = sb.play(bandit, world, 300, 3).regret[-1]
    problem = {"T": 300, "d": 5, "K": 10, "U": world.U, "loss": world.loss, "a": 1.0, "slots": 3}
    assert bounds.theorem1(**problem, printed=True) == 0 < 40 < regret < bounds.theorem1(**problem)


def test_the_factor_S_that_theorem_3_lost_is_real():
    """60 of 120 labels are never wanted and 60 always; x = 1. All look perfect for 422 rounds."""
    S, K, T, loss, width = 60, 120, 422, sb.Square(), sb.KnownNorm(1.0, 0.05)
    p = np.repeat([0.0, 1.0], S)
    for t in range(1, T + 1):  # shown t - 1 times, and never wanted: Δ̂ = -1 + 1/t, x·A⁻¹x = 1/t
        eps = width(np.array([1 / t]), t=t, d=1, K=K, loss=loss)
        assert loss.prob(min(-1 + 1 / t + eps[0], 1.0)) == 1.0  # p⁺: any order is Figure 2's
    wrong, right = np.arange(S), np.arange(S, K)
    regret = T * (ranking_risk(p, wrong, S) - ranking_risk(p, right, S))
    assert regret == T * S**2
    problem = {"T": T, "d": 1, "K": K, "U": 1.0, "loss": loss, "slots": S}
    assert 3 * bounds.theorem3(**problem, printed=True) < regret < bounds.theorem3(**problem)


def test_no_bound_is_broken_in_200_worlds():
    """Round by round, which is much sharper than their sum: regret <= 2 c_L Σ ε."""
    random, exact = np.random.default_rng(0), 0
    for seed in range(200):
        loss = [sb.Square(), sb.Logistic(1.0), sb.Logistic(2.0)][seed % 3]
        d, K, T = (int(random.integers(low, high)) for low, high in ((2, 6), (1, 8), (6, 12)))
        slots, a = [None, 1, 2, 3][random.integers(4)], float(random.choice([0, 0.3, 0.5, 0.9, 1]))
        world = sb.Synthetic(d, K, loss=loss, seed=seed)
        width, bound = (
            (sb.KnownNorm(world.U), bounds.theorem1)
            if seed % 2
            else (sb.UnknownNorm(), bounds.theorem2)
        )
        cost = sb.constant if random.random() < 0.5 else sb.decreasing
        bandit = sb.SlateUCB(d, K, a=a, loss=loss, cost=cost, width=width, seed=seed, **FIGURE_2)
        total = ranked = 0.0
        for t in range(T):
            x = world.context(t)
            slate = bandit.rank(x, slots)
            target = world.best("ac", x, a=a, cost=cost, slots=slots)
            regret = world.expected("ac", x, np.array(slate.labels, dtype=np.intp), a=a, cost=cost)
            regret -= world.expected("ac", x, target, a=a, cost=cost)
            widths = float(np.sum(slate.width))
            assert -1e-9 <= regret <= 2 * loss.c_L * widths + 1e-9
            if a == 1 and slots:  # Section 4's ranking
                S, p = min(slots, K), world.prob(x)
                lost = ranking_risk(p, slate.labels, S) - ranking_risk(p, sb.best_ranking(p, S), S)
                assert -1e-9 <= lost <= 2 * (2 * S - 1) * loss.c_L * widths + 1e-9
                ranked += lost
                unknown = bound is bounds.theorem2
                most = bounds.theorem3(
                    T=t + 1, d=d, K=K, U=world.U, loss=loss, slots=slots, unknown_norm=unknown
                )
                assert ranked <= most + 1e-9
            total += regret
            problem = {"T": t + 1, "d": d, "K": K, "U": world.U, "loss": loss, "a": a}
            assert total <= bound(**problem, slots=slots) + 1e-9
            relevant = set(world.relevant(t, x).tolist())
            bandit.learn(slate, [i for i in slate.labels if i in relevant])
        exact += total > 0
    assert exact > 100


WRONG = [
    *({name: value} for name in "TdK" for value in (0, "9", math.inf, math.nan)),
    *({"U": value} for value in (-1.0, "1", math.nan)),
    *({"delta": value} for value in (0.5, 0, "0.1")),
    *({"slots": value} for value in (-1, 2.5, "2")),
]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("theorem", [bounds.theorem1, bounds.theorem2, bounds.theorem3])
def test_bounds_refuse_what_the_theorems_do_not_cover(theorem, wrong):
    problem = {"T": 10, "d": 2, "K": 3, "U": 1.0, "loss": sb.Square(), "slots": 2}
    ((name, value),) = wrong.items()
    with pytest.raises(InputError, match=f"{name} = {value!r}, but "):
        theorem(**problem | wrong)


@pytest.mark.parametrize("theorem", [bounds.theorem1, bounds.theorem2])
def test_bounds_refuse_a_outside_0_1(theorem):
    with pytest.raises(InputError, match="a = 2, but "):
        theorem(T=10, d=2, K=3, U=1.0, loss=sb.Square(), a=2)


SETTINGS = {"width": sb.KnownNorm(1.0), **FIGURE_2}


@pytest.mark.filterwarnings("ignore::semibandit.errors.UnprovenWidth")
@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"width": sb.Scaled(0.25)}, "is no confidence bound"),
        ({"model": sb.Diagonal()}, r"the matrices of Diagonal\(\)"),
        ({"forget": 100}, "forget=100"),
        ({"examination": [1, 0.5]}, "examination"),
        ({"probe": 0.1}, "probe=0.1 costs regret in proportion to T"),
        ({"at_least": 1}, "at_least=1"),
        ({"width": sb.KnownNorm(2.0)}, "its width is KnownNorm.U=2.0, .* one with U=1 and"),
        ({"width": sb.KnownNorm(1.0, 0.1)}, "and delta=0.05"),
        ({"width": sb.UnknownNorm()}, "its width is UnknownNorm"),
        ({"width": sb.LogDet(1.0), "scale": "none"}, r"nothing says that \|\|x\|\| <= 1"),
        ({"width": sb.LogDet(1.0), "model": sb.Dual(np.dot)}, r"or k\(x, x\) <= 1"),
    ],
)
def test_bounds_refuse_learners_of_which_nothing_is_proven(settings, why):
    bandit = sb.SlateUCB(2, 3, **SETTINGS | settings)
    problem = {"T": 10, "d": 2, "K": 3, "U": 1.0, "loss": sb.Square(), "slots": 2}
    for theorem in (bounds.theorem1, bounds.theorem3):
        with pytest.raises(InputError, match=f"the theorem is not about it: .*{why}"):
            theorem(**problem, learner=bandit)
    with pytest.raises(InputError, match="the theorems are about SlateUCB"):
        bounds.theorem2(**problem, learner=sb.Greedy(2, 3))


def test_bounds_take_the_learner_that_they_are_about():
    problem = {"T": 10, "d": 2, "K": 3, "U": 1.0, "loss": sb.Square(), "slots": 2}
    known = sb.SlateUCB(2, 3, **SETTINGS)
    unknown = sb.SlateUCB(2, 3, **SETTINGS | {"width": sb.UnknownNorm()})
    assert bounds.theorem1(**problem, learner=known) == bounds.theorem1(**problem)
    assert bounds.theorem2(**problem, learner=unknown) == bounds.theorem2(**problem)
    assert bounds.theorem3(**problem, learner=known) == bounds.theorem3(**problem)
    seen = sb.SlateUCB(2, 3, **SETTINGS | {"width": sb.LogDet(1.0)})  # never wider than KnownNorm
    assert bounds.theorem1(**problem, learner=seen) == bounds.theorem1(**problem)
    assert bounds.theorem3(**problem, unknown_norm=True, learner=unknown) > 0


def test_numbers_may_be_floats():
    problem = {"d": 5, "K": 9, "U": 1, "loss": sb.Square()}
    assert bounds.theorem1(T=1e6, **problem) == bounds.theorem1(T=10**6, **problem)
