"""Simulated visitors: they come through the API, are counted exactly, and outlive a failure."""

import numpy as np
import pytest
from server import LocalServer, until

from semibandit._util.numba import without_numba
from semibandit.errors import InputError
from semibandit.experiments.shop_demo.visitors import Visitors
from semibandit.policies.features.features import Features
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.service.engine.engine import Engine
from semibandit.service.http.app import create_app
from semibandit.store.event import Decision, Feedback
from semibandit.store.store import Store
from semibandit.worlds.shop import Shop, Visit


def app_for(folder, shop):
    names = [item.name for item in shop.items]
    learner = SlateUCB(Features.parse(shop.features), names, a=1.0)
    with without_numba():
        return create_app(Engine(Store.create(folder, learner)))


def test_they_come_through_the_api_and_are_counted(tmp_path):
    shop = Shop(5)
    visitors, unavailable = Visitors(shop, 500, slots=4, seed=5), []
    app = app_for(tmp_path, shop)

    async def failing_once(scope, receive, send):
        if scope["type"] == "http" and not unavailable:
            unavailable.append(scope["path"])
            raise ConnectionError("the service fails once")
        await app(scope, receive, send)

    with without_numba(), LocalServer(failing_once) as server:
        visitors.start(str(server.http.base_url))
        until(lambda: visitors.progress()["visits"] >= 25)
        visitors.stop()
    assert unavailable == ["/v1/rank"]
    progress = visitors.progress()
    with Store(tmp_path) as store:
        events = [event for _, event in store.events()]
    decisions = [one for one in events if isinstance(one, Decision)]
    assert len(decisions) == progress["visits"]
    assert sum(isinstance(one, Feedback) for one in events) == progress["visits"]
    rates = [shop.shown_chances(Visit(**one.named), one.labels).mean() for one in decisions]
    assert progress["rate"] == pytest.approx(np.mean(rates))
    assert progress["points"][0] == (20, pytest.approx(np.mean(rates[:20])))


def test_those_who_are_refused_are_left_out_and_the_others_come(tmp_path):
    shop = Shop(5)
    visitors, app = Visitors(shop, 500, slots=4, seed=5), app_for(tmp_path, shop)
    with without_numba(), LocalServer(app) as server:
        for i in range(60):  # of 64 names that it can tell apart: there is room for four regulars
            asked = {"context": {"visitor": f"guest {i}", "weather": "sun"}, "slots": 1}
            given = server.http.post("/v1/rank", json=asked).json()
            server.http.post("/v1/feedback", json={"id": given["id"], "clicked": []})
        visitors.start(str(server.http.base_url))
        until(lambda: visitors.progress()["visits"] >= 25)
        visitors.stop()
    with Store(tmp_path) as store:
        who = {one.named["visitor"] for _, one in store.events() if isinstance(one, Decision)}
    assert len(who - {f"guest {i}" for i in range(60)}) == 4


def test_they_end_although_nobody_answers():
    visitors = Visitors(Shop(), 40, slots=4)
    visitors.start("http://127.0.0.1:1")
    visitors.stop()
    assert visitors.progress() == {"visits": 0, "rate": None, "points": []}


@pytest.mark.parametrize("rate", [0, -1, 501, float("nan"), True])
def test_a_rate_that_cannot_be_is_refused(rate):
    with pytest.raises(InputError, match="visitors_per_second = "):
        Visitors(Shop(), rate, slots=4)
