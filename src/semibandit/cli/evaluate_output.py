"""What `semibandit evaluate` prints: checks first, then values, then a plot."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from semibandit.cli.output import print_line, print_table, table_fits
from semibandit.evaluation.off_policy.compare import Comparison
from semibandit.evaluation.off_policy.result import Estimate, Evaluation
from semibandit.evaluation.off_policy.result_text import (
    check_value,
    counted,
    difference_lines,
    drawn_line,
    interval,
    interval_words,
    note_lines,
    refusal_lines,
    value_rows,
)

__all__ = ["bars", "show_comparison"]

WIDTH = 48  # characters of a bar, if there is room
LEAST = 12  # with less room, bars are below their names


def show_comparison(found: Comparison) -> None:
    """Print the checks of all policies, their values, and a plot."""
    first = next(iter(found.evaluations.values()))
    visits = counted(first.visits, "visits")
    print_line(f"{found.log}: {visits}, reward: {first.reward} per visit")
    for reason, n in first.left_out.items():
        print_line(f"left out: {counted(n, reason)}")
    drawn = drawn_line(found.drawn_share)
    for note in (*found.notes, *([drawn] if drawn else ())):
        print_line(note)
    _show_checks(found.evaluations)
    _show_values(found)
    for line in (*refusal_lines(found.evaluations), *note_lines(found.evaluations)):
        print_line(line)
    for line in difference_lines(found.differences, found.reference):
        print_line(line)
    print_line("")
    for line in bars(found, Console().width):
        print_line(line)


def _show_checks(evaluations: Mapping[str, Evaluation]) -> None:
    """One table for all policies; if the terminal is too narrow, one for each."""
    names = list(dict.fromkeys(check.name for one in evaluations.values() for check in one.checks))
    rows: dict[str, list[tuple[str, ...]]] = {}
    for policy, one in evaluations.items():
        rows[policy] = []
        for weights in dict.fromkeys(check.weights for check in one.checks):
            by_name = {check.name: check for check in one.checks if check.weights == weights}
            rows[policy].append((weights, *(check_value(by_name.get(name)) for name in names)))
    together = [(policy, *row) for policy, some in rows.items() for row in some]
    columns = ("policy", "weights", *names)
    if not together:
        return
    if table_fits(columns, together, 2):
        print_table(columns, together, words=2, title="Checks")
        return
    for policy, some in rows.items():
        print_table(columns[1:], some, title=f"Checks of {policy}")


def _show_values(found: Comparison) -> None:
    policies, first = found.evaluations, next(iter(found.evaluations.values()))
    rows = value_rows(policies.values())
    title = "Value per visit"
    caption = (
        f"Brackets: {interval_words(first.confidence)}. "
        f"The log's own policy earned {interval(found.logged)}."
    )
    side_by_side = [(name, *cells) for name, cells in rows]
    columns = ("estimator", *policies)
    if table_fits(columns, side_by_side):
        print_table(columns, side_by_side, title=title, caption=caption)
        return
    table = [
        (policy, name, cells[i])
        for i, policy in enumerate(policies)
        for name, cells in rows
        if cells[i]
    ]
    print_table(("policy", "estimator", "value"), table, words=2, title=title, caption=caption)


def bars(found: Comparison, width: int) -> list[str]:
    """A line per policy: its value as a dot, its interval as a line, from 0 to the largest.

    Lines are at most `width` characters long; in a narrow terminal a bar is below its name.
    """
    rows: dict[str, tuple[str, Estimate | None]] = {"the log's own": ("", found.logged)}
    for name in found.evaluations:
        one = found.headline(name)
        rows[name] = ("" if one is None else one.name, one)
    ends = [one.high or one.value or 0.0 for _, one in rows.values() if one is not None]
    scale = max(ends, default=0.0)
    wide, kind = max(map(len, rows)), max(len(kind) for kind, _ in rows.values())
    number = max(len(interval(one)) for _, one in rows.values())
    room = width - (wide + 2 + kind + 2) - (number + 4)
    lines = []
    for name, (estimator, one) in rows.items():
        start = f"{name:<{wide}}  {estimator:<{kind}}  "
        if room < LEAST:
            lines.append(f"{name} {estimator}".rstrip())
            start = "  "
        size = min(WIDTH, room if room >= LEAST else max(width - number - 6, 1))
        lines.append(start + _bar(one, scale, size))
    return lines


def _bar(one: Estimate | None, scale: float, size: int) -> str:
    if one is None or one.value is None:
        return "refused"
    low = one.value if one.low is None else one.low
    high = one.value if one.high is None else one.high
    place = [
        round((size - 1) * max(end, 0.0) / scale) if scale else 0 for end in (low, one.value, high)
    ]
    line = " " * place[0] + "─" * (place[2] - place[0] + 1)
    drawn = f"{line[: place[1]]}●{line[place[1] + 1 :]}"
    return f"│{drawn:<{size}}│ {interval(one)}"
