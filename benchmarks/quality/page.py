"""The page: what was measured, as Markdown."""

from __future__ import annotations

import textwrap
from typing import Any

from benchmarks.quality import sets, shop, shop_runs, synthetic
from benchmarks.quality.measures import OFTEN, SHARE
from benchmarks.quality.peer_settings import PLAYED
from benchmarks.quality.settings import ABLATIONS, MAIN, SETTINGS


def _cuts() -> str:
    cuts = ", ".join(f"{name} to {rounds:,}" for name, rounds in sets.ROUNDS.items())
    return f"Some sets are cut to their first rounds: {cuts}." if cuts else ""


def _looks() -> str:
    return ", ".join(f"{p:g}" for p in shop.EXAMINED)


def _paragraph(words: str) -> list[str]:
    return textwrap.wrap(" ".join(words.split()), 100, break_on_hyphens=False)


TARGETS = (  # what, target, whether it is a least, where it is found
    ("Mediamill: loss ÷ the paper's OBR, worst seed", 1.05, False, ("set", "mediamill")),
    ("all sets: the same, geometric mean", 1.06, False, ("overall", 0)),
    ("all sets: the same, worst set's mean", 1.20, False, ("overall", 1)),
    ("all sets: lost labels", 0, False, ("lost",)),
    ("shop, raw scales, a = 1: share of the way, mean of the run", 0.55, True, ("shop", "raw")),
    ("shop: share in visits 8,001 to 10,000 after a change of tastes", 0.45, True, ("change",)),
    ("synthetic, d = 120, K = 101: share in the last fifth", 0.93, True, ("world", 0)),
    ("synthetic, d = 98, K = 632: share in the last fifth", 0.86, True, ("world", 1)),
)

SETS_TEXT = f"""
Each set of `semibandit data list` is replayed once as partial feedback, its training rows in the
order of the file: a learner's seed orders ties and draws. Square loss, full matrices, decreasing
costs. Rows without features are left out, because a learner without a bias refuses them. {_cuts()}
**Price** is the average ℓ_{{a,c}} with a = 0.5 and 10
slots, divided by that of the paper's OBR, which is told everything (unit length, with a bias), or
by that of OBR on the learner's own contexts: the geometric mean over sets, each counting alike, and
the worst set's mean over seeds. **Hits** are the relevant labels shown with a = 1 and 5 slots,
divided by the paper's OBR's. **Lost** are labels that OBR on the same contexts shows in the last
fifth at least {OFTEN} times and in {SHARE:.0%} of the rounds, and the learner less than a tenth as
often, over all sets and seeds (in brackets: against the paper's OBR).
"""
SHOP_TEXT = f"""
{shop.ITEMS} items, 12 features of a visitor, clicks at {100 * shop.MEAN:g}% and logistic in the
features, {shop.SLOTS} slots, {shop.VISITS:,} visits, a = 1 unless said otherwise. Features are of
unit size (nice), or as they come (raw): euros in the hundreds and thousands, years, shares, counts.
With position bias, a visitor looks at position j with probability {_looks()}, and clicks on nothing
else; the learner is told what was looked at, or not. Late feedback comes when so many more visitors
have been ranked; "not expected" is a learner that is told nothing meanwhile: the service gives
every visit its own draw, and calls `expect`. What is measured is the share of the way from random
slates to the best possible ones, in expected clicks, over all visits and in the last fifth:
mean over seeds (worst seed). The last columns are of the last fifth, too.
"""
CHANGE_TEXT = f"""
All tastes change after {shop.BEFORE:,} visits, on raw scales: the share in the
{shop_runs.STEP:,} visits before it, and in each {shop_runs.STEP:,} after it.
"""
PEERS_TEXT = f"""
Two synthetic worlds with density {synthetic.DENSITY:.0%}, {synthetic.SLOTS} slots, a = 1. Everybody
meets the same contexts, and is told of what it showed itself and nothing else. What is measured is
the share of the way from random slates to Bayes', in expected relevant labels, in the last fifth of
the rounds that it plays: mean over seeds (worst seed). Slow peers play fewer rounds; beside them
are our defaults in the same rounds. Each peer has the best setting of a small grid (`python -m
benchmarks.quality --only peers --grid` plays all of it).
"""


ABOUT_TEXT = """
`make bench-quality` made this page, in three parts: real data sets played as partial feedback, a
simulated shop, and other libraries in worlds whose truth is known. "Defaults" is `SlateUCB` with
nothing set but what a section says; "defaults of 0.1.0" are those of the first version; a row
"but ..." has one thing switched off, to show what it is worth.
"""


def text(found: dict[str, Any]) -> str:
    """All of the page."""
    lines = ["# How well it learns", "", *_paragraph(ABOUT_TEXT), ""]
    for name, part in found.items():
        lines.append(
            f"- {name}: version {part['version']}, {part['seeds']} seeds, {part['machine']}; "
            f"{part['cpu minutes']:.1f} minutes of one core, load average {part['load']:.1f} at "
            f"the end{'; cut to a few hundred rounds' if part['quick'] else ''}"
            f"{'; ' + part['note'] if 'note' in part else ''}"
        )
    lines += _targets(found)
    for name, section in (("sets", _sets), ("shop", _shop), ("peers", _peers)):
        if name in found:
            lines += section(found[name]["rows"])
    return "\n".join(lines) + "\n"


def _targets(found: dict[str, Any]) -> list[str]:
    lines = ["", "## Targets", ""]
    lines += ["| what (defaults alone) | target | 0.1.0 | now |", "|---|---|---|---|"]
    for what, target, least, place in TARGETS:
        old, new = (_figure(found, place, name) for name in ("defaults of 0.1.0", "defaults"))
        met = new is not None and (new >= target if least else new <= target)
        missed = "" if met or new is None else " (missed)"
        word = "at least" if least else "at most"
        lines.append(f"| {what} | {word} {target:g} | {_cell(old)} | {_cell(new)}{missed} |")
    return lines


def _figure(found: dict[str, Any], place: tuple[Any, ...], setting: str) -> float | None:
    """One figure of the table of targets; None if it was not measured."""
    if place[0] in ("set", "overall", "lost"):
        rows = [row for row in found.get("sets", {}).get("rows", []) if row["setting"] == setting]
        if not rows:
            return None
        if place[0] == "set":
            return sets.by_set(rows, setting, "price paper")[place[1]][1]
        if place[0] == "overall":
            return sets.overall(rows, setting, "price paper")[place[1]]
        return float(sum(row.get("lost same", 0) for row in rows))
    if place[0] in ("shop", "change"):
        world = place[1] if place[0] == "shop" else "raw, change of tastes"
        if place[0] == "change" and setting == "defaults":
            setting = f"forget = {shop_runs.FORGET:,}"
        rows = found.get("shop", {}).get("rows", [])
        values = [
            row["mean"] if place[0] == "shop" else row["curve"][-1]
            for row in rows
            if row["world"] == world and row["setting"] == setting
        ]
    else:
        world = list(synthetic.WORLDS)[place[1]]
        rows = found.get("peers", {}).get("rows", [])
        values = [r["last fifth"] for r in rows if r["world"] == world and r["who"] == setting]
    return sum(values) / len(values) if values else None


def _sets(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["", "## Real sets", "", *_paragraph(SETS_TEXT), ""]
    lines += ["| setting | price: mean / worst set | on the same contexts | hits | lost |"]
    lines += ["|---|---|---|---|---|"]
    named = [name for name in SETTINGS if any(row["setting"] == name for row in rows)]
    for name in named:
        label = name if name in MAIN else f"defaults, but {name}"
        paper, same = (sets.overall(rows, name, f"price {of}") for of in ("paper", "same"))
        hits = "–" if name in ABLATIONS else _pair(sets.overall(rows, name, "hits paper"))
        lost = [
            sum(row.get(f"lost {of}", 0) for row in rows if row["setting"] == name)
            for of in ("same", "paper")
        ]
        lines.append(
            f"| {label} | {_pair(paper)} | {_pair(same)} | {hits} | {lost[0]} ({lost[1]}) |"
        )
    lines += ["", "Price against the paper's OBR, mean over seeds (worst seed):", ""]
    lines += [f"| set | {' | '.join(named)} |", "|---" * (1 + len(named)) + "|"]
    columns = [sets.by_set(rows, name, "price paper") for name in named]
    for one in sets.SETS:
        cells = [f"{c[one][0]:.3f} ({c[one][1]:.3f})" if one in c else "" for c in columns]
        lines.append(f"| {one} | {' | '.join(cells)} |")
    return [*lines, "", "![price on each set](quality-sets.svg)"]


def _shop(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["", "## A shop", "", *_paragraph(SHOP_TEXT), ""]
    lines += ["| shop | setting | all visits | last fifth | clicks ÷ random's | empty |"]
    lines += ["|---|---|---|---|---|---|"]
    for world, about in shop_runs.WORLDS.items():
        for name in _names(rows, "world", world, "setting"):
            some = [r for r in rows if r["world"] == world and r["setting"] == name]
            cells = [_mean_worst([r[key] for r in some]) for key in ("mean", "last fifth")]
            clicks = sum(r["clicks by random's"] for r in some) / len(some)
            empty = sum(r["empty"] for r in some) / len(some)
            if not about.get("change"):
                lines.append(
                    f"| {world} | {name} | {' | '.join(cells)} | {clicks:.2f} | {empty:.0%} |"
                )
    lines += ["", *_paragraph(CHANGE_TEXT), "", "| setting | before | 1 | 2 | 3 | 4 | 5 |"]
    lines += ["|---|---|---|---|---|---|---|"]
    changed = "raw, change of tastes"
    for name in _names(rows, "world", changed, "setting"):
        curves = [r["curve"] for r in rows if r["world"] == changed and r["setting"] == name]
        cells = [_mean_worst(list(point)) for point in zip(*(c[-6:] for c in curves), strict=True)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, "", "![share of the way over time](quality-shop.svg)"]


def _peers(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["", "## Other libraries, at equal feedback", "", *_paragraph(PEERS_TEXT)]
    for world in synthetic.WORLDS:
        lines += ["", f"### {world}", ""]
        lines += ["| who | rounds | last fifth | ours in the same rounds | rounds/s |"]
        lines += ["|---|---|---|---|---|"]
        for who, settings in _players(rows, world):
            asked = (world, who, settings)
            some = [r for r in rows if (r["world"], r["who"], str(r.get("settings", ""))) == asked]
            good = [r for r in some if "failed" not in r]
            if not good:
                lines.append(f"| {who} {settings} | | {some[0]['failed']} | | |")
                continue
            T, share = good[0]["rounds"], _mean_worst([r["last fifth"] for r in good])
            rate = sum(r["rounds"] / r["seconds"] for r in good) / len(good)
            ours = "" if not settings else _cell(_same_rounds(rows, world, T))
            words = settings.strip("{}").replace("'", "")
            label = who if not words else f"{who} ({words})"
            lines.append(f"| {label} | {T:,} | {share} | {ours} | {rate:,.0f} |")
    return [*lines, "", "![loss over time](quality-peers.svg)"]


def _players(rows: list[dict[str, Any]], world: str) -> list[tuple[str, str]]:
    """Who played in this world, with which settings: we first, then the peers."""
    there = {(r["who"], str(r.get("settings", ""))) for r in rows if r["world"] == world}
    order = [*synthetic.OURS, *(played.name for played in PLAYED)]
    return sorted(there, key=lambda pair: (order.index(pair[0]), pair[1]))


def _same_rounds(rows: list[dict[str, Any]], world: str, T: int) -> float | None:
    """The share of our defaults (or of 0.1.0's) in the last fifth of the first T rounds."""
    for name in ("defaults", "defaults of 0.1.0"):
        some = [r["after"][str(T)] for r in rows if r["world"] == world and r["who"] == name]
        if some:
            return sum(some) / len(some)
    return None


def _names(rows: list[dict[str, Any]], key: str, value: str, of: str) -> list[str]:
    """The names in column `of` of the rows with this value, in the order of the settings."""
    there = {row[of] for row in rows if row[key] == value}
    known = [name for name in SETTINGS if name in there]
    return [*known, *sorted(there - set(known))]


def _mean_worst(values: list[float]) -> str:
    return f"{sum(values) / len(values):.2f} ({min(values):.2f})"


def _pair(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.3f} / {pair[1]:.3f}"


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
