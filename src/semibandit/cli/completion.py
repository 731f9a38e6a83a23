"""What the shell offers while a command is typed: names, spellings and files.

`semibandit --install-completion` switches it on for the shell that is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from glob import escape, glob

from semibandit.data import catalogue, open_bandit
from semibandit.experiments.sets import STAND_INS
from semibandit.policies.learner_spec import LEARNERS
from semibandit.policies.scaling import SCALES

__all__ = ["SPELLINGS", "Completion", "data_sets", "logs", "one_of", "paths"]

Completion = Callable[[str], list[str]]

SPELLINGS = {  # each can be used as it is: numbers are there to be changed
    "learner": tuple(LEARNERS),
    "loss": ("square", "logistic:1"),
    "width": ("scaled:0.25", "known:1,0.05", "unknown:0.05", "logdet:1,0.05"),
    "model": (
        "full", "full:float32", "diagonal", "dual:linear", "dual:rbf:1", "dual:rbf:1:budget=1000",
        "dual:polynomial:2,1",
    ),
    "cost": ("decreasing", "constant"),
    "scale": SCALES,
    "project": ("learned", "all"),
}  # fmt: skip


def one_of(*words: str) -> Completion:
    """A completion that offers those of the words that begin with what was typed.

    Examples
    --------
    >>> one_of("square", "logistic:1")("l")
    ['logistic:1']
    """

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def paths(incomplete: str) -> list[str]:
    """Files and folders whose path begins with what was typed; a folder ends with a slash."""
    found = sorted(glob(escape(incomplete) + "*"))
    return [os.path.join(path, "") if os.path.isdir(path) else path for path in found]


def data_sets(incomplete: str) -> list[str]:
    """The data sets that are known by name, and files and folders."""
    names = (*catalogue.SOURCE.names, *STAND_INS)
    return one_of(*names)(incomplete) + paths(incomplete)


def logs(incomplete: str) -> list[str]:
    """The logs that are known by name, and files and folders."""
    return one_of(*open_bandit.LOGS)(incomplete) + paths(incomplete)
