"""Wheel and sdist: what is in them, and what a stranger has who installs them."""

import json
import re
import sys
import tarfile
import zipfile
from email.parser import Parser

from clean_install import ROOT, build, install, run
from pages import blocks

import semibandit as sb
from semibandit.cli import app

CORE = {"numpy", "scipy", "typer", "rich"}


def test_a_stranger_builds_installs_and_uses_the_package(tmp_path):
    # one test: the wheel is built once, whoever of several processes runs it
    sdist, wheel = build(tmp_path)
    check_sdist(sdist)
    check_wheel(wheel)
    run([sys.executable, "-m", "twine", "check", "--strict", sdist, wheel], tmp_path)
    python = install(wheel, tmp_path / "environment")
    check_environment(python)
    check_library(python, tmp_path)
    check_commands(python, tmp_path)


def check_sdist(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml"} <= names
    assert {name.partition("/")[0] for name in names} <= {
        "", "LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg", "src",
    }  # fmt: skip


def check_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(about).decode())
    package = {name for name in names if name.startswith("semibandit/")}
    source = ROOT / "src"
    files = [path for path in (source / "semibandit").rglob("*") if path.is_file()]
    caches = ("__pycache__", ".nbi", ".nbc")
    kept = {path.relative_to(source).as_posix() for path in files}
    assert package == {name for name in kept if not any(cache in name for cache in caches)}
    assert "semibandit/py.typed" in package
    others = {name.partition("/")[2] for name in names - package}
    assert {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"} <= others
    assert all(".dist-info/" in name for name in names - package)  # no tests, no benchmarks
    assert metadata["Version"] == sb.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    needed = [one for one in metadata.get_all("Requires-Dist") if "extra ==" not in one]
    assert {re.match(r"[\w.-]+", one)[0] for one in needed} == CORE


def check_environment(python):
    """The four packages and what they need: nothing else was installed."""
    code = """
import json
from importlib.metadata import distributions
print(json.dumps({one.name: one.requires or [] for one in distributions()}))
"""
    found = json.loads(run([python, "-c", code], python.parent))
    needs = {canonical(name): set(map(required, texts)) for name, texts in found.items()}
    allowed, new = {"semibandit"}, set(CORE)
    while new:
        allowed |= new
        new = set().union(*(needs.get(name, set()) for name in new)) - allowed
    assert CORE <= set(needs) <= allowed


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def required(text):
    """The name in a requirement, unless an extra needs it."""
    return "" if "extra ==" in text else canonical(re.match(r"[\w.-]+", text)[0])


def check_library(python, folder):
    """The README's first block runs; what is missing is named with its extra."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = next(block.text for block in blocks(readme) if block.kind == "python")
    script = folder / "script.py"
    script.write_text(first + WITHOUT_EXTRAS, encoding="utf-8")
    assert run([python, script], folder) == (
        f"semibandit {sb.__version__} in the environment: True\n"
        "downloading mediamill needs filelock: pip install 'semibandit[download]'\n"
        "writing to a store needs filelock: pip install 'semibandit[service]'\n"
        "this sweep needs joblib: pip install 'semibandit[sweep]'\n"
    )


WITHOUT_EXTRAS = """
import sys
import semibandit as sb
from semibandit.store.store import Store
with open("visits.csv", "w", encoding="utf-8") as file:
    file.write("hour,likes_sea\\n9,1\\n15,0\\n")
data = sb.read_dataset("visits.csv", labels="likes_*")
trace = sb.replay(sb.SlateUCB(data.d, data.K), data.X_train, data.Y_train)
learner = sb.SlateUCB(2, 3)
learner.save("learner.npz")
assert sb.load("learner.npz").rank([1.0, 0.0]).labels == learner.rank([1.0, 0.0]).labels
sb.Client("http://127.0.0.1:1")  # needs nothing but Python
inside = sb.__file__.startswith(sys.prefix)
print(f"semibandit {sb.__version__} in the environment: {inside}")
for call in (
    lambda: sb.read_dataset("mediamill"),
    lambda: Store.create("store", learner),
    lambda: sb.tune(data.X_train, data.Y_train),
):
    try:
        call()
    except sb.errors.MissingExtra as why:
        print(why)
"""


def check_commands(python, folder):
    """Every command explains itself, and those that need no extra work."""
    command = python.with_name("semibandit")
    assert run([command, "--version"], folder) == f"semibandit {sb.__version__}\n"
    demo = run([command, "demo", "--rounds", "20", "--seeds", "1"], folder)
    assert "SlateUCB" in demo
    assert "pip install 'semibandit[plot]'" in demo
    script = folder / "commands.py"
    script.write_text(COMMANDS, encoding="utf-8")
    names = [group.name for group in app.registered_groups]
    names += [one.callback.__name__.replace("_", "-") for one in app.registered_commands]
    assert run([python, script, *names], folder) == SAID


COMMANDS = """
import sys
from typer.testing import CliRunner
from semibandit.cli import app
def run(*words):
    return CliRunner().invoke(app, words, prog_name="semibandit")
for words in ([], *([name] for name in sys.argv[1:])):
    assert run(*words, "--help").exit_code == 0, words
assert run("replay", "visits.csv", "--labels", "likes_*", "--out", "replayed").exit_code == 0
for words in (
    ["data", "get", "mediamill"],
    ["serve", "--features", "3", "--labels", "a,b"],
    ["export", "log.parquet", "--store", "postgresql://host/database"],
    ["reproduce"],
    ["replay", "visits.csv", "--labels", "likes_*", "--device", "cpu"],
):
    print(run(*words).stderr, end="")
"""
SAID = """\
semibandit data get: downloading mediamill needs filelock: pip install 'semibandit[download]'
semibandit serve: the service needs uvicorn: pip install 'semibandit[service]'
semibandit export: a store at postgresql://... needs psycopg: pip install 'semibandit[postgres]'
semibandit reproduce: the report needs matplotlib: pip install 'semibandit[plot]'
semibandit replay: device='cpu' needs torch: pip install 'semibandit[gpu]'
"""
