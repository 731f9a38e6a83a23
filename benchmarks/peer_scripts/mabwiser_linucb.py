"""MABWiser's LinUCB: a full matrix per arm.

Its regressions are called one by one. `partial_fit` of the whole copies the matrices of all arms
before each update, which takes longer than everything else.
"""

import numpy as np
from mabwiser.mab import MAB, LearningPolicy
from playing import main, top


class LinUCB:
    def __init__(self, d, K, slots, alpha=1.0, ridge=1.0, seed=0):
        policy = MAB(list(range(K)), LearningPolicy.LinUCB(alpha=alpha, l2_lambda=ridge), seed=seed)
        policy.fit(decisions=[0], rewards=[0], contexts=np.zeros((1, d)))
        self.arms = [policy._imp.arm_to_model[i] for i in range(K)]
        self.slots = slots

    def rank(self, x):
        x = x[None, :]
        return top([arm.predict(x)[0] for arm in self.arms], self.slots)

    def learn(self, x, shown, rewards):
        x = x[None, :]
        for i, reward in zip(shown, rewards, strict=True):
            self.arms[i].fit(x, np.array([reward]))


main(LinUCB)
