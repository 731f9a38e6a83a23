import numpy as np
import pytest

from semibandit.evaluation.off_policy import reward_model
from semibandit.evaluation.off_policy.chunk import Chunk, Codes
from semibandit.evaluation.off_policy.expectations import predicted
from semibandit.evaluation.off_policy.reward import read_reward
from semibandit.evaluation.off_policy.reward_model import FIRST_FIT, RewardModel
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.models.model import Sparse
from semibandit.policies.request import Request

ITEMS = list(range(5))
EXAMINED = np.array([1.0, 0.6, 0.3])


def visit(x, shown, clicked, candidates=None, exclude=None):
    request = Request(x, 3, candidates, exclude, 0)
    return LoggedVisit(request, shown, clicked, None, None, None, None, "")


def log(random, size, slopes, examined=EXAMINED, context=lambda x: x):
    visits = []
    for _ in range(size):
        x = random.random(2)
        shown = random.permutation(5)[:3]
        p = (slopes[shown] @ np.append(x, 1)) * examined
        visits.append(visit(context(x), shown.tolist(), random.random(3) < p))
    return visits


def fitted(visits, reward="clicks", codes=None, **options):
    reward, codes = read_reward(reward), Codes() if codes is None else codes
    model = RewardModel(reward, **options)
    while visits:
        size = model.until_next_fit()
        chunk = Chunk.of(visits[:size], ITEMS, codes)
        model.learn(chunk, reward.outcomes(chunk.clicked), model.contexts(chunk))
        visits = visits[size:]
    return model


def slopes(random):
    return np.c_[random.uniform(0, 0.4, (5, 2)), random.uniform(0.05, 0.2, 5)]


def test_learns_rates_by_label_context_and_position():
    random = np.random.default_rng(0)
    truth = slopes(random)
    codes = Codes()
    model = fitted(log(random, 8192, truth), codes=codes)
    assert model.examination == pytest.approx(EXAMINED, rel=0.1)
    new = log(random, 500, truth)
    chunk = Chunk.of(new, ITEMS, codes)
    found = predicted(model.predictions(chunk, model.contexts(chunk)))
    expected = np.array([truth[v.shown] @ np.append(v.request.given, 1) * EXAMINED for v in new])
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.03


def test_many_labels_are_predicted_as_few_are(monkeypatch):
    """Few have a table of all predictions; of many, those that are asked for are computed."""
    random = np.random.default_rng(3)
    codes = Codes()
    model = fitted(log(random, 2048, slopes(random)), codes=codes)
    chunk = Chunk.of(log(random, 300, slopes(random)), ITEMS, codes)
    asked, rows = random.integers(-1, 5, (300, 4)), np.arange(300)
    table = model.predictions(chunk, model.contexts(chunk)).at(asked, rows)
    monkeypatch.setattr(reward_model, "FEW_LABELS", 0)
    monkeypatch.setattr(reward_model, "BLOCK", 64)  # so that there are several blocks
    single = model.predictions(chunk, model.contexts(chunk)).at(asked, rows)
    np.testing.assert_allclose(single, table, atol=1e-14)
    assert (table[asked < 0] == 0).all()
    assert (table[asked >= 0] != 0).any()


def test_predictions_depend_on_earlier_visits_only():
    random = np.random.default_rng(1)
    codes, visits = Codes(), log(random, 300, slopes(random))
    model = RewardModel(read_reward("clicks"))
    first = Chunk.of(visits[:FIRST_FIT], ITEMS, codes)
    x = model.contexts(first)
    assert model.predictions(first, x) is None
    model.learn(first, first.clicked.astype(float), x)
    rest = Chunk.of(visits[FIRST_FIT:], ITEMS, codes)
    x = model.contexts(rest)
    before = predicted(model.predictions(rest, x))
    assert model.until_next_fit() == FIRST_FIT  # it is fitted anew when visits have doubled
    part = Chunk.of(visits[FIRST_FIT : 2 * FIRST_FIT - 1], ITEMS, codes)
    model.learn(part, part.clicked.astype(float), model.contexts(part))
    assert np.array_equal(predicted(model.predictions(rest, x)), before)


def test_unknown_labels_have_the_overall_rate():
    random, codes = np.random.default_rng(2), Codes()
    model = fitted(log(random, 1024, slopes(random), np.ones(3)), codes=codes)
    chunk = Chunk.of([visit(np.ones(2), ["new"], np.zeros(1, bool))], [*ITEMS, "new"], codes)
    found = predicted(model.predictions(chunk, model.contexts(chunk)))
    clicks = model.counted.sum() / (model.shown @ model.examination).sum()
    assert found[0, 0] == pytest.approx(clicks, rel=0.02)


def test_values_and_discounts_enter_the_predictions():
    random = np.random.default_rng(3)
    visits, codes = log(random, 512, slopes(random)), Codes()
    plain, dcg = fitted(visits, codes=codes), fitted(visits, "dcg", codes)
    valued = fitted(visits, {i: i + 0.5 for i in ITEMS}, codes)
    chunk = Chunk.of(visits[:9], ITEMS, codes)
    x = plain.contexts(chunk)
    clicks = predicted(plain.predictions(chunk, x))
    assert predicted(dcg.predictions(chunk, x)) == pytest.approx(clicks / np.log2([2, 3, 4]))
    values = np.array([[i + 0.5 for i in v.shown] for v in chunk.visits])
    assert predicted(valued.predictions(chunk, x)) == pytest.approx(clicks * values)


def test_totals_are_sums_over_what_could_be_shown():
    random, codes = np.random.default_rng(4), Codes()
    model = fitted(log(random, 256, slopes(random)), codes=codes)
    x, none = random.random(2), np.zeros(1, bool)
    visits = [
        visit(x, [0], none),
        visit(x, [0], none, candidates=[0, 2]),
        visit(x, [0], none, exclude=[1]),
        visit(x, [0], none, candidates=[0, 2, 4], exclude=[4]),
    ]
    chunk = Chunk.of(visits, ITEMS, codes)
    q = model.predictions(chunk, model.contexts(chunk))
    each = q.at(np.array([codes.codes(ITEMS)]), np.array([0]))[0]
    expected = [each.sum(), each[[0, 2]].sum(), each.sum() - each[1], each[[0, 2]].sum()]
    assert q.totals() == pytest.approx(expected)


def test_sparse_contexts_give_what_dense_ones_do():
    def sparse(x):
        return Sparse(np.arange(2), x, 2)

    models = [
        fitted(log(np.random.default_rng(5), 256, slopes(np.random.default_rng(6)), context=of))
        for of in (lambda x: x, sparse)
    ]
    assert models[0].w == pytest.approx(models[1].w)


def test_labels_shown_first_where_they_are_best_are_not_inflated():
    """Label 0 is shown first in its good contexts, and last in the others."""
    random, codes, rates = np.random.default_rng(7), Codes(), np.array([0.05, 0.45])
    visits = []
    for _ in range(8192):
        good = random.random() < 0.5
        shown = [0, 1, 2] if good else [1, 2, 0]
        if random.random() < 0.3:
            shown = random.permutation(3).tolist()
        p = np.where(np.array(shown) == 0, rates[int(good)], 0.2) * EXAMINED
        visits.append(visit(np.array([float(good)]), shown, random.random(3) < p))
    model = fitted(visits, codes=codes)
    assert model.examination == pytest.approx(EXAMINED, rel=0.15)
    chunk = Chunk.of(visits[:2048], ITEMS, codes)
    found = predicted(model.predictions(chunk, model.contexts(chunk)))
    assert found.sum() == pytest.approx(sum(v.clicked.sum() for v in visits[:2048]), rel=0.05)
    first = visit(np.ones(1), [0], np.zeros(1, bool))
    chunk = Chunk.of([first], ITEMS, codes)
    assert predicted(model.predictions(chunk, model.contexts(chunk)))[0, 0] == pytest.approx(
        rates[1], rel=0.1
    )


def test_positions_beyond_the_last_factor_share_it():
    random, codes, reward = np.random.default_rng(8), Codes(), read_reward("clicks")
    labels = list(range(20))
    visits = [visit(np.ones(1), labels, random.random(20) < 0.3) for _ in range(128)]
    chunk = Chunk.of(visits, labels, codes)
    model = RewardModel(reward)
    x = model.contexts(chunk)
    model.learn(chunk, reward.outcomes(chunk.clicked), x)
    factor = model.predictions(chunk, x).factor
    assert len(model.examination) == 16
    assert set(factor[15:]) == {factor[15]}
