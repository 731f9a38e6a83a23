"""Arrays divided among shards, and joined: nothing is lost, and damage is named."""

import numpy as np
import pytest
from learners import MODELS, drive

import semibandit as sb
from semibandit.errors import FileError, InputError
from semibandit.models.sharded.divide import layout_of, shard_size
from semibandit.policies.sharded import Sharded


@pytest.mark.parametrize("shards", [1, 2, 3, 8])
@pytest.mark.parametrize("forget", [None, 5.0])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_what_is_joined_gives_the_looks_of_the_whole(model, forget, shards):
    learner = sb.SlateUCB(4, 6, model=model, seed=1, project="all", forget=forget)
    drive(learner, 60)
    whole, layout = learner._state.arrays(), layout_of(model)
    parts = layout.divide(whole, 6, shards)
    joined = layout.join(parts)
    assert joined.keys() == whole.keys()
    assert {k: (a.dtype, a.ndim) for k, a in joined.items()} == {
        k: (a.dtype, a.ndim) for k, a in whole.items()
    }
    again = layout.join(layout.divide(joined, 6, shards))
    assert all(np.array_equal(again[k], joined[k]) for k in joined)
    other = sb.SlateUCB(4, 6, model=model, seed=1, project="all", forget=forget)
    other._state.restore(joined)
    x = np.full(5, 0.4)
    one, two = learner._state.look(x), other._state.look(x)
    np.testing.assert_allclose(two.margin, one.margin, rtol=1e-12)
    np.testing.assert_allclose(two.norm2, one.norm2, rtol=1e-12)
    for i, part in enumerate(parts):
        state = model.start(shard_size(6, i, shards), 5)
        if forget is not None:
            state.set_half_life(forget)
        state.restore(part)
        np.testing.assert_allclose(state.look(x).margin, one.margin[i::shards], rtol=1e-12)


def test_rows_with_rounding_errors_keep_theirs():
    state = sb.Full().start(5, 2)
    for label in (3, 0, 4, 1):
        state.step(state.look(np.array([0.6, 0.8])), *nothing(), np.array([label]), np.ones(1))
    state.count[:] = 70_000
    state.step(state.look(np.array([0.6, 0.8])), *nothing(), np.array([4, 3]), np.ones(2))
    state.dense.error[:2] = [[[1e-9, 0], [0, 0]], [[2e-9, 0], [0, 0]]]
    layout = layout_of(sb.Full())
    parts = layout.divide(state.arrays(), 5, 2)
    assert [part["lost"].shape[0] for part in parts] == [1, 1]
    joined = layout.join(parts)
    pairs = zip(joined["owner"].tolist(), joined["sharp"].tolist(), strict=True)
    lost = {owner: joined["lost"][e, 0, 0] for owner, e in pairs if e >= 0}
    assert lost == {4: 1e-9, 3: 2e-9}


def test_matrices_that_a_device_packed_go_with_their_rows():
    n, random = 7, np.random.default_rng(0)
    whole = {
        "owner": random.permutation(10)[:n].astype(np.int64),
        "w": random.standard_normal((n, 2)).astype(np.float32),
        "count": np.arange(n),
        "A_packed": random.standard_normal((n, 3)).astype(np.float32),
        "since": np.arange(n),
        "clock": np.array([9]),
    }
    layout = layout_of(sb.Full())
    joined = layout.join(layout.divide(whole, 10, 3))
    order, before = np.argsort(joined["owner"]), np.argsort(whole["owner"])
    assert joined.keys() == whole.keys()
    assert all(np.array_equal(joined[k][order], whole[k][before]) for k in whole if k != "clock")
    assert joined["clock"] == [9]


def nothing():
    return np.empty(0, dtype=np.intp), np.empty(0)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_damaged_array_is_a_file_error(model):
    learner = sb.SlateUCB(4, 6, model=model, seed=1)
    drive(learner, 20)
    whole = learner._state.arrays()
    for name in whole:
        for damaged in (None, whole[name][:-1]) if len(whole[name]) else (None,):
            arrays = {k: a for k, a in whole.items() if k != name}
            if damaged is not None:
                arrays[name] = damaged
            state = Sharded(sb.SlateUCB, 4, 6, shards=2, on="here", model=model)._state
            before = state.look(np.full(5, 0.4))
            with pytest.raises(FileError, match=name if damaged is None else "array"):
                state.restore(arrays)
            assert np.array_equal(state.look(np.full(5, 0.4)).norm2, before.norm2)


def test_a_model_of_your_own_cannot_be_divided():
    class Mine(sb.Diagonal):
        pass

    with pytest.raises(InputError, match=r"only Full\(\)"):
        layout_of(Mine())
