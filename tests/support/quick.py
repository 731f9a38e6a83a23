"""`pytest --quick`: the tests that answer within a minute, chosen by rules and not by name.

- Those of the library's inner rooms: the service, the command line and the experiments are tested
  through processes, and evaluation by playing thousands of rounds.
- In files that use nothing which starts processes.
- The first cases of each test, and few examples of each law.
- For which numba need not compile anything. After `make test` that is every one of them; before,
  those that would have to are skipped.
"""

from collections import Counter

import pytest
from hypothesis import settings

ROOMS = {"_util", "data", "models", "policies", "store", "theory", "worlds"}
STARTING_PROCESSES = {"fork_server", "load", "multiprocessing", "ray", "server", "subprocess"}
CASES = 2  # of a test with parameters
EXAMPLES = 10  # of a law

settings.register_profile("quick", derandomize=True, deadline=None, max_examples=EXAMPLES)


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="only the tests that are fast")


def pytest_configure(config):
    if config.getoption("--quick"):
        settings.load_profile("quick")
        refuse_to_compile()


def pytest_ignore_collect(collection_path, config):
    """Rooms that are left out are not even imported."""
    if not config.getoption("--quick") or collection_path.is_file():
        return None
    tests = config.rootpath / "tests"
    outside = collection_path == config.rootpath / "src"
    return (
        outside or (collection_path.parent == tests and collection_path.name not in ROOMS) or None
    )


def pytest_collection_modifyitems(config, items):
    if config.getoption("--quick"):
        cases = Counter()
        fast, slow = [], []
        for item in items:
            function = item.nodeid.partition("[")[0]
            cases[function] += 1
            (fast if cases[function] <= CASES and is_fast(item) else slow).append(item)
        items[:] = fast
        config.hook.pytest_deselected(items=slow)


def is_fast(item):
    """Whether it starts no process, as far as its file and its fixtures say."""
    names = vars(item.getparent(pytest.Module).obj).values()
    used = {getattr(value, key, "") for value in names for key in ("__name__", "__module__")}
    roots = {str(name).partition(".")[0] for name in used}
    return not roots & STARTING_PROCESSES and "postgresql" not in item.name


def refuse_to_compile():
    """Have a test skipped in which numba does not find what it needs already compiled."""
    try:
        from numba.core import event
    except ImportError:  # the extra `fast` is not installed
        return

    class Refusing(event.Listener):
        def on_start(self, _):
            pytest.skip("numba would have to compile")

        def on_end(self, _):
            pass

    event.register("numba:compile", Refusing())
