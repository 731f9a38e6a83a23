"""Have numba compile what most tests use, before many processes need it at once.

They would all compile the same functions: numba's cache helps those who come later alone.
"""

from concurrent.futures import ProcessPoolExecutor

import numpy as np
from every_cpu import elsewhere, played, start

import semibandit as sb
from semibandit.policies import batch_compiled, feedback_batch

D, K, T = 12, 9, 60
DTYPES = ("float64", "float32")


def compile_replay():
    """The runners of replay, for each kind of model."""
    random = np.random.default_rng(0)
    X, Y = random.standard_normal((T, D)), (random.random((T, K)) < 0.3).astype(np.uint8)
    models = [*map(sb.Full, DTYPES), sb.Diagonal()]
    for learner in (*(sb.SlateUCB(D, K, model=model) for model in models), sb.OBR(D, K)):
        sb.replay(learner, X, Y, slots=3, threads=1)


def compile_groups():
    """What the service ranks and learns groups of requests with."""
    for dtype in DTYPES:
        feedback_batch.prepare(sb.SlateUCB(D, K, model=sb.Full(dtype)))
        batch_compiled.prepare(dtype)


def compile_elsewhere():
    """What plays as on another CPU: numba keeps its code beside that for this one."""
    played(start(**elsewhere()["another CPU"]))


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        work = compile_replay, compile_groups, compile_elsewhere
        for done in [*map(pool.submit, work)]:
            done.result()
