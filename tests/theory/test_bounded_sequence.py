import numpy as np
import pytest

from semibandit.errors import InputError
from semibandit.theory.bounded_sequence import BoundedSequence
from semibandit.theory.confidence_sequence import ConfidenceSequence


def test_it_is_the_two_sided_confidence_sequence_if_bounds_are_the_scale():
    values = (np.random.default_rng(0).random(2000) < 0.1).astype(float)
    one, other = BoundedSequence(), ConfidenceSequence()
    one.add(values, np.ones(2000))
    other.add(values)
    assert one.interval(0.05) == pytest.approx(other.interval(0.05), rel=1e-12)
    assert (one.n, one.mean) == (2000, other.mean)


def test_values_of_several_bounds_are_covered_at_all_times():
    random, wrong = np.random.default_rng(1), 0
    for _ in range(200):
        bounds = random.integers(1, 9, 1000).astype(float)
        means = np.linspace(0.2, 0.4, 1000) * bounds
        values = random.binomial(bounds.astype(int), means / bounds).astype(float)
        sequence, covered = BoundedSequence(4.0), True
        for end in range(50, 1001, 50):
            sequence.add(values[end - 50 : end], bounds[end - 50 : end])
            low, high = sequence.interval(0.05)
            covered &= low < means[:end].mean() < high
        wrong += not covered
    assert wrong <= 10
    assert high - low < 0.5


def test_state_and_bad_input():
    sequence = BoundedSequence(2.0)
    sequence.add([1.0, 0.0, 3.0], [2.0, 2.0, 3.0])
    again = BoundedSequence.from_state(sequence.state())
    assert again.interval(0.05) == sequence.interval(0.05)
    assert again.at(2.0).n == 6
    with pytest.raises(InputError, match="values"):
        sequence.add([3.0], [2.0])
    assert again.state() == sequence.state()  # nothing was added
    assert BoundedSequence().interval(0.05) == (0.0, float("inf"))
