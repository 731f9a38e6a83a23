"""Declarations of named features: words, columns, equality."""

import copy
import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from semibandit.errors import InputError
from semibandit.policies.features.features import Features

word = st.text(min_size=1, max_size=6).filter(lambda text: text == text.strip())
kinds = st.one_of(
    st.just("number"),
    st.sampled_from(["category", "category:3", "set", "set:40"]),
    st.lists(word, min_size=1, max_size=4, unique=True),
    st.sets(word, min_size=1, max_size=4),
)


@example({"as": "number"})
@example({"__debug__": "number"})
@example({"ª": "number", "a": "number"})
@given(st.dictionaries(word, kinds, min_size=1, max_size=5))
def test_words_and_repr_give_the_same_features_again(declared):
    features = Features(**declared)
    assert Features.parse(features.words) == features
    assert eval(repr(features)) == features
    assert hash(Features.parse(features.words)) == hash(features)
    assert len(features.columns) == features.size
    assert features.names == tuple(declared)


def test_words_are_short():
    features = Features(hour="number", device="category", tags="set:9", plan=["free", "pro"])
    assert features.words == "hour,device:category,tags:set:9,plan:free|pro"
    assert Features.parse(" hour , device : category,tags:set:9,plan: free | pro ") == features


def test_the_order_of_features_is_that_of_their_columns():
    one, two = Features(a="number", b="set:2"), Features(b="set:2", a="number")
    assert one != two
    assert (one.columns, two.columns) == (["a", "b[0]", "b[1]"], ["b[0]", "b[1]", "a"])


def test_features_do_not_change_and_can_be_copied():
    features = Features(hour="number", tags={"a"})
    with pytest.raises(AttributeError):
        features.declared = ()
    assert copy.deepcopy(features) == features
    assert pickle.loads(pickle.dumps(features)) == features


def test_any_name_can_be_a_feature():
    features = Features(**{"self": "number", "page type": "number", "user:age": "number"})
    assert features.words == r"self,page type,user\:age"
    assert repr(features).startswith("Features(**{'self': 'number', 'page type'")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "empty name"),
        ("a,,b", "empty name"),
        (":category", "empty name"),
        ("a,b,a:set", "names 'a' twice"),
        ("a:categroy", "did you mean 'category'"),
        (7, "must be words"),
    ],
)
def test_wrong_words_are_refused(words, reason):
    with pytest.raises(InputError, match=reason):
        Features.parse(words)


@pytest.mark.parametrize("declared", [{}, {"": "number"}, {" a": "number"}])
def test_features_need_names(declared):
    with pytest.raises(InputError, match=r"at least one|is no name for a feature"):
        Features(**declared)
