"""A small shop whose visitors' tastes are known: items of a few kinds, regulars, weather."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import whole_number

__all__ = ["KINDS", "REGULARS", "WEATHER", "Item", "Shop", "Visit"]

KINDS = {
    "Garden": (
        "Watering can", "Tomato seeds", "Clay pot", "Tulip bulbs", "Rake", "Bird house",
    ),
    "Kitchen": (
        "Chef's knife", "Frying pan", "Coffee cup", "Spice jar", "Mixing bowl", "Rolling pin",
    ),
    "Reading": (
        "Crime novel", "Poems", "Reading lamp", "Bookmark", "Atlas", "Fountain pen",
    ),
    "Sport": ("Football", "Dumbbell", "Yoga mat", "Stopwatch", "Tennis racket", "Bicycle"),
    "Music": ("Headphones", "Record", "Guitar", "Microphone", "Drum", "Keyboard"),
}  # fmt: skip
REGULARS = (
    "Ada", "Ben", "Chloe", "Dev", "Elif", "Finn", "Grace", "Hugo", "Ines", "Jun", "Kofi", "Lena",
)  # fmt: skip
WEATHER = ("sun", "rain")
OUTDOORS = {"Garden": 1.0, "Kitchen": 0.0, "Reading": -1.0, "Sport": 1.0, "Music": -1.0}
USUAL, FAVOURITE, SECOND, BY_WEATHER = 0.1, 0.5, 0.25, 0.06  # chances of a click, and what adds
LEAST, MOST = 0.01, 0.95


@dataclass(frozen=True)
class Item:
    """What can be shown: its name, and its kind."""

    name: str
    kind: str


@dataclass(frozen=True)
class Visit:
    """Who comes, and in which weather."""

    visitor: str
    weather: str

    @property
    def context(self) -> dict[str, str]:
        """The visit as a context: {name: value}."""
        return {"visitor": self.visitor, "weather": self.weather}


class Shop:
    """A shop in which the chance of a click is the sum of what visitor and weather add.

    A regular visitor likes one kind of items much and another one somewhat. Things for outdoors
    are clicked more often in the sun, and those for indoors in the rain.

    Parameters
    ----------
    seed : int, default 0
        Who likes what, and how good each item is, is drawn with it.

    Raises
    ------
    InputError
        If the seed is not a whole number of at least 0.

    Examples
    --------
    >>> shop = Shop()
    >>> len(shop.items), shop.features
    (30, 'visitor:category:64,weather:sun|rain')
    >>> round(shop.random_rate(), 2), round(shop.best_rate(slots=4), 2)
    (0.24, 0.61)
    """

    features = f"visitor:category:64,weather:{'|'.join(WEATHER)}"

    def __init__(self, seed: int = 0) -> None:
        random = np.random.default_rng([whole_number("seed", seed, least=0), 1])
        self.items = [Item(name, kind) for kind, names in KINDS.items() for name in names]
        self._place = {item.name: i for i, item in enumerate(self.items)}
        kinds = list(KINDS)
        quality = random.uniform(-0.05, 0.05, len(self.items))
        self._by_visitor: dict[str, Floats] = {}
        for name in REGULARS:
            first, second = random.choice(len(kinds), 2, replace=False)
            liked = {kinds[first]: FAVOURITE, kinds[second]: SECOND}
            adds = np.array([liked.get(item.kind, 0.0) for item in self.items])
            self._by_visitor[name] = USUAL + quality + adds
        self._by_weather = np.array([BY_WEATHER * OUTDOORS[item.kind] for item in self.items])

    def chances(self, visit: Visit) -> Floats:
        """How likely this regular visitor clicks each item if it is shown, in the items' order."""
        sign = 1.0 if visit.weather == "sun" else -1.0
        return np.clip(self._by_visitor[visit.visitor] + sign * self._by_weather, LEAST, MOST)

    def draw(self, random: np.random.Generator) -> Visit:
        """The next visit: any of the regulars, in any weather."""
        return Visit(
            REGULARS[random.integers(len(REGULARS))], WEATHER[random.integers(len(WEATHER))]
        )

    def shown_chances(self, visit: Visit, shown: Sequence[object]) -> Floats:
        """How likely each shown item is clicked; never, if the shop does not have it."""
        chances = self.chances(visit)
        places = [self._place.get(str(name)) for name in shown]
        return np.array([0.0 if i is None else chances[i] for i in places])

    def random_rate(self) -> float:
        """The click rate of items that are drawn at random."""
        return float(np.mean([self.chances(visit).mean() for visit in _all_visits()]))

    def best_rate(self, slots: int) -> float:
        """The click rate if every visitor is shown what they like best: no policy has more."""
        return float(np.mean([np.sort(self.chances(v))[-slots:].mean() for v in _all_visits()]))


def _all_visits() -> list[Visit]:
    return [Visit(name, weather) for name in REGULARS for weather in WEATHER]
