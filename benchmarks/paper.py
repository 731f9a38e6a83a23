"""`python -m benchmarks.paper FOLDER`: keep the verdicts of a long `semibandit reproduce`.

FOLDER is the report's. Writes benchmarks/results/paper.md, and verdicts.json in the package, which
every report shows beside its own verdicts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from semibandit.experiments.paper import report

RESULTS = Path(__file__).parent / "results"


def main(folder: Annotated[Path, typer.Argument()]) -> None:
    """Read the folder's results.json and write both files."""
    numbers = json.loads((folder / "results.json").read_text())
    seeds = {
        data: len(next(iter(panels["left"].values()))["none"])
        for data, panels in numbers["panels"].items()
    }
    verdicts: dict[str, dict[str, dict[str, str]]] = {}
    for one in numbers["findings"]:
        kept = {"verdict": one["verdict"], "reason": one["reason"]}
        verdicts.setdefault(one["data"], {})[one["statement"]] = kept
    text = json.dumps(
        {"command": numbers["command"], "seeds": seeds, "verdicts": verdicts}, indent=1,
        ensure_ascii=False,
    )  # fmt: skip
    path = Path(report.__file__).with_name(report.VERDICTS)
    path.write_text(text + "\n", encoding="utf-8")
    (RESULTS / "paper.md").write_text(page(numbers, seeds), encoding="utf-8")


def page(numbers: dict, seeds: dict[str, int]) -> str:
    """The verdicts with their numbers, and the losses that they are about, as Markdown."""
    lines = [
        "# The paper's experiments, with many orders of the data",
        "",
        f"`{numbers['command']}`, then `python -m benchmarks.paper`. A statement holds or differs "
        "if paired intervals over orders and rows say so, 95% for all of a statement together; "
        "else it is undecided.",
    ]
    for data, orders in seeds.items():
        lines += [
            "",
            f"## {data}, {orders} orders",
            "",
            "| statement | verdict | numbers | why it differs |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {one['statement']} | {one['verdict']} | {one['numbers']} | {one['reason']} |"
            for one in numbers["findings"]
            if one["data"] == data
        ]
        lines += _losses(numbers, data)
    lines += _lab(numbers["lab"])
    return "\n".join(lines) + "\n"


def _losses(numbers: dict, data: str) -> list[str]:
    lines = []
    kinds = {"left": "ac", "middle": "hamming", "right": "p_rank_per_slot"}
    kinds["ranking"] = "p_rank_per_slot"
    for panel, methods in numbers["panels"][data].items():
        slots = list(next(iter(methods.values())))
        heads = ["no limit" if S == "none" else f"S={S}" for S in slots]
        lines += ["", f"| {panel} panel | {' | '.join(heads)} |", "|---" * (len(slots) + 1) + "|"]
        for method, points in methods.items():
            cells = []
            for results in points.values():
                values = [result[kinds[panel]] for result in results]
                mean = sum(values) / len(values)
                cells.append(f"{mean:.3f} ({min(values):.3f}–{max(values):.3f})")
            lines.append(f"| {method} | {' | '.join(cells)} |")
        if bayes := numbers["bayes"].get(data):
            S = list(bayes)[-1]
            row = [bayes[S if S_ == "none" else S_][kinds[panel]] for S_ in slots]
            lines.append(f"| Bayes | {' | '.join(f'{value:.3f}' for value in row)} |")
        empty = numbers["data"][data]["cardinality"] * (0.5 if panel == "left" else 1.0)
        lines.append(f"| empty slate | {' | '.join([f'{empty:.3f}'] * len(slots))} |")
    return lines


def _lab(lab: dict) -> list[str]:
    """Regret and its slopes; means over seeds."""
    lines = [
        "",
        "## The regret lab",
        "",
        "Slopes of log regret against log t over the last ten-fold of the rounds and the one "
        "before: the mean, and in brackets the range, over seeds.",
        "",
        "| picture | learner | rounds | regret | slope before | slope at the end | bound |",
        "|---|---|---|---|---|---|---|",
    ]
    for picture, rows in lab.items():
        for name, row in rows.items():
            bound = f"{row['bound'][-1]:,.0f}" if row["bound"] else ""
            slopes = [_range(row[key]) for key in ("slope_before", "slope")]
            regret = sum(row["final"]) / len(row["final"])
            lines.append(
                f"| {picture} | {name} | {row['marks'][-1]:,} | {regret:,.1f} | {slopes[0]} "
                f"| {slopes[1]} | {bound} |"
            )
    return lines


def _range(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return ""
    return f"{sum(known) / len(known):.2f} ({min(known):.2f}–{max(known):.2f})"


if __name__ == "__main__":
    typer.run(main)
