"""Vowpal Wabbit's SquareCB over action-dependent features, S actions a round.

One prediction per round gives the distribution over all actions: the S likeliest are shown, or S
drawn from it. Each action that was shown is then learned from an example that holds it alone, as a
regression of its cost. The cost is 1 without a click and 0 with one, so that actions of which
nothing is known look good.
"""

import numpy as np
from playing import main, top
from vowpalwabbit import Workspace
from vowpalwabbit_text import features, updates


class SquareCB:
    def __init__(self, d, K, slots, rate=0.02, gamma=10.0, drawn=False, seed=0):
        self.vw = Workspace(
            f"--cb_explore_adf --squarecb --gamma_scale {gamma} --cb_type mtr -q UA "
            f"--ignore_linear U {updates(rate)} --random_seed {seed} --quiet"
        )
        self.slots, self.drawn, self.random = slots, drawn, np.random.default_rng(seed)
        self.actions = [f"|A i{i}" for i in range(K)]

    def rank(self, x):
        self.shared = f"shared |U {features(x)}"
        p = np.array(self.vw.predict([self.shared, *self.actions]))
        if self.drawn:  # S draws without replacement, by Gumbel's trick
            p = np.log(np.maximum(p, 1e-12)) + self.random.gumbel(size=len(p))
        return top(p, self.slots)

    def learn(self, x, shown, rewards):
        for i, reward in zip(shown, rewards, strict=True):
            self.vw.learn([self.shared, f"0:{1.0 - reward}:1 {self.actions[i]}"])


main(SquareCB)
