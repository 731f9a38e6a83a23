"""Vowpal Wabbit's conditional contextual bandit: a slate of slots, one linear model by hashing.

The cost is 1 without a click and 0 with one, so that actions of which nothing is known look good.
"""

from playing import main
from vowpalwabbit import Workspace
from vowpalwabbit_text import features, updates


class CCB:
    def __init__(self, d, K, slots, rate=0.02, epsilon=0.05, seed=0):
        self.vw = Workspace(
            f"--ccb_explore_adf --epsilon {epsilon} -q UA --ignore_linear U {updates(rate)} "
            f"--random_seed {seed} --quiet"
        )
        self.actions = [f"ccb action |A i{i}" for i in range(K)]
        self.empty = ["ccb slot |"] * slots

    def rank(self, x):
        self.shared = f"ccb shared |U {features(x)}"
        chosen = self.vw.predict([self.shared, *self.actions, *self.empty])
        self.probabilities = [max(slot[0][1], 1e-3) for slot in chosen]
        return [slot[0][0] for slot in chosen]

    def learn(self, x, shown, rewards):
        told = [
            f"ccb slot {i}:{1.0 - reward}:{p:.4g} |"
            for i, reward, p in zip(shown, rewards, self.probabilities, strict=True)
        ]
        self.vw.learn([self.shared, *self.actions, *told])


main(CCB)
