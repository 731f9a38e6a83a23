"""What is no log is refused by its name: what it is, and what was expected."""

import re

import pytest

import semibandit as sb
from semibandit.errors import FileError, InputError
from semibandit.evaluation.off_policy.check_log import check_log


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("values.csv", b"hat,1\n", "is a table. Expected the log of a service"),
        ("final.npz", b"PK", "is the file of a learner or of a data set (a learner can be judged"),
        ("plot.png", b"", "is a picture"),
        ("log.txt", b"x", "is a file of another kind"),
        ("log.jsonl", b"", "is empty"),
    ],
)
def test_files_of_other_kinds(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=re.escape(message)):
        check_log(tmp_path / name)


def test_what_is_no_file():
    with pytest.raises(InputError, match="log = b'log', but it must be"):
        check_log(b"log")
    with pytest.raises(InputError, match=r"replay it \(`semibandit replay mediamill`"):
        check_log("mediamill")
    for log in ([1, 2], None, b"log.jsonl"):
        with pytest.raises(InputError, match=r"log = .*, but it must be the log of a service"):
            sb.evaluate(log, "uniform")
    for since in ("1d", float("nan"), [3]):
        with pytest.raises(InputError, match="must be a time in seconds since 1970"):
            sb.evaluate("log.jsonl", "uniform", since=since)
    for policies in ("uniform", 3, [sb.SlateUCB(2, 2)]):
        with pytest.raises(InputError, match="must be a mapping of names to policies, or a list"):
            sb.compare("log.jsonl", policies)
