"""The learners that are compared, as data: the words of `LearnerSpec`."""

from __future__ import annotations

from typing import Any

from semibandit import LearnerSpec

FIGURE_2 = {"scale": "unit", "bias": False, "project": "all", "probe": 0.0}  # and 0.1.0's defaults

MAIN: dict[str, dict[str, Any]] = {
    "defaults": {},
    "defaults of 0.1.0": FIGURE_2,
    "Greedy": {"learner": "Greedy"},
}
ABLATIONS: dict[str, dict[str, Any]] = {  # the defaults with one part switched off
    "unit scale": {"scale": "unit"},
    "no bias": {"bias": False},
    "all labels projected": {"project": "all"},
    "no probes": {"probe": 0.0},
    "no width": {"width": "scaled:0"},
}
SETTINGS = MAIN | ABLATIONS

PAPERS_OBR = {"learner": "OBR", "scale": "unit", "bias": True}


def obr_like(words: dict[str, Any]) -> dict[str, Any]:
    """OBR on the contexts of the learner with these words."""
    contexts = {key: words[key] for key in ("scale", "bias") if key in words}
    return {"learner": "OBR", **contexts}


def spec(words: dict[str, Any], **more: Any) -> LearnerSpec:
    """The learner in words, with what a run adds to them."""
    return LearnerSpec(**words, **more)
