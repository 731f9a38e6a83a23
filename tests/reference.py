"""Figure 2, naively: explicit inverses, plain loops, nothing shared with the package.

The slow twin that every model must match, slate for slate; and that of scaled contexts.
"""

import math

import numpy as np

FIGURE_2 = {"scale": "unit", "bias": False, "project": "all", "probe": 0.0}  # and no forgetting


class Figure2:
    """The paper's algorithm, label by label. `g`, `p`, `cost` and `width` are plain functions.

    `project` "learned" leaves the weights of labels that do not learn alone. A round with a free
    slot for which `tossed` is true shows one more label, at least `at_least` are shown.
    """

    def __init__(
        self, d, K, *, R, g, c2, cost, a, width, tie, diagonal=False, project="all", at_least=0
    ):
        self.R, self.g, self.c2, self.cost, self.a = R, g, c2, cost, a
        self.width, self.tie, self.diagonal = width, tie, diagonal
        self.project, self.at_least = project, at_least
        self.A = [np.eye(d) for _ in range(K)]
        self.w = [np.zeros(d) for _ in range(K)]
        self.t, self.projected = 1, 0

    def p(self, m):
        return self.g(-m) / (self.g(m) + self.g(-m))

    def rank(self, x, slots, allowed, *, tossed=False):
        self.margin, self.eps, norm2 = {}, {}, {}
        for i in range(len(self.w)):  # step 2
            m = float(self.w[i] @ x)
            norm2[i] = float(x @ np.linalg.inv(self.A[i]) @ x)
            if abs(m) > self.R and self.project == "all":
                self.project_onto_D(i, x)
            self.margin[i] = max(-self.R, min(self.R, m))
            self.eps[i] = min(self.width(norm2[i], self.t), 2 * self.R)
        score = {i: self.margin[i] + self.eps[i] for i in allowed}
        p_hat = {i: self.p(max(-self.R, min(self.R, score[i]))) for i in allowed}
        order = sorted(allowed, key=lambda i: (-score[i], self.tie[i]))[:slots]
        best, best_J = [], 0.0
        for s in range(1, len(order) + 1):  # step 3, Lemma 1
            J = 0.0
            for j, i in enumerate(order[:s], 1):
                J += (1 - self.a) * self.cost(j, s) * (1 - p_hat[i]) - self.a * p_hat[i]
            if best_J + 1e-12 >= J:
                best, best_J = order[:s], J
        best = order[: max(len(best), self.at_least)]
        rest = [i for i in allowed if i not in best]
        if tossed and rest and (slots is None or len(best) < slots):
            value = {i: self.margin[i] + 2.0 * math.sqrt(norm2[i] / self.c2) for i in rest}
            best = [*best, min(rest, key=lambda i: (-value[i], self.tie[i]))]
        return best

    def project_onto_D(self, i, x):
        A_inv_x = np.linalg.inv(self.A[i]) @ x
        m = float(self.w[i] @ x)
        excess = m - self.R if m > self.R else m + self.R
        self.w[i] = self.w[i] - excess / float(x @ A_inv_x) * A_inv_x
        self.projected += 1

    def learn(self, x, shown, relevant):  # step 5
        for i in shown:
            if abs(float(self.w[i] @ x)) > self.R and self.project == "learned":
                self.project_onto_D(i, x)
            s = 1 if i in relevant else -1
            xx = np.outer(x, x)
            self.A[i] = self.A[i] + (np.diag(np.diag(xx)) if self.diagonal else xx)
            gradient = -self.g(s * self.margin[i]) * s * x
            self.w[i] = self.w[i] - np.linalg.inv(self.A[i]) @ gradient / self.c2
        self.t += 1


class Standard:
    """Contexts scaled by all contexts so far: kept as a list, mean and deviation anew each time."""

    def __init__(self, bias=True):
        self.bias, self.before = bias, []

    def scaled(self, x):
        columns = np.array([*self.before, x], dtype=float).T
        z = np.zeros(len(x))
        for j, column in enumerate(columns):
            known = column[~np.isnan(column)]
            if not np.isnan(x[j]) and len(set(known)) > 1:
                known = known - known[0]
                z[j] = max(-5.0, min(5.0, (known[-1] - known.mean()) / known.std()))
        return self.finished(x, z)

    def scaled_sparse(self, x):
        """Without centring: by the root mean square."""
        z = np.zeros(len(x))
        for j, column in enumerate(np.array([*self.before, x], dtype=float).T):
            if x[j] != 0:
                z[j] = max(-5.0, min(5.0, x[j] / math.sqrt(np.mean(column**2))))
        return self.finished(x, z)

    def finished(self, x, z):
        norm = math.sqrt(float(z @ z))
        if norm == 0:
            return np.array([*z, 1.0]) if self.bias else x / math.sqrt(float(x @ x))
        return np.array([*(z / norm), 1.0]) / math.sqrt(2) if self.bias else z / norm

    def add(self, x):
        self.before.append(np.array(x, dtype=float))
