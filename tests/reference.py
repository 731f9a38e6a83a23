"""Figure 2, naively: explicit inverses, plain loops, nothing shared with the package.

The slow twin that every model must match, slate for slate.
"""

import math

import numpy as np


class Figure2:
    """The paper's algorithm, label by label. `g`, `p`, `cost` and `width` are plain functions."""

    def __init__(self, d, K, *, R, g, c2, cost, a, width, tie, diagonal=False):
        self.R, self.g, self.c2, self.cost, self.a = R, g, c2, cost, a
        self.width, self.tie, self.diagonal = width, tie, diagonal
        self.A = [np.eye(d) for _ in range(K)]
        self.w = [np.zeros(d) for _ in range(K)]
        self.t, self.projected = 1, 0

    def p(self, m):
        return self.g(-m) / (self.g(m) + self.g(-m))

    def rank(self, x, slots, allowed):
        self.margin, self.eps = {}, {}
        for i in range(len(self.w)):  # step 2
            A_inv_x = np.linalg.inv(self.A[i]) @ x
            m = float(self.w[i] @ x)
            if abs(m) > self.R:
                excess = m - self.R if m > self.R else m + self.R
                self.w[i] = self.w[i] - excess / float(x @ A_inv_x) * A_inv_x
                self.projected += 1
                m = math.copysign(self.R, m)
            self.margin[i] = m
            self.eps[i] = min(self.width(float(x @ A_inv_x), self.t), 2 * self.R)
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
        return best

    def learn(self, x, shown, relevant):  # step 5
        for i in shown:
            s = 1 if i in relevant else -1
            xx = np.outer(x, x)
            self.A[i] = self.A[i] + (np.diag(np.diag(xx)) if self.diagonal else xx)
            gradient = -self.g(s * self.margin[i]) * s * x
            self.w[i] = self.w[i] - np.linalg.inv(self.A[i]) @ gradient / self.c2
        self.t += 1
