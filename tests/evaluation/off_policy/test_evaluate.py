"""Policies judged on a log whose truth is known: frozen, learning along it, and as if online."""

from dataclasses import replace

import numpy as np
import pytest
from learners import bits
from shop import Shop, decision_of, log_lines, shop_events, write_shop_log

import semibandit as sb
from semibandit.errors import InputError, MissingFile, UnknownKeyword
from semibandit.evaluation.off_policy.accepted import least_propensity
from semibandit.evaluation.off_policy.compare import compare
from semibandit.evaluation.off_policy.evaluate import evaluate
from semibandit.evaluation.off_policy.policy_words import read_changes, read_target
from semibandit.evaluation.off_policy.progressive import LEARN_EVERY
from semibandit.evaluation.off_policy.read_visits import VisitLog
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.propensities import propensities_of
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.mixed import Mixed
from semibandit.policies.persistence import snapshot_of
from semibandit.policies.request import Request
from semibandit.store.event import Decision, Feedback, LabelChange
from semibandit.store.rebuild import learn_event
from semibandit.store.store import Store

SHOP = Shop(n=4, d=8, slots=2)
N = 2400
EPSILON = 0.6


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "log.jsonl"
    write_shop_log(path, SHOP, N, EPSILON, group=16)
    return path


@pytest.fixture(scope="module")
def trained():
    """A learner that has seen another log, and so differs from the one that was served."""
    learner = SHOP.learner(width=sb.Scaled(0.0))
    for _ in shop_events(SHOP, learner, 600, epsilon=0.5, seed=9):
        pass
    return learner


def truth(learner):
    X = SHOP.contexts(N)
    return SHOP.value(X, SHOP.numbers([s.labels for s in learner.rank_many(X, SHOP.slots)]))


def within(estimate, true, times=1.5):
    """Whether it is true to within so many half-widths of the interval, 3 standard errors."""
    return abs(estimate.value - true) < times * (estimate.high - estimate.low) / 2


def test_values_are_true_and_a_learner_is_not_changed(log, trained):
    before = bits(trained)
    found = compare(log, {"mine": trained, "uniform": "uniform", "logged": "logged"})
    assert bits(trained) == before
    chances = SHOP.chances(SHOP.contexts(N))
    true = {"mine": truth(trained), "uniform": float(chances.mean() * SHOP.slots)}
    for name, value in true.items():
        for estimator in ("IPS", "SNIPS", "snIIPS", "snRIPS", "IIPS-DR", "Cascade-DR"):
            assert within(found.evaluations[name].estimates[estimator], value), (name, estimator)
    logged = found.evaluations["logged"]
    assert logged.estimates["IPS"].value == pytest.approx(logged.logged.value, abs=1e-12)
    assert true["uniform"] < found.logged.value < true["mine"]
    assert found.headline("mine").name == "Cascade-DR"
    assert not found.empty
    alone = evaluate(log, trained)  # one pass for all is a pass for each
    mine = found.evaluations["mine"].estimates
    assert {k: e.value for k, e in alone.estimates.items()} == {k: e.value for k, e in mine.items()}


def naive_ips(log, learner, since=0.0):
    """The value by IPS, one event after the other: judged when decided, learned in groups."""
    targets, decisions, group, total, n = {}, {}, [], 0.0, 0
    rows = list(_rows(log))
    while rows:
        answers, size = 0, 0
        while size < len(rows) and answers < LEARN_EVERY and size < 4 * LEARN_EVERY:
            answers += rows[size].kind == "feedback"
            size += 1
        group, rows = [row.event() for row in rows[:size]], rows[size:]
        for event in group:
            if isinstance(event, Decision):
                decisions[event.id] = event
                shown = learner.rank(event.context, event.slots, draw=event.draw).labels
                targets[event.id] = shown == event.labels
        for event in group:
            if isinstance(event, Feedback):
                decision = decisions[event.id]
                if decision.at >= since:
                    weight = targets[event.id] / decision.slate_propensity
                    total, n = total + weight * len(event.clicked), n + 1
                learn_event(learner, event, decision, since=None)
    return total / n


def _rows(log):
    from semibandit.store.log_rows import open_rows

    with open_rows(log) as opened:
        yield from opened.rows


@pytest.mark.parametrize("words", ["width=scaled:0.1", "Greedy,a=1,scale=unit", "learner"])
def test_progressive_evaluation_is_its_naive_twin(log, words):
    learner = {
        "learner": lambda: SHOP.learner(),
        "width=scaled:0.1": lambda: SHOP.learner(width=sb.Scaled(0.1)),
        "Greedy,a=1,scale=unit": lambda: sb.Greedy(SHOP.d, SHOP.items, a=1.0, scale="unit"),
    }[words]()
    found = evaluate(log, words)
    assert found.policy == words
    assert found.estimates["IPS"].value == pytest.approx(naive_ips(log, learner), abs=1e-9)


def test_a_learner_that_learns_along_the_log_ends_as_if_it_had_replayed_it(log):
    visits = VisitLog(log, lessons=True, size=LEARN_EVERY)
    target = read_target("width=scaled:0.1", visits, None)
    for chunk in visits:
        target.learn(chunk)
    again = sb.replay_log(log, SHOP.learner(width=sb.Scaled(0.1))).learner
    one, other = snapshot_of(target.learner), snapshot_of(again)
    assert one.header == other.header
    for name, array in one.arrays.items():
        np.testing.assert_allclose(array, other.arrays[name], rtol=1e-9, atol=1e-12, err_msg=name)
    assert target.refused == 0


def test_learning_pays_and_is_off_for_learners(log, trained):
    new = SHOP.learner()
    frozen, learning = evaluate(log, new), evaluate(log, new, learning="log")
    assert new.t == 1
    assert frozen.estimates["snRIPS"].high < learning.estimates["snRIPS"].low
    spec = evaluate(log, sb.LearnerSpec(a=1.0))
    assert spec.estimates["snRIPS"].value == learning.estimates["snRIPS"].value
    assert "learned nothing" in evaluate(log, "learner", learning="none").notes[0]


def test_files_wrappers_and_most_clicked(log, trained, tmp_path):
    trained.save(tmp_path / "mine.npz")
    policies = {
        "file": tmp_path / "mine.npz",
        "object": trained,
        "mixed": Mixed(trained, 0.5),
        "most-clicked": "most-clicked",
        "words": "learner,randomise=mixed:1",
    }
    found = compare(log, policies)
    values = found.values("snRIPS")
    assert values["file"] == values["object"]
    uniform = evaluate(log, "uniform").estimates["snRIPS"]
    assert values["words"] == pytest.approx(uniform.value)
    half = (values["object"] + uniform.value) / 2
    assert within(found.evaluations["mixed"].estimates["snRIPS"], half)
    assert uniform.value < values["most-clicked"] < values["object"]


def test_visits_since_are_judged_by_who_learned_those_before_as_well(log):
    since = 1000.0 + N // 2
    late = evaluate(log, "learner", since=since)
    assert late.visits == N // 2
    true = naive_ips(log, SHOP.learner(), since)
    assert late.estimates["IPS"].value == pytest.approx(true, abs=1e-9)


def test_labels_that_come_and_go_reach_the_learner(tmp_path):
    some = list(shop_events(SHOP, SHOP.learner(), 400, epsilon=0.5, group=16))
    some[400:400] = [LabelChange(1.0, add=["item-new"]), LabelChange(1.0, retire=["item-0"])]
    shown = [e for e in some[402:] if not (isinstance(e, Decision) and "item-0" in e.labels)]
    ids = {e.id for e in shown if isinstance(e, Decision)} | {
        e.id for e in some[:400] if isinstance(e, Decision)
    }
    events = [*some[:402], *(e for e in shown if e.id in ids)]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(log_lines(events, SHOP.learner())))
    visits = VisitLog(path, lessons=True, size=LEARN_EVERY)
    target = read_target("learner", visits, None)
    slates = []
    for chunk in visits:
        slates += target.distributions(chunk.decided, chunk.decided_items)
        target.learn(chunk)
    assert "item-new" in target.learner.labels
    assert "item-0" not in target.learner.labels
    assert any("item-new" in one.slate for one in slates[250:])
    assert not any("item-0" in one.slate for one in slates[250:])
    assert compare(path, ["learner", "uniform"]).evaluations["learner"].visits > 300


def test_candidates_that_a_learner_does_not_have_are_not_shown_by_it(tmp_path, trained):
    some = [
        replace(e, candidates=[*SHOP.items, "else"], exclude=["nothing"]) if
        isinstance(e, Decision) else e
        for e in shop_events(SHOP, SHOP.learner(), 60, epsilon=0.5, group=16)
    ]  # fmt: skip
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(log_lines(some, SHOP.learner())))
    assert evaluate(path, trained).visits == 60


def test_contexts_with_names_are_encoded_by_the_learner_that_is_judged(tmp_path):
    features, n = sb.Features(hour="number", device="category:4"), 120
    policy = Mixed(sb.SlateUCB(features, SHOP.items, a=1.0), 0.9)
    events = []
    for i in range(n):
        context = {"hour": i % 24, "device": ["phone", "desktop", "tablet"][i % 3]}
        slate = policy.rank(context, 2, draw=i)
        request = Request(slate.given, 2, None, None, i)
        events += [
            replace(decision_of(request, slate, policy.words), named=context, new=slate.new),
            Feedback(f"visit-{i}", 0.0, slate.labels[:1]),
        ]
        policy.learn(slate, slate.labels[:1])
    path = tmp_path / "log.jsonl"
    first = sb.SlateUCB(features, SHOP.items, a=1.0)
    path.write_bytes(b"".join(log_lines(events, first)))
    visits = VisitLog(path, lessons=True, size=LEARN_EVERY)
    target = read_target("width=scaled:0.1", visits, None)
    for chunk in visits:
        assert len(target.distributions(chunk.decided, chunk.decided_items)) == len(chunk.decided)
        target.learn(chunk)
    assert (target.refused, target.learner.t) == (0, n + 1)
    assert target.learner.known_values() == policy.learner.known_values()
    with pytest.raises(InputError, match="the log's contexts have names"):
        evaluate(path, SHOP.learner())


def online(shop, seed, rounds, every):
    """The mean reward of a learner that plays, learning after every so many rounds."""
    learner, X = shop.learner(width=sb.Scaled(0.25)), shop.contexts(rounds, 1000 + seed)
    random, total = np.random.default_rng(seed), 0
    for first in range(0, rounds, every):
        some = X[first : first + every]
        slates = learner.rank_many(some, shop.slots)
        clicks = shop.clicks(some, shop.numbers([slate.labels for slate in slates]), random)
        total += clicks.sum()
        for slate, row in zip(slates, clicks, strict=True):
            hits = [label for label, yes in zip(slate.labels, row, strict=True) if yes]
            learner.learn(slate, hits)
    return total / rounds


def test_accepted_visits_are_what_a_learner_would_have_seen_online(tmp_path):
    shop, logs, n = Shop(n=4, d=3, slots=1, base=-1.0), 6, 900
    found, played, accepted = [], [], []
    for seed in range(logs):
        path = tmp_path / f"{seed}.jsonl"
        write_shop_log(path, shop, n, epsilon=1.0, seed=seed, learn=False, group=64)
        one = evaluate(path, "width=scaled:0.25", learning="accepted")
        assert set(one.estimates) == {"accepted"}
        found.append(one.estimates["accepted"].value)
        accepted.append(one.checks[0].value)
        played.append(online(shop, seed, int(accepted[-1]), LEARN_EVERY // shop.n))
    assert abs(np.mean(accepted) - n / 4) < 4 * np.sqrt(n * 3 / 16 / logs)
    error = np.sqrt((np.var(found) + np.var(played)) / logs)
    assert abs(np.mean(found) - np.mean(played)) < 3 * error
    uniform = shop.chances(shop.contexts(n)).mean()
    assert np.mean(found) > uniform + 10 * error  # it had something to learn


def test_a_learner_with_labels_that_the_log_does_not_have_is_refused(log):
    learner = sb.SlateUCB(SHOP.d, [*SHOP.items, "new"], a=1.0)
    for learning in ("none", "accepted"):
        found = evaluate(log, learner, learning=learning)
        coverage = {one.weights: one for one in found.checks if one.name == "coverage"}
        assert not any(one.passed for one in coverage.values())
        assert all(one.value is None for one in found.estimates.values())


def test_a_log_that_was_not_drawn_as_it_says_accepts_too_few_visits(tmp_path):
    """As that of a holdout whose one visitor does not belong to it."""
    some = []
    for event in shop_events(SHOP, SHOP.learner(), N, epsilon=0.0):
        if isinstance(event, Decision):
            mix = Mixture([(0.2, FixedSlate(event.labels)), (0.8, UniformSlates(4, 2))])
            likely = propensities_of(mix, event.labels)
            event = replace(
                event, distribution=mix.json(), slate_propensity=likely.slate,
                prefix_propensity=likely.prefix, item_propensity=likely.item, subject="all",
            )  # fmt: skip
        some.append(event)
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(log_lines(some, SHOP.learner())))
    found = evaluate(path, "width=scaled:2,seed=5", learning="accepted")
    assert found.estimates["accepted"].value is None
    assert "propensities are not those" in found.estimates["accepted"].refused


def test_too_few_accepted_visits_are_no_value(tmp_path, log):
    found = evaluate(log, "learner", learning="accepted", since=2200.0)  # each with 0.6/12
    assert found.estimates["accepted"].value is None
    assert "too few for a value" in found.estimates["accepted"].refused
    visits = VisitLog(log, lessons=True, size=LEARN_EVERY)
    assert least_propensity(visits) == pytest.approx(EPSILON / 12)
    write_shop_log(tmp_path / "greedy.jsonl", SHOP, 64, epsilon=0.0)
    with pytest.raises(InputError, match="every slate has a known least probability"):
        evaluate(tmp_path / "greedy.jsonl", "learner", learning="accepted")


@pytest.mark.parametrize(
    ("policy", "more", "error", "message"),
    [
        ("unifrom", {}, InputError, "did you mean 'uniform'"),
        ("wdith=scaled:1", {}, UnknownKeyword, "did you mean 'width'"),
        ("a=x", {}, InputError, "a = 'x', but it must be a number"),
        ("bias=maybe", {}, InputError, "true or false"),
        ("width=scaled", {"learning": "sometimes"}, InputError, "log, accepted, none"),
        ("uniform", {"confidence": 2}, InputError, "confidence"),
        ("uniform", {"reward": "money"}, InputError, "reward"),
        ("OBR", {}, InputError, "must be told every relevant label"),
        ("none.npz", {}, MissingFile, "none.npz"),
        (7, {}, InputError, "policy = 7"),
        (sb.SlateUCB(3, 2), {}, InputError, "takes 3 features, but the log's contexts have 8"),
    ],
)
def test_what_is_wrong_is_said(log, policy, more, error, message):
    with pytest.raises(error, match=message):
        evaluate(log, policy, **more)


def test_a_log_without_use_is_refused(tmp_path):
    Store.create(tmp_path / "s", SHOP.learner()).close()
    with pytest.raises(InputError, match="has no visit that can be evaluated"):
        evaluate(tmp_path / "s", "uniform")
    with pytest.raises(InputError, match="policies is empty"):
        compare(tmp_path / "s", {})


def test_words():
    assert read_changes("a=0.9, width=known:1,0.1 loss=logistic:2") == {
        "a": 0.9, "width": "known:1,0.1", "loss": "logistic:2"
    }  # fmt: skip
    assert read_changes("learner") == {}
    assert read_changes("Greedy at-least=2,forget=none") == {
        "learner": "Greedy", "at_least": 2, "forget": None
    }  # fmt: skip


def test_a_log_begun_by_a_learned_learner_is_noted(tmp_path, trained):
    assert snapshot_of(trained).header["t"] > 1
    write_shop_log(tmp_path / "log.jsonl", SHOP, 200, 0.5, learner=trained)
    assert "rounds elsewhere" in evaluate(tmp_path / "log.jsonl", "a=1").notes[-1]
