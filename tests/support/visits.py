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


def a_sells(i, label):
    return label == "a" or i % 9 == 0


def shop(server, first, n, clicks=a_sells):
    """So many visits in a batch, with feedback."""
    asked = [
        {"context": [1.0, i % 5, 0.0, 1.0], "slots": 2, "id": f"v{i}", "subject": f"s{i}"}
        for i in range(first, first + n)
    ]
    shown = server.post("/rank/batch", {"requests": asked}).json()["results"]
    told = []
    for i, one in enumerate(shown, first):
        labels = [each["label"] for each in one["slate"]]
        told.append({"id": one["id"], "clicked": [x for x in labels if clicks(i, x)]})
    assert server.post("/feedback/batch", {"feedback": told}).status_code == 200
