"""Pictures that matplotlib has drawn: what is in them, and whether two are the same."""

import re

import numpy as np

NEAR = 6.0  # of 504 points in width: versions of matplotlib leave more or less room for texts


def texts(picture):
    """All texts of a picture, from its axes to its legends."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture)


def coordinates(picture):
    """Where the picture has its lines, marks and texts, in points."""
    lines = re.findall(r' d="([^"]*)"', picture)
    marks = re.findall(r'<(?:use|text)[^>]* x="([-\d.]+)" y="([-\d.]+)"', picture)
    numbers = re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", " ".join(lines))
    return np.array([*numbers, *np.ravel(marks)], dtype=float)


def check_same_picture(drawn, kept, command):
    """The same texts, and all else in the same places; otherwise the command draws it anew."""
    assert texts(drawn) == texts(kept), command
    new, old = coordinates(drawn), coordinates(kept)
    assert len(new) == len(old), command
    assert np.abs(new - old).max() < NEAR, command
