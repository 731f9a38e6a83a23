"""Bars of values in the terminal."""

import re

from semibandit.cli.evaluate_output import WIDTH, bars, show_comparison
from semibandit.evaluation.off_policy.compare import Comparison
from semibandit.evaluation.off_policy.result import Check, Estimate, Evaluation


def test_a_bar_shows_the_value_and_its_interval():
    def found(*estimates):
        by_name = {one.name: one for one in estimates}
        return Evaluation("", "clicks", 10, {}, [], by_name, Estimate("logged", 0.5, 0.4, 0.6))

    comparison = Comparison(
        "log",
        {
            "one": found(Estimate("snRIPS", 1.0, 0.5, 2.0)),
            "none": found(Estimate("snRIPS", None, refused="too few")),
            "zero": found(Estimate("IPS", 0.0, 0.0, 0.0)),
        },
    )
    logged, one, none, zero = bars(comparison, 200)
    assert logged.startswith("the log's own")
    drawn = one[one.index("│") + 1 : one.rindex("│")]
    assert len(drawn) == WIDTH
    assert (drawn.index("─"), drawn.index("●"), drawn.rindex("─")) == (
        round(0.25 * (WIDTH - 1)), round(0.5 * (WIDTH - 1)), WIDTH - 1
    )  # fmt: skip
    assert one.endswith("1.0000 [0.5000, 2.0000]")
    assert none.endswith("refused")
    assert zero[zero.index("│") + 1] == "●"
    for width in (40, 60, 80):
        assert max(map(len, bars(comparison, width))) <= width


NAMES = ("mean weight", "effective sample size", "largest weight", "effective clicks", "coverage")


def test_no_number_is_cut_in_a_narrow_terminal(monkeypatch, capsys):
    checks = [
        Check(name, weights, 0.000123 + i / 1000, i != 2, "")
        for weights in ("slate", "prefix", "item", "pseudo-inverse")
        for i, name in enumerate(NAMES)
    ]
    values = {
        name: Estimate(name, 0.1234 + i / 100, 0.1, 0.2)
        for i, name in enumerate(("IPS", "Cascade-DR"))
    }
    logged = Estimate("logged", 0.5, 0.4, 0.6)
    found = {
        name: Evaluation(name, "clicks", 10, {}, checks, values, logged)
        for name in ("uniform", "a=0.9,width=scaled:0.5", "[b]final[/b].npz")
    }
    for width in (50, 80, 100, 160):
        monkeypatch.setenv("COLUMNS", str(width))
        show_comparison(Comparison("log", found))
        text = capsys.readouterr().out
        assert "…" not in text
        assert "[b]final[/b].npz" in text
        for i in range(len(NAMES)):  # of each kind of weights, and of each policy
            assert len(re.findall(rf"\b{0.000123 + i / 1000:.3g}\b", text)) == 12
        assert text.count("0.1234 [0.1000, 0.2000]") == 3
        assert "95% intervals over visits. The log's own policy earned 0.5000 [" in text
        boxes = [line for line in text.splitlines() if line[:1] in "┏┃┡│└"]
        assert all(len(line) <= width for line in boxes)
