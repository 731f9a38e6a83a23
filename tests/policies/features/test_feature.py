"""One feature: its words and its columns."""

import pytest

from semibandit.errors import InputError
from semibandit.policies.features.feature import Feature, escape, split, unescape


@pytest.mark.parametrize(
    ("kind", "feature", "words"),
    [
        ("number", Feature("number"), "number"),
        ("category", Feature("category"), "category"),
        ("category:16", Feature("category"), "category"),
        ("category:50", Feature("category", limit=50), "category:50"),
        ("set", Feature("set"), "set"),
        (" set: 3 ", Feature("set", limit=3), "set:3"),
        (["b", "a"], Feature("category", ("b", "a")), "b|a"),
        ((1, True), Feature("category", ("1", "true")), "1|true"),
        ("b|a", Feature("category", ("b", "a")), "b|a"),
        ("category:b|a", Feature("category", ("b", "a")), "b|a"),
        ("set | x", Feature("category", ("set", "x")), "set|x"),
        (["50"], Feature("category", ("50",)), "50|"),
        ({"b", "a"}, Feature("set", ("a", "b")), "set:a|b"),
        ("set:b|a", Feature("set", ("a", "b")), "set:a|b"),
        (frozenset({7}), Feature("set", ("7",)), "set:7|"),
        (["a,b", "c:d", "e|f", "g\\"], Feature("category", ("a,b", "c:d", "e|f", "g\\")), None),
    ],
)
def test_features_are_declared_by_words_or_values(kind, feature, words):
    found = Feature.read("x", kind)
    assert found == feature
    assert Feature.read("x", found.words) == feature
    assert Feature.read("x", eval(repr(found))) == feature
    assert words is None or found.words == words


@pytest.mark.parametrize(
    "kind",
    ["categroy", "", "number:3", "category:", "category:0", "category:-1", "category:x", "set:2:3",
     "free", "sett:a|b", 7, None, {"a": 1}, 1.5],
)  # fmt: skip
def test_what_is_no_kind_is_refused_with_those_there_are(kind):
    with pytest.raises(InputError, match=r"feature 'x' is declared as .*, expected number, cat"):
        Feature.read("x", kind)


def test_a_misspelt_kind_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="did you mean 'category'"):
        Feature.read("x", "categroy")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ([], "without any value"),
        (["a", "b", "a"], "'a' twice"),
        ([1, "1"], "'1' twice"),
        (["a", " b"], "must not be empty, or begin or end with a space"),
        ("a||b", "must not be empty"),
        ([1.5], "a member must be a string"),
        ("category:100001", "sb.Hashed"),
    ],
)
def test_values_that_cannot_be_declared_are_refused(kind, reason):
    with pytest.raises(InputError, match=rf"feature 'x' .*{reason}"):
        Feature.read("x", kind)


def test_columns_have_names():
    assert Feature("number").columns("x") == ["x"]
    assert Feature("set", limit=2).columns("x") == ["x[0]", "x[1]"]
    assert Feature("set", ("a", "b")).columns("x") == ["x=a", "x=b"]


def test_backslashes_keep_separators():
    text = r"a,b:c|d\e"
    assert unescape(escape(text)) == text
    assert split(escape(text) + ",z", ",") == [escape(text), "z"]
    assert split("a\\", ",") == ["a\\"]
