"""contextualbandits' LinUCB: a full matrix per arm.

The bounds come from the regressions that its LinUCB is made of, one per arm: its own loop over
arms (`LinUCB.topN` and `partial_fit`) computes the same and takes longer.
"""

import numpy as np
from contextualbandits.linreg import LinearRegression
from playing import main, top


class LinUCB:
    def __init__(self, d, K, slots, alpha=1.0, ridge=1.0, single=True, seed=0):
        self.slots, self.alpha = slots, float(alpha)
        self.dtype = np.float32 if single else np.float64  # tiny features are slow in float32
        self.random = np.random.default_rng(seed)
        self.arms = [
            LinearRegression(lambda_=ridge, fit_intercept=False, method="sm", use_float=single)
            for _ in range(K)
        ]

    def rank(self, x):
        x, alpha, random = x[None, :].astype(self.dtype), self.alpha, self.random
        return top(
            [
                arm.predict_ucb(x, alpha, add_unfit_noise=True, random_state=random)[0]
                for arm in self.arms
            ],
            self.slots,
        )

    def learn(self, x, shown, rewards):
        x = x[None, :].astype(self.dtype)
        for i, reward in zip(shown, rewards, strict=True):
            self.arms[i].partial_fit(x, np.array([reward], dtype=self.dtype))


main(LinUCB)
