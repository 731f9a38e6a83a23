"""river's logistic regression, one per label, each learning from the rounds that showed it."""

import random

from playing import main, top
from river import linear_model, optim


class Logistic:
    def __init__(self, d, K, slots, rate=1.0, epsilon=0.0, prior=0.0, seed=0):
        self.models = [
            linear_model.LogisticRegression(optim.SGD(rate), intercept_init=prior) for _ in range(K)
        ]
        self.slots, self.epsilon, self.random = slots, epsilon, random.Random(seed)

    def rank(self, x):
        self.context = dict(enumerate(x.tolist()))
        shown = top([m.predict_proba_one(self.context)[True] for m in self.models], self.slots)
        if self.random.random() < self.epsilon:  # the last slot explores
            hidden = self.random.randrange(len(self.models))
            if hidden not in shown:
                shown[-1] = hidden
        return shown

    def learn(self, x, shown, rewards):
        for i, reward in zip(shown, rewards, strict=True):
            self.models[i].learn_one(self.context, reward > 0)


main(Logistic)
