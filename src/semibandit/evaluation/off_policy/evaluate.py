"""What another policy would have earned, from the log of a service."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from semibandit._util.progress import ProgressOption
from semibandit.evaluation.off_policy.compare import compare
from semibandit.evaluation.off_policy.policy_words import Policy
from semibandit.evaluation.off_policy.result import Evaluation
from semibandit.policies.labels import Label

__all__ = ["evaluate"]


def evaluate(
    log: str | os.PathLike[str],
    policy: Policy,
    *,
    reward: str | Mapping[Label, float] = "clicks",
    learning: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    since: float | None = None,
    until: float | None = None,
    progress: ProgressOption = None,
) -> Evaluation:
    """Estimate what a policy would have earned in the visits of a log.

    The log must have been drawn with known probabilities: by `semibandit serve --randomise
    mixed:0.05`, or `--holdout 0.02`, or by `Mixed` or `PlackettLuce`.

    Parameters
    ----------
    log : str or path
        A store (a folder or postgresql://...), or a file of `semibandit export`.
    policy : Learner, Randomised, LearnerSpec, path or str
        Whose value is asked for. A learner, or the file of one, is judged as it is, and not
        changed. In words: "uniform"; "logged", the log's own policy; "most-clicked"; "learner", the
        log's own learner begun anew; or what is changed about it, "a=0.9,width=scaled:0.5".
    reward : str or mapping
        What a visit is worth: "clicks", "dcg" (clicks weighted by position), "any" (whether
        anything was clicked), or what a click on each label is worth.
    learning : {"log", "accepted", "none"}, optional
        "log": the learner learns the log's feedback in its order, each after it was judged on it,
        some 64 visits at a time; what it learns from is what the log's policy showed. "accepted":
        it learns only from visits whose slate it would have shown, a random part of them, as if it
        had been online; that needs a log in which many slates are uniform. "none": it stays as it
        is. By default "log" for policies in words, and "none" for learners.
    confidence : float
        Of the intervals.
    seed : int
        Of what is drawn: bootstrap samples, folds, accepted visits.
    since, until : float, optional
        Judge only visits of this time and later, and before this one, in seconds since 1970. A
        learner that learns does so from the beginning of the log, but with "accepted" from `since`.
    progress : bool, callable or None
        Show a bar; by default if there is a terminal. A function is called with the events read.

    Returns
    -------
    Evaluation
        Diagnostics, and the value by several estimators; those that cannot be trusted are refused,
        with the reason.

    Raises
    ------
    InputError
        If no visit of the log can be used (the text says what it lacks), or an option is wrong.
    MissingFile, FileError
        If the log or the learner's file cannot be read.

    Examples
    --------
    >>> import tempfile, semibandit as sb
    >>> from semibandit.store.store import Store
    >>> folder = tempfile.mkdtemp()
    >>> Store.create(folder, sb.SlateUCB(n_features=2, labels=["tea", "coffee"])).close()
    >>> evaluate(folder, "uniform")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    semibandit.errors.InputError: ... has no visit that can be evaluated: ...
    """
    found = compare(
        log, {"": policy}, reward=reward, learning=learning, confidence=confidence, seed=seed,
        since=since, until=until, progress=progress,
    )  # fmt: skip
    one = found.evaluations[""]
    return replace(one, notes=[*one.notes, *found.notes])
