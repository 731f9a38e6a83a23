"""`semibandit replay`, `tune` and `sweep`, as a user types them."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import semibandit as sb
from semibandit.cli import app
from semibandit.experiments.setting import Setting


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def table(tmp_path):
    """A CSV file as people have them: features, then label columns."""
    random = np.random.default_rng(1)
    X, Y = random.standard_normal((200, 3)).round(3), random.random((200, 4)) < 0.3
    path = tmp_path / "own.csv"
    lines = ["f1,f2,f3,label_a,label_b,label_c,label_d"]
    lines += [",".join(map(str, [*x, *y.astype(int)])) for x, y in zip(X, Y, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path, X, Y


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_replay_compares_and_keeps_every_round(table, tmp_path, format):
    path, X, Y = table
    out = tmp_path / "out"
    asked = ["--slots", 2, "--compare", "OBR", "--compare", "SlateUCB width=scaled:0.1 slots=none"]
    result = run("replay", path, "--labels", "label_*", *asked, "--out", out, "--format", format)
    assert result.exit_code == 0, result.output
    assert "width=scaled:0.1 slots=None" in result.output.replace("\n", "")
    trace = sb.replay(sb.SlateUCB(3, 4), X, Y.astype(np.uint8), 2)
    numbers = json.loads((out / "results.json").read_text())
    assert numbers["SlateUCB"]["ac"] == trace.losses("ac").mean()
    assert list(numbers) == ["SlateUCB", "OBR", "SlateUCB width=scaled:0.1 slots=None"]
    if format == "csv":
        rows = list(csv.DictReader((out / "SlateUCB.csv").read_text().splitlines()))
        ac = [float(row["ac"]) for row in rows]
    else:
        import pyarrow.parquet as parquet

        ac = parquet.read_table(out / "SlateUCB.parquet")["ac"].to_pylist()
    assert ac == trace.losses("ac").tolist()
    assert (out / "replay.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "nowhere.csv"),
        (["OWN"], "label"),
        (["OWN", "--labels", "label_*", "--learner", "Best"], "learner = 'Best'"),
        (["OWN", "--labels", "label_*", "--compare", "OBR speed=9"], "'speed=9' is not KEY=VALUE"),
        (["OWN", "--labels", "label_*", "--compare", "OBR bias=maybe"], "true or false"),
        (["OWN", "--labels", "label_*", "--format", "xls"], "must be one of csv, parquet"),
        (["OWN", "--labels", "label_*", "--a", "3"], "a = 3.0"),
        (["OWN", "--labels", "label_*", "--compare", ""], "--compare needs a learner"),
        (["OWN", "--labels", "label_*", "--compare", "OBR rounds=0"], "rounds = 0"),
        (["OWN", "--labels", "label_*", "--device", "gpu"], "device = 'gpu'"),
        (["OWN", "--labels", "label_*", "--device", "cuda", "--model", "diagonal"], "only full"),
        (["OWN", "--learner", "Greedy", "--width", "scaled:1"], "--width does not go with"),
        (["OWN", "--labels", "label_*", "--since", "30d"], "data sets have no time"),
    ],
)
def test_replay_names_mistakes(table, arguments, message):
    arguments = [table[0] if a == "OWN" else a for a in arguments]
    result = run("replay", *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_baselines_without_full_matrices_are_compared_with_a_learner_on_a_device(
    table, monkeypatch
):
    devices = []
    build = Setting.learner_for

    def learner_for(setting, data, device=None):
        devices.append(device)
        return build(setting, data)  # in numpy: torch is not needed here

    monkeypatch.setattr(Setting, "learner_for", learner_for)
    others = ("OBR", "Random", "SlateUCB model=diagonal", "Greedy")
    compared = [word for other in others for word in ("--compare", other)]
    result = run("replay", table[0], "--labels", "label_*", "--device", "cpu", *compared)
    assert result.exit_code == 0, result.output
    assert devices == ["cpu", None, None, None, "cpu"]


def test_tune_shows_the_curve_and_what_to_write(table, tmp_path):
    out = tmp_path / "tune"
    asked = ["--labels", "label_*", "--rounds", 1000, "--slots", 3, "--jobs", 1, "--out", out]
    result = run("tune", table[0], *asked)
    assert result.exit_code == 0, result.output
    assert "average loss by alpha, first 200 rows" in result.output  # there are no more
    assert "best: sb.SlateUCB(3, 4, width=sb.Scaled(" in result.output
    tuned = json.loads((out / "tuned.json").read_text())
    assert tuned["loss"] == min(one["loss_ac"] for one in tuned["tried"])
    assert len(tuned["tried"]) == 7 * 4 * 2 + 2
    assert (out / "tuned.png").read_bytes().startswith(b"\x89PNG")


def test_sweep_runs_a_grid_once(table, tmp_path):
    np.savez(tmp_path / "own.npz", X_train=table[1], Y_train=table[2].astype(np.uint8))
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'[setting]\ndata = "{tmp_path / "own.npz"}"\nslots = 2\n'
        '[grid]\nwidth = ["scaled:0.1", "known:1,0.1"]\nseed = [0, 1]\n'
    )
    result = run("sweep", plan, "--out", tmp_path / "out", "--jobs", 1)
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader((tmp_path / "out/results.csv").read_text().splitlines()))
    assert [(row["width"], row["seed"]) for row in rows][2] == ("known:1,0.1", "0")
    assert all(float(row["ac"]) > 0 for row in rows)
    assert len(list((tmp_path / "out/runs").iterdir())) == 4
    plan.write_text("[grid]\nalpha = [1]\n")
    assert "'alpha' is not a setting" in run("sweep", plan).output
    plan.write_text("[settings]\n")
    assert "[settings] is unknown" in run("sweep", plan).output
    assert "there is no file" in run("sweep", tmp_path / "none.toml").output
    for wrong, reason in (
        ("setting = 3\n", "setting = 3, but it must be a table"),
        ("[grid]\nseed = []\n", "seed = [] in [grid]"),
        ("[grid]\nseed = [1]\n", "data is missing"),
        ('[setting]\ndata = "x"\nlearner = 3\n', "learner = 3, but it must be words"),
    ):
        plan.write_text(wrong)
        result = run("sweep", plan)
        assert result.exit_code == 2
        assert reason in " ".join(result.output.split())
    plan.write_bytes(b"\xff\xfe")
    assert "is not TOML" in run("sweep", plan).output
    plan.write_text("grid\n")
    assert "is not TOML" in run("sweep", plan).output


def test_help_teaches():
    for command, words in {
        "replay": ("--compare", "logistic:R", "partial feedback"),
        "tune": ("alpha", "--rounds", "--backend"),
        "sweep": ('data = "mediamill"', "grid", "nothing is run twice"),
        "reproduce": ("report.html", "Mediamill", "--prices"),
    }.items():
        text = " ".join(run(command, "--help").output.split())
        for word in words:
            assert word in text, (command, word)


FEATURES = "hour,device:category,tags:set:4"
LABELS = ("--labels", "label_*")


@pytest.fixture
def mixed(tmp_path):
    """A table with text, numbers and gaps, as CSV and as Parquet, and its contexts."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    random = np.random.default_rng(2)
    hour = [None if random.random() < 0.1 else int(h) for h in random.integers(0, 24, 120)]
    device = [["phone", "tablet", None][i] for i in random.integers(0, 3, 120)]
    tags = [[t for t in ("new", "sale") if random.random() < 0.5] for _ in range(120)]
    Y = (random.random((120, 3)) < 0.4).astype(int)
    columns = {"hour": hour, "device": device, "note": ["ignored"] * 120, "tags": tags}
    labels = {f"label_{j}": Y[:, j].tolist() for j in range(3)}
    parquet.write_table(pa.table(columns | labels), tmp_path / "mixed.parquet")
    with open(tmp_path / "mixed.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, *labels])
        for t in range(120):
            cells = [hour[t], device[t], "ignored", "|".join(tags[t]) or "|"]
            writer.writerow(["" if cell is None else cell for cell in cells] + Y[t].tolist())
    return tmp_path, {"hour": hour, "device": device, "tags": tags}, Y


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_of_a_table_are_features(mixed, kind):
    folder, columns, Y = mixed
    out = folder / "out"
    asked = ["--labels", "label_*", "--features", FEATURES, "--slots", 2, "--rounds", 100]
    save = ["--compare", "Greedy probe=0.5", "--out", out, "--save", folder / "learner.npz"]
    result = run("replay", folder / f"mixed.{kind}", *asked, *save)
    assert result.exit_code == 0, result.output
    learner = sb.SlateUCB(sb.Features.parse(FEATURES), 3)
    first = {name: values[:100] for name, values in columns.items()}
    trace = sb.replay(learner, first, Y[:100], 2)
    numbers = json.loads((out / "results.json").read_text())
    assert numbers["SlateUCB"]["ac"] == trace.losses("ac").mean()
    assert numbers["SlateUCB"]["setting"]["features"] == FEATURES
    loaded = sb.load(folder / "learner.npz")
    assert loaded.features == learner.features
    assert loaded.rank({"device": "phone"}, 2).labels == learner.rank({"device": "phone"}, 2).labels


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_all_columns_of_a_table_are_hashed(mixed, kind):
    folder, columns, Y = mixed
    out = folder / "out"
    asked = ["--labels", "label_*", "--features", "hashed:32", "--slots", 2, "--out", out]
    result = run("replay", folder / f"mixed.{kind}", *asked)
    assert result.exit_code == 0, result.output
    learner = sb.SlateUCB(sb.Hashed(32), 3)
    trace = sb.replay(learner, {**columns, "note": ["ignored"] * 120}, Y, 2)
    numbers = json.loads((out / "results.json").read_text())
    assert numbers["SlateUCB"]["ac"] == trace.losses("ac").mean()


def test_tune_and_sweep_take_features(mixed):
    folder, columns, Y = mixed
    asked = [
        "--labels",
        "label_*",
        "--features",
        FEATURES,
        "--rounds",
        60,
        "--slots",
        2,
        "--jobs",
        1,
    ]
    result = run("tune", folder / "mixed.csv", *asked, "--out", folder / "tuned")
    assert result.exit_code == 0, result.output
    assert "sb.Features(hour='number', device='category'" in result.output.replace("\n", " ")
    assert json.loads((folder / "tuned/tuned.json").read_text())["best"]["features"] == FEATURES
    dataset = sb.read_dataset(folder / "mixed.csv", labels="label_*", columns=list(columns))
    dataset.save(folder / "mixed.npz")
    plan = folder / "plan.toml"
    words = f'[setting]\ndata = "{folder}/mixed.npz"\nslots = 2\nfeatures = "{FEATURES}"\n'
    plan.write_text(words + "[grid]\nseed = [0, 1]\n")
    result = run("sweep", plan, "--out", folder / "swept", "--jobs", 1)
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader((folder / "swept/results.csv").read_text().splitlines()))
    trace = sb.replay(sb.SlateUCB(sb.Features.parse(FEATURES), 3), columns, Y, 2)
    assert float(rows[0]["ac"]) == trace.losses("ac").mean()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mixed.csv", *LABELS, "--features", "hours"], "has no column 'hours'"),
        (["mixed.csv", *LABELS, "--features", "hour:time"], "feature 'hour' is declared"),
        (["mixed.csv", *LABELS, "--features", "3"], "features = '3', but they must be"),
        (["mixed.csv", *LABELS, "--features", "note"], "column 'note' is 'ignored'"),
        (["mixed.csv", *LABELS, "--features", "@gone"], "there is no file gone"),
        (["mixed.csv", *LABELS, "--features", "device:a|b"], "row 0: feature 'device'"),
        (["mediamill-like", "--features", "hour"], "mediamill-like has only numbers"),
    ],
)  # fmt: skip
def test_features_that_do_not_fit_the_table(mixed, arguments, message):
    name, *rest = arguments
    result = run("replay", mixed[0] / name if "." in name else name, *rest)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
