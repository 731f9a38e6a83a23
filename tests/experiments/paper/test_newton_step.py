"""The footnotes' ∇∇ᵀ against Figure 2's x xᵀ."""

import numpy as np
import pytest

import semibandit as sb
from reference import FIGURE_2
from semibandit.errors import UnprovenWidth
from semibandit.experiments.paper.newton_step import NewtonStep


@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(1.5)], ids=repr)
@pytest.mark.parametrize("project", ["all", "learned"])
def test_it_is_figure_2_with_the_gradients_matrix(loss, project):
    """Against explicit matrices and plain loops, label by label."""
    world, K, R = sb.Synthetic(3, 4, loss=loss, seed=2), 4, loss.R
    settings = FIGURE_2 | {"project": project}
    bandit = NewtonStep(3, K, loss=loss, a=0.7, **settings)
    w, A = np.zeros((K, 3)), [np.eye(3) for _ in range(K)]
    for t in range(80):
        x = world.context(t)
        scores = bandit.scores(x)
        np.testing.assert_allclose(scores.margin, np.clip(w @ x, -R, R), atol=1e-9)
        slate = bandit.rank(x, 2)
        relevant = set(world.relevant(t, x).tolist())
        for i in range(K):
            if i in slate.labels or project == "all":
                along = np.linalg.solve(A[i], x)
                w[i] += (np.clip(w[i] @ x, -R, R) - w[i] @ x) / (x @ along) * along
        for i in slate.labels:
            s = 1 if i in relevant else -1
            gradient = -float(loss.slope(s * (w[i] @ x))) * s * x
            A[i] = A[i] + np.outer(gradient, gradient)
            w[i] = w[i] - np.linalg.solve(A[i], gradient) / loss.c_L2
        bandit.learn(slate, [i for i in slate.labels if i in relevant])


def test_its_widths_do_not_shrink_where_gradients_vanish():
    """One label that is always relevant: its margin comes to R, and its gradients to 0."""
    widths = {}
    for make in (sb.SlateUCB, NewtonStep):
        bandit = make(2, 1, a=1.0, width=sb.Scaled(1.0), **FIGURE_2)
        for _ in range(400):
            bandit.learn(bandit.rank([1.0, 0.0]), [0])
        widths[make] = bandit.scores([1.0, 0.0]).width[0]
    assert widths[sb.SlateUCB] == pytest.approx(401**-0.5)
    assert widths[NewtonStep] > 0.5


def test_nothing_is_proven_of_it():
    with pytest.warns(UnprovenWidth, match="A_i grows by ∇∇ᵀ"):
        NewtonStep(2, 1, width=sb.KnownNorm(1.0))
