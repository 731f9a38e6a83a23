"""Parts in words and back: what is spelled is what is built, what is misspelled is named."""

import pytest

import semibandit as sb
from semibandit.policies.spec import parse, to_words
from semibandit.theory.cost import Costs

SPELLED = [
    ("loss", "square", sb.Square()),
    ("loss", "logistic:2.5", sb.Logistic(2.5)),
    ("width", "scaled:0.25", sb.Scaled(0.25)),
    ("width", "scaled:0.30000000000000004", sb.Scaled(0.1 + 0.2)),
    ("width", "known:2,0.1", sb.KnownNorm(2.0, 0.1)),
    ("width", "unknown:0.05", sb.UnknownNorm()),
    ("width", "logdet:2,0.1", sb.LogDet(2.0, 0.1)),
    ("model", "full", sb.Full()),
    ("model", "full:float32", sb.Full(dtype="float32")),
    ("model", "diagonal", sb.Diagonal()),
    ("model", "dual:linear", sb.Dual(sb.linear)),
    ("model", "dual:rbf:0.5", sb.Dual(sb.rbf(0.5))),
    ("model", "dual:polynomial:3,0.5:budget=20", sb.Dual(sb.polynomial(3, 0.5), budget=20)),
    ("cost", "decreasing", sb.decreasing),
    ("cost", "constant", sb.constant),
]


@pytest.mark.parametrize(("kind", "words", "part"), SPELLED)
def test_words_are_the_part_and_the_part_its_words(kind, words, part):
    assert repr(parse(kind, words)) == repr(part)
    assert to_words(kind, part) == words


@pytest.mark.parametrize(
    ("kind", "words", "part"),
    [
        ("width", "unknown", sb.UnknownNorm()),
        ("width", "known:2", sb.KnownNorm(2.0)),
        ("width", " Scaled:1.0 ", sb.Scaled(1.0)),
        ("loss", "logistic", sb.Logistic()),
        ("model", "dual", sb.Dual()),
        ("model", "dual:rbf", sb.Dual(sb.rbf())),
        ("model", "dual:linear:budget=3", sb.Dual(sb.linear, budget=3)),
        ("model", "rbf:0.5", sb.Dual(sb.rbf(0.5))),  # as they were spelled at first
        ("model", "linear", sb.Dual(sb.linear)),
        ("model", "polynomial:3.0", sb.Dual(sb.polynomial(3))),
    ],
)
def test_words_may_be_shorter(kind, words, part):
    assert repr(parse(kind, words)) == repr(part)


def test_a_table_of_costs_has_words():
    rows = [[1.0], [0.8, 0.2]]
    assert parse("cost", "table:1;0.8,0.2") == rows
    assert to_words("cost", Costs(rows)) == "table:1;0.8,0.2"


@pytest.mark.parametrize(
    ("kind", "words", "message"),
    [
        ("loss", "hinge", "loss = 'hinge': expected square | logistic:R"),
        ("loss", "logistc:2", "expected square | logistic:R; did you mean 'logistic'?"),
        ("loss", "logistic:1,2", "2 numbers are not what logistic takes"),
        ("loss", "square:1", "1 numbers are not what square takes"),
        ("loss", "logistic:-1", "loss = 'logistic:-1': R = -1"),
        ("width", "known", "0 numbers are not what known takes"),
        ("width", "scaled:wide", "width = 'scaled:wide': 'wide' is not a number"),
        ("width", "scaled:nan", "'nan' is not a finite number"),
        ("model", "dense", "model = 'dense': expected full | full:float32 | diagonal | dual"),
        ("model", "full:float16", "dtype = 'float16'"),
        ("model", "dual:sigmoid", "expected linear | rbf:GAMMA | polynomial:DEGREE,C"),
        ("model", "dual:rbf:1:budget=many", "'many' is not a number"),
        ("model", "dual:rbf:1:budget=0", "budget = 0"),
        ("cost", "rising", "cost = 'rising': expected decreasing | constant"),
        ("cost", "table:1;x", "'x' is not a number"),
    ],
)
def test_what_is_misspelled_is_named(kind, words, message):
    with pytest.raises(sb.InputError) as why:
        parse(kind, words)
    assert message in str(why.value)


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("loss", sb.Surrogate(g=lambda m: 1 - m, R=1.0, name="mine")),
        ("width", lambda norm2, **_: norm2),
        ("model", sb.Dual(lambda X, Y: X @ Y.T)),
        ("cost", lambda i, s: 0.5),
    ],
)
def test_a_part_of_your_own_has_no_words(kind, part):
    with pytest.raises(sb.InputError, match="your own"):
        to_words(kind, part)
