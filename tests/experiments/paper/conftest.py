"""A small report on files of our own, made by the command."""

import json
import os

import numpy as np
import pytest
from filelock import FileLock
from typer.testing import CliRunner

from semibandit.cli import app


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The folder of the report, which nobody may change, and the arguments of the command.

    It is made once for all workers.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "report"
    with FileLock(f"{folder}.lock"):
        if not (folder / "arguments.json").exists():
            _make(folder)
        arguments = json.loads((folder / "arguments.json").read_text())
    return folder / "out", arguments


def _make(folder):
    folder.mkdir()
    random = np.random.default_rng(0)
    names = []
    for name, K in (("little", 60), ("other", 9)):
        X = random.standard_normal((150, 6))
        Y = (X @ random.standard_normal((6, K)) > 2.0).astype(np.uint8)
        Y[np.arange(150), random.integers(0, K, 150)] = 1
        np.savez(folder / f"{name}.npz", X_train=X, Y_train=Y)
        names.append(str(folder / f"{name}.npz"))
    out = folder / "out"
    arguments = ["reproduce", "--sets", names[0], "--prices", ",".join(names), "--seeds", "2"]
    arguments += ["--lab-rounds", "20", "--out", str(out), "--jobs", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    (folder / "arguments.json").write_text(json.dumps(arguments))
