"""Visits to a service that may be in trouble, and what must be in its store afterwards."""

from learners import bits

from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store


def visit(server, name):
    """A rank and its feedback; whether both were acknowledged."""
    shown = server.rank([1.0, len(name), 0.5, 0.0], slots=2, id=name)
    if shown.status_code != 200:
        return shown
    return server.feedback(name, [one["label"] for one in shown.json()["slate"][:1]])


def away(answer):
    """503, when to come again, and nothing of the inside."""
    assert answer.status_code == 503, answer.text
    assert answer.headers["retry-after"] == "1"
    assert "cannot be reached or written at the moment" in answer.json()["detail"]
    for secret in ("sqlite", "semibandit.db", "postgres", "psycopg", "Traceback", "disk I/O"):
        assert secret not in answer.text
    return True


def everything_is_there(where, names):
    with Store(where) as store:
        assert store.feedback(names).keys() == set(names)
        assert bits(rebuild(store, 0)[0]) == bits(rebuild(store)[0])
