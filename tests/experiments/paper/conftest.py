"""A small report on files of our own, made by the command."""

import numpy as np
import pytest
from typer.testing import CliRunner

from semibandit.cli import app


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The folder of the report, and the arguments of the command."""
    folder = tmp_path_factory.mktemp("report")
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
    arguments += ["--lab-rounds", "40", "--out", str(out), "--jobs", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return out, arguments
