"""Events of every kind, for tests of the log."""

from dataclasses import replace

import numpy as np

from semibandit.store.event import Decision, Feedback, LabelChange, NewLearner


def decision(id, at=1.0, **more):
    x = np.array([0.1, -0.0, 1e-300, 1 / 3])
    shown = {"labels": ["a", 7], "prob": [0.1, 1 / 3], "estimate": [0.2, 0.0], "width": [0.3, 1e-9]}
    asked = {"slots": 2, "candidates": None, "exclude": ["ü\x00"]}
    return Decision(id, at, x, **{**asked, **shown, "version": 5, "draw": 9} | more)


def plain(event):
    values = dict(vars(event))
    for key in ("context", "seen"):
        if values.get(key) is not None:
            values[key] = values[key].tobytes()
    return values


EVENTS = [
    decision("one"),
    decision("two", 2.0, propensity=0.1 + 0.2, leader="a", slots=None),
    Feedback("two", 3.0, ["a"], ["a", 7]),
    LabelChange(4.0, add=["x", 3]),
    LabelChange(5.0, retire=["x"]),
    Feedback("one", 6.5, [], waited=True),
    decision("seen", 7.0, seen=np.array([0.1, 1 / 3]), probe=0, labels=["a", 0]),
    replace(
        decision("named", 8.0, named={"hour": 7.5, "tags": ["a", "ü"]}, new={"tags": ["ü"]}),
        context=np.array([7.5, np.nan, 1.0]),
    ),
    decision("nothing known", 9.0, named={}),
    NewLearner(9.5, 3, 1),
    decision("of a person", 10.0, learner=10, subject="person-7"),
    decision(
        "mixed",
        11.0,
        policy="mixed:0.1",
        distribution={
            "mixture": [
                [0.9, {"slate": ["a"], "probe": 7, "probing": 1 / 3}],
                [0.1, {"uniform": [9, 2]}],
            ]
        },
        slate_propensity=0.1 + 0.2,
        prefix_propensity=[0.9 + 0.1 / 9, 1 / 3],
        item_propensity=[5e-324, 1 - 2**-53],
    ),
    decision(
        "drawn",
        12.0,
        policy="plackett-luce:0.1",
        distribution={"plackett_luce": [["a", 7, "ü"], [0.1, -1e-9, 1e300]], "length": 2},
        slate_propensity=1e-300,
        prefix_propensity=[1 / 3, 1e-300],
        holdout="uniform",
        learns=False,
    ),
]
