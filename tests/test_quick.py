"""Which tests `--quick` chooses."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import quick


class Config:
    """Notes what was left out."""

    def __init__(self, root=None):
        self.rootpath, self.left_out = root, []
        self.hook = SimpleNamespace(pytest_deselected=lambda items: self.left_out.extend(items))

    def getoption(self, name):
        return name == "--quick"


def an_item(name, **names):
    module = SimpleNamespace(obj=SimpleNamespace(**names))
    return SimpleNamespace(name=name, nodeid=f"t.py::{name}", getparent=lambda _: module)


def test_the_first_cases_of_tests_that_start_no_process():
    plain = [an_item("test_a[1]"), an_item("test_a[2]"), an_item("test_a[3]"), an_item("test_b")]
    slow = [
        an_item("test_c", run=subprocess.run),
        an_item("test_d", subprocess=subprocess),
        an_item("test_e[postgresql]"),
    ]
    config, items = Config(), [*plain, *slow]
    quick.pytest_collection_modifyitems(config, items)
    assert items == [plain[0], plain[1], plain[3]]
    assert config.left_out == [plain[2], *slow]


def test_rooms_that_are_left_out_are_not_imported(tmp_path):
    for folder in ("src", "tests/service", "tests/models/sharded"):
        (tmp_path / folder).mkdir(parents=True)
    config, ignored = Config(tmp_path), quick.pytest_ignore_collect
    assert ignored(tmp_path / "src", config)
    assert ignored(tmp_path / "tests/service", config)
    assert ignored(tmp_path / "tests/models", config) is None
    assert ignored(tmp_path / "tests/models/sharded", config) is None
    assert ignored(tmp_path / "tests", config) is None


def test_every_room_that_is_chosen_is_there():
    assert {folder.name for folder in Path(__file__).parent.iterdir()} >= quick.ROOMS


def test_a_test_for_which_numba_would_compile_is_skipped():
    """In a process of its own: here numba must stay able to compile."""
    code = (
        "import quick, numba, pytest\n"
        "quick.refuse_to_compile()\n"
        "try:\n"
        "    numba.njit(lambda x: x + 1)(1)\n"
        "except pytest.skip.Exception as why:\n"
        "    print(why)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(quick.__file__).parent,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "numba would have to compile", done.stderr
