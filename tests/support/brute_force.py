"""Lemmas' other side: all ordered subsets, and what each of them costs."""

import itertools

from hypothesis import strategies as st

LEVELS = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0.0, 1.0)


@st.composite
def tables(draw):
    """Arbitrary valid costs for slates of up to 6 labels."""
    return [
        sorted(draw(st.lists(LEVELS, min_size=s, max_size=s)), reverse=True) for s in range(1, 7)
    ]


def ordered_subsets(K, most):
    for s in range(min(K, most) + 1):
        yield from itertools.permutations(range(K), s)


def value(p, shown, a, c):
    """ℓ_{a,c} in expectation, up to the part that no slate changes."""
    s = len(shown)
    return sum((1 - a) * c(j, s) * (1 - p[i]) - a * p[i] for j, i in enumerate(shown, 1))
