"""The same log and the same learner decide alike on every CPU, with and without numba."""

import numpy as np
from every_cpu import LEARNERS, elsewhere, played, start


def rounding(name):
    """How far the numbers of a life may be apart."""
    return 1e-6 if "float32" in name else 1e-12


def differences(here, there):
    """The lives with other decisions, those whose numbers differ by more than rounding, and those
    that have learned anything else."""
    assert here.keys() == there.keys()
    other = [name for name in here if here[name][0] != there[name][0]]
    apart = {
        name: np.abs(np.subtract(here[name][1], there[name][1])).max()
        for name in here.keys() - set(other)
    }
    far = [name for name, most in apart.items() if most > rounding(name)]
    return other, far, [name for name in here if here[name][2] != there[name][2]]


def test_slates_draws_and_what_is_learned_are_the_same_on_every_cpu():
    processes = {"here": start()} | {name: start(**how) for name, how in elsewhere().items()}
    told = {name: played(process) for name, process in processes.items()}
    here = told.pop("here")
    assert here.keys() > LEARNERS.keys()
    for there in told.values():
        assert differences(here, there) == ([], [], [])
