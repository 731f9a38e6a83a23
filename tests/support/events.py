"""Events of every kind, for tests of the log."""

import numpy as np

from semibandit.store.event import Decision, Feedback, LabelChange


def decision(id, at=1.0, **more):
    x = np.array([0.1, -0.0, 1e-300, 1 / 3])
    shown = {"labels": ["a", 7], "prob": [0.1, 1 / 3], "estimate": [0.2, 0.0], "width": [0.3, 1e-9]}
    asked = {"slots": 2, "candidates": None, "exclude": ["ü\x00"]}
    return Decision(id, at, x, **{**asked, **shown, "version": 5, "draw": 9} | more)


def plain(event):
    values = dict(vars(event))
    if "context" in values:
        values["context"] = values["context"].tobytes()
    return values


EVENTS = [
    decision("one"),
    decision("two", 2.0, propensity=0.1 + 0.2, leader="a", slots=None),
    Feedback("two", 3.0, ["a"], ["a", 7]),
    LabelChange(4.0, add=["x", 3]),
    LabelChange(5.0, retire=["x"]),
    Feedback("one", 6.5, [], waited=True),
]
