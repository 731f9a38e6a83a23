"""What the answers for those who watch look like: /v1/state, /v1/series and /v1/items."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from semibandit.service.http.schema import Label

__all__ = ["ItemList", "SeriesAnswer", "State"]


class Counts(BaseModel):
    """What was counted."""

    decisions: int
    empty: int = Field(description="Decisions with an empty slate.")
    feedback: int = Field(description="Decisions with feedback, also by the deadline.")
    waited: int = Field(description="Those that nobody answered until the deadline.")
    shown: int = Field(description="Labels that users looked at, in slates with feedback.")
    clicks: int = Field(description="Labels that were clicked.")


class Totals(Counts):
    """What was counted since the first event of the log."""

    since: float | None = Field(description="When that was, in seconds since 1970.")


class Minute(Counts):
    """What was counted in a minute."""

    start: float
    size: int = Field(description="Labels in all slates.")
    width: float = Field(description="The sum of their widths.")


class Point(Counts):
    """What was counted in an interval."""

    start: float = Field(description="Its beginning, in seconds since 1970.")


class SeriesAnswer(BaseModel):
    """Counts by time, without gaps; the last interval is the present one."""

    range: Literal["hour", "day", "all"]
    step: int = Field(description="The length of an interval in seconds.")
    points: list[Point]


class Item(BaseModel):
    """A label that can be shown, and what became of it."""

    label: Label
    decisions: int = Field(description="The slates that it was in.")
    shown: int = Field(description="Those with feedback in which users looked at it.")
    clicked: int
    rate: float | None = Field(description="Clicked per shown; null if it never was.")
    estimate: float | None = Field(description="The mean estimate in the slates that it was in.")
    last_shown: float | None = Field(description="In seconds since 1970; null if it never was.")


class ItemList(BaseModel):
    """A page of the items that were asked for."""

    total: int = Field(description="How many there are on all pages.")
    items: list[Item]


class Feature(BaseModel):
    """A named feature of contexts."""

    name: str | None
    kind: Literal["number", "category", "set", "hashed"]
    values: list[str] | None
    limit: int | None
    open: bool


class ShownBefore(BaseModel):
    """A label of a decision, and why it was there."""

    label: Label
    prob: float
    estimate: float
    width: float
    probe: bool


class LatestDecision(BaseModel):
    """One of the latest decisions."""

    id: str
    at: float
    version: int
    slots: int | None
    size: int = Field(description="Labels in the slate.")
    slate: list[ShownBefore] = Field(description="The first 100 of them.")
    context: dict[str, Any] | list[float | None] = Field(
        description="By names if they were given, else the first 200 numbers."
    )
    next: ShownBefore | None = Field(description="The best label that was not shown, if known.")
    clicked: list[Label] | None = Field(description="Null until there is feedback.")
    waited: bool = Field(description="Whether nobody answered until the deadline.")
    holdout: str | None = Field(description="What the holdout shows, if the visit belongs to it.")


class Calibration(BaseModel):
    """The labels whose estimate is in one tenth of the interval from 0 to 1."""

    labels: int
    clicks: int
    estimate: float | None


class TopLabel(BaseModel):
    """One of the labels that were clicked most."""

    label: Label
    shown: int
    clicked: int


class FoundProblem(BaseModel):
    """What is wrong, and what to do about it."""

    what: str
    do: str


class Requests(BaseModel):
    """The requests to rank and with feedback of the last five minutes."""

    count: int
    errors: int = Field(description="Those that failed: status 500 and above.")
    refused: int = Field(description="Those that were mistaken: status 400 to 499.")
    per_second: float
    p50_ms: float | None
    p99_ms: float | None


class StateLimits(BaseModel):
    """How much a request may ask for."""

    slots: int
    batch: int
    body: int


class ArmCounts(BaseModel):
    """The visits that the learner has decided, or those of the holdout, while there was one.

    Only visits with feedback count. With --wait, visits that nobody answers have feedback as well:
    that nothing was clicked.
    """

    visits: int
    clicked_visits: int = Field(description="Those with at least one click.")
    clicks: int = Field(description="Labels that were clicked.")
    shown: int = Field(description="Labels in their slates.")
    clicked_share: float | None = Field(description="The share of visits with a click.")
    clicks_per_visit: float | None


Ends = tuple[float | None, float | None]


class Gain(BaseModel):
    """What the learner gains over the holdout in one measure.

    Intervals are valid whenever one looks: with the stated confidence they are never wrong.
    """

    difference: float | None = Field(description="The learner's less the holdout's.")
    difference_interval: Ends = Field(description="Null is an end that is not known.")
    relative: float | None = Field(description="The learner's by the holdout's, less 1.")
    relative_interval: Ends = Field(description="Null is an end that is not known.")
    can_tell: bool = Field(description="Whether the interval of the difference excludes 0.")
    visits_to_go: int | None = Field(
        description="About how many more visits with feedback it takes until it can tell, if rates "
        "stay as they are. Null if it can, or if that is not known."
    )
    seconds_to_go: float | None = Field(description="How long that takes at the pace of a day.")


class Uplift(BaseModel):
    """What the learner gains over the holdout."""

    share: float = Field(
        description="The share of the visitors that belong to the holdout: by subject, or by visit "
        "if a request has none."
    )
    policy: Literal["uniform", "most-clicked"] = Field(description="What they are shown.")
    learned: bool = Field(description="Whether the learner learns from them.")
    confidence: float = Field(description="Of the intervals.")
    since: float | None = Field(
        description="The time of the first visit that counts. Another share or policy of the "
        "holdout begins a new comparison."
    )
    learner: ArmCounts
    holdout: ArmCounts
    few_visitors: int | None = Field(
        description="How many visitors belong to the holdout, if they are too few to tell "
        "anything, however many visits they make; else null."
    )
    visits_with_a_click: Gain
    clicks_per_visit: Gain


class Erasure(BaseModel):
    """Events that were erased from the log, and are not yet gone from the database's files."""

    events: int
    since: float = Field(description="When the first of them was erased.")
    waits_for: str = Field(description="What keeps them, in words. It is tried again.")


class State(BaseModel):
    """What the learner is, what it has learned, and what happened."""

    learner: str
    settings: dict[str, Any]
    policy: str | None = Field(
        description="The policy that draws slates around the learner, in words (--randomise); "
        "null if the learner decides by itself."
    )
    n_features: int
    features: list[Feature] | None
    feature_names: list[str] | None
    n_labels: int
    looked_share: float = Field(
        description="The share of the labels that was looked at exactly since the start; the "
        "others could not be among the best, by bounds that are proven."
    )
    version: int = Field(description="The learner's round.")
    position: int = Field(description="The last event of the log.")
    learned: int = Field(description="The last event that was learned.")
    snapshot: int = Field(description="The last event in a snapshot.")
    backlog: int = Field(description="Events that are not yet learned.")
    waiting: int = Field(description="Requests that wait.")
    healthy: bool
    following: bool = Field(description="Whether another process writes to the store.")
    erasure: Erasure | None = Field(description="Null if nothing is pending.")
    wait: float | None = Field(description="Seconds until no feedback counts as nothing clicked.")
    limits: StateLimits
    may_write: bool = Field(description="Whether the key of this request may change anything.")
    problems: list[FoundProblem] = Field(description="The worst first; empty if all is well.")
    requests: Requests
    decisions: int
    feedback: int
    shown: int
    clicks: int
    totals: Totals
    sizes: list[int] = Field(description="Slates with 0, 1, 2, ... labels; the 52nd: with more.")
    positions: list[tuple[int, int]] = Field(description="Shown and clicked, from the top.")
    minutes: list[Minute] = Field(description="The last hour.")
    calibration: list[Calibration]
    top: list[TopLabel]
    latest: list[LatestDecision] = Field(description="Newest first.")
    uplift: Uplift | None = Field(description="Null without a holdout (--holdout).")
