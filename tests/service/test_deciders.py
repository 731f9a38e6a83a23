"""A start says who decides, and what the last decisions had that it has not."""

from engines import rank, running
from server import BUILD, Server

from semibandit.service.engine.deciders import Deciders


def test_what_was_there_before_and_is_not_any_more_is_told(tmp_path):
    with running(tmp_path, randomise="mixed", holdout=0.02) as engine:
        assert engine.deciders == Deciders("mixed:0.05", "uniform:0.02")
        assert engine.left_out is None
    with running(tmp_path) as engine:  # there was no decision
        assert engine.left_out is None
        rank(engine)
    with running(tmp_path, randomise="mixed:0.2", holdout=0.02) as engine:
        assert engine.left_out is None  # what is new was asked for
        rank(engine)
    with running(tmp_path, randomise="mixed:0.2", holdout=0.02) as engine:
        assert engine.left_out is None
    with running(tmp_path, randomise="plackett-luce:1", holdout=0.02) as engine:
        assert "drawn by mixed:0.2; now they are drawn by plackett-luce:1: give" in engine.left_out
    with running(tmp_path, randomise="mixed:0.2", holdout=0.05) as engine:
        assert "had a holdout uniform:0.02; now it is uniform:0.05: give" in engine.left_out


def test_a_real_service_prints_logs_and_shows_it(tmp_path):
    with Server(tmp_path, *BUILD, "--randomise", "mixed", "--holdout", 0.02) as server:
        says = "slates are drawn by mixed:0.05, and there is a holdout uniform:0.02"
        assert says in server.output
        server.rank()
        server.stop()
    assert f"INFO semibandit: {says}" in "".join(server.errors)
    with Server(tmp_path) as server:
        assert "the learner decides by itself, and there is no holdout" in server.output
        (problem,) = server.state()["problems"]
        server.stop()
    warning = (
        "the last decisions were drawn by mixed:0.05 and had a holdout uniform:0.02; now they are "
        "not and there is none: give --randomise and --holdout again if that was not meant"
    )
    assert f"WARNING semibandit: {warning}" in "".join(server.errors)
    assert problem["do"] == "Give --randomise and --holdout again if that was not meant."
    assert "mixed:0.05 and had a holdout uniform:0.02" in problem["what"]
