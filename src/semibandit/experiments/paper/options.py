"""What `semibandit reproduce` is asked to run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from semibandit._util.extras import import_extra
from semibandit.data.catalogue import SOURCE
from semibandit.errors import InputError
from semibandit.experiments.cluster import check_cluster
from semibandit.experiments.paper.plans import FIGURE_WIDTH
from semibandit.experiments.sets import PROJECTED, STAND_INS
from semibandit.policies.spec import parse

__all__ = ["ReproduceOptions"]


@dataclass(frozen=True)
class ReproduceOptions:
    """What to run, and where.

    Parameters
    ----------
    sets : sequence of str
        The data sets of the paper's figure. The first one is also used to compare widths.
    price_sets : sequence of str
        The data sets on which the price of partial feedback is measured.
    width : str
        SlateUCB's width in the figures, in words; the same for all data sets and losses.
    seeds : sequence of int
        How many seeds each learner is run with, for each of `sets`; the last number holds for
        further ones, the first one for all that is not a figure. A seed orders the rows of a
        figure's data, and labels that are equal.
    lab_rounds : int
        How many rounds the regret lab plays; 600 times as many where the theorems' own widths are
        shown.
    backend, address, jobs
        As for `sweep`.
    """

    sets: Sequence[str] = ("mediamill", "delicious-98", "tags-world")
    price_sets: Sequence[str] = ("emotions", "scene", "yeast", "mediamill")  # seconds each
    width: str = FIGURE_WIDTH
    seeds: Sequence[int] = (2,)
    lab_rounds: int = 500
    backend: str = "local"
    address: str | None = None
    jobs: int | None = None

    def check(self) -> None:
        """Find mistakes before the work.

        Raises
        ------
        InputError
            If an option is wrong, in the words of the command line.
        MissingExtra
            If what the report needs is not installed.
        """
        if not self.sets or not self.price_sets:
            raise InputError("--sets and --prices need at least one data set each")
        if not self.seeds or min(self.seeds) < 1:
            raise InputError(f"--seeds has {self.seeds!r}, but each must be at least 1")
        known = [*(one.name for one in SOURCE.sets), *PROJECTED, *STAND_INS]
        for option, names in (("--sets", self.sets), ("--prices", self.price_sets)):
            for name in names:
                if name not in known and not Path(name).exists():
                    raise InputError(
                        f"{option} has {name!r}: not a file, nor one of {', '.join(known)}"
                    )
        parse("width", self.width)
        check_cluster(self.backend, self.address, self.jobs)
        for module in ("matplotlib", "jinja2"):
            import_extra(module, "plot", "the report")

    def seeds_of(self, place: int) -> int:
        """How many seeds the figure of the data set at this place has."""
        return self.seeds[min(place, len(self.seeds) - 1)]

    @property
    def command(self) -> str:
        """The command that gives the same numbers."""
        words = ["semibandit", "reproduce", "--sets", ",".join(self.sets)]
        words += ["--prices", ",".join(self.price_sets), "--width", self.width]
        words += ["--seeds", ",".join(map(str, self.seeds)), "--lab-rounds", str(self.lab_rounds)]
        return shlex.join(words)
