"""`semibandit evaluate`: what other policies would have earned, from the log of a service."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from semibandit.cli.completion import logs
from semibandit.cli.errors import reporting_errors
from semibandit.cli.evaluate_output import show_comparison
from semibandit.cli.log_options import (
    A,
    AtLeast,
    Bias,
    Cost,
    Examination,
    Forget,
    Learner,
    Loss,
    Model,
    Probe,
    Project,
    Reward,
    Scale,
    Seed,
    Since,
    Until,
    Width,
    read_reward_words,
    time_before,
)
from semibandit.cli.options import learner_words
from semibandit.cli.output import check_writable, print_line, write_json
from semibandit.data.open_bandit import is_open_bandit
from semibandit.evaluation.off_policy.policy_words import LEARNING, POLICY_WORDS, SAME

__all__ = ["evaluate"]

NO_VALUE = 1  # the exit code if nothing could be estimated
USUAL = (SAME, "uniform")  # what is judged if no policy is given


def evaluate(
    context: typer.Context,
    log: Annotated[
        str,
        typer.Argument(
            help="The log of a service: its store (a folder or postgresql://...), or a file of "
            "`semibandit export`; or open-bandit/bts/all.",
            autocompletion=logs,
        ),
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Whose value is asked for: {POLICY_WORDS}. May be repeated.",
            show_default="learner and uniform",
        ),
    ] = None,
    learner: Learner = None,
    loss: Loss = None, model: Model = None, width: Width = None, cost: Cost = None, a: A = None,
    scale: Scale = None, bias: Bias = None, project: Project = None, probe: Probe = None,
    at_least: AtLeast = None, forget: Forget = None, examination: Examination = None,
    seed: Seed = None,
    reward: Reward = None,
    learning: Annotated[
        str | None,
        typer.Option(
            help=f"{' | '.join(LEARNING)}: whether learners learn all of the log's feedback, each "
            "visit after they were judged on it; only visits whose slate they would have shown, as "
            "if they had been online; or nothing.",
            show_default="log; none for files of learners",
        ),
    ] = None,
    since: Since = None, until: Until = None,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    html: Annotated[
        Path | None, typer.Option(help="Write tables, plot and checks to this page.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write all numbers to this file.")
    ] = None,
) -> None:  # fmt: skip
    """Estimate what other policies would have earned in the visits of a service's log.

    The log must say how likely each slate was: run the service with --randomise mixed:0.05, or with
    --holdout 0.02. The options --learner to --seed change the log's own learner, which then begins
    anew and learns along the log:

    semibandit evaluate semibandit-store --width scaled:0.5 --a 0.9

    Several policies are compared in one pass:

    semibandit evaluate log.jsonl --policy uniform --policy a=0.9 --policy "Greedy,a=0.9" --policy
    better.npz --html comparison.html

    Checks of the weights come first. A value that they do not support is refused, and the reason
    says what log would be needed. If no value can be given, the exit code is 1.
    """
    from semibandit._util.blas import one_thread
    from semibandit._util.extras import import_extra
    from semibandit.evaluation.off_policy.compare import compare

    with reporting_errors("evaluate"):
        check_writable("--html", html)
        check_writable("--json", json)
        if html is not None:
            for module in ("matplotlib", "jinja2"):
                import_extra(module, "plot", "--html")
        one_thread()
        found = compare(
            log,
            _policies(learner_words(context), policy or [], log),
            reward=read_reward_words(reward or "clicks", log),
            learning=learning,
            confidence=confidence,
            since=time_before("--since", since),
            until=time_before("--until", until),
        )
        show_comparison(found)
        if json is not None:
            write_json(json, found.json())
            print_line(f"wrote {json}")
        if html is not None:
            from semibandit.experiments.evaluation_page import write_page

            write_page(found, html)
            print_line(f"wrote {html}")
    if found.empty:
        print_line("no value can be given for any of these policies from this log")
        raise typer.Exit(NO_VALUE)


def _policies(words: Mapping[str, Any], others: list[str], log: str) -> list[str]:
    """The policy that the options describe, and the others."""
    changes = [] if "learner" not in words else [str(words["learner"])]
    changes += [
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in words.items()
        if key != "learner"
    ]
    policies = ([",".join(changes)] if changes else []) + others
    return policies or [one for one in USUAL if one != SAME or not is_open_bandit(log)]
