"""`semibandit serve`, as a user starts, stops and mistypes it."""

import signal
import socket

import pytest
from server import BUILD, Server, refused

import semibandit as sb
from semibandit.errors import InputError
from semibandit.policies.persistence import config_of
from semibandit.service.config import StoreConfig
from semibandit.store.store import Store


def test_it_goes_on_where_it_stopped(where):
    with Server(where, *BUILD, env={}) as server:
        shown = server.rank(id="first", slots=2).json()
        server.feedback("first", [shown["slate"][0]["label"]])
        server.until(lambda state: state["backlog"] == 0)
        assert server.stop() == 0
        assert "".join(server.errors) == ""
    with Server(where, env={}) as server:  # the shape is the store's
        assert server.state()["version"] == 2
        assert server.rank(id="first", slots=2).json() == shown
        assert server.feedback("first", []).status_code == 409
        server.kill()
    with Server(where, *BUILD, env={}) as server:  # the same command again
        assert server.state()["version"] == 2
        assert server.stop(signal.SIGINT) == 0


def test_a_store_of_another_shape_is_refused_with_the_reason(tmp_path):
    store = tmp_path / "s"
    Server(store, *BUILD, "--width", "scaled:0.3").stop()
    for arguments, reason in (
        (["--features", 5], "this store was made with features = 4, not 5"),
        (["--features", "p,q,r,s"], "made with features = 4, not 'p,q,r,s'"),
        (["--labels", 7], "made with labels = ['a', 'b', 'c', 'd', 'e', 'f'], not 7"),
        (["--width", "scaled:0.5"], "made with width = 'scaled:0.3', not 'scaled:0.5'"),
        (["--loss", "logistic:2"], "made with loss = 'square', not 'logistic:2'"),
        (["--learner", "Thompson"], "made with learner = 'SlateUCB', not 'Thompson'"),
        (
            ["--no-bias"],
            "not False: leave it out, or take another store. To change it, learn the "
            "log anew, “semibandit replay STORE --no-bias --save new.npz”",
        ),
    ):
        assert reason in refused(store, *arguments)


def test_a_refused_setting_of_the_learner_says_how_to_change_it(tmp_path):
    with Store.create(tmp_path, sb.SlateUCB(4, 6)) as store:
        for given, option in (
            ({"examination": "1,0.5"}, "--examination 1,0.5"),
            ({"at_least": 2}, "--at-least 2"),
        ):
            with pytest.raises(InputError, match=f"replay STORE {option} --save .* POST /v1/learn"):
                StoreConfig(learner=given).check(store)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "a new store needs to know its features: say --features"),
        (["--features", 3], "a new store needs to know its labels: say --labels"),
        (
            ["--features", 0, "--labels", 3],
            "features = 0, but it must be a whole number of at least 1",
        ),
        (["--features", "a,,b", "--labels", 3], "has an empty name"),
        (["--features", "a,a", "--labels", 3], "features names 'a' twice"),
        ([*BUILD, "--learner", "OBR"], "OBR must be told every relevant label"),
        (
            [*BUILD, "--model", "huge"],
            "model = 'huge': expected full | full:float32",
        ),
        ([*BUILD, "--width", "scaled:-1"], "width = 'scaled:-1': alpha = -1"),
        ([*BUILD, "--learner", "Tompson"], "did you mean 'Thompson'?"),
        ([*BUILD, "--wait", 0], "wait = 0.0, but it must be a number of seconds above 0"),
        ([*BUILD, "--device", "gpu"], "device = 'gpu', but it must be 'cpu', 'cuda' or 'cuda:1'"),
        ([*BUILD, "--host", "0.0.0.0"], "can be reached from other machines: set an API key"),
        ([*BUILD, "--read-key", "r"], "would leave writing open"),
        ([*BUILD, "--read-key", "k", "--api-key", "k"], "are the same"),
        ([*BUILD, "--start-from", "/nothing.npz"], "leave out --labels"),
        (["--labels", "@/nothing", "--features", 3], "there is no file /nothing"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, arguments, reason):
    text = refused(tmp_path / "s", *arguments)
    assert text.startswith("semibandit serve: ")
    assert reason in text
    assert "Traceback" not in text
    assert not (tmp_path / "s/semibandit.db").exists()


def test_a_port_or_store_in_use_is_refused(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        taken.listen()
        assert "cannot listen" in refused(tmp_path / "s", *BUILD, port=port)
    with Server(tmp_path / "s", *BUILD):
        waited, reason = refused(tmp_path / "s").splitlines()  # nobody stares at nothing meanwhile
    file = tmp_path / "s" / "semibandit.db"
    assert waited.endswith(f"another process uses {file}: waiting 10 s for its end")
    assert "another process is using" in reason


def test_a_learner_made_in_python_can_be_served(tmp_path):
    learner = sb.SlateUCB(4, ["x", "y"], loss=sb.Logistic(2.0), seed=9)
    learner.learn(learner.rank([1, 2, 3, 4]), ["x"])
    learner.save(tmp_path / "mine.npz")
    again = ("--start-from", tmp_path / "mine.npz")
    with Server(tmp_path / "s", *again, "--features", "p,q,r,s") as server:
        state = server.state()
        assert state["version"] == 2
        assert state["settings"]["loss"] == {"is": "Logistic", "R": 2.0}
        assert state["feature_names"] == ["p", "q", "r", "s"]
    Server(tmp_path / "s", *again).stop()
    learner.learn(learner.rank([1, 2, 3, 4]), [])
    learner.save(tmp_path / "mine.npz")
    assert "made with start_from" in refused(tmp_path / "s", *again)
    sb.OBR(4, 3).save(tmp_path / "obr.npz")
    assert "must be told every" in refused(tmp_path / "t", "--start-from", tmp_path / "obr.npz")


@pytest.mark.parametrize(
    ("words", "learner"),
    [
        (["--learner", "Thompson:0.3"], sb.Thompson(4, list("abcdef"), alpha=0.3, bias=True)),
        (["--learner", "EpsilonGreedy:0.5"], sb.EpsilonGreedy(4, list("abcdef"), epsilon=0.5)),
        (["--learner", "Banditron:0.2"], sb.Banditron(4, list("abcdef"), gamma=0.2, bias=True)),
        (["--learner", "Confidit"], sb.Confidit(4, list("abcdef"), width=sb.Scaled(0.25))),
        (["--learner", "Random", "--seed", 3], sb.Random(4, list("abcdef"), seed=3, bias=True)),
        (
            ["--loss", "logistic:2", "--model", "dual:rbf:0.5:budget=9", "--cost", "constant"],
            sb.SlateUCB(
                4,
                list("abcdef"),
                loss=sb.Logistic(2.0),
                model=sb.Dual(sb.rbf(0.5), budget=9),
                cost=sb.constant,
                bias=True,
            ),
        ),
    ],
)
def test_every_learner_that_can_be_served_is_what_its_words_say(tmp_path, words, learner):
    with Server(tmp_path / "s", *BUILD, *words) as server:
        state = server.state()
        found = server.rank(slots=1).json()
        assert server.feedback(found["id"], [one["label"] for one in found["slate"]]).json()
        server.until(lambda state: state["version"] == 2)
    config = config_of(learner)
    assert state["learner"] == config["learner"]
    assert state["settings"] == config["settings"] | config["common"] | {
        "a": 1.0
    }  # it fills its slots
    with Server(tmp_path / "s", *words) as server:  # the same words again, on what was learned
        assert server.state()["version"] == 2


def test_labels_from_a_file(tmp_path):
    (tmp_path / "labels").write_text("sea\n\n the city \nsnow\n")
    with Server(tmp_path / "s", "--features", 2, "--labels", f"@{tmp_path / 'labels'}") as server:
        assert server.get("/labels").json()["labels"] == ["sea", "the city", "snow"]


def test_what_nobody_answered_counts_after_the_wait(tmp_path):
    with Server(tmp_path / "s", *BUILD, "--wait", 0.2) as server:
        server.rank(id="silent", slots=1)
        server.until(lambda state: state["version"] == 2)
        answer = server.feedback("silent", ["a"])
        assert answer.status_code == 409
        assert "nobody answered in time" in answer.json()["detail"]
