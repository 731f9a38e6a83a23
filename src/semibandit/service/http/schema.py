"""What requests and answers look like, for FastAPI and its OpenAPI page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Len
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    Strict,
    StringConstraints,
    Tag,
)

__all__ = [
    "Accepted",
    "Added",
    "Decided",
    "EraseRequest",
    "Erased",
    "FeedbackBatch",
    "FeedbackRequest",
    "FeedbackResults",
    "Health",
    "Id",
    "LabelList",
    "Position",
    "Problem",
    "RankBatch",
    "RankRequest",
    "RankResults",
    "Replaced",
    "Retired",
    "Snapshot",
    "TAG",
]

LARGEST = 2**53 - 1  # whole numbers that every JSON reader keeps
TAG = "<tag>"  # begins what pydantic puts into the place of a mistake, and no user does


@dataclass(frozen=True)
class OneMistake:
    """A union of which pydantic says one thing if nothing fits, not one for each of its types."""

    expected: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        """The union's own schema, with that text."""
        return {
            **handler(source),
            "custom_error_type": "value_of_no_kind",
            "custom_error_message": self.expected,
        }


FIRST = Field(fail_fast=True)  # of a million mistakes in a list, the first is told
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Whole = Annotated[int, Strict(), Field(ge=-LARGEST, le=LARGEST)]
Name = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200)]
Label = Annotated[
    Whole | Name, OneMistake("expected a string of 1 to 200 characters, or a whole number")
]
Id = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9._:-]+$", min_length=1, max_length=200)
]
Position = Annotated[int, Field(ge=0, le=LARGEST)]
Text = Annotated[str, StringConstraints(strict=True, max_length=200)]
Labels = Annotated[list[Label], FIRST]
Member = Annotated[bool, Strict()] | Whole | Text
Members = Annotated[list[Member], Len(0, 1000), FIRST]
Value = (
    Annotated[
        Annotated[bool, Strict()] | Whole | Number | Text | Members,
        OneMistake(
            "expected a finite number, a string of up to 200 characters, true or false, "
            "or a list of up to 1000 strings, whole numbers or true or false"
        ),
    ]
    | None
)
Context = Annotated[
    Annotated[list[Number], FIRST, Tag(f"{TAG}list")]
    | Annotated[dict[str, Value], Tag(f"{TAG}names")],
    Discriminator(lambda given: f"{TAG}{'names' if isinstance(given, dict) else 'list'}"),
]
Examined = Annotated[
    Annotated[Labels, Tag(f"{TAG}labels")]
    | Annotated[Literal["up to the last click"], Tag(f"{TAG}words")],
    Discriminator(lambda given: f"{TAG}{'words' if isinstance(given, str) else 'labels'}"),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _example(**values: Any) -> dict[str, Any]:
    """What the description shows of a model."""
    return {"examples": [values]}


class RankRequest(_Strict):
    """What to decide on."""

    context: Context = Field(
        description="Numbers, one for each feature; or {name: value}, if features have names: "
        "those left out, or null, are unknown. /v1/state lists the features."
    )
    slots: Annotated[int, Strict(), Field(ge=0, le=LARGEST)] | None = Field(
        None,
        description="The most labels to show. If it is left out or null, that is as many as the "
        "service allows (--max-slots).",
    )
    candidates: Labels | None = Field(None, description="Only these labels may be shown.")
    exclude: Labels | None = Field(None, description="These labels may not be shown.")
    id: Id | None = Field(
        None,
        description="Yours, to ask again safely: the same id gives the same decision. "
        "With another request under the same id, or another subject: 409.",
    )
    subject: Id | None = Field(
        None,
        description="Yours, for the visitor: all that was logged with it can be erased. It is "
        "neither learned nor shown. A visitor belongs to the holdout (--holdout) or does not; "
        "without a subject every visit is another visitor.",
    )


class Shown(BaseModel):
    """A label and why it is there."""

    label: Label
    position: int = Field(description="1 is the top.")
    prob: float = Field(description="What labels are ranked and cut by: the estimate and a bonus.")
    estimate: float = Field(description="How likely it is relevant, by what was learned.")
    width: float = Field(description="How uncertain that is: what the bonus is made of.")
    probe: bool = Field(description="Whether it is there only to be tried.")


class Decided(BaseModel):
    """A decision."""

    model_config = ConfigDict(
        json_schema_extra=_example(
            id="visit-1",
            slate=[
                {
                    "label": "city",
                    "position": 1,
                    "prob": 0.62,
                    "estimate": 0.5,
                    "width": 0.24,
                    "probe": False,
                }
            ],
            version=7,
        )
    )

    id: str | None = Field(description="Give it back with the feedback; null for a dry run.")
    slate: list[Shown] = Field(description="Best first; may be shorter than the slots, or empty.")
    version: int = Field(description="The learner's round when it decided.")
    propensity: float | None = Field(
        None,
        description="How likely exactly this slate was; left out unless the service draws slates "
        "at random (--randomise) or has a holdout (--holdout).",
    )
    dry_run: bool = Field(False, description="Whether nothing of it was logged.")


class FeedbackRequest(_Strict):
    """What became of a decision."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra=_example(id="visit-1", clicked=["city"])
    )

    id: Id
    clicked: Labels = Field(description="The shown labels that were relevant; [] for none.")
    examined: Examined | None = Field(
        None,
        description="The shown labels the user looked at; only these are learned from. "
        '"up to the last click" are those down to the last that was clicked, all if none was.',
    )


class Accepted(BaseModel):
    """The feedback is in the log."""

    model_config = ConfigDict(json_schema_extra=_example(id="visit-1", status="accepted"))

    id: str
    status: Literal["accepted"] = "accepted"


class Problem(BaseModel):
    """Why not."""

    model_config = ConfigDict(json_schema_extra=_example(detail="context is missing"))

    detail: str


class BatchProblem(BaseModel):
    """Why not, for one of a batch."""

    model_config = ConfigDict(json_schema_extra=_example(status=422, detail="context is missing"))

    status: int
    detail: str


class RankBatch(_Strict):
    """Many to decide on; what is wrong with one of them is answered for it alone."""

    requests: Annotated[list[RankRequest], FIRST]


class RankResults(BaseModel):
    """A decision or a problem for each request, in their order."""

    results: list[Decided | BatchProblem]


class FeedbackBatch(_Strict):
    """Feedback to many decisions, learned in this order; each is answered by itself."""

    feedback: Annotated[list[FeedbackRequest], FIRST]


class FeedbackResults(BaseModel):
    """Accepted or a problem for each, in their order."""

    results: list[Accepted | BatchProblem]


class Added(_Strict):
    """Labels to add: names, or how many more if labels are numbered."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_example(labels=["mountains"]))

    labels: Annotated[
        Labels | Annotated[int, Strict(), Field(ge=0, le=LARGEST)],
        OneMistake("expected a list of labels, or how many more"),
    ]


class Retired(_Strict):
    """Labels to retire."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_example(labels=["snow"]))

    labels: Labels


class LabelList(BaseModel):
    """The labels that can be shown."""

    model_config = ConfigDict(json_schema_extra=_example(labels=["sea", "city", "snow"]))

    labels: list[Label]


class Snapshot(BaseModel):
    """A snapshot is in the store."""

    model_config = ConfigDict(json_schema_extra=_example(position=1200))

    position: int = Field(description="The last event of the log that is in it.")


class Health(BaseModel):
    """All is well."""

    model_config = ConfigDict(json_schema_extra=_example(status="ok"))

    status: Literal["ok"]
    problems: list[str] = Field(
        [], description="What is wrong though it works, in sentences; left out if nothing is."
    )


class EraseRequest(_Strict):
    """What to erase: visits, and all visits of visitors."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra=_example(subjects=["user-7"], ids=["visit-1"])
    )

    subjects: Annotated[list[Id], Len(0, 1000)] = Field(
        [], description="All decisions for these. A subject may have none."
    )
    ids: Annotated[list[Id], Len(0, 1000)] = Field(
        [], description="These decisions. With an unknown one: 404, and nothing is erased."
    )
    dry_run: Annotated[bool, Strict()] = Field(
        False, description="Whether only to count what would be erased."
    )


class Erased(BaseModel):
    """What was erased, and what cannot be."""

    model_config = ConfigDict(
        json_schema_extra=_example(events=2, stays="what was learned from them", pending=None)
    )

    events: int = Field(description="Events of the log that were erased.")
    stays: str = Field(description="What of them stays in the learned numbers.")
    pending: str | None = Field(
        description="What keeps them in the database's files for now; it is tried again until they "
        "are gone (/v1/state). Null if they are."
    )
    dry_run: bool = Field(False, description="Whether they were only counted.")


class Replaced(BaseModel):
    """Another learner is in place."""

    model_config = ConfigDict(json_schema_extra=_example(position=5001, after=5000))

    position: int = Field(description="The place in the log where it was put in.")
    after: int = Field(description="The last event of the log that it had learned.")
