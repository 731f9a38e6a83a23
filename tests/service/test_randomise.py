"""A service that draws slates at random: the log says how likely each was."""

import numpy as np
import pytest
from engines import LABELS, D, as_if_killed, change, give, rank, running, status
from learners import bits
from server import LocalServer, Server, until

import semibandit as sb
from semibandit.errors import InputError
from semibandit.policies.distributions.read import read_distribution
from semibandit.policies.randomised import randomised
from semibandit.service.engine.engine import Engine
from semibandit.service.http.app import create_app
from semibandit.service.settings import Settings
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

POLICIES = ["mixed:0.3", "plackett-luce:0.2"]


def bandit():
    return sb.SlateUCB(D, LABELS, a=0.4, probe=0.5)


def visits(engine, n, first=0):
    random = np.random.default_rng(first)
    decisions = []
    for i in range(first, first + n):
        decisions.append(rank(engine, random.standard_normal(D), 4, id=f"v{i}"))
        give(engine, f"v{i}", [one for one in decisions[-1].labels if random.random() < 0.4])
    until(lambda: engine.learning.backlog == 0)
    return decisions


def events(store):
    return [one for _, one in store.events() if hasattr(one, "labels")]


def fields(decision):
    return {k: v for k, v in vars(decision).items() if k not in ("context", "seen")}


@pytest.mark.parametrize("words", POLICIES)
def test_a_decision_says_how_likely_it_was_and_the_learner_is_rebuilt(tmp_path, words):
    with running(tmp_path, bandit(), randomise=words, snapshot_every=10) as engine:
        decisions = visits(engine, 60)
        change(engine, add=["g"])
        change(engine, retire=["a"])
        decisions += visits(engine, 20, 60)
        as_if_killed(engine)
        live = bits(engine.learner)
    assert len({tuple(one.labels) for one in decisions}) > 20
    assert any(one.probe is not None for one in decisions)
    with Store(tmp_path) as store:
        assert bits(rebuild(store)[0]) == bits(rebuild(store, 0)[0]) == live
        logged = events(store)
    for decision, again in zip(decisions, logged, strict=True):
        assert fields(decision) == fields(again)
        assert decision.policy == words
        drawn = read_distribution(again.distribution)
        assert again.slate_propensity == drawn.slate_propensity(again.labels) > 0
        assert again.prefix_propensity == drawn.prefix_propensity(again.labels).tolist()
        if words.startswith("mixed"):
            assert again.item_propensity == drawn.item_propensity(again.labels).tolist()
        else:
            assert again.item_propensity is None


@pytest.mark.parametrize("words", POLICIES)
def test_it_is_what_the_library_draws(tmp_path, words):
    """The same state, context and draw give the same slate and probabilities."""
    policy, random = randomised(words)(bandit()), np.random.default_rng(3)
    with running(tmp_path, bandit(), randomise=words) as engine:
        for i in range(30):
            x = random.standard_normal(D)
            decision = rank(engine, x, 4, exclude=["f"] if i % 3 else None)
            slate = policy.rank(x, 4, exclude=["f"] if i % 3 else None, draw=decision.draw)
            assert decision.labels == slate.labels
            assert decision.probe == slate.probe
            assert decision.slate_propensity == pytest.approx(slate.slate_propensity, rel=1e-12)


def test_the_same_id_a_dry_run_and_another_policy_at_the_next_start(tmp_path):
    with running(tmp_path, bandit(), randomise="mixed:0.5") as engine:
        first = visits(engine, 20)[7]
        again = rank(engine, first.context, 4, id="v7")
        assert fields(again) == fields(first)
        tried = engine.dry_run(engine.pending_rank([1, 2, 3, 4], 4, None, None, None, None))
        assert tried.policy == "mixed:0.5"
        assert tried.slate_propensity > 0
        assert engine.store.last == 40
        live = bits(engine.learner)
    with running(tmp_path) as engine:
        assert bits(engine.learner) == live
        plain = rank(engine, id="plain")
        assert (plain.policy, plain.distribution, plain.slate_propensity) == (None, None, None)
        again = rank(engine, first.context, 4, id="v7")
        assert fields(again) == fields(first)
    with running(tmp_path, randomise="plackett-luce:0.1") as engine:
        assert rank(engine, id="other").policy == "plackett-luce:0.1"


def test_while_following_slates_are_drawn_too(tmp_path):
    with running(tmp_path, bandit()) as leader:
        settings = Settings(follow=True, follow_rank=True, randomise="mixed:0.5")
        standby = Engine(Store(tmp_path, lock=False), settings)
        standby.start()
        until(lambda: standby.following)
        found = [rank(standby, slots=6).decision for _ in range(20)]
        assert all(one.policy == "mixed:0.5" and one.slate_propensity > 0 for one in found)
        assert leader.store.last == 0
    standby.stop()


def test_a_learner_that_needs_its_own_draws_is_refused(tmp_path):
    banditron = sb.Banditron(D, LABELS)
    with Store.create(tmp_path / "b", banditron) as store, pytest.raises(InputError, match="draws"):
        Engine(store, Settings(randomise="mixed:0.1"))
    for words in ("mix:0.1", "mixed:2", "plackett-luce:0"):
        with pytest.raises(InputError, match=r"randomise|epsilon|temperature"):
            Settings(randomise=words)
    banditron.save(tmp_path / "banditron.npz")
    content = (tmp_path / "banditron.npz").read_bytes()
    with running(tmp_path / "s", bandit(), randomise="mixed:0.1") as engine:
        told = engine.replace_learner(content, None)
        assert status(told.result) == 422
        assert rank(engine).policy == "mixed:0.1"
        assert engine.healthy


def test_a_standby_whose_leader_takes_such_a_learner_says_so(tmp_path):
    banditron = sb.Banditron(D, LABELS)
    banditron.save(tmp_path / "banditron.npz")
    content = (tmp_path / "banditron.npz").read_bytes()
    with running(tmp_path / "s", bandit()) as leader:
        settings = Settings(follow=True, follow_rank=True, randomise="mixed:0.5")
        standby = Engine(Store(tmp_path / "s", lock=False), settings)
        with LocalServer(create_app(standby)) as server:
            leader.replace_learner(content, 0).result()
            until(lambda: isinstance(standby.learner, sb.Banditron))
            answer = server.rank(slots=1)
            tried = server.post("/v1/rank?dry_run=true", {"context": [1, 0, 0, 0], "slots": 1})
            assert answer.status_code == tried.status_code == 503
            assert "Restart without --randomise" in answer.json()["detail"]
            assert "Restart without" in server.state()["problems"][0]["do"]
            assert server.get("/readyz").status_code == 503


def test_a_wrong_request_does_not_hold_up_the_others(tmp_path):
    with running(tmp_path, bandit(), randomise="mixed:0.1") as engine:
        assert status(lambda: rank(engine, candidates=["moon"])) == 422
        assert rank(engine, candidates=["a", "b"]).slate_propensity > 0


def test_over_http_and_by_the_client(tmp_path):
    config = tmp_path / "service.toml"
    config.write_text('[serve]\nfeatures = 4\nlabels = "a,b,c,d"\nrandomise = "mixed:0.1"\n')
    env = {"SEMIBANDIT_RANDOMISE": "mixed:0.4"}
    with Server(tmp_path / "s", "--config", config, env=env) as server:
        assert server.state()["policy"] == "mixed:0.4"
        with sb.Client(server.url) as client:
            slates = client.rank_many(np.eye(4), 2)
            slates += [client.rank([1, 2, 3, i], 2, dry_run=i % 2 == 0) for i in range(8)]
        drawn = {round(slate.slate_propensity, 9) for slate in slates}
        assert drawn <= {round(0.6 + 0.4 / 12, 9), round(0.4 / 12, 9)}
        assert server.rank(slots=2).json()["propensity"] > 0


def test_without_it_nothing_is_said(tmp_path):
    engine = Engine(Store.create(tmp_path, bandit()))
    with LocalServer(create_app(engine)) as server:
        assert server.state()["policy"] is None
        assert "propensity" not in server.rank(slots=2).json()
        with sb.Client(str(server.http.base_url)) as client:
            assert client.rank([1, 2, 3, 4], 2).slate_propensity is None
