"""Replay: a whole multilabel set played as partial feedback."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from semibandit._util.arrays import Array, Ints
from semibandit._util.progress import Show, progress_of
from semibandit.evaluation.compiled_types import Outcome
from semibandit.evaluation.feed import Feed, Rounds
from semibandit.evaluation.runners import PreparedBlock, Runner, runner_for
from semibandit.evaluation.trace import Recorder, Trace
from semibandit.policies.context import read_contexts
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner

__all__ = ["replay"]


def replay(
    learner: Learner,
    X: Any,
    Y: Any,
    slots: int | Sequence[int | None] | None = None,
    *,
    candidates: Iterable[Label] | Array | None = None,
    keep_slates: bool = True,
    plain: bool = False,
    threads: int | None = None,
    progress: Show = None,
) -> Trace:
    """Rank each row of X, answer from the same row of Y, learn; the learner goes on as it stands.

    X            contexts, T×n_features: an array (a memory-mapped one is read block by block), a
                 scipy-sparse matrix, or an iterator of such blocks
    Y            relevant labels, T×K of zeros and ones: an array, scipy-sparse, or an iterator of
                 blocks; column j is learner.labels[j]
    slots        the most labels to show: one number, one per round, or None for no limit
    candidates   the labels that may be shown, or a T×K array of who may in which round
    keep_slates  False forgets the slates once they are counted, for very many rounds
    plain        True plays round by round, also where a faster way to the same result is known
    threads      how many cores to use; by default all
    progress     show a bar; by default where there is a terminal

    A learner with full information is told all relevant labels, any other those it showed. SlateUCB
    and Greedy with full or diagonal matrices, and OBR, run on compiled runners (with numba, the
    extra `fast`): the same decisions, many times faster. Contexts and answers are checked a block
    of 1,024 rounds ahead; an error leaves the learner with the blocks before it learned.
    """
    names = learner.labels
    feed = Feed(X, Y, names, slots, candidates)
    record = Recorder(len(names), learner.a, learner.cost, keep_slates=keep_slates)
    most = feed.most if learner.cost.limit is None else min(feed.most, learner.cost.limit)
    runner = None if plain else runner_for(learner, most, threads)
    try:
        with progress_of(feed.length, type(learner).__name__, progress) as advance:
            for rounds in feed:
                done = _fast(runner, learner, rounds, most) if runner else _plain(learner, rounds)
                relevant = np.diff(rounds.ptr)
                record.add(done.slates, done.hits, done.sizes, relevant, rounds.slots)
                advance(len(rounds))
    finally:
        if runner:
            runner.close()
    return record.trace()


def _fast(runner: Runner, learner: Learner, rounds: Rounds, most: int) -> Outcome:
    """The block on a runner, whose labels are model rows."""
    X = read_contexts(
        rounds.X,
        learner.n_features,
        bias=learner.bias,
        normalize=learner.normalize,
        sparse=learner.takes_sparse,
        first=rounds.first,
    )
    row, width = runner.rows, runner.n_rows
    columns, mask = row[rounds.columns], rounds.mask
    slots = np.minimum(rounds.slots, most)
    if len(row) < width:
        columns = _sorted_within(columns, rounds.ptr)
        mask = np.zeros((len(rounds.mask), width), dtype=np.bool_)
        mask[:, row] = rounds.mask
    done = runner.play(PreparedBlock(X, rounds.ptr, columns, slots, mask))
    if len(row) == width:
        return done
    column = np.full(width + 1, -1, dtype=np.int32)
    column[row] = np.arange(len(row))
    return Outcome(column[done.slates], done.hits, done.sizes)


def _plain(learner: Learner, rounds: Rounds) -> Outcome:
    """The block round by round, by `rank` and `learn`: what every runner must match."""
    names = learner.labels
    column = {name: j for j, name in enumerate(names)}
    read_contexts(
        rounds.X, learner.n_features, bias=learner.bias, normalize=False, sparse=True,
        first=rounds.first,
    )  # fmt: skip  # a bad row is refused before the block is played
    shown: list[Ints] = []
    for t in range(len(rounds)):
        free = [names[j] for j in np.flatnonzero(rounds.mask[t])] if len(rounds.mask) else None
        slate = learner.rank(
            rounds.X[[t]], 1 if learner.one_slot else int(rounds.slots[t]), candidates=free
        )
        chosen = np.array([column[label] for label in slate.labels], dtype=np.intp)
        relevant = rounds.relevant(t)
        told = relevant if learner.full_information else chosen[np.isin(chosen, relevant)]
        learner.learn(slate, [names[j] for j in told])
        shown.append(chosen)
    done = Outcome.empty(len(rounds), max((len(chosen) for chosen in shown), default=0))
    for t, chosen in enumerate(shown):
        done.sizes[t] = len(chosen)
        done.slates[t, : len(chosen)] = chosen
        done.hits[t, : len(chosen)] = np.isin(chosen, rounds.relevant(t))
    return done


def _sorted_within(columns: Ints, ptr: Ints) -> Ints:
    """Each round's rows in order: rows of labels that came later may lie anywhere."""
    rounds = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return columns[np.lexsort((columns, rounds))]
