"""Visits out of logs: what is used, what is left out and counted, and what memory it takes."""

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from shop import Shop, log_lines, shop_events, write_shop_log

import semibandit as sb
from semibandit.errors import FileError, InputError, MissingFile
from semibandit.evaluation.off_policy.read_visits import VisitLog, read_visits
from semibandit.store.event import Decision, Feedback, LabelChange, NewLearner
from semibandit.store.export import write_log
from semibandit.store.store import Store

SHOP = Shop()


def events(n=40, **more):
    return list(shop_events(SHOP, SHOP.learner(), n, group=8, **more))


def written(path, some, learner=None):
    path.write_bytes(b"".join(log_lines(some, learner or SHOP.learner())))
    return path


def visits_of(log):
    return [visit for chunk in log for visit in chunk.visits]


def changed(some, id, **changes):
    """The events with one decision, or one answer, changed."""
    kind = Feedback if "clicked" in changes else Decision
    return [
        replace(e, **changes) if isinstance(e, kind) and e.id == id else e
        for e in some
    ]  # fmt: skip


def left_out(path, some):
    log = VisitLog(written(path / "log.jsonl", some))
    return len(visits_of(log)), dict(log.left_out)


@pytest.mark.parametrize("kind", ["store", "jsonl", "parquet"])
def test_visits_are_the_decisions_with_their_feedback(tmp_path, kind):
    some = events()
    with Store.create(tmp_path / "s", SHOP.learner()) as store:
        store.append(some)
        if kind != "store":
            write_log(store, tmp_path / f"log.{kind}")
    log = read_visits(tmp_path / ("s" if kind == "store" else f"log.{kind}"))
    found = visits_of(log)
    answers = [e for e in some if isinstance(e, Feedback)]
    decisions = {e.id: e for e in some if isinstance(e, Decision)}
    assert len(found) == len(answers) == log.used == 40
    assert not log.left_out
    for visit, answer in zip(found, answers, strict=True):
        decision = decisions[answer.id]
        assert visit.group == answer.id
        assert visit.shown == decision.labels
        assert [x for x, yes in zip(visit.shown, visit.clicked, strict=True) if yes] == (
            answer.clicked
        )
        assert visit.request.given.tobytes() == decision.context.tobytes()
        assert (visit.request.slots, visit.request.draw) == (3, decision.draw)
        assert visit.slate_propensity == decision.slate_propensity
        assert visit.prefix_propensity == decision.prefix_propensity
        assert visit.item_propensity == decision.item_propensity
        assert visit.logging.json() == decision.distribution
    assert [visit.seq for visit in visits_of(log)] == [visit.seq for visit in found]  # once more


def test_named_contexts_and_visitors_are_kept(tmp_path):
    learner = sb.SlateUCB(sb.Features(hour="number", device="category:2"), SHOP.items, a=1.0)
    some = changed(events(8), "visit-3", named={"hour": 9}, subject="person-7", context=np.zeros(3))
    log = VisitLog(written(tmp_path / "log.jsonl", some, learner))
    (visit,) = [visit for visit in visits_of(log) if visit.group == "person-7"]
    assert visit.request.named == {"hour": 9}


NO_DISTRIBUTION = {"distribution": None}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"distribution": None, "slate_propensity": None, "prefix_propensity": None,
          "item_propensity": None}, "decisions without propensities"),
        (NO_DISTRIBUTION | {"slate_propensity": 0.0}, "with a propensity of 0"),
        (NO_DISTRIBUTION | {"prefix_propensity": [0.5, 0.0, 0.0]}, "with a propensity of 0"),
        ({"distribution": {"slate": ["item-1"]}, "slate_propensity": None,
          "prefix_propensity": None, "item_propensity": None}, "with a propensity of 0"),
        ({"prefix_propensity": [0.5]}, "for another number of labels"),
        ({"prefix_propensity": [0.1, 0.5, 0.6]}, "contradict each other"),
        ({"item_propensity": [0.5, 2.0, 0.5]}, "that are not probabilities"),
        ({"item_propensity": [0.5, -0.1, 0.5]}, "that are not probabilities"),
        ({"item_propensity": [0.5, float("nan"), 0.5]}, "that are not probabilities"),
        ({"item_propensity": [0.5, "1", 0.5]}, "that are not probabilities"),
        ({"slate_propensity": [0.5]}, "that are not probabilities"),
        ({"prefix_propensity": {"a": 1}}, "for another number of labels"),
        ({"slate_propensity": 1.0}, "contradict each other"),  # more than its beginning
        ({"slate_propensity": 1e-9}, "contradict the distribution"),
        ({"distribution": {"uniform": [2, 3]}}, "damaged distribution"),
        ({"distribution": [1, 2]}, "damaged distribution"),
        ({"labels": ["item-1", "item-1", "item-2"]}, "with a label shown twice"),
        ({"clicked": ["item-99"]}, "clicks on what was not shown"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_counted_by_its_reason(tmp_path, changes, reason):
    used, found = left_out(tmp_path, changed(events(), "visit-5", **changes))
    ((text, n),) = found.items()
    assert reason in text
    assert (used, n) == (39, 1)


def test_feedback_that_is_missing_early_or_twice_is_counted(tmp_path):
    some = events()
    answer = next(e for e in some if isinstance(e, Feedback) and e.id == "visit-5")
    without = [e for e in some if e is not answer]
    assert left_out(tmp_path, without) == (39, {"decisions without feedback": 1})
    log = VisitLog(written(tmp_path / "log.jsonl", [e for e in some if isinstance(e, Decision)]))
    assert not visits_of(log)
    assert "40 decisions without feedback left out: if visitors" in log.notes()[0]
    early = "feedback before or without its decision"
    assert left_out(tmp_path, [answer, *without]) == (
        39, {early: 1, "decisions without feedback": 1}
    )  # fmt: skip
    assert left_out(tmp_path, [*some, answer]) == (40, {early: 1})
    again = next(e for e in some if isinstance(e, Decision) and e.id == "visit-5")
    assert left_out(tmp_path, [again, *some]) == (40, {"decisions with the id of another": 1})


def test_a_file_that_is_cut_off_is_read_up_to_there(tmp_path):
    path = written(tmp_path / "log.jsonl", events())
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    log = VisitLog(path)
    assert len(visits_of(log)) == 39
    assert dict(log.left_out) == {
        "lines cut off at the end of the log": 1,
        "decisions without feedback": 1,
    }
    path.write_bytes(whole[:-1])  # all of it, but for the end of the line
    assert len(visits_of(log)) == 40
    assert not log.left_out


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[1]", b'"x"', b'{"seq": 1}', b'{"seq": "1", "kind": "decision", "id": "x", '
     b'"at": 1, "context": [1], "body": {}}', b'{"seq": 1, "kind": "decision", "id": "x", "at": 1, '
     b'"context": ["x"], "body": {}}'],
)  # fmt: skip
def test_a_damaged_line_elsewhere_is_an_error_that_names_it(tmp_path, line):
    path = written(tmp_path / "log.jsonl", events())
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:6], line, *lines[6:]]) + b"\n")
    with pytest.raises(FileError, match=r"log.jsonl, line 7 is damaged"):
        visits_of(VisitLog(path))


def test_a_damaged_event_is_an_error(tmp_path):
    path = written(tmp_path / "log.jsonl", events())
    for key, value in (("labels", None), ("draw", "x"), ("labels", "item-1")):
        lines = path.read_bytes().splitlines()
        row = json.loads(lines[1])
        row["body"][key] = value
        lines[1] = json.dumps(row).encode()
        other = tmp_path / "damaged.jsonl"
        other.write_bytes(b"\n".join(lines) + b"\n")
        with pytest.raises(FileError, match=r"event 1.* damaged (event: )?decision"):
            visits_of(VisitLog(other))
    other.write_bytes(b"\n".join(lines[1:]))
    with pytest.raises(FileError, match="is not a log"):
        visits_of(VisitLog(other))
    with pytest.raises(MissingFile):
        visits_of(VisitLog(tmp_path / "none.jsonl"))


def test_a_parquet_file_that_is_cut_off_is_an_error(tmp_path):
    with Store.create(tmp_path / "s", SHOP.learner()) as store:
        store.append(events())
        write_log(store, tmp_path / "log.parquet")
    whole = (tmp_path / "log.parquet").read_bytes()
    (tmp_path / "log.parquet").write_bytes(whole[:-100])
    with pytest.raises(FileError, match="cut off"):
        visits_of(VisitLog(tmp_path / "log.parquet"))


def test_a_log_without_any_propensities_says_how_to_get_some(tmp_path):
    nothing = dict.fromkeys(
        ("distribution", "slate_propensity", "prefix_propensity", "item_propensity")
    )
    some = [replace(e, **nothing) if isinstance(e, Decision) else e for e in events()]
    log = VisitLog(written(tmp_path / "log.jsonl", some))
    assert not visits_of(log)
    with pytest.raises(InputError, match=r"40 decisions without prop.*--randomise mixed:0.05"):
        log.check_used()


def test_labels_come_and_go(tmp_path):
    some = events(24)
    first, second, third = some[:16], some[16:32], some[32:]
    late = first.pop()  # decided before, answered after the labels changed
    add = LabelChange(1.0, add=["item-new"])
    gone = LabelChange(2.0, retire=["item-0"])
    log = VisitLog(
        written(tmp_path / "log.jsonl", [*first, add, late, *second, gone, NewLearner(2.0, 1, 1),
                                         *third]),
        lessons=True,
    )  # fmt: skip
    chunks = [*log]
    assert [len(chunk.visits) for chunk in chunks] == [7, 9, 8]
    assert log.replaced == 1
    assert "another learner took over once" in log.notes()[0]
    assert [len(chunk.lessons) for chunk in chunks] == [8, 10, 8]  # each ends with the change
    before, between, after = (chunk.items for chunk in chunks)
    assert {tuple(items) for items in before} == {tuple(SHOP.items)}
    assert tuple(between[0]) == tuple(SHOP.items)
    assert chunks[1].visits[0].request.candidates == SHOP.items  # nothing else could be shown
    assert {tuple(items) for items in between[1:]} == {(*SHOP.items, "item-new")}
    assert {tuple(items) for items in after} == {(*SHOP.items[1:], "item-new")}


def test_numbers_of_new_labels_go_on_from_all_that_have_been(tmp_path):
    learner = sb.SlateUCB(2, 5)
    learner.retire_labels([1, 3])
    decision = Decision(
        "v", 2.0, np.ones(2), 1, None, None, [6], [0.5], [0.5], [0.5], 1, 1,
        distribution={"uniform": [5, 1]}, slate_propensity=0.2,
    )  # fmt: skip
    with Store.create(tmp_path / "store", learner) as store:
        store.append([LabelChange(1.0, add=2), decision, Feedback("v", 3.0, [6])])
    learner.add_labels(2)
    (items,) = (items for chunk in VisitLog(tmp_path / "store") for items in chunk.items)
    assert sorted(items) == sorted(learner.labels) == [0, 2, 4, 5, 6]


def test_visits_of_some_time(tmp_path):
    path = written(tmp_path / "log.jsonl", events())
    times = [visit.at for visit in visits_of(VisitLog(path))]
    log = VisitLog(path, since=times[10], until=times[30])
    assert [visit.at for visit in visits_of(log)] == times[10:30]
    log = VisitLog(path, since=times[10], until=times[30], lessons=True)
    assert sum(len(chunk.lessons) for chunk in log) == 30


def test_memory_does_not_grow_with_the_log(tmp_path):
    head, *lines = log_lines(events(200), SHOP.learner())

    def peak(times, feedback):
        path = tmp_path / "log.jsonl"
        some = [line for line in lines if feedback or b'"kind": "decision"' in line]
        more = [
            line.replace(b"visit-", b"%d-" % i) for i in range(times) for line in some
        ]  # fmt: skip
        path.write_bytes(b"".join([head, *more]))
        log = VisitLog(path, size=16, waiting=100, lessons=True)
        tracemalloc.start()
        used = sum(len(chunk.visits) for chunk in log)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return used, most, log.left_out

    peak(1, True)  # what is made once
    (used, small, _), (more, large, _) = peak(3, True), peak(9, True)
    assert (used, more) == (600, 1800)
    assert large < 1.1 * small
    (_, small, _), (_, large, found) = peak(3, False), peak(9, False)  # it never comes
    assert large < 1.1 * small
    assert sum(found.values()) == 1800
    assert found["decisions without feedback"] == 100


def test_decisions_with_many_scores_count_as_several_that_wait(tmp_path):
    scores = {"plackett_luce": [SHOP.items, [0.0] * SHOP.n], "length": SHOP.slots}
    more = {"plackett_luce": [[f"item-{i}" for i in range(160)], [0.0] * 160], "length": SHOP.slots}
    kept = []
    for distribution in (scores, more, {"mixture": [[0.5, more], [0.5, {"uniform": [160, 3]}]]}):
        some = [
            replace(e, distribution=distribution, slate_propensity=None, prefix_propensity=None,
                    item_propensity=None)
            for e in events() if isinstance(e, Decision)
        ]  # fmt: skip
        log = VisitLog(written(tmp_path / "log.jsonl", some), waiting=33)
        assert not visits_of(log)
        assert sum(log.left_out.values()) == len(some)
        kept.append(log.left_out["decisions without feedback"])
    assert kept == [33, 3, 3]


def test_a_note_says_if_feedback_is_missing(tmp_path):
    some = events(200)
    silent = [one.id for one in some if isinstance(one, Decision)][-4:]
    late = [e for e in some if isinstance(e, Decision) or e.id not in silent]
    log = VisitLog(written(tmp_path / "log.jsonl", late))
    assert len(visits_of(log)) == 196
    assert "4 decisions without feedback left out" in log.notes()[0]
    assert "--until" in log.notes()[0]


def test_labels_beyond_64_bits_are_read_exactly(tmp_path):
    large = 2**70 + 1
    learner = sb.SlateUCB(SHOP.d, [1, 2, large])
    nothing = {"slate_propensity": 0.5, "prefix_propensity": [0.5], "item_propensity": [0.5]}
    some = [
        replace(e, labels=[large], distribution=None, **nothing) if isinstance(e, Decision) else
        replace(e, clicked=[large])
        for e in events(8)
    ]  # fmt: skip
    found = visits_of(VisitLog(written(tmp_path / "log.jsonl", some, learner)))
    assert {visit.shown[0] for visit in found} == {large}
    assert len(found) == 8


def test_a_log_in_a_store_is_the_same_as_its_file(tmp_path, where):
    some = events()
    with Store.create(where, SHOP.learner()) as store:
        store.append(some)
    write_shop_log(tmp_path / "log.jsonl", SHOP, 40, group=8)
    one, other = visits_of(VisitLog(where)), visits_of(VisitLog(tmp_path / "log.jsonl"))
    assert [v.shown for v in one] == [v.shown for v in other]
    assert [v.clicked for v in one] == [v.clicked for v in other]
