"""What would another policy have earned? Ask the log

A page shows two of six items, chosen by a learner that has seen 30 visits. Three slates in ten are
drawn at random (`sb.Mixed`), and the log says how likely each slate was. From this log `sb.compare`
tells what *other* policies would have earned in the same visits, before anybody is shown what they
choose. The world is made up, so that the truth is known and every answer can be checked.

**In the picture**: the 95% intervals of the estimates, and the truth as a cross. On the right, the
same page without random slates. Its log can tell what its own learner earns and nothing else: other
policies get no number, but the reason.

**To change**: with fewer `VISITS` intervals get wider, then answers are refused. The log is a file
of JSON lines, as `semibandit export` writes it; `write_log` is all that it takes to bring your own.
"""

import base64
import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import semibandit as sb

VISITS, FEATURES, ITEMS, SLOTS = 2000, 5, 6, 2
WORLD = sb.Synthetic(FEATURES, ITEMS, seed=3)


def train(visits):
    """A learner that has seen so many visits, of which none is in the log."""
    learner = sb.SlateUCB(FEATURES, ITEMS, a=1.0)
    sb.play(learner, WORLD, visits, slots=SLOTS, progress=False)
    return learner


def contexts():
    """The visits of the log: those after the ones that the learners have seen."""
    return np.array([WORLD.context(10_000 + t) for t in range(VISITS)])


def write_log(path, learner, slates, X):
    """A log of JSON lines: the learner, then every decision and what was clicked."""
    learner.save("learner.npz")
    content = base64.b64encode(Path("learner.npz").read_bytes()).decode()
    lines = [{"format": 1, "about": {}, "learner": content}]
    for t, (x, slate) in enumerate(zip(X, slates, strict=True)):
        relevant = WORLD.relevant(10_000 + t, x)
        decision = {
            "labels": slate.labels, "slots": SLOTS, "candidates": None, "exclude": None, "draw": 0,
            "slate_propensity": slate.slate_propensity,
            "prefix_propensity": slate.prefix_propensity.tolist(),
            "item_propensity": slate.item_propensity.tolist(),
        }  # fmt: skip
        clicked = {"clicked": [item for item in slate.labels if item in relevant]}
        events = [("decision", x.tolist(), decision), ("feedback", None, clicked)]
        for kind, context, body in events:
            line = {"seq": len(lines), "kind": kind, "id": f"visit {t}", "at": float(t)}
            lines.append({**line, "context": context, "body": body})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    Path(path).write_text(text, encoding="utf-8")


def true_value(policy, X):
    """Expected clicks per visit, by the world's own probabilities."""
    if policy == "uniform":
        return float(np.mean([SLOTS * WORLD.prob(x).mean() for x in X]))
    slates = policy.rank_many(X, slots=SLOTS)
    return float(np.mean([WORLD.prob(x)[s.labels].sum() for x, s in zip(X, slates, strict=True)]))


def main():
    """Write two logs, ask each about three policies, print and draw."""
    X, young = contexts(), train(30)
    policies = {
        "random slates": "uniform",
        "after 30 visits": young,
        "after 300 visits": train(300),
    }
    logs = {"30% random": 0.3, "nothing random": 0.0}
    found = {}
    for name, epsilon in logs.items():
        write_log("log.jsonl", young, sb.Mixed(young, epsilon).rank_many(X, slots=SLOTS), X)
        found[name] = sb.compare("log.jsonl", policies, progress=False)

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "semibandit"})
    figure, panels = plt.subplots(1, 2, figsize=(7, 2.6), sharey=True, layout="constrained")
    print(f"clicks per visit by {VISITS:,} visits, with 95% intervals")
    print(f"{'policy':<18}{'truth':>6}" + "".join(f"{'a log, ' + name:>24}" for name in logs))
    for row, (name, policy) in enumerate(policies.items()):
        truth = true_value(policy, X)
        print(f"{name:<18}{truth:6.2f}", end="")
        for axes, log in zip(panels, logs, strict=True):
            axes.plot(truth, row, "x", color="#D55E00", markersize=9, mew=2.5, zorder=3)
            one = found[log].headline(name)
            text = f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})" if one else "refused"
            print(f"{text:>24}", end="")
            if one:
                axes.plot([one.low, one.high], [row, row], color="#0072B2", lw=4)
            else:
                axes.text(truth, row + 0.4, "refused", ha="center")
        print()
    print("\nWhy the log with nothing random cannot tell what random slates earn:")
    ips = found["nothing random"].evaluations["random slates"].estimates["IPS"]
    print(ips.refused.split(": ")[0].replace(". ", ".\n") + ".")

    for axes, log in zip(panels, logs, strict=True):
        axes.set(title=f"log: {log}", xlabel="clicks per visit", xlim=(0.9, 1.6))
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set(yticks=range(3), yticklabels=policies, ylim=(2.7, -0.5))
    panels[0].text(1.22, 0, "the truth", color="#D55E00", va="center")
    panels[0].text(1.22, 0.4, "95% interval", color="#0072B2", va="center")
    figure.savefig("off_policy.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
