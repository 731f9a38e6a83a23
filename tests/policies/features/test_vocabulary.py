"""Vocabularies: a column for each value, whatever the order values come in."""

from itertools import permutations

import pytest

from semibandit._util.stable_hash import stable_hash
from semibandit.errors import FileError, InputError
from semibandit.policies.features.feature import Feature
from semibandit.policies.features.vocabulary import Vocabulary

OPEN = Vocabulary.start("device", Feature("category", limit=4))
CLOSED = Vocabulary.start("plan", Feature("category", ("free", "pro")))


def test_a_value_has_the_column_of_its_hash_or_the_next_free_one():
    values = [str(i) for i in range(20) if stable_hash(str(i)) % 4 == 3][:3]
    vocabulary = OPEN
    for value, column in zip(values, (3, 0, 1), strict=True):
        assert vocabulary.look_up([value]) == ([column], [value])
        vocabulary = vocabulary.extended([value])
        assert vocabulary.look_up([value]) == ([column], ())
    assert vocabulary.columns == dict(zip(values, (3, 0, 1), strict=True))
    assert OPEN.columns == {}


def test_values_of_one_context_get_the_same_columns_in_any_order():
    after = OPEN.extended("abcd").columns
    for order in permutations("abcd"):
        columns, new = OPEN.look_up(order)
        assert dict(zip(order, columns, strict=True)) == after
        assert new == list("abcd")
    (b, a, again), new = OPEN.look_up(["b", "a", "b"])
    assert b == again != a
    assert new == ["a", "b"]


def test_known_values_stay_where_they_are():
    vocabulary = OPEN.extended(["a", "b"])
    after = vocabulary.extended(["c", "d"])
    assert after.look_up("ab")[0] == vocabulary.look_up("ab")[0]
    assert sorted(after.columns.values()) == [0, 1, 2, 3]
    assert (vocabulary.room, after.room) == (2, 0)


def test_a_value_beyond_the_limit_is_refused():
    full = OPEN.extended("abcd")
    text = (
        "feature 'device' = 'e', but it has 4 distinct values already, which is its limit: declare "
        "it with a higher one, such as 'category:8', or use sb.Hashed"
    )
    with pytest.raises(InputError) as refused:
        full.look_up(["e"])
    assert str(refused.value) == text
    with pytest.raises(InputError, match="feature 'device' = 'e'"):
        OPEN.look_up(list("abcde"))


def test_a_closed_vocabulary_has_its_values_alone():
    assert CLOSED.look_up(["pro", "free"]) == ([1, 0], ())
    assert CLOSED.room == 0
    with pytest.raises(InputError) as refused:
        CLOSED.look_up(["por"])
    expected = "feature 'plan' = 'por', expected one of free, pro; did you mean 'pro'?"
    assert str(refused.value) == expected


def test_a_long_list_of_values_is_cut_in_messages():
    many = Vocabulary.start("n", Feature("set", tuple(map(str, range(100, 200)))))
    with pytest.raises(
        InputError, match=r"'n' has 'x+\.\.\., expected .* 119, \.\.\. \(100 in all"
    ):
        many.look_up(["x" * 1000])


def test_a_vocabulary_can_be_kept():
    vocabulary = OPEN.extended("ab")
    assert OPEN.restored(vocabulary.to_json()) == vocabulary


@pytest.mark.parametrize("known", [None, [], {"a": 4}, {"a": -1}, {"a": 1, "b": 1}, {"a": "1"}])
def test_damaged_values_are_refused(known):
    with pytest.raises(FileError, match="the values of feature 'device' are"):
        OPEN.restored(known)
