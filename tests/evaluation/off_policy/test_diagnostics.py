import numpy as np
import pytest

from semibandit.evaluation.off_policy.chunk import Chunk, Codes
from semibandit.evaluation.off_policy.coverage import Coverage
from semibandit.evaluation.off_policy.diagnostics import WeightSums, check_weights, model_error
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.request import Request


def checks(w, kind="item", expected=None, earned=None, coverage=None):
    """The diagnostics of weights (visits, positions), each visit in a cell of its own."""
    expected = np.ones_like(w) if expected is None else expected
    sums = WeightSums()
    sums.add(w, np.ones(len(w)) if earned is None else earned, expected)
    cells = {f"{kind} w": w, "expected": expected, "visits": np.ones(len(w))}
    return {one.name: one for one in check_weights(kind, cells, sums, coverage or Coverage())}


def rare(random, size, share, largest, positions=1):
    """Weights as a mixed log has them: mostly 1 or 0, and now and then a large one."""
    differs = random.random((size, positions)) < share
    large = largest * (random.random((size, positions)) < 1 / largest)
    return np.where(differs, large, 1.0)


def test_good_weights_pass():
    found = checks(rare(np.random.default_rng(0), 5000, 0.3, 10.0, 3))
    assert all(one.passed for one in found.values())
    assert found["mean weight"].value == pytest.approx(1, abs=0.05)
    assert found["effective sample size"].value == pytest.approx(5000 / (0.7 + 0.3 * 10), rel=0.1)


def test_few_effective_visits_are_refused_and_say_how_many_more():
    found = checks(rare(np.random.default_rng(1), 10_000, 0.5, 500.0))["effective sample size"]
    assert not found.passed
    assert found.value == pytest.approx(10_000 / 250, rel=0.5)
    more = 10_000 * (100 / found.value - 1)
    text = found.text.split("about ")[1].split(" more")[0]
    assert int(text.replace(",", "")) == pytest.approx(more, rel=0.1)


def test_less_than_a_twentieth_is_a_warning():
    found = checks(rare(np.random.default_rng(2), 20_000, 0.5, 100.0))["effective sample size"]
    assert found.passed
    assert "That is little" in found.text


def test_one_weight_that_decides_is_refused():
    w = np.ones((10_000, 1))
    w[7] = 21_739.0
    found = checks(w)
    assert not found["effective sample size"].passed
    assert not found["largest weight"].passed
    assert found["largest weight"].value == pytest.approx(0.685, abs=0.01)


def test_missing_support_at_one_position_is_found():
    random = np.random.default_rng(3)
    w = np.ones((5000, 3))
    w[:, 2] = random.random(5000) < 0.7  # the rest would need slates that are never drawn
    found = checks(w)["mean weight"]
    assert not found.passed
    assert "at position 3 it is 0.69" in found.text
    assert "--randomise mixed:0.05" in found.text
    assert "up to position 3" in checks(w, "prefix")["mean weight"].text


def test_propensities_that_are_too_small_are_found():
    found = checks(np.full((5000, 1), 1.2))["mean weight"]
    assert not found.passed
    assert "propensities are not those by which it was made" in found.text


def test_shortfalls_without_consequence_pass():
    w = np.ones((100_000, 1))
    w[:500] = 0.0  # 0.5%, far more than 3 standard errors
    assert checks(w)["mean weight"].passed


def test_false_alarms_are_rare_also_if_large_weights_are():
    random, failed = np.random.default_rng(4), 0
    for _ in range(300):
        w = rare(random, 6000, 0.2, 200.0, 5)  # about 6 large weights for each position
        failed += not checks(w)["mean weight"].passed
    assert failed <= 6


def test_positions_that_the_policy_rarely_uses_count_little():
    random = np.random.default_rng(5)
    w = np.ones((5000, 2))
    expected = np.ones((5000, 2))
    expected[:, 1] = 0.01
    w[:, 1] = random.random(5000) < 0.01
    found = checks(w, expected=expected)
    assert all(one.passed for one in found.values())
    assert found["effective sample size"].value == pytest.approx(5000, rel=0.02)


def test_a_position_with_a_hundredth_of_the_labels_does_not_decide():
    w = np.ones((5000, 2))
    w[:, 1] = 0.0  # a label that the policy tries in 1% of the visits, and the log never did there
    expected = np.ones((5000, 2))
    expected[:, 1] = 0.009
    assert checks(w, "prefix", expected)["mean weight"].passed
    expected[:, 1] = 0.05
    assert not checks(w, "prefix", expected)["mean weight"].passed


def test_few_effective_clicks_are_a_warning():
    earned = np.zeros(5000)
    earned[:400] = 1.0
    many = checks(np.ones((5000, 1)), earned=earned)["effective clicks"]
    assert many.value == pytest.approx(400)
    assert "too narrow" not in many.text
    earned[:5] = 100.0  # of large weights
    few = checks(np.ones((5000, 1)), earned=earned)["effective clicks"]
    assert few.value == pytest.approx(895**2 / 50_395)
    assert few.passed
    assert "bootstrap intervals may be too narrow" in few.text


def covered(target, share=0.2):
    """The coverage of a policy in a log that shows "a" first, or draws this share of its slates."""
    log = Mixture([(1.0 - share, FixedSlate(["a", "b"])), (share, UniformSlates(20, 2))])
    none = np.empty(0)
    visit = LoggedVisit(Request(none, 2, None, None, 0), [], none, None, None, None, log, "")
    found, items = Coverage(), ["a", "b", *map(str, range(18))]
    found.add(Chunk.of([visit] * 640, items, Codes()), [target] * 640)
    return found


def test_sentences_agree_if_the_log_can_show_all_but_did_not():
    """Slates with a weight of 1,900 that were not drawn yet: there are too few visits."""
    coverage = covered(Mixture([(0.5, FixedSlate(["a", "b"])), (0.5, FixedSlate(["1", "2"]))]))
    found = checks(np.full((6000, 2), 0.6), "prefix", coverage=coverage)
    assert found["coverage"].value == 1.0
    text = found["mean weight"].text
    assert "There are too few visits" in text
    assert "The log lacks" not in text
    assert "since they go up to 950" in found["effective sample size"].text


def test_advice_goes_beyond_what_the_log_had():
    target = FixedSlate(["1", "2"])
    for share, words in ((0.2, "this log drew 20% of its slates"), (0.0, "mixed:0.05")):
        coverage = covered(target, share)
        text = checks(np.full((6000, 2), 0.01), "prefix", coverage=coverage)["mean weight"].text
        assert words in text
        assert ("mixed:0.05" in text) == (share == 0.0)


def test_numbers_that_are_just_too_small_are_rounded_down():
    w = np.zeros((4000, 1))
    w[:99] = 1.0
    w[99] = 0.8
    found = checks(w)["effective sample size"]
    assert 99.5 < found.value < 100
    assert "worth 99 of 4,000 visits. At least 100 are needed" in found.text


def test_what_failed_is_the_check_that_says_so():
    """Without distributions there is only the mean weight to judge by."""
    found = checks(np.full((5000, 1), 2.02))
    assert {name for name, one in found.items() if not one.passed} == {"mean weight"}


def test_a_model_that_contradicts_the_log_is_refused():
    random = np.random.default_rng(6)
    earned, visits = (random.random(6000) < 0.34).astype(float), np.ones(6000)

    def error(predicted):
        shown = np.full(6000, predicted)
        return model_error({"dm shown": shown, "dm reward": earned, "dm visits": visits})

    assert error(0.345) is None
    assert "the reward model predicts 0.3947" in error(0.3947)
    earned *= 0.0
    earned[:40] = 1.0  # too few to tell
    assert error(0.008) is None
