"""bayesianbandits' Thompson sampling: a Bayesian linear regression, a full matrix, per arm.

Its upper confidence bound is a quantile of 1,000 draws per arm, and so far slower than one draw.
Prior and noise have the same precision, 1/alpha², so that a draw deviates by alpha·sqrt(x·A⁻¹x).
"""

import numpy as np
from bayesianbandits import Arm, ContextualAgent, NormalRegressor, ThompsonSampling
from playing import main


class Thompson:
    def __init__(self, d, K, slots, alpha=1.0, seed=0):
        precision = 1 / alpha**2
        arms = [Arm(i, learner=NormalRegressor(precision, precision)) for i in range(K)]
        self.agent = ContextualAgent(arms, ThompsonSampling(), random_seed=seed)
        self.slots = slots

    def rank(self, x):
        return self.agent.pull(x[None, :], top_k=self.slots)[0]

    def learn(self, x, shown, rewards):
        x = x[None, :]
        for i, reward in zip(shown, rewards, strict=True):
            self.agent.select_for_update(i).update(x, np.array([reward]))


main(Thompson)
