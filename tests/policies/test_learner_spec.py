"""A learner in words is the learner, and a learner is its words."""

import inspect
import json

import pytest
from learners import ALL, D, K, bits, drive

import semibandit as sb
from semibandit.policies.learner_spec import LEARNERS, LearnerSpec


@pytest.mark.parametrize("make", ALL)
def test_words_build_the_same_learner(make):
    learner = make()
    again = LearnerSpec.of(learner).build(D, K)
    assert type(again) is type(learner)
    assert drive(again, 20) == drive(learner, 20)
    assert bits(again) == bits(learner)
    spec = LearnerSpec.of(learner)
    assert LearnerSpec.from_dict(json.loads(json.dumps(spec.json()))) == spec


def test_the_defaults_are_the_learners():
    assert LearnerSpec.of(sb.SlateUCB(D, K)) == LearnerSpec()
    for name, cls in LEARNERS.items():
        takes = inspect.signature(cls).parameters
        assert LearnerSpec.of(LearnerSpec(learner=name).build(D, K)).a == takes["a"].default


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learner": "LinUCB"}, "learner = 'LinUCB', expected SlateUCB | OBR"),
        ({"learner": "Tompson:1"}, "did you mean 'Thompson'?"),
        ({"learner": "Thompson:much"}, "learner = 'Thompson:much', expected"),
        ({"learner": "SlateUCB:1"}, "learner = 'SlateUCB:1', expected"),
        ({"learner": "Banditron:2"}, "gamma = 2.0"),
        ({"loss": "hinge"}, "loss = 'hinge'"),
        ({"a": 2}, "a = 2"),
        ({"learner": 3}, "learner = 3, but it must be words"),
        ({"bias": "yes"}, "bias = 'yes', but it must be true or false"),
        ({"seed": -1}, "seed = -1"),
    ],
)
def test_what_is_misspelled_is_named(given, message):
    with pytest.raises(sb.InputError) as why:
        LearnerSpec.from_dict(given).build(3, 4)
    assert message in str(why.value)


def test_an_unknown_key_is_named_with_its_neighbour():
    with pytest.raises(sb.InputError, match=r"'widht' is not a setting; did you mean 'width'\?"):
        LearnerSpec.from_dict({"widht": "scaled:1"})
    with pytest.raises(TypeError, match=r"did you mean 'width'\?"):
        LearnerSpec().changed(widht="scaled:1")


def test_the_same_learner_in_other_words():
    assert LearnerSpec(width="scaled:0.250").same_as(LearnerSpec())
    assert LearnerSpec(model="rbf:1").same_as(LearnerSpec(model="dual:rbf"))
    assert not LearnerSpec(width="scaled:0.5").same_as(LearnerSpec())


def test_a_learner_of_your_own_has_no_words():
    class Mine(sb.SlateUCB):
        pass

    with pytest.raises(sb.InputError, match="'Mine' is your own"):
        LearnerSpec.of(Mine(D, K))


@pytest.mark.parametrize("cls", LEARNERS.values())
def test_a_misspelt_keyword_names_its_neighbour(cls):
    with pytest.raises(TypeError, match=r"has no parameter 'biass'; did you mean 'bias'\?"):
        cls(D, K, biass=True)


def test_a_subclass_may_hand_keywords_on():
    class Mine(sb.SlateUCB):
        def __init__(self, *arguments, mine=1, **keywords):
            super().__init__(*arguments, **keywords)

    assert Mine(D, K, seed=3, mine=2).seed == 3
    with pytest.raises(sb.InputError, match=r"Mine has no parameter 'sed'; did you mean 'seed'\?"):
        Mine(D, K, sed=3)


def test_words_that_a_learner_ignores_are_parsed_all_the_same():
    with pytest.raises(sb.InputError, match="width = 'nonsense'"):
        LearnerSpec(learner="Random", width="nonsense").build(D, K)
    assert LearnerSpec(learner="Greedy").ignores(["width", "model", "a"]) == ["width"]


@pytest.mark.parametrize("cls", LEARNERS.values())
def test_every_parameter_is_explicit_and_documented(cls):
    parameters = inspect.signature(cls).parameters.values()
    assert all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters)
    for parameter in parameters:
        assert parameter.name in cls.__doc__.split("Examples")[0], parameter.name
