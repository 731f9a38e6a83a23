"""What `import semibandit` gives, and what it costs."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import semibandit as sb

ROOT = Path(__file__).parents[1]


NAMES = """
OBR Adversarial Banditron Bayes CandidateSet Client Comparison Confidit Dataset Diagonal Dual
EpsilonGreedy Evaluation Features Full Greedy Hashed InputError KnownNorm LabelExists Learner
LearnerSpec LogDet Logistic Mixed Model NotShown PlackettLuce Play PositionBias PositionBiased
Random ReplayedLog Scaled Scores SemibanditError ServedSlate Sharded Shards Slate SlateUCB
SpreadWidth Square State StoreError Surrogate Synthetic Thompson Trace Tuned UnknownLabel
UnknownNorm Width best_ranking best_slate bounds compare constant decreasing engine_of errors
evaluate expected_loss grid hamming linear load loss_ac loss_p_rank loss_rank loss_rank_scores
play polynomial position_bias rbf read_dataset replay replay_log sweep tune
"""


def test_the_public_names_are_pinned():
    assert sb.__all__ == NAMES.split()
    for name in sb.__all__:
        assert getattr(sb, name).__doc__


def test_import_is_light():
    heavy = (
        "('scipy', 'matplotlib', 'rich', 'typer', 'numba', 'pandas', 'torch', 'joblib', 'ray', "
        "'jinja2', 'httpx2', 'fastapi', 'pydantic', 'psycopg', 'sqlite3')"
    )
    code = f"import sys, semibandit; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "[]\n", run.stderr


def documentation():
    """The pages that people read: not those that are made from docstrings, nor the design."""
    pages = [ROOT / "README.md", ROOT / "docs/symbols.md", *ROOT.glob("docs/how-to/*.md")]
    return "".join(page.read_text() for page in pages)


def test_every_public_name_is_documented():
    text = documentation()
    missing = [name for name in sb.__all__ if not re.search(rf"(\bsb\.|`){name}\b", text)]
    assert not missing


def test_every_extra_is_documented():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for_work_on_the_repository = {"dev", "docs", "peers", "test"}
    extras = set(project["optional-dependencies"]) - for_work_on_the_repository
    text = documentation()
    assert len(extras) > 5
    assert not [extra for extra in extras if f"| `{extra}` |" not in text]


def test_one_thread_is_one_for_every_blas_there_is():
    code = (
        "from semibandit._util.blas import one_thread; one_thread(); import scipy.linalg.blas; "
        "from threadpoolctl import threadpool_info as info; "
        "print({one['num_threads'] for one in info() if one['user_api'] == 'blas'})"
    )
    env = {name: value for name, value in os.environ.items() if "_THREADS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{1}"


def test_every_file_of_the_package_is_in_the_design():
    design = (ROOT / "docs/design.md").read_text()
    files = [path.name for path in (ROOT / "src/semibandit").rglob("*.py")]
    missing = [f for f in files if f not in design and not f.startswith("__")]
    assert not missing


def test_the_changelog_knows_this_version():
    assert f"## {sb.__version__}" in (ROOT / "CHANGELOG.md").read_text()
