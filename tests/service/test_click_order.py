"""The labels with the most clicks, of those that may be shown."""

import numpy as np

from semibandit.service.engine.click_order import ClickOrder


def test_it_is_the_sorted_order_after_every_click():
    random = np.random.default_rng(0)
    labels = [f"l{i}" for i in range(30)]
    clicks = dict.fromkeys(labels, 0) | {"l7": 3, "gone": 9}
    order = ClickOrder(labels, clicks)
    for _ in range(400):
        clicked = random.choice(labels, 2, replace=False).tolist()
        order.add([*clicked, "gone"])
        for label in clicked:
            clicks[label] += 1
        some = random.permutation(labels)
        candidates = some[:12].tolist() if random.random() < 0.5 else None
        exclude = some[8:15].tolist() if random.random() < 0.5 else None
        allowed = [
            label
            for label in labels
            if (candidates is None or label in candidates) and label not in (exclude or [])
        ]
        best = sorted(allowed, key=lambda label: (-clicks[label], labels.index(label)))
        n = int(random.integers(0, 40))
        assert order.top(n, candidates, exclude) == best[:n]
