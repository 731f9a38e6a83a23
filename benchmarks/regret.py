"""`python -m benchmarks.regret`: is a bound of the theorems ever broken, in 200 worlds?

Worlds, losses, a, costs and slots are drawn at random (`play_random_game`); regret is exact. Writes
benchmarks/results/regret.json and regret.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from semibandit.experiments.paper.regret_lab import play_random_game
from semibandit.experiments.sweep import sweep

RESULTS = Path(__file__).parent / "results"


def main(
    worlds: Annotated[int, typer.Option(min=1)] = 200,
    rounds: Annotated[int, typer.Option(min=20)] = 1000,
    jobs: Annotated[int | None, typer.Option(min=1)] = None,
) -> None:
    """Play the worlds, count the rounds in which a bound is broken, and write the result."""
    runs = [{"seed": seed, "rounds": rounds} for seed in range(worlds)]
    games = sweep(play_random_game, runs, jobs=jobs)
    (RESULTS / "regret.json").write_text(json.dumps({"rounds": rounds, "games": games}, indent=1))
    (RESULTS / "regret.md").write_text(page(games, rounds))
    typer.echo((RESULTS / "regret.md").read_text())


def page(games: list[dict], rounds: int) -> str:
    """The result as Markdown: by theorem, and the games that came closest to their bound."""
    lines = [
        "# Regret against the bounds",
        "",
        f"`python -m benchmarks.regret --worlds {len(games)} --rounds {rounds}`: {len(games)} "
        f"games of up to {rounds:,} rounds, {sum(game['rounds'] for game in games):,} in all. "
        "World, loss, a, costs, slots, correlation of labels and the number of rounds are drawn "
        "at random; in half of the games an adversary chooses contexts and slots for the largest "
        "regret. Each theorem with its own width, δ = 0.05.",
        "",
        "| bound | games | with an adversary | games that break it | largest regret ÷ bound |",
        "|---|---|---|---|---|",
    ]
    for theorem in ("theorem1", "theorem2", "theorem3"):
        of_it = [game for game in games if game["theorem"] == theorem]
        lines.append(
            f"| `{theorem}` | {len(of_it)} | {sum(game['adversary'] for game in of_it)} "
            f"| {sum(game['broken'] > 0 for game in of_it)} "
            f"| {max((game['closest'] for game in of_it), default=0):.3f} |"
        )
    lines += [
        "",
        "The games that came closest:",
        "",
        "| bound | regret ÷ bound | loss | a | S | K | d | adversary |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for game in sorted(games, key=lambda game: -game["closest"])[:5]:
        S = "no limit" if game["slots"] is None else game["slots"]
        lines.append(
            f"| `{game['theorem']}` | {game['closest']:.3f} | {game['loss']} | {game['a']:g} | {S} "
            f"| {game['K']} | {game['d']} | {'yes' if game['adversary'] else 'no'} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    typer.run(main)
