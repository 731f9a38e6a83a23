"""Contexts with names as vectors: what is known, what is not, what is refused."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from semibandit.errors import FileError, InputError
from semibandit.policies.features.features import Features

NAN = math.nan
FEATURES = Features(
    hour="number", device="category:4", plan=["free", "pro"], tags="set:4", flags={"new", "sale"}
)
FULL = {"hour": 7, "device": "phone", "plan": "pro", "tags": ["a", "b"], "flags": ["sale"]}


def encode(context):
    return FEATURES.encoder().encode(context).x


def learned(encoder, context):
    return encoder.including(encoder.encode(context).new)


def test_every_feature_has_its_columns():
    x = encode(FULL)
    assert x.dtype == np.float64
    named = dict(zip(FEATURES.columns, x.tolist(), strict=True))
    assert named.pop("hour") == 7.0
    assert {column for column, value in named.items() if value} == {
        "device[3]", "plan=pro", "tags[0]", "tags[1]", "flags=sale"
    }  # fmt: skip
    assert set(named.values()) == {0.0, 1.0}


def test_what_is_left_out_or_none_is_unknown():
    nothing = np.full(13, NAN)
    np.testing.assert_array_equal(encode({}), nothing)
    np.testing.assert_array_equal(encode(dict.fromkeys(FEATURES.names)), nothing)
    x = encode({"plan": "free", "tags": []})
    np.testing.assert_array_equal(x, [*[NAN] * 5, 1, 0, 0, 0, 0, 0, NAN, NAN])


def test_sets_have_no_order_and_no_multiplicity():
    one = encode({"tags": ["a", "b", "c"]})
    for same in (["c", "a", "b", "a"], {"a", "b", "c"}, ("b", "c", "a"), np.array(list("bca"))):
        np.testing.assert_array_equal(encode({"tags": same}), one)


def test_encoding_changes_nothing_and_including_keeps_columns():
    encoder = FEATURES.encoder()
    x, new = encoder.encode(FULL)
    assert new == {"device": ["phone"], "tags": ["a", "b"]}
    assert encoder.to_json() == {"device": {}, "tags": {}}
    after = encoder.including(new)
    np.testing.assert_array_equal(after.encode(FULL).x, x)
    assert after.encode(FULL).new == {}
    assert after.including(new) is after
    assert after.including({}) is after
    for other in ("tablet", "tv", "desktop"):
        after = learned(after, {"device": other})
    np.testing.assert_array_equal(after.encode(FULL).x, x)
    assert encoder.to_json() == {"device": {}, "tags": {}}


def test_a_value_for_which_there_is_no_room_any_more_is_passed_over():
    late = {"tags": ["x", "y"], "device": "phone"}
    new = FEATURES.encoder().encode(late).new
    after = learned(FEATURES.encoder(), {"tags": ["a", "b", "c"]}).including(new)
    assert set(after.to_json()["tags"]) == {"a", "b", "c", "x"}
    assert set(after.to_json()["device"]) == {"phone"}
    with pytest.raises(InputError, match="feature 'tags' has 'y', but it has 4 distinct values"):
        after.encode(late)


def test_an_encoder_can_be_kept():
    encoder = learned(FEATURES.encoder(), FULL)
    again = Features.parse(FEATURES.words).encoder(json.loads(json.dumps(encoder.to_json())))
    np.testing.assert_array_equal(again.encode(FULL).x, encoder.encode(FULL).x)
    assert again.to_json() == encoder.to_json()


@pytest.mark.parametrize(
    "known", [[], "x", {"hour": {}}, {"plan": {"free": 0}}, {"x": {}}, {"tags": []}]
)
def test_what_was_kept_of_other_features_is_refused(known):
    with pytest.raises(FileError, match=r"no open feature|the values of feature"):
        FEATURES.encoder(known)


def test_an_unknown_name_is_refused_with_those_there_are():
    text = (
        "context names 'hours', which is not a feature; did you mean 'hour'? "
        "(the features are hour, device, plan, tags, flags)"
    )
    with pytest.raises(InputError) as refused:
        encode({"hours": 7})
    assert str(refused.value) == text
    with pytest.raises(InputError, match="context names 5, which is not a feature"):
        encode({5: None})


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"hour": "7"}, "feature 'hour' = '7', but it must be a finite number"),
        ({"hour": NAN}, "feature 'hour' = nan, but it must be a finite number"),
        ({"device": ["phone"]}, r"feature 'device' = \['phone'\], but it must be a string"),
        ({"device": 1.5}, "feature 'device' = 1.5, but it must be a string"),
        ({"plan": "gold"}, "feature 'plan' = 'gold', expected one of free, pro"),
        ({"tags": "a"}, "feature 'tags' = 'a', but it must be a list"),
        ({"flags": ["old"]}, "feature 'flags' has 'old', expected one of new, sale"),
        ([7.0], r"context = \[7.0\], but its features have names"),
        (None, "context = None, but its features have names"),
    ],
)
def test_wrong_values_are_refused_with_what_was_expected(context, reason):
    with pytest.raises(InputError, match=reason):
        encode(context)


def test_columns_are_the_same_in_every_process():
    code = (
        "from semibandit.policies.features.features import Features; "
        "f = Features(c='category', s='set').encoder(); "
        "c = {'c': 'phone', 's': {'a', 'b', 'c', 'd', 'e', 'f', 'g'}}; "
        "f = f.including(f.encode(c).new); "
        "print(sorted(f.to_json()['s'].items()), f.to_json()['c'])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert "{'phone': 7}" in found.pop()
