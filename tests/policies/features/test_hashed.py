"""Hashed features: any name and value, the same columns for ever."""

import math
from collections import Counter

import numpy as np
import pytest

from semibandit.errors import FileError, InputError
from semibandit.models.model import dense
from semibandit.policies.features.hashed import Hashed


def encode(size, context):
    return Hashed(size).encode(context).x


CONTEXT = {"price": 9.5, "device": "phone", "member": True, "tags": ["new", "sale"], "age": 41}


def test_columns_and_signs_never_change():
    x = encode(256, CONTEXT)
    assert x.size == 256
    assert dict(zip(x.index.tolist(), x.value.tolist(), strict=True)) == {
        177: 1.0, 192: -1.0, 225: 9.5, 228: 1.0, 237: -41.0, 251: -1.0
    }  # fmt: skip


def test_the_order_of_names_and_members_does_not_matter():
    x = dense(encode(2, {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.7}))
    np.testing.assert_array_equal(dense(encode(2, {"d": 0.7, "c": 0.3, "a": 0.1, "b": 0.2})), x)
    one, two = (encode(64, {"t": tags}) for tags in (["a", "b", "a"], {"b", "a"}))
    np.testing.assert_array_equal(dense(one), dense(two))


def test_each_value_of_a_name_has_its_own_column():
    hashed = Hashed(1 << 20)
    contexts = [{"a": "1"}, {"a": "2"}, {"b": "1"}, {"a": 1.0}, {"a": True}, {"a": False}]
    columns = [tuple(hashed.encode(context).x.index.tolist()) for context in contexts]
    assert len(set(columns)) == len(contexts)
    assert hashed.encode({"a": True}).x.index == hashed.encode({"a": "true"}).x.index
    assert hashed.encode({"a": ["1"]}).x.index == hashed.encode({"a": "1"}).x.index


def test_numbers_count_by_their_amount():
    hashed = Hashed(16)
    one, three = dense(hashed.encode({"n": 1}).x), dense(hashed.encode({"n": np.float32(3)}).x)
    np.testing.assert_array_equal(three, 3 * one)


@pytest.mark.parametrize("context", [{}, {"a": None}, {"a": 0}, {"a": []}])
def test_what_is_left_out_adds_nothing(context):
    x = encode(8, context)
    assert (len(x.index), len(x.value), x.size) == (0, 0, 8)


def test_pairs_in_one_column_are_added():
    x = dense(encode(1, {f"n{i}": 1.0 for i in range(100)}))
    signs = [dense(encode(1, {f"n{i}": 1.0}))[0] for i in range(100)]
    assert set(signs) == {1.0, -1.0}
    assert x.tolist() == [sum(signs)]


def test_columns_and_signs_are_spread_evenly():
    hashed = Hashed(16)
    found = [hashed.encode({"page": f"/item/{i}"}).x for i in range(8000)]
    columns = Counter(int(x.index[0]) for x in found)
    assert len(columns) == 16
    assert max(columns.values()) < 600  # 500 expected, with a deviation of 22
    assert abs(sum(x.value[0] for x in found)) < 450  # a deviation of 89


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"a": math.nan}, "feature 'a' = nan, but it must be a finite number"),
        ({"a": math.inf}, "feature 'a' = inf"),
        ({"a": {"b": 1}}, "feature 'a' = {'b': 1}"),
        ({"a": [1.5]}, "feature 'a' has 1.5"),
        ({"a": ["x", None]}, "feature 'a' has None"),
        ({3: 1.0}, "context names 3, but a name must be a string"),
        ([1.0], "features have names"),
    ],
)
def test_wrong_values_are_refused(context, reason):
    with pytest.raises(InputError, match=reason):
        encode(8, context)


def test_tables_are_encoded_as_their_rows():
    rows = [CONTEXT, {}, {"price": 3, "device": None}, {**CONTEXT, "price": 0.0}]
    hashed = Hashed(32)
    X, after = hashed.encode_rows(rows)
    np.testing.assert_array_equal(X.toarray(), [dense(hashed.encode(row).x) for row in rows])
    assert X.has_canonical_format
    assert after is hashed
    assert hashed.including({}) is hashed
    names = ("price", "device", "tags")
    columns = {name: [row.get(name) for row in rows] for name in names}
    same = [{name: row.get(name) for name in names} for row in rows]
    np.testing.assert_array_equal(
        hashed.encode_columns(columns)[0].toarray(), hashed.encode_rows(same)[0].toarray()
    )
    with pytest.raises(InputError, match=r"^row 11: feature 'a'"):
        hashed.encode_columns({"a": np.array([1.0, np.nan])}, first=10)


def test_a_declaration_is_a_number():
    assert Hashed(256) == Hashed(np.int64(256)) != Hashed(255)
    assert repr(Hashed(256)) == "Hashed(256)"
    assert Hashed(2).columns == ["hashed[0]", "hashed[1]"]
    assert Hashed(2).encoder({}).to_json() == {}
    with pytest.raises(FileError, match="'a', which is no open feature"):
        Hashed(2).encoder({"a": {}})


@pytest.mark.parametrize("size", [0, -1, 2.5, "8", True, 1 << 31])
def test_a_wrong_size_is_refused(size):
    with pytest.raises(InputError, match="size = "):
        Hashed(size)
