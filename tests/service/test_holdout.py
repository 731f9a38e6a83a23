"""A share of the visits that the learner does not decide: who, what they see, what is learned."""

import itertools
import json
import re
import time
from collections import Counter

import numpy as np
import pytest
from engines import change, give, rank, running
from learners import bits
from server import BUILD, LocalServer, Server, refused, until
from visits import shop

import semibandit as sb
from semibandit.errors import InputError
from semibandit.policies.distributions.read import read_distribution
from semibandit.service.engine import decisions
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.holdout import Holdout
from semibandit.service.engine.retention import Retention
from semibandit.service.engine.statistics import Statistics
from semibandit.service.http.app import create_app
from semibandit.service.http.watching_schema import State
from semibandit.service.settings import Settings
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

NAMES = [f"visitor-{i}" for i in range(20_000)]
FEATURES = sb.Features(hour="number", country="category")


def holdout(share, policy="uniform"):
    return Holdout(share, policy, False, Statistics())


def held_out(share):
    one = holdout(share)
    return {name for name in NAMES if one.contains(name)}


def visits(engine, n, first=0, click=lambda label, i: (hash_of(label) + i) % 3 == 0, **more):
    """So many visits with feedback; their decisions."""
    found = []
    for i in range(first, first + n):
        context = more.get("context", lambda i: [1.0, i % 7, i % 3, 0.5])(i)
        one = engine.ask(
            lambda answer, i=i, context=context: engine.pending_rank(
                context, more.get("slots", 2), None, None, f"v{i}", answer, f"s{i % 40}"
            )
        )
        give(engine, one.id, [label for label in one.labels if click(label, i)])
        found.append(one)
    until(lambda: engine.learning.backlog == 0)
    return found


def hash_of(label):
    return sum(map(ord, str(label)))


# -- who, and what they see -----------------------------------------------------------------------


def test_a_visitor_belongs_to_it_or_not_and_more_do_if_it_is_larger():
    few, more, most = held_out(0.02), held_out(0.05), held_out(0.5)
    assert few < more < most
    for share, found in ((0.02, few), (0.05, more), (0.5, most)):
        sd = np.sqrt(share * (1 - share) * len(NAMES))
        assert abs(len(found) - share * len(NAMES)) < 3.5 * sd


def test_it_goes_by_the_subject_and_without_one_by_the_id(tmp_path):
    one = holdout(0.3)
    with running(tmp_path, holdout=0.3) as engine:
        for i in range(30):
            found = rank(engine, id=f"v{i}")
            assert (found.holdout is not None) == one.contains(f"v{i}")
        for i in range(30, 60):
            subject = f"s{i % 5}"
            found = engine.ask(
                lambda answer, i=i, subject=subject: engine.pending_rank(
                    [1.0, 0.0, 0.0, 0.0], 2, None, None, f"v{i}", answer, subject
                )
            )
            assert (found.holdout is not None) == one.contains(subject)
        again = rank(engine, id="v3")
        assert again.labels == engine.store.decisions(["v3"])["v3"].labels


def test_uniform_slates_are_drawn_evenly_and_fill_all_slots(tmp_path):
    learner = sb.SlateUCB(4, list("abcdef"), a=0.2)  # it would rather show nothing
    with running(tmp_path, learner, holdout=0.99) as engine:
        shown = Counter()
        for i in range(600):
            found = rank(engine, slots=3, id=f"v{i}", candidates=list("abcde"), exclude=["b"])
            if found.holdout is not None:
                shown[tuple(found.labels)] += 1
        assert set(shown) == set(itertools.permutations("acde", 3))
        expected = sum(shown.values()) / 24
        assert sum((n - expected) ** 2 / expected for n in shown.values()) < 45  # 99.5% of chi²(23)
        assert rank(engine, slots=0, id="v600").labels == []
        assert len(rank(engine, slots=9, id="v601").labels) == 6
    with running(tmp_path / "again", learner, holdout=0.99) as other:  # the same draw
        found = [rank(one, slots=3, id="x").labels for one in (other, other)]
        assert found[0] == found[1]


def test_most_clicked_follows_clicks_and_changes_of_labels(tmp_path):
    with running(tmp_path, holdout=0.5, holdout_policy="most-clicked") as engine:
        for label, n in (("c", 3), ("e", 2)):
            for i in range(n):
                found = rank(engine, id=f"{label}{i}", candidates=[label], slots=1)
                give(engine, found.id, [label])
        member = next(f"x{i}" for i in range(99) if engine.holdout.contains(f"x{i}"))
        others = (f"y{i}" for i in range(99) if engine.holdout.contains(f"y{i}"))
        assert rank(engine, id=member, slots=4).labels == ["c", "e", "a", "b"]
        assert rank(engine, id=next(others), slots=2, exclude=["c"]).labels == ["e", "a"]
        change(engine, retire=["e", "a"])
        change(engine, add=["g"])
        found = rank(engine, id=next(others), slots=9)
        assert sorted(found.labels[1:]) == ["b", "d", "f", "g"]
        assert found.labels[0] == "c"
        for i in range(4):
            shown = rank(engine, id=f"g{i}", candidates=["g"])
            give(engine, shown.id, ["g"])
        assert rank(engine, id=next(others), slots=2).labels == ["g", "c"]
    with running(tmp_path, holdout=0.5, holdout_policy="most-clicked") as engine:
        assert rank(engine, id=next(others), slots=2).labels == ["g", "c"]


DRAWING = {
    "uniform": ("uniform", sb.SlateUCB(4, 4), None),
    "most-clicked": ("most-clicked", sb.SlateUCB(4, 4), None),
    "probes": ("uniform", sb.SlateUCB(4, 4, a=0.45, probe=0.5), None),
    "EpsilonGreedy": ("most-clicked", sb.EpsilonGreedy(4, 4, epsilon=0.3, a=0.5), None),
    "Banditron": ("uniform", sb.Banditron(4, 4, gamma=0.3), None),
    "mixed": ("most-clicked", sb.SlateUCB(4, 4), "mixed:0.2"),
    "Plackett-Luce": ("uniform", sb.SlateUCB(4, 4), "plackett-luce:0.5"),
}


@pytest.mark.parametrize(("policy", "learner", "randomise"), DRAWING.values(), ids=DRAWING)
def test_every_visit_says_how_likely_each_slate_was(tmp_path, policy, learner, randomise):
    settings = {"holdout": 0.25, "holdout_policy": policy, "randomise": randomise}
    with running(tmp_path, learner, **settings) as engine:
        members = 0
        for i in range(40):
            slots, exclude = 1 if learner.one_slot else 2, [1] if i % 2 else None
            drawing, draw = engine.settings.policy(engine.learner), engine.store.last + 1
            own = drawing.rank([1.0, 2.0, 3.0, 4.0], slots, exclude=exclude, draw=draw)
            one = rank(engine, id=f"v{i}", slots=slots, exclude=exclude)
            give(engine, one.id, one.labels[:1])
            until(lambda: engine.learning.backlog == 0)
            logged = engine.store.decisions([one.id])[one.id]
            found = read_distribution(logged.distribution)
            labels = [0, 2, 3] if i % 2 else [0, 1, 2, 3]
            slates = [list(s) for n in range(3) for s in itertools.permutations(labels, n)]
            assert sum(map(found.slate_propensity, slates)) == pytest.approx(1.0)
            assert logged.slate_propensity == pytest.approx(found.slate_propensity(one.labels))
            assert logged.prefix_propensity == pytest.approx(found.prefix_propensity(one.labels))
            assert logged.slate_propensity > 0
            assert (logged.comparison, logged.policy) == (f"{policy}:0.25", randomise)
            assert (logged.holdout is None) == logged.learns
            if logged.holdout is None:
                assert (one.labels, one.probe) == (own.labels, own.probe)
            else:
                assert (logged.holdout, logged.probe, len(one.labels)) == (policy, None, slots)
                members += 1
        assert 3 < members < 20


def test_a_dry_run_is_the_learners_and_ranking_while_following_is_not(tmp_path):
    with running(tmp_path, holdout=0.9) as leader:
        visits(leader, 20)
        for i in range(20):
            pending = leader.pending_rank([1.0, i, 3.0, 4.0], 2, None, None, f"x{i}", None)
            found = leader.dry_run(pending)
            assert (found.holdout, found.comparison) == (None, None)
            own = leader.learner.rank([1.0, i, 3.0, 4.0], 2, draw=leader.store.last + 1)
            assert found.labels == own.labels
        settings = Settings(follow=True, follow_rank=True, holdout=0.9)
        standby = Engine(Store(tmp_path, lock=False), settings)
        standby.start()
        until(lambda: standby.learning.position == leader.learning.position)
        found = [rank(standby).decision for _ in range(30)]
        assert sum(one.holdout is not None for one in found) > 15
        visits(leader, 20, first=20)
        until(lambda: standby.learning.position == leader.learning.position)
        assert bits(standby.learner) == bits(leader.learner)
        standby.stop()


def test_labels_that_come_while_it_decides_are_in_all_probabilities_or_in_none(
    tmp_path, monkeypatch
):
    ranked, original = [], decisions._rank

    def rank_and_add(*given, **more):
        """Another thread adds a label after the learner has ranked, before the holdout has."""
        found = original(*given, **more)
        ranked.append(len(found))
        if len(ranked) == 1:
            engine.learner.add_labels(["g"])
        return found

    monkeypatch.setattr(decisions, "_rank", rank_and_add)
    with running(tmp_path, holdout=0.5, randomise="mixed:0.2") as engine:
        found = rank(engine, id="v1").distribution
        numbers = re.findall(r"'uniform': \[(\d+), 2\]", str(found))
    assert (ranked, numbers) == ([1, 1], ["7", "7"])


# -- what is learned ------------------------------------------------------------------------------


def named(i):
    return {"hour": i % 24, "country": f"c{i % 9}"}


LEARNERS = {
    "SlateUCB": (lambda: sb.SlateUCB(4, 6), {}),
    "Thompson": (lambda: sb.Thompson(4, 6, seed=3), {}),
    "Banditron": (lambda: sb.Banditron(4, 6, gamma=0.3), {"slots": 1}),
    "names": (lambda: sb.SlateUCB(FEATURES, 6, probe=0.2, a=0.6), {"context": named}),
}


def never_saw(learner, where, store):
    """The learner of a log without the visits of the holdout."""
    with Store.create(where, learner) as other:
        events = [event for _, event in store.events()]
        held_out = {one.id for one in events if getattr(one, "holdout", None) is not None}
        other.append([one for one in events if one.id not in held_out])
        return rebuild(other)[0]


@pytest.mark.parametrize(("make", "more"), LEARNERS.values(), ids=LEARNERS)
def test_feedback_to_the_holdout_is_not_learned_to_the_bit(tmp_path, make, more):
    with running(tmp_path, make(), holdout=0.3, snapshot_every=20) as engine:
        found = visits(engine, 90, **more)
        n = sum(one.holdout is not None for one in found)
        assert 10 < n < 60
        assert engine.learner.t == 1 + 90 - n
        assert engine.learning.passed_over == 0
        assert engine.statistics.totals()["feedback"] == 90
        live = bits(engine.learner)
    # What counts is what the decision says, not what is set now.
    with running(tmp_path, make(), holdout=0.3, learn_holdout=True) as engine:
        assert bits(engine.learner) == live
    with Store(tmp_path) as store:
        assert bits(rebuild(store)[0]) == bits(rebuild(store, 0)[0]) == live
        assert bits(never_saw(make(), tmp_path / "other", store)) == live
    replayed = sb.replay_log(tmp_path)
    assert (bits(replayed.learner), replayed.held_out) == (live, n)
    other = sb.replay_log(tmp_path, make())
    assert (other.learner.t, other.events, other.held_out) == (91 - n, 90 - n, n)


def test_it_is_learned_if_that_is_asked_for(tmp_path):
    make, more = LEARNERS["Banditron"]
    with running(tmp_path, make(), holdout=0.5, learn_holdout=True) as engine:
        found = visits(engine, 60, **more)
        members = [one for one in found if one.holdout is not None]
        assert len(members) > 15
        assert all(one.learns and one.propensity == pytest.approx(1 / 6) for one in members)
        assert (engine.learner.t, engine.learning.passed_over) == (61, 0)
        live = bits(engine.learner)
    with running(tmp_path, make(), holdout=0.5) as engine:
        assert bits(engine.learner) == live


# -- a real service -------------------------------------------------------------------------------


def uplift(server):
    found = server.get("/v1/state").json()["uplift"]
    for name in ("visits_with_a_click", "clicks_per_visit"):
        del found[name]["seconds_to_go"]  # the pace changes with the time
    return found


def close(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return all(map(close, one, other))
    return one == (pytest.approx(other, rel=1e-9) if isinstance(other, float) else other)


def test_totals_and_intervals_stay_whatever_becomes_of_the_log(tmp_path):
    env = {"SEMIBANDIT_HOLDOUT": "0.2"}
    with Server(tmp_path, *BUILD, env=env) as server:
        for first in range(0, 1000, 200):
            shop(server, first, 200)
        before = uplift(server)
        learner, other = before["learner"], before["holdout"]
        assert (before["share"], before["policy"], before["learned"]) == (0.2, "uniform", False)
        assert learner["visits"] + other["visits"] == 1000
        assert 150 < other["visits"] < 250
        assert (learner["shown"], other["shown"]) == (2 * learner["visits"], 2 * other["visits"])
        assert before["visits_with_a_click"]["can_tell"]
        low, high = before["visits_with_a_click"]["relative_interval"]
        assert 0 < low < before["visits_with_a_click"]["relative"] < high
        erased = server.http.delete("/v1/events", params={"subject": "s17"})
        assert erased.json()["events"] == 2
        assert close(uplift(server), before)
        metrics = server.get("/metrics").text
        for arm, counts in (("learner", learner), ("holdout", other)):
            for name in ("visits", "clicked_visits", "clicks"):
                line = f'semibandit_holdout_{name}_total{{arm="{arm}"}} {counts[name]}.0'
                assert line in metrics
        gauges = {
            line.split()[0]: float(line.split()[1])
            for line in metrics.splitlines()
            if line.startswith(("semibandit_uplift", "semibandit_holdout_share"))
        }
        gained = before["visits_with_a_click"]
        assert gauges == pytest.approx(
            {
                "semibandit_holdout_share": 0.2,
                "semibandit_uplift": gained["difference"],
                "semibandit_uplift_low": gained["difference_interval"][0],
                "semibandit_uplift_high": gained["difference_interval"][1],
            }
        )
        state = State.model_validate_json(server.get("/v1/state").content, strict=True)
        assert state.uplift is not None
        assert time.time() - 600 < state.uplift.since < time.time()
        assert {one.holdout for one in state.latest} <= {None, "uniform"}
        server.kill()
    with running(tmp_path, keep=1000.0) as engine:  # all that is old leaves the log
        engine.learning.snapshot().result()
        retention = Retention(
            engine.store, engine.settings, engine.learning, engine.statistics, engine.clock
        )
        with engine.store.beside() as store:
            retention.remove(store, time.time() + 5000)
            assert store.count("decision") < 10
    config = tmp_path / "service.toml"
    config.write_text('[serve]\nholdout = 0.2\nholdout-policy = "uniform"\n')
    with Server(tmp_path, "--config", config) as server:
        assert close(uplift(server), before)
        shop(server, 1000, 100)
        after = uplift(server)
        assert after["learner"]["visits"] + after["holdout"]["visits"] == 1100
        server.stop()
    with running(tmp_path, holdout=0.3) as engine:  # another share is another comparison
        assert engine.holdout.uplift(time.time())["learner"]["visits"] == 0


def test_there_is_no_uplift_without_a_holdout(server):
    assert server.get("/v1/state").json()["uplift"] is None
    assert "semibandit_holdout" not in server.get("/metrics").text


def test_visits_of_a_time_without_holdout_are_not_compared(tmp_path):
    with running(tmp_path) as engine:
        visits(engine, 20)
    with running(tmp_path, holdout=0.3) as engine:
        visits(engine, 30, first=20)
        found = engine.statistics.compared("uniform:0.3")
        assert found["learner"]["visits"] + found["holdout"]["visits"] == 30
        live = json.dumps(engine.statistics.dump()["comparisons"])
    with Store(tmp_path) as store:
        counted = Statistics()
        counted.catch_up(store)
        assert json.dumps(counted.dump()["comparisons"]) == live
        old = {**counted.dump()}
        del old["comparisons"]  # as in older stores
        assert Statistics.restore(old).compared("uniform:0.3")["learner"]["visits"] == 0


def test_nobody_answers_counts_as_nothing_clicked(tmp_path):
    with running(tmp_path, holdout=0.5, wait=0.05) as engine:
        for i in range(20):
            rank(engine, id=f"v{i}")
        until(lambda: engine.statistics.totals()["waited"] == 20)
        found = engine.statistics.compared("uniform:0.5")
        assert found["learner"]["visits"] + found["holdout"]["visits"] == 20
        assert found["learner"]["clicked_visits"] == found["holdout"]["clicked_visits"] == 0


def test_a_learner_that_is_worse_than_chance_is_a_problem(tmp_path):
    engine = running(tmp_path, holdout=0.5).engine
    with LocalServer(create_app(engine)) as server:
        for first in (0, 200, 400):
            shop(server, first, 200, lambda i, label: engine.holdout.contains(f"s{i}"))
        (problem,) = server.get("/v1/state").json()["problems"]
    assert re.match(r"Visits that it decides have at least \d+% fewer clicks", problem["what"])


def test_wrong_settings_are_refused(tmp_path):
    for share in (1.0, 1.5, -0.1, float("nan")):
        with pytest.raises(InputError, match=r"holdout = .* a share of the visitors"):
            Settings(holdout=share)
    with pytest.raises(InputError, match="holdout_policy = 'x', expected one of uniform, most-cl"):
        Settings(holdout=0.1, holdout_policy="x")
    with pytest.raises(InputError, match="learn_holdout without a holdout"):
        Settings(learn_holdout=True)
    assert "holdout = 1.5" in refused(tmp_path / "s", *BUILD, "--holdout", 1.5)
    assert "holdout_policy = 'x'" in refused(
        tmp_path / "s", *BUILD, env={"SEMIBANDIT_HOLDOUT_POLICY": "x"}
    )
