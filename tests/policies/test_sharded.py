"""Sharded learners: the slates of a single one, whatever comes; the same files; clear refusals."""

import subprocess
import sys
from collections import deque
from copy import deepcopy

import numpy as np
import pytest
from learners import MODELS, SECOND_ORDER, contexts, drive
from mortal_workers import MortalWorkers, use_workers

import semibandit as sb
from semibandit.errors import InputError, MissingExtra, UnknownKeyword
from semibandit.models.sharded.placement import Shards
from semibandit.models.sharded.workers import LocalWorkers
from semibandit.policies.sharded import Sharded

D = 4


class Game:
    """Random rounds that are the same for every learner: what it is asked and told."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.late = deque()  # slates that wait for feedback

    def play(self, learners):
        """A round; the slates that all learners must have shown alike."""
        random, labels = self.random, learners[0].labels
        self._change_labels(learners, labels)
        labels = learners[0].labels
        some = random.choice(labels, random.integers(1, len(labels)), replace=False).tolist()
        limits = [{}, {}, {"candidates": some}, {"exclude": some[: len(some) // 2]}]
        limit, slots = limits[random.integers(4)], int(random.integers(0, 6))
        many, draw = random.random() < 0.2, len(self.late) % 3
        X = random.standard_normal((3 if many else 1, D))
        limit |= {"draw": draw}
        slates = [
            one.rank_many(X, slots, **limit) if many else [one.rank(X[0], slots, **limit)]
            for one in learners
        ]
        for one, line in zip(learners, slates, strict=True):
            one.expect(line[:draw])
        self.late.append([line[0] for line in slates])
        if random.random() < 0.7:
            self._learn(learners, self.late.popleft() if random.random() < 0.8 else self.late.pop())
        while len(self.late) > 12:
            self._learn(learners, self.late.popleft())
        return [[(slate.labels, slate.probe) for slate in line] for line in slates]

    def _learn(self, learners, slates):
        clicked = [label for label in slates[0].labels if self.random.random() < 0.4]
        for learner, slate in zip(learners, slates, strict=True):
            learner.learn(slate, clicked)

    def _change_labels(self, learners, labels):
        if self.random.random() < 0.03:
            retired = self.random.choice(labels, 2, replace=False).tolist()
            for learner in learners:
                learner.add_labels(3 if len(labels) < 14 else 1)
                learner.retire_labels(retired)


GAMES = {
    "square": (2, {}),
    "logistic, forgetting": (3, {"loss": sb.Logistic(2.0), "forget": 30.0}),
    "probes, of the theorem": (7, {"width": sb.UnknownNorm(), "probe": 0.5, "a": 0.3}),
    "one shard": (1, {"project": "all", "examination": (1.0, 0.6, 0.3)}),
    "diagonal": (2, {"model": sb.Diagonal(), "forget": 30.0}),
    "kernel": (2, {"model": sb.Dual(sb.rbf(1.0), budget=6)}),
}


@pytest.mark.parametrize(("shards", "options"), GAMES.values(), ids=GAMES)
def test_sharded_and_single_learners_show_the_same(shards, options):
    learners = [
        sb.SlateUCB(D, 10, seed=3, **options),
        Sharded(sb.SlateUCB, D, 10, shards=shards, on="here", seed=3, **options),
    ]
    game = Game(1)
    for t in range(120):
        single, sharded = game.play(learners)
        assert sharded == single, t
    assert learners[0].n_labels_ever > 15


def test_over_2000_rounds_in_which_shards_die_the_slates_are_the_same(monkeypatch):
    workers = use_workers(monkeypatch, MortalWorkers(deaths=0.005))
    options = {"loss": sb.Logistic(2.0), "seed": 5}
    learners = [
        sb.SlateUCB(D, 10, **options),
        Sharded(sb.SlateUCB, D, 10, shards=3, checkpoint_every=100, **options),
    ]
    game = Game(2)
    for t in range(2000):
        single, sharded = game.play(learners)
        assert sharded == single, t
    assert workers.died > 20


def shown(seen):
    """The labels of the slates that `drive` has seen."""
    return [labels for labels, _ in seen]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("learner", SECOND_ORDER)
def test_every_learner_with_a_model_can_be_sharded(learner, model):
    single = learner(D, 6, model=model, seed=1)
    sharded = Sharded(learner, D, 6, shards=3, on="here", model=model, seed=1)
    assert type(sharded) is learner
    assert shown(drive(sharded, 25)) == shown(drive(single, 25))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_files_of_sharded_and_plain_learners_are_the_same(model, tmp_path):
    sharded = Sharded(sb.SlateUCB, D, 6, shards=3, on="here", model=model, forget=50.0, seed=1)
    drive(sharded, 30)
    sharded.add_labels(2)
    sharded.retire_labels([1])
    sharded.save(tmp_path / "sharded.npz")
    plain = sb.load(tmp_path / "sharded.npz")
    plain.save(tmp_path / "plain.npz")
    again = sb.load(tmp_path / "plain.npz", shards=2, on="here")
    seen = [drive(one, 30, first=30) for one in (sharded, plain, again)]
    assert shown(seen[0]) == shown(seen[1]) == shown(seen[2])
    assert plain.model == again.model == model


def test_a_sharded_learner_can_be_copied_and_replayed():
    X, Y = contexts(120), np.random.default_rng(1).random((120, 8)) < 0.3
    results = []
    for learner in (sb.SlateUCB(D, 8), Sharded(sb.SlateUCB, D, 8, shards=3, on="here")):
        copy = deepcopy(learner)
        results.append(sb.replay(copy, X, Y, slots=3, plain=True))
        assert (copy.t, learner.t) == (121, 1)
    assert np.array_equal(results[0].slates, results[1].slates)


def test_another_thread_may_be_answered_first(monkeypatch):
    """Shards are told the order among equals once; in this process questions may change places."""
    learner, single = Sharded(sb.SlateUCB, D, 9, shards=2, on="here"), sb.SlateUCB(D, 9)
    x, receive, answered = np.ones(D), LocalWorkers.receive, []

    def later(self, answer, timeout):
        if not answered:
            answered.append(None)
            answered.append(learner.rank(x, 3).labels)  # sent later, answered first
        return receive(self, answer, timeout)

    monkeypatch.setattr(LocalWorkers, "receive", later)
    assert learner.rank(x, 3).labels == answered[1] == single.rank(x, 3).labels


def test_more_shards_than_labels_leave_some_empty():
    few = Sharded(sb.SlateUCB, D, ["tea"], shards=4, on="here")
    assert few.rank(contexts(1)[0]).labels == ["tea"]
    few.add_labels([str(i) for i in range(6)])
    assert len(few.rank(contexts(1)[0], 7)) == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shards": 0}, "shards = 0"),
        ({"shards": 2.5}, r"shards = 2\.5"),
        ({"on": "dask"}, "on = 'dask', but it must be 'ray' or 'here'"),
        ({"missing": "guess"}, "missing = 'guess', but it must be 'wait' or 'raise' or 'answer'"),
        ({"timeout": 0}, "timeout = 0"),
        ({"checkpoint_every": 0}, "checkpoint_every = 0"),
        ({"address": "127.0.0.1:1"}, "on = 'here' takes neither"),
        ({"ray_actor_options": 3}, "ray_actor_options = 3"),
        ({"learner": sb.OBR}, "OBR takes no model"),
        ({"learner": sb.Random}, "Random takes no model"),
        ({"learner": "SlateUCB"}, "it must be a class of learners"),
        ({"model": "full"}, "model = 'full', but only Full"),
    ],
)
def test_what_cannot_be_sharded_is_refused(options, message):
    options = {"learner": sb.SlateUCB, "shards": 2, "on": "here"} | options
    with pytest.raises(InputError, match=message):
        Sharded(n_features=D, labels=3, **options)


def test_a_file_of_a_learner_without_a_model_has_no_shards(tmp_path):
    sb.OBR(D, 3).save(tmp_path / "obr.npz")
    with pytest.raises(InputError, match=r"obr\.npz: OBR takes no model"):
        sb.load(tmp_path / "obr.npz", shards=2, on="here")


def test_a_wrong_place_is_refused_also_if_there_are_no_shards(tmp_path):
    sb.SlateUCB(D, 3).save(tmp_path / "plain.npz")
    for shards in (None, 2):
        with pytest.raises(InputError, match="on = 'raay', but it must be 'ray' or 'here'"):
            sb.load(tmp_path / "plain.npz", shards=shards, on="raay")


def test_a_misspelt_option_is_named():
    with pytest.raises(UnknownKeyword, match="did you mean 'probe'"):
        Sharded(sb.SlateUCB, D, 3, shards=2, on="here", prob=0.5)


def test_ray_is_needed_only_on_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"needs ray: pip install 'semibandit\[ray\]'"):
        Sharded(sb.SlateUCB, D, 3, shards=2)
    assert Shards(2).on == "ray"
    code = (
        "import sys, semibandit as sb; from semibandit.policies.sharded import Sharded; "
        "Sharded(sb.SlateUCB, 2, 3, shards=2, on='here').rank([1, 2]); "
        "assert 'ray' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
