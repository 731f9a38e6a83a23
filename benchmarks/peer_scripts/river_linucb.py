"""river's LinUCBDisjoint: a full matrix per arm.

The policy pulls one arm at a time. Its bounds are the same for all slots of a round, so each arm's
regression is asked once, and the best S are shown.
"""

from playing import main, top
from river.bandit import LinUCBDisjoint


class LinUCB:
    def __init__(self, d, K, slots, alpha=1.0, beta=1.0, seed=0):
        policy = LinUCBDisjoint(alpha=alpha, beta=beta, seed=seed)
        self.arms = [policy._bayes_lin_regs[i] for i in range(K)]
        self.slots = slots

    def rank(self, x):
        self.context = dict(enumerate(x.tolist()))
        beliefs = [arm.predict_one(self.context, with_dist=True) for arm in self.arms]
        return top([belief.mu + belief.sigma for belief in beliefs], self.slots)

    def learn(self, x, shown, rewards):
        for i, reward in zip(shown, rewards, strict=True):
            self.arms[i].learn_one(self.context, reward)


main(LinUCB)
