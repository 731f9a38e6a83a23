"""The data-dependent width: ln|A_i| of what a label has seen, from full matrices or in a kernel."""

import numpy as np
import pytest

import semibandit as sb
from reference import FIGURE_2
from semibandit.errors import InputError, UnprovenWidth

KERNELS = {"full": None, "linear": sb.linear, "rbf": sb.rbf(0.3), "polynomial": sb.polynomial(2)}


class Determinants:
    """A width of one's own, which shows ln|A_i|."""

    reads_log_det = True

    def __call__(self, norm2, *, t, d, K, loss, log_det):
        return log_det / 100


def model_of(kernel):
    return sb.Full() if kernel is None else sb.Dual(kernel)


def by_hand(kernel, contexts):
    """ln|I + Σ φ(x)φ(x)ᵀ| = ln|I + G|, with G the Gram matrix."""
    X = np.array(contexts).reshape(-1, 4)
    G = X @ X.T if kernel is None else kernel(X, X)
    return np.linalg.slogdet(np.eye(len(X)) + G)[1]


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_determinants_follow_what_each_label_has_seen(kernel, tmp_path):
    """Through learning, labels that come and go, files, and some labels alone."""
    random, width = np.random.default_rng(0), Determinants()
    bandit = sb.SlateUCB(4, 5, model=model_of(kernel), width=width, **FIGURE_2)
    seen = {label: [] for label in range(5)}
    for t in range(60):
        x = random.standard_normal(4)
        scores = bandit.scores(x)
        expected = [by_hand(kernel, seen[label]) for label in scores.labels]
        np.testing.assert_allclose(scores.width * 100, expected, atol=1e-9)
        slate = bandit.rank(x, slots=1 + t % 3, candidates=bandit.labels[t % 4 :])
        expected = [by_hand(kernel, seen[label]) for label in slate.labels]
        np.testing.assert_allclose(slate.width * 100, expected, atol=1e-9)
        bandit.learn(slate, slate.labels[:1])
        for label in slate.labels:
            seen[label].append(x / np.linalg.norm(x))
        if t == 20:
            bandit.retire_labels([2])
            seen[bandit.add_labels(1)[0]] = []
        if t == 40:
            bandit.save(tmp_path / "learner.npz")
            bandit = sb.load(tmp_path / "learner.npz", width=width)


def test_a_budget_counts_what_is_left():
    model = sb.Dual(sb.rbf(0.3), budget=3)
    bandit = sb.SlateUCB(4, 1, model=model, width=Determinants(), a=1.0, **FIGURE_2)
    random = np.random.default_rng(0)
    for _ in range(12):
        bandit.learn(bandit.rank(random.standard_normal(4)), [])
    largest = np.log(2.0) * 3  # three contexts at right angles
    assert 0 < bandit.scores(np.ones(4)).width[0] * 100 < largest


@pytest.mark.parametrize("d", [3, 998])
def test_it_is_the_width_for_a_known_norm_with_less_in_the_middle(d):
    loss, norm2 = sb.Square(), np.array([1e-6, 1e-5, 1e-4])
    known = sb.KnownNorm(2.0, 0.1)(norm2, t=999, d=d, K=7, loss=loss)
    largest = np.full(3, d * np.log(1 + 998 / d))
    assert sb.LogDet(2.0, 0.1)(norm2, t=999, d=d, K=7, loss=loss, log_det=largest) == pytest.approx(
        known
    )
    widths = [
        sb.LogDet(2.0, 0.1)(norm2, t=999, d=d, K=7, loss=loss, log_det=share * largest)
        for share in np.linspace(0, 1, 5)
    ]
    assert np.all(np.diff(widths, axis=0) > 0)


def played(width, seed, rounds=450):
    """A relevance that is linear in an RBF kernel: whether all is covered, and the last widths."""
    random, kernel = np.random.default_rng(seed), sb.rbf(0.05)
    centres, weights = random.standard_normal((3, 2)), np.array([0.5, -0.4, 0.3])
    centres /= np.linalg.norm(centres, axis=1)[:, None]
    norm = float(np.sqrt(weights @ kernel(centres, centres) @ weights))
    assert norm < 0.9
    bandit = sb.SlateUCB(2, 1, model=sb.Dual(kernel), width=width, a=1.0, seed=seed, **FIGURE_2)
    fine, last = True, []
    for _ in range(rounds):
        angle = random.uniform(0, 0.5)
        x = np.array([np.cos(angle), np.sin(angle)])
        truth = float(kernel(x[None], centres)[0] @ weights)
        slate = bandit.rank(x)
        fine &= bool(abs(truth - slate.margin[0]) <= slate.width[0])
        last = [*last[-49:], slate.width[0]]
        bandit.learn(slate, [0] if random.random() < sb.Square().prob(truth) else [])
    return fine, float(np.mean(last))


def test_lemma_7_with_determinants_covers_the_truth_in_a_kernel_and_says_something():
    """With d ln(1 + (t-1)/d), d = t - 1, in the place of ln|A_i| the width stays at its cap."""
    runs = [played(sb.LogDet(0.9), seed) for seed in range(2)]
    assert all(fine for fine, _ in runs)
    assert max(width for _, width in runs) < 1.9
    assert played(sb.KnownNorm(0.9), 0)[1] == 2.0


@pytest.mark.parametrize("share", [0.02])
def test_the_coverage_in_a_kernel_can_fail(share):
    """The check above is worth something: a fiftieth of the width does not cover the truth."""

    class Narrow(sb.LogDet):
        def __call__(self, norm2, **round_):
            return share * super().__call__(norm2, **round_)

    assert not all(played(Narrow(0.9), seed, rounds=100)[0] for seed in range(3))


def test_it_takes_contexts_and_kernels_of_any_length():
    bandit = sb.SlateUCB(2, 1, width=sb.LogDet(1.0), scale="none")
    bandit.learn(bandit.rank([30.0, 4.0]), [])
    assert bandit.unproven is None
    own = sb.Dual(lambda X, Y: (X @ Y.T + 7.0) ** 2)
    assert sb.SlateUCB(2, 1, model=own, width=sb.LogDet(1.0)).unproven is None
    with pytest.warns(UnprovenWidth, match="forget=50"):
        sb.SlateUCB(2, 1, width=sb.LogDet(1.0), forget=50)


@pytest.mark.parametrize(
    "make",
    [
        lambda width: sb.SlateUCB(2, 3, width=width, model=sb.Diagonal()),
        lambda width: sb.Sharded(sb.SlateUCB, 2, 3, width=width, shards=2, on="here"),
    ],
)
def test_a_model_without_determinants_is_refused(make):
    with pytest.raises(InputError, match=r"width = LogDet\(.*\) needs ln\|A_i\|, which a .*State"):
        make(sb.LogDet(1.0))


def test_a_file_has_the_width_and_a_replay_is_the_loop(tmp_path):
    world = sb.Synthetic(4, 5, seed=1)
    X = np.array([world.context(t) for t in range(80)])
    Y = np.zeros((80, 5))
    for t in range(80):
        Y[t, world.relevant(t, X[t])] = 1
    one, two = (sb.SlateUCB(4, 5, width=sb.LogDet(1.0, 0.1)) for _ in range(2))
    sb.replay(one, X, Y, slots=2, progress=False)
    for x, y in zip(X, Y, strict=True):
        slate = two.rank(x, 2)
        two.learn(slate, [label for label in slate.labels if y[label]])
    two.save(tmp_path / "two.npz")
    again = sb.load(tmp_path / "two.npz")
    assert again.width == sb.LogDet(1.0, 0.1)
    assert one.scores(X[0]).prob.tolist() == again.scores(X[0]).prob.tolist()
