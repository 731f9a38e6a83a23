"""Counts by time: minutes, hours and days, and what is dropped."""

from semibandit.service.engine.time_series import COUNTED, DAY, HOUR, MINUTE, TimeSeries

ONE = [1] * len(COUNTED)
NOW = 20_000 * DAY + 5 * HOUR + 30.0


def decisions(points):
    return [one["decisions"] for one in points]


def test_a_thousand_days():
    series = TimeSeries()
    for day in range(1000):
        for hour in (0, 12):
            series.add(NOW - (999 - day) * DAY - hour * HOUR, ONE)
    step, points = series.points("all", NOW)
    assert (step, len(points)) == (DAY, 1001)
    assert sum(decisions(points)) == 2000
    step, points = series.points("day", NOW)
    assert (step, sum(decisions(points))) == (HOUR, 2)
    dump = series.dump()
    assert len(dump[str(HOUR)]) == 7 * 24
    assert len(dump[str(MINUTE)]) == 60
    assert TimeSeries.restore(dump).points("all", NOW) == series.points("all", NOW)


def test_all_time_is_told_in_intervals_that_fit_its_age():
    for age, step in ((5 * 60, MINUTE), (5 * HOUR, HOUR), (6 * DAY, HOUR), (9 * DAY, DAY)):
        series = TimeSeries()
        series.add(NOW - age, ONE)
        series.add(NOW, ONE)
        found, points = series.points("all", NOW)
        assert found == step, age
        assert sum(decisions(points)) == 2
    assert len(TimeSeries().points("all", NOW)[1]) == 2


def test_the_last_minutes_and_their_sum():
    series = TimeSeries()
    for seconds in (0, 60, 60, 30 * 60, 59 * 60, 61 * 60):
        series.add(NOW - seconds, ONE)
    step, points = series.points("hour", NOW)
    assert (step, len(points), sum(decisions(points))) == (MINUTE, 60, 5)
    assert decisions(points)[-2:] == [2, 1]
    assert series.sum(MINUTE, 10, NOW)["decisions"] == 3
    assert len(series.minutes(NOW)) == 60
    assert len(TimeSeries().minutes(NOW)) == 1
