"""`semibandit data`, as a user types it."""

import pytest
from package_index import FILENAME
from typer.testing import CliRunner

from semibandit.cli import app
from semibandit.data import catalogue


def run(*arguments):
    return CliRunner().invoke(app, ["data", *(str(a) for a in arguments)], env={"COLUMNS": "200"})


def test_list_names_every_set_and_what_was_published(cache):
    text = run("list").output
    for known in catalogue.SOURCE.sets:
        assert known.name in text
        assert f"{known.n_train} + {known.n_test}" in text
        assert f"{known.cardinality:.3f}" in text


def test_get_fetches_and_list_and_info_know(index, cache):
    assert "yes" not in run("list").output
    before = run("info", "mediamill")
    assert before.exit_code == 0
    assert "no: semibandit data get mediamill" in before.output
    result = run("get", "mediamill")
    assert result.exit_code == 0, result.output
    assert "mediamill: 10 rows, 4 features, 3 labels" in result.output
    assert (cache / "mediamill.npz").exists()
    assert "yes" in run("list").output
    after = run("info", "mediamill").output
    assert "6 + 4" in after
    assert f"(published: {catalogue.SOURCE.entry('mediamill').cardinality:.3f})" in after
    assert run("get", "all").exit_code == 0
    assert (cache / "corel5k.npz").exists()
    assert len(index.asked) == 1


def test_get_from_a_file(package, pip, tmp_path):
    pip(no_index="1")
    (tmp_path / FILENAME).write_bytes(package[0])
    result = run("get", "corel5k", "--from", tmp_path / FILENAME)
    assert result.exit_code == 0, result.output
    assert "corel5k: 10 rows" in result.output


def test_info_reads_files(tmp_path):
    (tmp_path / "toy.csv").write_text("a,b,y1,y2\n1,0,1,0\n0,1,1,1\n0,0,0,0\n")
    for labels in (["--labels", "y*"], ["--labels", "y1", "--labels", "y2"], ["--labels", 2]):
        result = run("info", tmp_path / "toy.csv", *labels)
        assert result.exit_code == 0, result.output
        lines = dict(line.split("  ", 1) for line in result.output.splitlines())
        said = {key.strip(): value.strip() for key, value in lines.items()}
        assert said["cardinality"] == "1.000"
        assert said["density"] == "0.500"
        assert said["rows without features"] == "1"
        assert said["labels"] == "y1, y2"
        assert len(said["checksum"]) == 64


def test_info_reads_columns_of_any_kind(tmp_path):
    (tmp_path / "toy.csv").write_text("hour,device,y1,y2\n7,phone,1,0\n,desktop,1,1\n")
    result = run("info", tmp_path / "toy.csv", "--labels", "y*")
    assert result.exit_code == 2
    assert "--features" in result.output
    named = ["--features", "hour,device:category"]
    text = run("info", tmp_path / "toy.csv", "--labels", "y*", *named).output
    assert "hour, device\n" in text
    assert "rows without features" not in text  # what is unknown is not 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["get", "mediamil"], "semibandit data get: no data set is called 'mediamil'; there are"),
        (["get", "mediamill"], "semibandit data get: no package index here has"),
        (["get", "mediamill", "--from", "/nowhere.tar.gz"], "there is no file"),
        (["info", "nowhere.csv"], "semibandit data info: 'nowhere.csv' is neither a file nor"),
        (["info", __file__], "semibandit data info: "),
        (["get"], "Missing argument"),
        (["fetch"], "No such command"),
    ],
)
def test_mistakes_exit_with_2_and_one_line(cache, pip, arguments, message):
    pip(no_index="1")
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    if "no package index" in message:
        assert "--from FILE" in result.output
    if message.startswith("semibandit"):
        assert len(result.output.strip().splitlines()) == 1


def test_help_teaches():
    text = run("--help").output
    for word in ("list", "get", "info"):
        assert word in text
    assert "SEMIBANDIT_CACHE" in run("get", "--help").output
    for word in ("ARFF", "svmlight", "Parquet", "--labels"):
        assert word in run("info", "--help").output
