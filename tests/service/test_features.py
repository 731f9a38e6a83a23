"""Named features over real HTTP: the learner's own slates, also after a crash and an export."""

from concurrent.futures import Future

import numpy as np
import pytest
from engines import give, learned, rank, running, status
from learners import bits
from server import Server, lines

import semibandit as sb
from semibandit.errors import Conflict, InputError
from semibandit.evaluation.replay_log import replay_log
from semibandit.evaluation.simulate import simulate, world_for
from semibandit.store.export import write_log
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

WORDS = "hour,device:category:3,plan:free|pro,tags:set:6"
KINDS = [pytest.param(WORDS, id="features"), pytest.param("hashed:32", id="hashed")]


def visit(t):
    random = np.random.default_rng([3, t])
    given = {
        "hour": int(random.integers(0, 24)),
        "device": ["phone", "tablet", "desktop"][int(random.integers(3))],
        "plan": ["free", "pro"][int(random.integers(2))],
        "tags": [f"tag{i}" for i in range(5) if random.random() < 0.4],
    }
    return {name: value for name, value in given.items() if random.random() < 0.8}


def features(words):
    return sb.Features.parse(words) if words == WORDS else sb.Hashed(32)


@pytest.mark.parametrize("words", KINDS)
def test_the_slate_is_the_learners_also_after_a_crash(tmp_path, words):
    learner = sb.SlateUCB(features(words), 6, a=1.0)
    server = Server(tmp_path / "s", "--features", words, "--labels", 6)
    for t in range(24):
        if t == 12:
            server.kill()
            server = Server(tmp_path / "s", "--features", words)
        found = server.post("/rank", {"context": visit(t), "slots": 3}).json()
        mine = learner.rank(visit(t), 3, draw=2 * t + 1)  # its place in the log
        assert [one["label"] for one in found["slate"]] == mine.labels
        np.testing.assert_allclose([one["prob"] for one in found["slate"]], mine.prob)
        clicked = [label for label in mine.labels if (label + t) % 3 == 0]
        assert server.feedback(found["id"], clicked).status_code == 200
        learner.learn(mine, clicked)
        server.until(lambda state: state["backlog"] == 0)
    server.stop()
    with Store(tmp_path / "s") as store:
        again, _ = rebuild(store, 0)
        write_log(store, tmp_path / "log.jsonl")
        write_log(store, tmp_path / "log.parquet")
        assert bits(again) == bits(rebuild(store)[0])
    np.testing.assert_allclose(again.scores(visit(99)).margin, learner.scores(visit(99)).margin)
    for name in ("log.jsonl", "log.parquet"):
        assert bits(replay_log(tmp_path / name).learner) == bits(again)
    assert "NaN" not in (tmp_path / "log.jsonl").read_text()
    asked = [one["body"].get("named") for one in lines(tmp_path / "log.jsonl")[1:]]
    assert [one for one in asked if one is not None] == [visit(t) for t in range(24)]


def test_another_learner_encodes_the_log_anew(tmp_path):
    with running(tmp_path / "s", sb.SlateUCB(features(WORDS), 6)) as engine:
        for t in range(8):
            decision = rank_named(engine, visit(t))
            give(engine, decision.id, decision.labels[:1])
        learned(engine, 8)
    other = sb.SlateUCB(sb.Features.parse(WORDS.replace(":3", ":5")), 6)
    found = replay_log(tmp_path / "s", other)
    assert (found.events, found.passed_over) == (8, 0)
    with pytest.raises(InputError, match="nan"):  # it knows nothing of unknown features
        replay_log(tmp_path / "s", sb.SlateUCB(other.n_features - 2, 6))


def rank_named(engine, context, id=None, slots=2):
    return engine.ask(lambda answer: engine.pending_rank(context, slots, None, None, id, answer))


def test_the_same_request_is_known_again_though_it_would_be_encoded_otherwise(tmp_path):
    learner = sb.SlateUCB(sb.Features.parse("hour,device:category:2,tags:set"), 4)
    with running(tmp_path, learner) as engine:
        context = {"hour": 9.0, "device": "phone", "tags": ["new", "sale"]}
        first = rank_named(engine, context, "visit")
        for device in ("tablet", "desktop"):  # which take all columns that there are
            other = rank_named(engine, {"device": device})
            before = engine.learning.learned
            give(engine, other.id, [])
            learned(engine, before + 1)
        same = {"tags": ["sale", "new", "new"], "device": "phone", "hour": 9}
        for _ in range(2):
            again = rank_named(engine, same, "visit")
            assert (again.labels, again.prob) == (first.labels, first.prob)
            engine.writer.recent.forget()  # then from the log
        for change in ({"hour": 8}, {"device": "tablet"}, {"tags": ["new"]}, {"tags": None}):
            with pytest.raises(Conflict, match="given to another request"):
                rank_named(engine, {**same, **change}, "visit")
        with pytest.raises(InputError, match="2 distinct values already"):
            rank_named(engine, context, "another")


def test_a_value_without_a_column_does_not_spoil_the_others(tmp_path):
    with running(tmp_path, sb.SlateUCB(sb.Features.parse("device:category:2"), 4)) as engine:
        for device in ("phone", "tablet"):
            give(engine, rank_named(engine, {"device": device}).id, [])
        learned(engine, 2)
        with engine.queue.condition:  # one group
            futures = [Future() for _ in range(3)]
            for future, device in zip(futures, ("phone", "desktop", "tablet"), strict=True):
                engine.submit(
                    [engine.pending_rank({"device": device}, 2, None, None, None, future)]
                )
        assert futures[0].result().named == {"device": "phone"}
        assert futures[2].result().named == {"device": "tablet"}
        with pytest.raises(InputError, match="feature 'device' = 'desktop', but it has 2 distinct"):
            futures[1].result()


WRONG = [
    ({"hour": "noon"}, "feature 'hour' = 'noon', but it must be a finite number"),
    ({"hours": 3}, "'hours', which is not a feature; did you mean 'hour'? (the features are hour"),
    ({"plan": "gold"}, "feature 'plan' = 'gold', expected one of free, pro"),
    ({"device": 1.5}, "feature 'device' = 1.5, but it must be a string"),
    ({"device": ["a"]}, "feature 'device' = ['a'], but it must be a string"),
    ({"tags": "new"}, "feature 'tags' = 'new', but it must be a list"),
    ({"tags": list("abcdefg")}, "feature 'tags' has"),
    ({"device": "x" * 201}, "context.device = "),
    ({"tags": ["x"] * 1001}, "context.tags = "),
    ({"tags": [{"a": 1}]}, "context.tags = [{'a': 1}]: expected a finite number, a string"),
    ({"hour": {"at": 7}}, "context.hour = {'at': 7}: expected a finite number, a string"),
    ({"hour": 1e101}, "feature 'hour' is 1e+101, but it must be a number of at most 1e+100"),
    ([1.0, 2.0], "context has 2 numbers, but this model's features have names"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("features") / "s", "--features", WORDS, "--labels", 4) as s:
        yield s


@pytest.mark.parametrize(("context", "reason"), WRONG)
def test_bad_input_is_told_and_changes_nothing(server, context, reason):
    before = server.state()["position"]
    answer = server.post("/rank", {"context": context})
    assert answer.status_code == 422
    assert reason in answer.json()["detail"]
    batch = server.post("/rank/batch", {"requests": [{"context": context}]})
    assert batch.status_code == 422 or batch.json()["results"][0]["status"] == 422
    assert server.state()["position"] == before


def test_the_client_takes_values_of_every_kind(server):
    with sb.Client(server.url) as client:
        given = {
            "hour": np.float32(7.5), "device": np.str_("phone"), "plan": None,
            "tags": {"sale", "new"},
        }  # fmt: skip
        slate = client.rank(given, 3, id="from-a-client")
        assert client.rank(dict(reversed(given.items())), 3, id="from-a-client").id == slate.id
        assert slate.probe is None
        client.learn(slate, slate.labels[:1])
        for value in (True, np.bool_(False), 3, np.int64(3)):
            assert client.rank({"hour": value}, 2).labels
        assert client.rank({"tags": ()}, 2).labels
        assert client.rank({"tags": np.array(["new"])}, 2).labels
        with pytest.raises(InputError, match="feature 'plan' = 'gold', expected one of free, pro"):
            client.rank({"plan": "gold"})
        with pytest.raises(InputError, match="feature 'hour' = nan"):
            client.rank({"hour": float("nan")})
        with pytest.raises(InputError, match="the service has the category 'device'"):
            simulate(client, sb.Synthetic(12, 4), 5)
        with pytest.raises(InputError, match="a world's features are numbers"):
            world_for(client)


def test_the_client_says_which_label_is_a_probe(tmp_path):
    words = ("--features", "hour", "--labels", 5, "--a", 0.5, "--probe", 1, "--width", "scaled:0")
    with Server(tmp_path / "s", *words) as server, sb.Client(server.url) as client:
        for _ in range(12):  # nothing is ever clicked: only probes are left
            slate = client.rank({"hour": 7}, 3)
            client.learn(slate, [])
            server.until(lambda state: state["backlog"] == 0)
        assert slate.labels == [slate.probe]


def test_the_state_lists_the_features(tmp_path):
    with Server(tmp_path / "s", "--features", WORDS, "--labels", 4) as server:
        shown = server.post("/rank", {"context": {"device": "phone", "tags": ["b", "a"]}}).json()
        server.feedback(shown["id"], [])
        server.until(lambda state: state["backlog"] == 0)
        state = server.state()
    assert state["features"] == [
        {"name": "hour", "kind": "number", "values": None, "limit": None, "open": False},
        {"name": "device", "kind": "category", "values": ["phone"], "limit": 3, "open": True},
        {"name": "plan", "kind": "category", "values": ["free", "pro"], "limit": 2, "open": False},
        {"name": "tags", "kind": "set", "values": ["a", "b"], "limit": 6, "open": True},
    ]
    assert state["feature_names"] == ["hour", "device", "plan", "tags"]
    assert state["n_features"] == 12


def test_features_are_fixed_when_the_store_is_made(tmp_path):
    (tmp_path / "features").write_text("hour\n\ndevice:category:3\nplan:free|pro\ntags:set:6\n")
    with Server(tmp_path / "s", "--features", f"@{tmp_path / 'features'}", "--labels", 4) as server:
        assert len(server.state()["features"]) == 4
    with Server(tmp_path / "s", "--features", WORDS) as server:
        assert server.post("/rank", {"context": {"plan": "pro"}}).status_code == 200
    other = Server(tmp_path / "s", "--features", "hour,device:category:4,plan:free|pro,tags:set:6")
    assert other.url is None
    assert "this store was made with features = 'hour,device:category:3" in "".join(other.errors)
    other._finish()


def test_a_saved_learner_with_features_is_served(tmp_path):
    sb.SlateUCB(features(WORDS), ["a", "b"]).save(tmp_path / "one.npz")
    with Server(tmp_path / "s", "--start-from", tmp_path / "one.npz") as server:
        assert server.post("/rank", {"context": {"device": "phone"}}).status_code == 200
    with Server(
        tmp_path / "s", "--start-from", tmp_path / "one.npz", "--features", WORDS
    ) as server:
        assert server.state()["feature_names"] == ["hour", "device", "plan", "tags"]


def test_names_of_a_store_from_before_leave_out_zeros(tmp_path):
    """Features could only be numbers then: those left out of a context are 0."""
    about = {"features": ["hour", "weekend"], "labels": ["a", "b"]}
    learner = sb.SlateUCB(2, ["a", "b"], scale="unit")
    Store.create(tmp_path / "s", learner, {**about, "feature_names": about["features"]}).close()
    with running(tmp_path / "s") as engine:
        assert rank_named(engine, {"hour": 3}).context.tolist() == [3.0, 0.0]
        assert rank_named(engine, {"hour": None, "weekend": True}).context.tolist() == [0.0, 1.0]
        assert rank(engine, [3.0, 4.0]).named is None
        assert engine.features[1]["kind"] == "number"
        for wrong in ({"hours": 1}, {"hour": "noon"}):
            assert status(lambda wrong=wrong: rank_named(engine, wrong)) == 422
    with Server(tmp_path / "s", "--features", "hour,weekend") as server:
        assert server.post("/rank", {"context": {"weekend": 1}}).status_code == 200
