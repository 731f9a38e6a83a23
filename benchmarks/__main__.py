"""`python -m benchmarks`: measure everything side by side, write a table, JSON and a plot."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Annotated

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # one BLAS thread, before numpy is imported

import numpy as np
import typer
from rich.console import Console

from benchmarks import (
    growth,
    numpy_figure2,
    ours,
    peers,
    pruning,
    scale,
    shards,
    workloads,
    yardsticks,
)

HERE = Path(__file__).parent
say = Console(stderr=True).print

TARGETS = [  # key, what, target, whether it is a least
    ("M full ratio", "M: full-matrix replay ÷ 2·K·d²·T at the dgemm rate", 2.0, False),
    ("Y full ratio", "Y: full-matrix replay ÷ 2·K·d²·T at the dgemm rate", 2.0, False),
    ("M threads", "M: full-matrix replay with 2 threads ÷ 1 thread", 0.7, False),
    ("Y threads", "Y: full-matrix replay with 2 threads ÷ 1 thread", 0.7, False),
    ("M diagonal", "M: diagonal replay ÷ full-matrix replay", 0.25, False),
    ("L growth", "L: full-matrix replay ÷ the same T and d at K=100", 6.0, False),
    ("XL peak GB", "XL: peak memory, GB", 4.0, False),
    ("M rank", "M: one online rank ÷ one pass A.reshape(K·d, d) @ x", 1.5, False),
    ("Y rank", "Y: one online rank ÷ that pass", 1.5, False),
    ("M learn", "M: one online learn of 10 labels ÷ that pass", 0.7, False),
    ("Y learn", "Y: one online learn of 10 labels ÷ that pass", 0.7, False),
    ("M rank_many", "M: rank_many of 64 contexts, each ÷ one online rank", 1.0, False),
    ("Y rank_many", "Y: rank_many of 64 contexts, each ÷ one online rank", 1.0, False),
    ("M peers", "M: rounds a second ÷ the fastest peer with full matrices", 50.0, True),
    ("Y peers", "Y: rounds a second ÷ the fastest peer with full matrices", 50.0, True),
    ("L peers", "L: rounds a second ÷ the fastest peer with full matrices", 50.0, True),
    ("M numpy", "M: rounds a second ÷ well-written NumPy", 7.0, True),
    ("Y numpy", "Y: rounds a second ÷ well-written NumPy", 7.0, True),
    ("candidates", "scale: rank with 50 of 20,000 labels ÷ a learner with those 50", 2.0, False),
    ("pruned M", "scale: M after 20,000 rounds: pruned rank ÷ rank by a full pass", 0.5, False),
    ("pruned M, search", "scale: the same, the search alone ÷ the full pass alone", 0.5, False),
    ("pruned M, all dense", "scale: the same with a = 1: all matrices are dense", 0.5, False),
    ("pruned synthetic", "scale: d = 64, K = 20,000 warm: pruned ÷ full pass", 0.3, False),
    ("pruned in vain", "scale: 5,000 labels alike: pruned ÷ full pass", 1.1, False),
    ("shards", "scale: 20,000 warm, rank_many of 64: 2 shards on Ray ÷ one process", 0.75, False),
    ("learn K", "scale: one learn, 20,000 labels ÷ 50 labels", 1.5, False),
    ("million", "a learner after a million rounds ÷ a new one", 1.1, False),
]


def measure(with_peers: bool, with_growth: bool) -> dict[str, object]:
    """Every figure of one run."""
    found: dict[str, object] = {
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    ratio: dict[str, float] = {}
    rates: dict[str, dict[str, object]] = {}
    for load in (workloads.M(), workloads.Y()):
        T, d, K = load.shape
        rate = yardsticks.dgemm_rate()
        ideal = 2 * K * d * d * T / rate
        say(f"{load.name} ({load.source}): T={T}, d={d}, K={K}; dgemm {rate / 1e9:.0f} GFlop/s")
        one = ours.replay_seconds(load, "full", 1)
        two = ours.replay_seconds(load, "full", 2)
        rate_after = yardsticks.dgemm_rate()
        rows: dict[str, object] = {"semibandit, full, 1 thread": T / one}
        rows["semibandit, full, 2 threads"] = T / two
        for engine in ("float32", "diagonal", "OBR"):
            rows[f"semibandit, {engine}, 1 thread"] = T / ours.replay_seconds(load, engine, 1)
        say(f"  replay {one:.2f} s, {two:.2f} s with 2 threads")
        ratio[f"{load.name} full ratio"] = one / (2 * K * d * d * T / max(rate, rate_after))
        ratio[f"{load.name} threads"] = two / one
        if load.name == "M":
            ratio["M diagonal"] = T / rows["semibandit, diagonal, 1 thread"] / one  # type: ignore[operator]
        times = ours.online(load)
        ratio[f"{load.name} rank"] = times["rank"] / times["pass"]
        ratio[f"{load.name} learn"] = times["learn"] / times["pass"]
        ratio[f"{load.name} rank_many"] = times["rank_many"] / times["rank"]
        plain = numpy_figure2.rate(load.X, load.Y, workloads.SLOTS, 2000 if K < 200 else 600)
        rows["NumPy, Figure 2"] = plain
        ratio[f"{load.name} numpy"] = T / one / plain
        rates[load.name] = rows
        found[f"{load.name} ideal s"], found[f"{load.name} online s"] = ideal, times
    large, small = workloads.L(), workloads.L100()
    lasts = {load.name: ours.replay_seconds(load, "full", 1, 3) for load in (large, small)}
    ratio["L growth"] = lasts["L"] / lasts[small.name]
    rates["L"] = {"semibandit, full, 1 thread": large.shape[0] / lasts["L"]}
    rates["L at K=100"] = {"semibandit, full, 1 thread": small.shape[0] / lasts[small.name]}
    huge = ours.xl()
    ratio["XL peak GB"] = huge["peak"] / 1e9
    rates["XL"] = {"semibandit, full, 1 thread": 2000 / huge["seconds"]}
    say(f"L {lasts['L']:.2f} s, at K=100 {lasts[small.name]:.2f} s; XL {huge}")
    long = ours.million_rounds()
    ratio["million"] = long["old"] / long["new"]
    measure_scale(found, ratio)
    found |= {"XL": huge, "million": long, "bandwidth GB/s": yardsticks.bandwidth() / 1e9}
    found["dgemm GFlop/s"] = yardsticks.dgemm_rate() / 1e9
    if with_peers:
        _peers(rates, ratio, {"M": workloads.M(), "Y": workloads.Y(), "L": large})
        beside = {name: rates[name]["NumPy, Figure 2"] for name in ("M", "Y")}
        found["NumPy of the libraries' run"] = beside
    found |= {"ratios": ratio, "rounds a second": rates}
    if with_growth:
        say("growth curves")
        found["growth"] = growth.curves()
    return found


def measure_scale(found: dict, ratio: dict[str, float]) -> None:
    """The figures of many labels, into what was found."""
    ratios, seconds = scale.measure()
    pruned, more, found["looked at"] = pruning.measure()
    sharded, last = shards.measure()
    ratio |= ratios | pruned | sharded
    found["scale"] = seconds | more | last


def _peers(rates, ratio, loads) -> None:
    fastest = dict.fromkeys(loads, 0.0)
    for peer in peers.PEERS:
        missing = peers.install(peer)
        who = f"{peer.package}, {peer.name}" if missing else peers.full_name(peer)
        for name, load in loads.items():
            rates[name][who] = got = missing or peers.rate(peer, load)
            say(f"{who} on {name}: {got} rounds a second")
            if peer.full_matrices and isinstance(got, float):
                fastest[name] = max(fastest[name], got)
    for name, rate in fastest.items():
        if rate:
            ratio[f"{name} peers"] = rates[name]["semibandit, full, 1 thread"] / rate


ABOUT = """\
`make bench` made this page: all figures are from one run, with one BLAS thread, unless a note says
otherwise. A round is a `rank` and a `learn`, with 10 slots. The workloads, with T rounds, d
features and K labels:

| workload | what | T | d | K |
|---|---|---|---|---|
| M | Mediamill, the paper's set (or synthetic, if it was not fetched) | 30,993 | 120 | 101 |
| Y | synthetic, of the size of the paper's Sony set | 16,452 | 98 | 632 |
| L | synthetic, 20 relevant labels a round | 2,000 | 64 | 10,000 |
| XL | the same | 2,000 | 128 | 1,000,000 |

Targets are ratios to something measured in the same run, so that they hold on other machines. "A ÷
B" is A's figure divided by B's, times unless it says rounds a second or memory; a target that was
missed says so. "Full" keeps a d×d matrix per label. `replay` plays a data set that is there as a
whole; "online" is one call after the other, as in a service."""


def table(found: dict) -> str:
    lines = [
        "# Benchmarks: how fast it is",
        "",
        ABOUT,
        "",
        f"{found['machine']}; Python {found['python']}, NumPy {found['numpy']}; dgemm "
        f"{found['dgemm GFlop/s']:.0f} GFlop/s, copy {found['bandwidth GB/s']:.0f} GB/s.",
        "",
        "| what | target | measured |",
        "|---|---|---|",
    ]
    for key, what, target, least in TARGETS:
        if key in found["ratios"]:
            value = found["ratios"][key]
            met = value >= target if least else value <= target
            word = "at least" if least else "at most"
            lines.append(
                f"| {what} | {word} {target:g} | {value:.3g}{'' if met else ' (missed)'} |"
            )
    if "note" in found:
        lines += ["", found["note"]]
    for name, rows in found["rounds a second"].items():
        lines += [
            "",
            f"## {name}: rounds a second, {workloads.SLOTS} slots",
            "",
            "| who | rate |",
            "|---|---|",
        ]
        for who, value in rows.items():
            lines.append(f"| {who} | {value if isinstance(value, str) else f'{value:,.4g}'} |")
    lines += [
        "",
        "## Scale: 20,000 warm labels, d = 64",
        "",
        "| what | microseconds |",
        "|---|---|",
    ]
    lines += [f"| {what} | {seconds * 1e6:,.3g} |" for what, seconds in found["scale"].items()]
    shares = (f"{name} {share:.3g}" for name, share in found["looked at"].items())
    lines += ["", f"Share of labels looked at: {'; '.join(shares)}."]
    if found.get("scale alone"):
        lines += [
            "",
            "What begins with scale is from a later run: `python -m benchmarks --only-scale`.",
        ]
    if "growth" in found:
        lines += ["", "![time of a round against K, d, S and T](growth.png)"]
    return "\n".join(lines) + "\n"


def main(
    out: Annotated[
        Path, typer.Option(help="Folder for results.md, results.json, growth.png.")
    ] = HERE / "results",
    with_peers: Annotated[bool, typer.Option("--peers/--no-peers", help="Other libraries.")] = True,
    with_growth: Annotated[
        bool, typer.Option("--growth/--no-growth", help="Growth curves.")
    ] = True,
    only_scale: Annotated[
        bool, typer.Option("--only-scale", help="Only many labels, into the results of before.")
    ] = False,
) -> None:
    """Measure our engines, plain NumPy and other libraries side by side, in one run."""
    out.mkdir(parents=True, exist_ok=True)
    if only_scale:
        found = json.loads((out / "results.json").read_text(encoding="utf-8"))
        measure_scale(found, found["ratios"])
        found["scale alone"] = True
        with_growth = False
    else:
        found = measure(with_peers, with_growth)
    (out / "results.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    (out / "results.md").write_text(table(found), encoding="utf-8")
    if with_growth:
        growth.plot(found["growth"], out / "growth.png")  # type: ignore[arg-type]
    print(table(found))


if __name__ == "__main__":
    typer.run(main)
