"""Learners with named features: dictionaries in, and all that holds for vectors holds for them."""

import copy

import numpy as np
import pytest
from learners import bits

import semibandit as sb
from semibandit.errors import FileError, InputError
from semibandit.policies.persistence import Snapshot, snapshot_of

FEATURES = sb.Features(
    hour="number", price="number", device="category:4", plan=["free", "pro"], tags="set:6"
)
K = 5
MODELS = {"full": sb.Full(), "diagonal": sb.Diagonal(), "dual": sb.Dual(sb.rbf(1.0))}
OTHERS = (sb.Greedy, sb.EpsilonGreedy, sb.Thompson, sb.Confidit, sb.OBR, sb.Random, sb.Banditron)
MAKERS = [
    pytest.param(
        lambda features, model=model: sb.SlateUCB(features, K, model=model, a=0.7, seed=3), id=name
    )
    for name, model in MODELS.items()
] + [pytest.param(lambda features, cls=cls: cls(features, K), id=cls.__name__) for cls in OTHERS]
KINDS = [pytest.param(FEATURES, id="features"), pytest.param(sb.Hashed(12), id="hashed")]


def visit(t):
    """A context in which something is unknown every now and then."""
    random = np.random.default_rng([7, t])
    given = {
        "hour": float(random.integers(0, 24)),
        "price": float(random.exponential(1000.0)),
        "device": ["phone", "desktop", "tablet"][int(random.integers(3))],
        "plan": ["free", "pro"][int(random.integers(2))],
        "tags": [f"tag{i}" for i in range(5) if random.random() < 0.3],
    }
    return {name: value for name, value in given.items() if random.random() < 0.85}


def drive(learner, rounds, first=0):
    shown = []
    for t in range(first, first + rounds):
        slate = learner.rank(visit(t), 1 if learner.one_slot else 3)
        shown.append((slate.labels, slate.prob.tolist(), slate.probe))
        clicked = [label for label in slate.labels if (label + t) % 3 == 0]
        learner.learn(slate, clicked)
    return shown


@pytest.mark.parametrize("features", KINDS)
@pytest.mark.parametrize("make", MAKERS)
def test_rank_changes_nothing_and_learn_adds_the_values(make, features):
    learner = make(features)
    drive(learner, 5)
    before = bits(learner)
    slate = learner.rank({"device": "console", "tags": ["brand", "new"]}, 1)
    learner.rank_many([visit(t) for t in range(9)], 1)
    learner.scores(visit(3))
    assert bits(learner) == before
    learner.learn(slate, [])
    if features is FEATURES:
        assert slate.new == {"device": ["console"], "tags": ["brand", "new"]}
        assert "console" in snapshot_of(learner).header["values"]["device"]


@pytest.mark.parametrize("features", KINDS)
@pytest.mark.parametrize("make", MAKERS)
def test_save_and_load_change_nothing(make, features, tmp_path):
    learner = make(features)
    drive(learner, 12)
    learner.save(tmp_path / "one.npz")
    loaded, copied = sb.load(tmp_path / "one.npz"), copy.deepcopy(learner)
    assert loaded.features == learner.features
    assert bits(loaded) == bits(copied) == bits(learner)
    assert drive(loaded, 12, 12) == drive(copied, 12, 12) == drive(learner, 12, 12)
    assert bits(loaded) == bits(copied) == bits(learner)


@pytest.mark.parametrize("features", KINDS)
@pytest.mark.parametrize("make", MAKERS)
def test_many_are_ranked_as_each_is(make, features):
    learner = make(features)
    drive(learner, 20)
    slots = 1 if learner.one_slot else 3
    contexts = [visit(t) for t in range(100, 160)]
    for one, slate in zip(contexts, learner.rank_many(contexts, slots), strict=True):
        alone = learner.rank(one, slots)
        assert (slate.labels, slate.probe, slate.new) == (alone.labels, alone.probe, alone.new)
        np.testing.assert_allclose(slate.prob, alone.prob, atol=1e-9)


@pytest.mark.parametrize("features", KINDS)
def test_a_slate_made_from_the_numbers_learns_as_the_one_that_was_ranked(features):
    one, two = (sb.SlateUCB(features, K) for _ in range(2))
    for t in range(20):
        slate = one.rank(visit(t), 3)
        vector = one.encode(visit(t)).x
        numbers = vector if isinstance(vector, np.ndarray) else dense(vector)
        again = two.shown(numbers, slate.labels, 3, new=slate.new)
        one.learn(slate, slate.labels[:1])
        two.learn(again, slate.labels[:1])
        assert bits(one) == bits(two)


def dense(sparse):
    x = np.zeros(sparse.size)
    x[sparse.index] = sparse.value
    return x


def test_unknown_is_not_counted_and_counts_as_average():
    learner = sb.SlateUCB(sb.Features(hour="number", price="number"), 3)
    for hour in (8.0, 12.0, 16.0):
        learner.learn(learner.rank({"hour": hour, "price": hour * 100}, 1), [])
    average = learner.rank({"hour": 12.0, "price": 1200.0}, 1)
    nothing = learner.rank({}, 1)
    np.testing.assert_allclose(nothing.x, [0.0, 0.0, 1.0])
    np.testing.assert_allclose(average.x, nothing.x)
    learner.learn(nothing, [])
    np.testing.assert_allclose(learner.rank({"hour": 12.0}, 1).x, [0.0, 0.0, 1.0])


def test_labels_are_told_apart_by_a_category():
    features = sb.Features(device="category")
    learner = sb.SlateUCB(features, ["app", "site"], width=sb.Scaled(0.1))
    likes = {"phone": "app", "desktop": "site"}
    for t in range(60):
        device = ("phone", "desktop")[t % 2]
        slate = learner.rank({"device": device}, 1)
        learner.learn(slate, [label for label in slate.labels if label == likes[device]])
    for device, label in likes.items():
        assert learner.rank({"device": device}, 1).labels == [label]


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"hour": "noon"}, "feature 'hour' = 'noon', but it must be a finite number"),
        ({"hour": float("nan")}, "feature 'hour' = nan"),
        ({"hour": float("inf")}, "feature 'hour' = inf"),
        ({"price": 1e200}, "feature 'price' is 1e\\+200, but it must be a number of at most 1e"),
        ({"plan": "gold"}, "feature 'plan' = 'gold', expected one of free, pro"),
        ({"tags": "new"}, "feature 'tags' = 'new', but it must be a list"),
        ({"device": 1.5}, "feature 'device' = 1.5"),
        ({"tags": list("abcdefg")}, "feature 'tags' has .* 6 distinct values already"),
        ({"hours": 3}, "'hours', which is not a feature; did you mean 'hour'.*hour, price, device"),
        ([1.0, 2.0], "context has 2 numbers, but this model's features have names"),
        ("noon", "context must be"),
    ],
)
def test_bad_input_names_the_feature_and_changes_nothing(context, reason):
    learner = sb.SlateUCB(FEATURES, K)
    drive(learner, 5)
    before = bits(learner)
    for work in (learner.rank, learner.scores, lambda one: learner.shown(one, [0])):
        with pytest.raises(InputError, match=reason):
            work(context)
    with pytest.raises(InputError, match=f"row 1 of X: .*{reason}"):
        learner.rank_many([visit(0), context])
    assert bits(learner) == before


def test_values_beyond_the_limit_are_refused_and_late_feedback_is_learned_without_them():
    learner = sb.SlateUCB(sb.Features(device="category:2"), K)
    first, second, third = (learner.rank({"device": device}, 1) for device in "abc")
    for slate in (first, second, third):
        learner.learn(slate, slate.labels)
    assert snapshot_of(learner).header["values"]["device"].keys() == {"a", "b"}
    with pytest.raises(InputError, match=r"'category:4', or use sb\.Hashed"):
        learner.rank({"device": "c"}, 1)


def test_names_need_a_learner_with_features():
    learner = sb.SlateUCB(2, K)
    with pytest.raises(InputError, match=r"made for 2 numbers: .* n_features=sb\.Features"):
        learner.rank({"hour": 1.0})
    with pytest.raises(InputError, match="nan"):
        learner.rank([1.0, np.nan])


def test_a_slate_of_other_features_does_not_fit():
    one = sb.SlateUCB(sb.Features(hour="number", device="category:4"), K)
    other = sb.SlateUCB(sb.Features(hour="number", shop="category:4"), K)
    with pytest.raises(InputError, match="ranked by another learner"):
        other.learn(one.rank({"hour": 1}, 1), [])
    with pytest.raises(InputError, match="new = "):
        one.shown({"hour": 1}, [0], new={"shop": ["a"]})


@pytest.mark.parametrize(
    "change",
    [{"features": "hour,device:nothing"}, {"features": 7}, {"features": "hour"},
     {"values": {"device": {"a": 99}}}, {"values": []}, {"values": {"hour": {}}}],
)  # fmt: skip
def test_a_damaged_header_is_a_file_error(change, tmp_path):
    snapshot = snapshot_of(sb.SlateUCB(sb.Features(hour="number", device="category:4"), K))
    path = tmp_path / "damaged.npz"
    Snapshot({**snapshot.header, **change}, snapshot.arrays).save(path)
    with pytest.raises(FileError, match=r"damaged\.npz"):
        sb.load(path)


@pytest.mark.parametrize(
    "features", [sb.Features(**{"120": "number"}), sb.Features(hashed="set:9")]
)
def test_features_with_odd_names_are_read_back(features, tmp_path):
    sb.SlateUCB(features, K).save(tmp_path / "odd.npz")
    assert sb.load(tmp_path / "odd.npz").features == features
