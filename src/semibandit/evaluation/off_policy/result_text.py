"""Results of evaluations as plain text: what `print`, the terminal and the page have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semibandit.evaluation.off_policy.result import Check, Estimate, Evaluation

__all__ = [
    "check_value",
    "comparison_text",
    "counted",
    "difference_lines",
    "drawn_line",
    "interval",
    "interval_words",
    "note_lines",
    "plain_table",
    "refusal_lines",
    "value_rows",
]

SINGULAR = {"decisions": "decision", "visits": "visit", "lines": "line", "clicks": "click"}


def interval(one: Estimate | None) -> str:
    """The value and its interval.

    >>> from semibandit.evaluation.off_policy.result import Estimate
    >>> interval(Estimate("SNIPS", 0.25, 0.2, 0.3))
    '0.2500 [0.2000, 0.3000]'
    """
    if one is None or one.value is None:
        return "refused"
    if one.low is None or one.high is None:
        return f"{one.value:.4f}"
    return f"{one.value:.4f} [{one.low:.4f}, {one.high:.4f}]"


def interval_words(confidence: float) -> str:
    """What intervals are.

    >>> interval_words(0.95)
    '95% intervals over visits'
    """
    return f"{100 * confidence:.4g}% intervals over visits"


def counted(n: int, what: str) -> str:
    """How many of something in the plural there are, as one says it.

    >>> counted(1, "decisions without feedback"), counted(2000, "visits")
    ('1 decision without feedback', '2,000 visits')
    """
    first, space, rest = what.partition(" ")
    return f"{n:,} {SINGULAR.get(first, first) if n == 1 else first}{space}{rest}"


def check_value(check: Check | None) -> str:
    """What a check found, in few characters."""
    if check is None:
        return ""
    value = f"{check.value:,.0f}" if check.value >= 1000 else f"{check.value:.3g}"
    return value if check.passed else f"{value} fails"


def value_rows(evaluations: Iterable[Evaluation]) -> list[tuple[str, list[str]]]:
    """A row for each estimator, with a cell for each policy; then the intervals for any time."""
    by_policy = [one.estimates for one in evaluations]
    names = list(dict.fromkeys(name for one in by_policy for name in one))
    rows = [(name, [interval(one.get(name)) for one in by_policy]) for name in names]
    for name in names:
        cells = [_anytime(one.get(name)) for one in by_policy]
        if any(cells):
            rows.append((f"{name}, at any time", cells))
    return rows


def refusal_lines(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Why estimators are refused, each reason once for all estimators and policies alike."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for policy, one in evaluations.items():
        reasons: dict[str, list[str]] = {}
        for name, estimate in one.estimates.items():
            if estimate.refused is not None:
                reasons.setdefault(estimate.refused, []).append(name)
        for reason, names in reasons.items():
            found.setdefault((reason, tuple(names)), []).append(policy)
    return [
        f"{_whose(policies, evaluations)}{', '.join(names)} refused. {_sentence(reason)}"
        for (reason, names), policies in found.items()
    ]


def note_lines(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """What is to be known of the policies, each note once."""
    found: dict[str, list[str]] = {}
    for policy, one in evaluations.items():
        for note in one.notes:
            found.setdefault(note, []).append(policy)
    return [f"{_whose(policies, evaluations)}{note}" for note, policies in found.items()]


def difference_lines(differences: Mapping[str, Estimate], reference: str | None) -> list[str]:
    """How much more each policy would have earned than the reference, if that is known.

    >>> from semibandit.evaluation.off_policy.result import Estimate
    >>> difference_lines({"a=1": Estimate("SNIPS", 0.02, -0.01, 0.05)}, "uniform")
    ['a=1: +0.0200 [-0.0100, +0.0500] compared with uniform (SNIPS), no more than noise']
    """
    other = "the log's own policy" if reference is None else reference
    lines = []
    for policy, one in differences.items():
        if one.value is not None and one.low is not None and one.high is not None:
            told = f"{one.value:+.4f} [{one.low:+.4f}, {one.high:+.4f}]"
            noise = ", no more than noise" if one.low <= 0 <= one.high else ""
            lines.append(f"{policy}: {told} compared with {other} ({one.name}){noise}")
    return lines


def drawn_line(share: float | None) -> str | None:
    """What to know of what the log's own policy earned, if part of its slates were random."""
    if not share:
        return None
    return (
        f"{share:.1%} of the log's slates were drawn at random or those of the holdout: what its "
        "own policy earned is with them"
    )


def plain_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table: words to the left, all other columns to the right.

    >>> plain_table(("name", "value"), [("a", "1.5"), ("long name", "12")])
    ['name       value', 'a            1.5', 'long name     12']
    """
    table = [tuple(columns), *map(tuple, rows)]
    wide = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.rjust(n) if i else cell.ljust(n)
            for i, (cell, n) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in table
    ]


def comparison_text(
    evaluations: Mapping[str, Evaluation], more: Sequence[str] = (), log: str | None = None
) -> str:
    """What `print` shows of one or several policies: values, failed checks, reasons, notes."""
    first = next(iter(evaluations.values()))
    start = "" if log is None else f"{log}: "
    left_out = "".join(f"; left out: {counted(n, why)}" for why, n in first.left_out.items())
    lines = [f"{start}{counted(first.visits, 'visits')}, {first.reward} per visit{left_out}"]
    rows = [(name, *cells) for name, cells in value_rows(evaluations.values())]
    rows.insert(0, ("the log's own", *(interval(first.logged) for _ in evaluations)))
    lines += ["", *plain_table(("estimator", *evaluations), rows)]
    lines += [interval_words(first.confidence), ""]
    for policy, one in evaluations.items():
        failed = [check for check in one.checks if not check.passed]
        some = ", ".join(f"{c.name} of {c.weights} weights ({c.value:.3g})" for c in failed)
        whose = _whose([policy], evaluations)
        lines.append(f"{whose}{'failed checks: ' + some if some else 'all checks passed'}")
    return "\n".join([*lines, *refusal_lines(evaluations), *note_lines(evaluations), *more])


def _anytime(one: Estimate | None) -> str:
    """The interval that stays valid however often one looks, if there is one."""
    if one is None or one.value is None or one.anytime_low is None or one.anytime_high is None:
        return ""
    return f"[{one.anytime_low:.4f}, {one.anytime_high:.4f}]"


def _whose(policies: Sequence[str], every: Mapping[str, Evaluation]) -> str:
    """Of which policies something is said, if there are several."""
    if len(every) == 1:
        return ""
    return "all: " if len(policies) == len(every) else f"{', '.join(policies)}: "


def _sentence(text: str) -> str:
    """A sentence that begins as one, and ends with a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
