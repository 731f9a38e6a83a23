import numpy as np
import pytest

from semibandit.evaluation.off_policy.contexts import ContextColumns
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.models.model import Sparse, dense
from semibandit.policies.request import Request


def visit(x):
    request = Request(x, 3, None, None, 0)
    return LoggedVisit(request, [0], np.zeros(1, dtype=bool), None, None, None, None, "")


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_many_features_become_few_columns(form):
    random = np.random.default_rng(7)
    rows = [random.normal(size=300) for _ in range(50)]
    rows[0][3] = np.nan
    given = [Sparse(np.arange(300), x, 300) if form == "sparse" else x for x in rows]
    visits = [visit(x) for x in given]
    columns = ContextColumns(visits, 33)
    found = columns(visits)
    assert found.shape == (50, 33)
    assert np.isfinite(found).all()
    assert (found[:, -1] == 1).all()
    plain = np.nan_to_num(np.array([dense(x) for x in given]))
    into = np.zeros((300, 32))
    into[np.arange(300), columns.column] = columns.sign
    assert found[:, :-1] == pytest.approx(np.clip(plain @ into * columns.scale, -10, 10))


def test_contexts_of_another_length_and_outliers_do_no_harm():
    columns = ContextColumns([visit(np.ones(3))] * 4, 33)
    found = columns([visit(np.array([1.0, 1e9])), visit(np.ones(5))])
    assert found.tolist() == [[1, 10, 0, 1], [1, 1, 1, 1]]
    assert ContextColumns([visit(np.empty(0))], 33)([]).shape == (0, 1)
