"""Contexts with names as the log keeps them."""

import json

import numpy as np
import pytest
from events import decision

from semibandit.errors import InputError
from semibandit.store.named_context import key_of, normalised


def test_equal_contexts_have_one_key():
    one = {"hour": 9, "tags": ["new", "sale"], "device": "phone"}
    two = {"device": np.str_("phone"), "tags": {"sale", "new"}, "hour": np.float64(9.0), "x": None}
    assert normalised(one) == normalised(two) == one
    assert key_of(normalised(one)) == key_of(normalised(two))
    assert json.loads(json.dumps(normalised(two))) == one


def test_other_contexts_have_other_keys():
    contexts = [
        {}, {"a": 1}, {"a": True}, {"a": "1"}, {"a": [1]}, {"a": []}, {"a": 1.5}, {"b": 1},
        {"a": 2.0**60}, {"a": 1e300},
    ]  # fmt: skip
    keys = {key_of(normalised(context)) for context in contexts}
    assert len(keys) == len(contexts)


def test_what_is_no_value_is_refused_or_left_to_the_features():
    with pytest.raises(InputError, match="feature 'tags' has"):
        normalised({"tags": [{"a": 1}]})
    assert normalised({"hour": {"at": 7}}) == {"hour": {"at": 7}}


def test_a_decision_is_known_by_its_names():
    one, two = (decision("one", named={"hour": hour}) for hour in (7, 8))
    assert one.asked == decision("other", named={"hour": 7}).asked
    assert one.asked != two.asked
    assert one.asked != decision("one").asked
