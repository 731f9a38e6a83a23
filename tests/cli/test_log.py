"""Export, replay and simulate, as a user types them, against a real service."""

import json

import pytest
from hostile_files import HOSTILE
from learners import bits
from server import BUILD, Server
from typer.testing import CliRunner

import semibandit as sb
from semibandit.cli import app
from semibandit.evaluation.replay_log import replay_log
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], terminal_width=200)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A store after a simulation, a label change, and what the simulation said."""
    folder = tmp_path_factory.mktemp("played")
    with Server(folder / "s", "--features", 6, "--labels", 8) as server:
        said = run("simulate", server.url, "--rounds", 300, "--slots", 2, "--density", 0.2)
        server.post("/labels", {"labels": 1})
        server.rank([1, 0, 0, 0, 0, 0], id="unanswered")
        exported = run("export", folder / "log.jsonl", "--store", folder / "s")  # while it runs
    return folder, said, exported


def test_simulate_shows_regret_that_shrinks(played):
    _, said, _ = played
    assert said.exit_code == 0, said.output
    for word in ("rounds", "regret", "growth", "300"):
        assert word in said.output


def test_simulate_says_so_where_hardly_anything_is_worth_showing(played, tmp_path):
    with Server(tmp_path / "s", "--features", 2, "--labels", 3, "--a", 0.5, "--probe", 0) as server:
        said = run("simulate", server.url, "--rounds", 100)
    assert "Hardly anything was shown" in said.output
    assert "Hardly anything" not in played[1].output


def test_simulate_plays_as_the_library_does(tmp_path):
    world = sb.Synthetic(5, 6, density=0.2, seed=3)
    from semibandit.evaluation.simulate import simulate

    with Server(tmp_path / "s", "--features", 5, "--labels", 6, "--a", 0.5) as server:
        with sb.Client(server.url) as client:
            found = simulate(client, world, 60, 2)
        assert server.state()["feedback"] == 60
    learner = sb.SlateUCB(5, 6, a=0.5)
    plain = sb.play(learner, world, 60, 2)
    # feedback may be learned a moment after the next rank: near, not the same
    assert found.regret[-1] == pytest.approx(plain.regret[-1], rel=0.35)
    assert (found.expected >= found.best - 1e-12).all()


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "store"])
def test_a_log_replayed_as_it_was_is_the_services_learner_to_the_bit(played, tmp_path, kind):
    folder, _, exported = played
    assert "wrote 602 events" in exported.output
    log = folder / "s"
    if kind != "store":
        log = tmp_path / f"log.{kind}"
        assert run("export", log, "--store", folder / "s").exit_code == 0
    said = run("replay", log, "--save", tmp_path / "again.npz")
    assert said.exit_code == 0, said.output
    with Store(folder / "s", write=False) as store:
        assert bits(sb.load(tmp_path / "again.npz")) == bits(rebuild(store)[0])


@pytest.mark.parametrize(
    ("words", "learner"),
    [
        (["--width", "scaled:0.1"], sb.SlateUCB(6, 8, width=sb.Scaled(0.1), a=1.0)),
        (["--learner", "Greedy", "--no-bias"], sb.Greedy(6, 8, bias=False, a=1.0)),
        (["--learner", "Thompson:0.3", "--a", 0.9], sb.Thompson(6, 8, alpha=0.3, a=0.9)),
        (["--loss", "logistic:2", "--model", "diagonal", "--scale", "unit"],
         sb.SlateUCB(6, 8, loss=sb.Logistic(2.0), model=sb.Diagonal(), a=1.0, scale="unit")),
    ],
)  # fmt: skip
def test_a_log_is_replayed_into_what_the_words_say(played, tmp_path, words, learner):
    folder, _, _ = played
    said = run("replay", folder / "log.jsonl", *words, "--save", tmp_path / "other.npz")
    assert said.exit_code == 0, said.output
    replay_log(folder / "log.jsonl", learner)
    assert bits(sb.load(tmp_path / "other.npz")) == bits(learner)


def test_options_of_a_data_set_do_not_go_with_a_log(played):
    for wrong in (["--slots", 2], ["--compare", "OBR"], ["--rounds", 3], ["--format", "csv"]):
        refused = run("replay", played[0] / "log.jsonl", *wrong)
        assert refused.exit_code == 2
        assert f"{wrong[0]} does not go with a log" in refused.output


def test_a_log_cannot_be_learned_by_who_must_be_told_everything(played):
    refused = run("replay", played[0] / "log.jsonl", "--learner", "OBR")
    assert refused.exit_code == 2
    assert "OBR must be told every relevant label" in refused.output


def test_a_log_that_began_elsewhere_is_not_begun_anew(tmp_path):
    learner = sb.SlateUCB(2, ["a", "b"])
    learner.learn(learner.rank([1, 0], 1), [])
    Store.create(tmp_path / "s", learner).close()
    assert run("replay", tmp_path / "s").exit_code == 0
    refused = run("replay", tmp_path / "s", "--a", 0.9)
    assert refused.exit_code == 2
    assert "--a does not go with this log" in refused.output


def test_a_log_replayed_into_another_configuration(played):
    folder, _, _ = played
    said = run("replay", folder / "log.jsonl", "--learner", "Greedy", "--no-bias")
    assert said.exit_code == 0, said.output
    assert "Greedy" in said.output
    same, other = (
        replay_log(folder / "log.jsonl"),
        replay_log(folder / "s", sb.Greedy(6, 8, bias=False)),
    )
    assert same.events == other.events == 301
    assert same.clicks == other.clicks > 0
    assert 0 < same.brier < 0.25
    assert same.brier != other.brier


def test_mistakes_are_one_line(played, tmp_path):
    folder, _, _ = played
    for arguments, reason in (
        (["export", tmp_path / "x.txt", "--store", folder / "s"], ".jsonl or .parquet"),
        (["export", tmp_path / "x.jsonl", "--store", tmp_path / "none"], "there is no store"),
        (["replay", tmp_path / "none.jsonl"], "there is no file"),
        (["replay", folder / "log.jsonl", "--learner", "Oracle"], "learner = 'Oracle'"),
    ):
        said = run(*arguments)
        assert said.exit_code == 2
        assert reason in said.output
        assert "Traceback" not in said.output


def test_the_file_can_be_read_by_anyone(played):
    folder, _, _ = played
    head, *events = map(json.loads, (folder / "log.jsonl").read_text().splitlines())
    assert head["about"]["labels"] == 8
    assert [event["seq"] for event in events] == list(range(1, 603))
    assert {event["kind"] for event in events} == {"decision", "feedback", "labels"}


def test_simulate_against_another_world_is_refused(tmp_path):
    with Server(tmp_path / "s", *BUILD) as server, sb.Client(server.url) as client:
        from semibandit.evaluation.simulate import simulate

        with pytest.raises(ValueError, match="the world has 5 features"):
            simulate(client, sb.Synthetic(5, 6), 10)


def test_hostile_files_are_one_line_and_exit_code_2(tmp_path):
    log, table, model = (tmp_path / name for name in ("log.jsonl", "set.svm", "model.npz"))
    log.write_text("[" * 200_000)
    table.write_text("1 4000000000:1\n")
    sb.SlateUCB(2, ["a", "b"]).save(model)
    model.write_bytes(HOSTILE["an array that nobody needs"][0](model.read_bytes()))
    for arguments in (
        ("replay", log),
        ("evaluate", log),
        ("tune", log),
        ("position-bias", log),
        ("data", "info", table),
        ("serve", "--store", tmp_path / "s", "--start-from", model),
    ):
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stderr.startswith(f"semibandit {arguments[0]}")
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.output
