"""The shop: its truth is what visitors click by, and a linear learner can know it."""

import numpy as np
import pytest

from semibandit.errors import InputError
from semibandit.worlds.shop import KINDS, REGULARS, WEATHER, Shop, Visit


def test_names_are_different_and_every_regular_likes_some_kind_best():
    shop = Shop(3)
    assert len({item.name for item in shop.items}) == len(shop.items) == 30
    for name in REGULARS:
        means = [
            np.mean(
                [
                    shop.chances(Visit(name, weather))[i]
                    for weather in WEATHER
                    for i, item in enumerate(shop.items)
                    if item.kind == kind
                ]
            )
            for kind in KINDS
        ]
        first, second, third = sorted(means, reverse=True)[:3]
        assert first > second + 0.1
        assert second > third + 0.1


def test_rates_are_those_of_random_and_of_the_best_lists():
    shop, random = Shop(), np.random.default_rng(0)
    names = np.array([item.name for item in shop.items])
    visits = [shop.draw(random) for _ in range(4000)]
    drawn = [shop.shown_chances(v, random.choice(names, 4, replace=False)).mean() for v in visits]
    best = [shop.shown_chances(v, names[np.argsort(shop.chances(v))[-4:]]).mean() for v in visits]
    assert np.mean(drawn) == pytest.approx(shop.random_rate(), abs=0.01)
    assert np.mean(best) == pytest.approx(shop.best_rate(4), abs=0.01)
    assert shop.random_rate() < 0.5 * shop.best_rate(4)


def test_the_weather_moves_what_is_for_outdoors():
    shop = Shop()
    sun, rain = (shop.chances(Visit("Ada", weather)) for weather in WEATHER)
    for i, item in enumerate(shop.items):
        sign = {"Garden": 1, "Sport": 1, "Kitchen": 0}.get(item.kind, -1)
        assert np.sign(np.round(sun[i] - rain[i], 9)) == sign


def test_what_the_shop_does_not_have_is_never_clicked():
    assert Shop().shown_chances(Visit("Ada", "sun"), ["Submarine", 7]).tolist() == [0, 0]


def test_a_seed_must_be_whole():
    with pytest.raises(InputError, match="seed = -1"):
        Shop(-1)
