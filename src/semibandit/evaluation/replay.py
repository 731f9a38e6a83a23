"""Replay: a whole multilabel set played as partial feedback."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from semibandit._util.arrays import Array, Ints
from semibandit._util.progress import ProgressOption, progress_bar
from semibandit.evaluation.compiled_types import Outcome
from semibandit.evaluation.feed import Block, Feed
from semibandit.evaluation.runners import PreparedBlock, Runner, runner_for, why_plain
from semibandit.evaluation.trace import Recorder, Trace
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.randomised import Randomised

__all__ = ["replay"]

log = logging.getLogger("semibandit")


def replay(
    learner: Learner | Randomised,
    X: Any,
    Y: Any,
    slots: int | Sequence[int | None] | None = None,
    *,
    candidates: Iterable[Label] | Array | None = None,
    keep_slates: bool = True,
    plain: bool = False,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Trace:
    """Replay a multilabel data set as partial feedback: rank each row of X, answer from Y, learn.

    The learner goes on from the state it is in. A learner with full information is told all
    relevant labels, any other those that it showed. SlateUCB and Greedy with full or diagonal
    matrices, and OBR, run on compiled runners (with numba, the extra `fast`): the same decisions,
    many times faster. With `Full(device=...)` whole windows of rounds are played on the device.

    Parameters
    ----------
    learner : Learner or Randomised
        The learner, which is changed; or a policy around it (`Mixed`, `PlackettLuce`), which draws
        what is shown, and is played round by round.
    X : array, sparse matrix or iterator
        Contexts, T×n_features: an array (a memory-mapped one is read block by block), a scipy
        sparse matrix, or an iterator of such blocks. If the learner has named features, also a
        mapping of columns of equal length, or a list of dictionaries; None is unknown.
    Y : array, sparse matrix or iterator
        Relevant labels, T×K of zeros and ones; column j is learner.labels[j].
    slots : int, sequence or None
        The most labels to show: one number, one per round, or None for no limit.
    candidates : iterable of labels or T×K array, optional
        The labels that may be shown, or which of them may in which round. By default all may.
        Labels that are candidates in none of the next rounds are not looked at.
    keep_slates : bool
        False forgets the slates once they are counted, which saves memory.
    plain : bool
        True plays round by round, even if a compiled runner gives the same result faster.
    threads : int, optional
        How many cores to use; by default all.
    progress : bool, callable or None
        Show a bar; by default if there is a terminal. A function is called with the rounds played.

    Returns
    -------
    Trace
        The slates and what every loss is made of.

    Raises
    ------
    InputError
        If a context, an answer or a shape is wrong. Contexts and answers are checked in blocks of
        1,024 rounds: the learner has learned the blocks before the one with the error.

    Examples
    --------
    >>> import semibandit as sb
    >>> learner = sb.SlateUCB(n_features=2, labels=["sea", "sun"])
    >>> trace = replay(learner, X=[[1, 0], [0, 1]], Y=[[1, 0], [0, 1]], slots=1)
    >>> trace.sizes.tolist(), trace.relevant.tolist()
    ([1, 1], [1, 1])
    """
    names = learner.labels
    feed = Feed(X, Y, names, slots, candidates)
    record = Recorder(len(names), learner.a, learner.cost, keep_slates=keep_slates)
    most = feed.most if learner.cost.limit is None else min(feed.most, learner.cost.limit)
    alone = learner.learner if isinstance(learner, Randomised) else learner
    runner = None
    if not plain and alone is learner:
        runner = runner_for(alone, most, threads, masked=candidates is not None)
        if runner is None:
            _say_once(type(alone), why_plain(alone, most, masked=candidates is not None))
    try:
        with progress_bar(feed.length, type(learner).__name__, progress) as advance:
            for block in feed:
                if runner:
                    done = _fast(runner, alone, block, most)
                else:
                    done = _plain(learner, alone, block)
                relevant = np.diff(block.ptr)
                record.add(done.slates, done.hits, done.sizes, relevant, block.slots)
                advance(len(block))
    finally:
        if runner:
            runner.close()
    return record.trace()


@cache
def _say_once(kind: type[Learner], why: str | None) -> None:
    """Say of a class that is not ours why its rounds are played in Python, which is slower."""
    if not kind.__module__.startswith("semibandit."):
        log.warning("%s is replayed by Python, not by compiled loops: %s", kind.__name__, why)


def _fast(runner: Runner, learner: Learner, block: Block, most: int) -> Outcome:
    """Play the block on a runner, whose labels are rows of the model."""
    learner.read_slots(int(block.slots.min(initial=learner.at_least)))
    given, encoder = learner.encode_contexts(block.contexts, block.first)
    X = learner.scaled_in_turn(given, block.first)
    row, width = runner.rows, runner.n_rows
    columns, mask = row[block.columns], block.mask
    slots = np.minimum(block.slots, most)
    if len(row) < width:
        columns = _sorted_within(columns, block.ptr)
        mask = np.zeros((len(block.mask), width), dtype=np.bool_)
        mask[:, row] = block.mask
    done = runner.play(PreparedBlock(given, X, block.ptr, columns, slots, mask, encoder))
    if len(row) == width:
        return done
    column = np.full(width + 1, -1, dtype=np.int32)
    column[row] = np.arange(len(row))
    return Outcome(column[done.slates], done.hits, done.sizes)


def _plain(policy: Learner | Randomised, learner: Learner, block: Block) -> Outcome:
    """Play the block round by round, by `rank` and `learn`: what every runner must match."""
    names = learner.labels
    column = {name: j for j, name in enumerate(names)}
    given, _ = learner.encode_contexts(block.contexts, block.first)
    if not learner.bias:  # with one every context can be scaled
        learner.scaled_in_turn(given, block.first)  # a bad row is refused before any is played
    shown: list[Ints] = []
    for t in range(len(block)):
        free = [names[j] for j in np.flatnonzero(block.mask[t])] if len(block.mask) else None
        slate = policy.rank(
            block.context(t), 1 if learner.one_slot else int(block.slots[t]), candidates=free
        )
        chosen = np.array([column[label] for label in slate.labels], dtype=np.intp)
        relevant = block.relevant(t)
        told = relevant if learner.full_information else chosen[np.isin(chosen, relevant)]
        learner.learn(slate, [names[j] for j in told])
        shown.append(chosen)
    done = Outcome.empty(len(block), max((len(chosen) for chosen in shown), default=0))
    for t, chosen in enumerate(shown):
        done.sizes[t] = len(chosen)
        done.slates[t, : len(chosen)] = chosen
        done.hits[t, : len(chosen)] = np.isin(chosen, block.relevant(t))
    return done


def _sorted_within(columns: Ints, ptr: Ints) -> Ints:
    """Each round's rows in order: rows of labels that came later may lie anywhere."""
    round_of = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return columns[np.lexsort((columns, round_of))]
