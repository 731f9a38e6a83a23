"""contextualbandits has to be compiled, so it gets an environment of its own: `make test-peers`."""

from benchmarks.peers import HOME, PEERS, install
from peer_programs import FOLDER, run_before


def test_the_program_before_runs(tmp_path):
    peer = next(peer for peer in PEERS if peer.package == "contextualbandits")
    assert install(peer) is None
    run_before(FOLDER / "contextualbandits.md", HOME / peer.package / "bin" / "python", tmp_path)
