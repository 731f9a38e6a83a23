"""A learner's settings on a device."""

import pytest

import semibandit as sb
from semibandit.errors import DeviceError
from semibandit.policies.device import on_device
from semibandit.policies.learner_spec import LearnerSpec


def test_the_model_moves_and_nothing_else():
    settings = {"model": sb.Full(), "a": 0.5}
    assert on_device(settings, None) == settings
    assert on_device(settings, "cuda:1") == {"model": sb.Full(device="cuda:1"), "a": 0.5}


def test_words_say_nothing_of_a_device():
    assert LearnerSpec(model="full").build(2, 3).model == sb.Full()
    with pytest.raises(DeviceError, match=r"Diagonal\(\) cannot be there"):
        LearnerSpec(model="diagonal").build(2, 3, "cuda")
    with pytest.raises(DeviceError, match="this learner has no model"):
        LearnerSpec(learner="Random").build(2, 3, "cuda")
