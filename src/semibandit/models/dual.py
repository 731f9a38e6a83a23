"""Dual variables (Remark 3): the same algorithm in the feature space φ of a kernel function.

With Φ the support points of a label (the contexts it was updated on) and G = Φ Φᵀ their Gram
matrix,

    A = I + ΦᵀΦ,   A⁻¹ = I - Φᵀ B Φ,   B = (I + G)⁻¹,

so with k = Φ φ(x):  x·A⁻¹x = k(x,x) - k·B k,  and  A⁻¹φ(x) = φ(x) - Σ_j z_j φ(x_j),  z = B k.
Weights are sums of φ over the support points and over `extra` points: contexts on which the label
was projected onto D but not shown, with `project="all"`. B grows by one row in O(N²); nothing is
computed anew.

If the state forgets, each support point has a scale s_j that fades: A = I + Σ_j s_j² φ(x_j)φ(x_j)ᵀ.
All of the above then holds for the scaled points s_j φ(x_j).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from semibandit._util.arrays import Array, Floats, Ints
from semibandit._util.checks import shortened, whole_number
from semibandit._util.ordering import SCORE_GRID
from semibandit._util.reproducible import dot, times
from semibandit.errors import InputError
from semibandit.models.fading import Forgetful, folded, gains
from semibandit.models.kernel import Kernel, Linear, Polynomial, linear, polynomial, rbf
from semibandit.models.model import (
    NO_NORMS,
    NONE,
    Arrays,
    Look,
    Vector,
    dense,
    one_by_one,
    take,
    take_index,
)
from semibandit.models.partial import OneByOne

__all__ = ["Dual", "DualState"]


@dataclass(frozen=True)
class Dual:
    """Dual variables (Remark 3), for relevance that is not linear in the context.

    Weights and widths are those of Figure 2 in the feature space of a kernel function. A label
    keeps the contexts it was updated on, its support points, so a round costs O(N_i²) for label i
    with N_i of them.

    With `project="learned"`, the default of learners, it keeps nothing else. `project="all"` adds
    an extra point for every projection of a label that was not shown, without limit but `budget`:
    w cannot be written without it. Each costs memory, and O(1) per look.

    Paper: Remark 3.

    Parameters
    ----------
    kernel : function
        The kernel function k(X, Y): `linear`, `rbf(gamma)`, `polynomial(degree, c)` or your own,
        which returns the n×m array of k(x, y) for the lines of X (n×d) and Y (m×d).
    budget : int, optional
        The most support points of a label (and of extra points, counted separately); by default
        there is no limit. A label over its budget drops the support point that its others explain
        best, and distributes the weight of that point over them by ridge regression; of the extra
        points it drops the oldest, in the same way. The model is then approximate. What is dropped
        counts as not seen, so widths grow again and are never too small.

    Raises
    ------
    InputError
        If kernel is not a function, or budget not a whole number of at least 1. A kernel function
        whose values are not finite, or of the wrong shape, is refused when it is first used.

    Examples
    --------
    >>> Dual(rbf(1.0), budget=100).start(n_labels=3, n_features=2).look(np.array([0.6, 0.8])).norm2
    array([1., 1., 1.])
    """

    kernel: Kernel = linear
    budget: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.kernel):
            raise InputError(
                f"kernel = {shortened(self.kernel)}, but it must be a function k(X, Y)"
            )
        if self.kernel is rbf or self.kernel is polynomial:  # type: ignore[comparison-overlap]
            raise InputError("kernel must be a kernel function with its settings, such as rbf(1.0)")
        if self.budget is not None:
            budget = whole_number("budget", self.budget, least=1)
            object.__setattr__(self, "budget", budget)

    @property
    def sparse(self) -> bool:
        return False

    @property
    def unproven(self) -> str | None:
        """Why Lemma 7 does not hold; None without a budget."""
        budget = f"budget={self.budget} forgets support points, so weights are approximate"
        return None if self.budget is None else budget

    @property
    def unit_norm(self) -> bool:
        """Whether k(x, x) <= 1 is known for contexts of length up to 1."""
        return bool(getattr(self.kernel, "unit_norm", False))

    @property
    def any_length(self) -> bool:
        """Whether k(x, x) <= 1 is known for all contexts."""
        return bool(getattr(self.kernel, "any_length", False))

    def start(self, n_labels: int, n_features: int) -> DualState:
        return DualState(
            self.kernel,
            self.budget,
            np.empty((0, n_features)),
            [Expansion() for _ in range(n_labels)],
        )


@dataclass
class Expansion:
    """One label: support points with B, their weights and scales; extra points with weights.

    Points are indices into the state's pool of contexts. An expansion is never changed, only
    replaced.
    """

    points: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    weight: Floats = field(default_factory=lambda: np.empty(0))
    scale: Floats = field(default_factory=lambda: np.empty(0))
    B: Floats = field(default_factory=lambda: np.empty((0, 0)))
    extra: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    extra_weight: Floats = field(default_factory=lambda: np.empty(0))
    log_det: float | None = 0.0  # ln|A|; None if it has to be computed anew

    def determinant(self) -> float:
        """ln|A| = -ln|B|."""
        if self.log_det is None:
            self.log_det = -float(np.linalg.slogdet(self.B)[1])
        return self.log_det

    def margin(self, k: Floats) -> float:
        """w·φ(x), from the values k of the kernel function at x and all pool contexts."""
        return float(dot(self.weight, k[self.points]) + dot(self.extra_weight, k[self.extra]))

    def norm2(self, k: Floats, kxx: float) -> float:
        """φ(x)·A⁻¹φ(x)."""
        near = self.scale * k[self.points]
        return float(kxx - dot(near, times(self.B, near)))

    def pushed(self, k: Floats, kxx: float, point: int, change: float) -> Expansion:
        """The expansion after the margin at x was moved by `change`, along A⁻¹φ(x)."""
        near = self.scale * k[self.points]
        z = times(self.B, near)
        amount = change / (kxx - dot(near, z))
        return replace(
            self,
            weight=self.weight - amount * (self.scale * z),
            extra=np.append(self.extra, point),
            extra_weight=np.append(self.extra_weight, amount),
        )

    def grown(self, k: Floats, kxx: float, point: int, step: float, c: float) -> Expansion:
        """The expansion after A += φ(x)φ(x)ᵀ, then w += step·A⁻¹φ(x), if A⁻¹ counts as c·A⁻¹.

        B grows by the formula for the inverse of a block matrix. If the label was pushed at x, x is
        an extra point, and turns into the new support point.
        """
        near = self.scale * k[self.points]
        z = times(self.B, near)
        n, kBk = len(z), float(dot(near, z))
        amount, r = step / (1.0 + kxx - kBk), 1.0
        if c != 1.0:  # A += r² φ(x)φ(x)ᵀ, with which the prior is restored as `gains` says
            amount = step * gains(kxx - kBk, c, kxx)[0]
            r = math.sqrt(c * (1.0 + max(0.0, 1.0 / kxx - 1.0 / (c * (kxx - kBk)))))
        y, s = r * z, 1.0 + r * r * kxx - r * r * kBk
        B = np.empty((n + 1, n + 1))
        B[:n, :n] = self.B + np.outer(y, y) / s
        B[:n, n] = B[n, :n] = -y / s
        B[n, n] = 1.0 / s
        extra, extra_weight = self.extra, self.extra_weight
        if len(extra) and extra[-1] == point:
            amount_here = amount + float(extra_weight[-1])
            extra, extra_weight = extra[:-1], extra_weight[:-1]
        else:
            amount_here = amount
        return replace(
            self,
            points=np.append(self.points, point),
            weight=np.append(self.weight - amount * (self.scale * z), amount_here),
            scale=np.append(self.scale, r),
            B=B,
            extra=extra,
            extra_weight=extra_weight,
            log_det=None if self.log_det is None else self.log_det + math.log(s),
        )

    def folded(self, g: float) -> Expansion:
        """The expansion after what was learned has been divided by 1/g."""
        scale = self.scale * math.sqrt(g)
        return replace(self, scale=scale, B=folded(self.B, g), log_det=None)

    def without(self, r: int, gram: Floats) -> Expansion:
        """The expansion without support point r; `gram` are its k(x, y) with all of them."""
        keep = np.arange(len(self.points)) != r
        b, scale = self.B[keep, r], self.scale[keep]
        B = self.B[np.ix_(keep, keep)] - np.outer(b, b) / self.B[r, r]
        weight = self.weight[keep] + self.weight[r] * (scale * times(B, scale * gram[keep]))
        points = self.points[keep]
        return replace(self, points=points, weight=weight, scale=scale, B=B, log_det=None)

    def without_oldest_extra(self, gram: Floats) -> Expansion:
        """The expansion without its oldest extra point; `gram` as above."""
        near = self.scale * times(self.B, self.scale * gram)
        return replace(
            self,
            weight=self.weight + self.extra_weight[0] * near,
            extra=self.extra[1:],
            extra_weight=self.extra_weight[1:],
        )


@dataclass
class DualState(OneByOne, Forgetful):
    """A pool of contexts, each kept once for all labels, and one expansion per label."""

    kernel: Kernel
    budget: int | None
    pool: Floats
    labels: list[Expansion]

    def __post_init__(self) -> None:
        self._used = 0  # how many contexts were in use when they were last counted

    def look(self, x: Vector) -> Look:
        return self.look_at(x, np.arange(len(self.labels)))

    def margins(self, x: Vector) -> Look:
        return self.margins_at(x, np.arange(len(self.labels)))

    def look_many(self, xs: Sequence[Vector]) -> tuple[Floats, Floats]:
        return one_by_one(self, xs)

    def look_at(self, x: Vector, labels: Ints) -> Look:
        look = self.margins_at(x, labels)
        assert look.kernel is not None
        k, kxx = look.kernel[:-1], float(look.kernel[-1])
        chosen = (self.labels[i] for i in labels.tolist())
        norm2 = np.array([one.norm2(k, kxx) if len(one.points) else kxx for one in chosen])
        if self.fading is not None:
            norm2 = self.fading.capped(norm2, kxx, labels)
        return replace(look, norm2=norm2)

    def margins_at(self, x: Vector, labels: Ints) -> Look:
        x = dense(x)
        chosen = [self.labels[i] for i in labels.tolist()]
        k = self._kernel_at(x, chosen)
        kxx = float(self._kernel(x[None, :], x)[0])
        if not kxx > 0:
            raise InputError(f"the kernel function gives k(x, x) = {kxx:g}; it must be positive")
        margin = np.zeros(len(labels))
        for place, one in enumerate(chosen):
            if len(one.points) or len(one.extra):
                margin[place] = one.margin(k)
        return Look(x, margin, NO_NORMS, np.append(k, kxx))

    def step(self, look: Look, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        if not len(moved) and not len(shown):
            return
        assert look.kernel is not None
        k, kxx = look.kernel[:-1], float(look.kernel[-1])
        point = len(self.pool)
        k = np.append(k, kxx)  # a label may be pushed and then grown at the same point
        pool = np.concatenate([self.pool, dense(look.x)[None, :]])
        new: dict[int, Expansion] = {}
        for i, amount in zip(moved.tolist(), change.tolist(), strict=True):
            new[i] = self.labels[i].pushed(k, kxx, point, amount)
        for i, amount in zip(shown.tolist(), steps.tolist(), strict=True):
            c = 1.0 if self.fading is None else self.fading.factor(i)
            new[i] = new.get(i, self.labels[i]).grown(k, kxx, point, amount, c)
        if self.budget is not None:
            new = {i: self._within_budget(label, pool) for i, label in new.items()}
        self.pool = pool
        for i, label in new.items():  # from here on nothing can fail
            self.labels[i] = label
        if self.fading is not None:
            self.fading.touch(shown)
        if self.budget is not None:
            self._compact()

    def dimension(self, t: int) -> int:
        """The dimension of the feature space if it is finite, else an upper bound of A's rank."""
        d = int(self.pool.shape[1])
        if isinstance(self.kernel, Linear):
            return d
        if isinstance(self.kernel, Polynomial):
            return min(math.comb(d + self.kernel.degree, d), max(t - 1, 1))
        return max(t - 1, 1)

    def log_det(self, labels: Ints | None) -> Floats:
        """ln|A_i| in the feature space of the kernel."""
        rows = range(len(self.labels)) if labels is None else labels.tolist()
        return np.array([self.labels[i].determinant() for i in rows])

    def add(self, n: int) -> None:
        self.labels = self.labels + [Expansion() for _ in range(n)]
        if self.fading is not None:
            self.fading.add(n)

    def reset(self, rows: Ints) -> None:
        labels = list(self.labels)
        for i in rows.tolist():
            labels[i] = Expansion()
        self.labels = labels
        if self.fading is not None:
            self.fading.since[rows] = NONE
        self._compact()

    def arrays(self) -> Arrays:
        def joined(parts: list[Array]) -> Array:
            return np.concatenate(parts) if parts else np.empty(0)

        scale = joined([e.scale for e in self.labels])
        fading = {} if self.fading is None else self.fading.arrays(len(self.labels))
        return {
            "pool": self.pool,
            "sizes": np.array([[len(e.points), len(e.extra)] for e in self.labels], dtype=np.int64),
            "points": joined([e.points for e in self.labels]).astype(np.int64),
            "weight": joined([e.weight for e in self.labels]),
            "B": joined([e.B.ravel() for e in self.labels]),
            "extra": joined([e.extra for e in self.labels]).astype(np.int64),
            "extra_weight": joined([e.extra_weight for e in self.labels]),
            **({"scale": scale, **fading} if fading else {}),
        }

    def restore(self, arrays: Arrays) -> None:
        sizes = take(arrays, "sizes", (len(self.labels), 2), np.int64)
        N, E = int(sizes[:, 0].sum()), int(sizes[:, 1].sum())
        n_pool = len(arrays.get("pool", ()))
        pool = take(arrays, "pool", (n_pool, self.pool.shape[1]))
        points = take_index(arrays, "points", N, limit=n_pool)
        weight = take(arrays, "weight", (N,))
        B = take(arrays, "B", (int((sizes[:, 0] ** 2).sum()),))
        extra = take_index(arrays, "extra", E, limit=n_pool)
        extra_weight = take(arrays, "extra_weight", (E,))
        scale = np.ones(N)
        if self.fading is not None:
            scale = take(arrays, "scale", (N,))
            self.fading = self.fading.restored(arrays, len(self.labels))
        labels, p, b, e = [], 0, 0, 0
        for n, m in sizes.tolist():
            labels.append(
                Expansion(
                    points[p : p + n],
                    weight[p : p + n],
                    scale[p : p + n],
                    B[b : b + n * n].reshape(n, n),
                    extra[e : e + m],
                    extra_weight[e : e + m],
                    None,
                )
            )
            p, b, e = p + n, b + n * n, e + m
        self.pool, self.labels = pool, labels

    def _kernel_at(self, x: Floats, labels: list[Expansion]) -> Floats:
        """The values k(pool, x) that these labels need; 0 for contexts that they do not use."""
        if len(labels) == len(self.labels):
            return self._kernel(self.pool, x)
        used = np.zeros(len(self.pool), dtype=np.bool_)
        for one in labels:
            used[one.points] = used[one.extra] = True
        k = np.zeros(len(self.pool))
        k[used] = self._kernel(self.pool[used], x)
        return k

    def _kernel(self, X: Floats, x: Floats) -> Floats:
        """The values k(X, x) of the kernel function, checked."""
        if not len(X):
            return np.empty(0)
        k = np.asarray(self.kernel(X, x[None, :]), dtype=np.float64)
        if k.shape != (len(X), 1):
            raise InputError(
                f"the kernel function gave an array of shape {k.shape} for {len(X)} and 1 "
                f"contexts; k(X, Y) must return one of shape ({len(X)}, 1)"
            )
        if not np.all(np.isfinite(k)):
            raise InputError("the kernel function gave a value that is not a finite number")
        return k[:, 0]

    def _within_budget(self, label: Expansion, pool: Floats) -> Expansion:
        """The label without a point if it has more than the budget allows."""
        assert self.budget is not None
        if len(label.points) > self.budget:
            # B_rr = 1/(1 + norm2 of r given the others); of equal ones the newest goes, on any CPU
            explained = np.rint(np.diag(label.B) * SCORE_GRID)
            r = len(explained) - 1 - int(np.argmax(explained[::-1]))
            label = label.without(r, self._kernel(pool[label.points], pool[label.points[r]]))
        if len(label.extra) > self.budget:
            gram = self._kernel(pool[label.points], pool[label.extra[0]])
            label = label.without_oldest_extra(gram)
        return label

    def _compact(self) -> None:
        """Remove pool contexts that no label uses any more, once they are the greater part."""
        if len(self.pool) < 2 * self._used + 64:
            return
        used = np.zeros(len(self.pool), dtype=np.bool_)
        for label in self.labels:
            used[label.points] = True
            used[label.extra] = True
        self._used = int(used.sum())
        if 2 * self._used + 64 > len(self.pool):
            return
        place = np.cumsum(used) - 1
        self.labels = [
            replace(e, points=place[e.points], extra=place[e.extra]) for e in self.labels
        ]
        self.pool = self.pool[used]

    def _n_matrices(self) -> int:
        return len(self.labels)

    def _fold(self, rows: Ints, g: Floats) -> None:
        labels = list(self.labels)
        for i, one in zip(rows.tolist(), g.tolist(), strict=True):
            labels[i] = labels[i].folded(one)
        self.labels = labels
