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
    "FeedbackBatch",
    "FeedbackRequest",
    "FeedbackResults",
    "LabelList",
    "Problem",
    "RankBatch",
    "RankRequest",
    "RankResults",
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


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Whole = Annotated[int, Strict(), Field(ge=-LARGEST, le=LARGEST)]
Name = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200)]
Label = Annotated[
    Whole | Name, OneMistake("expected a string of 1 to 200 characters, or a whole number")
]
Id = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9._:-]+$", min_length=1, max_length=200)
]
Text = Annotated[str, StringConstraints(strict=True, max_length=200)]
Member = Annotated[bool, Strict()] | Whole | Text
Value = (
    Annotated[
        Annotated[bool, Strict()] | Whole | Number | Text | Annotated[list[Member], Len(0, 1000)],
        OneMistake(
            "expected a finite number, a string of up to 200 characters, true or false, "
            "or a list of up to 1000 strings, whole numbers or true or false"
        ),
    ]
    | None
)
Context = Annotated[
    Annotated[list[Number], Tag(f"{TAG}list")] | Annotated[dict[str, Value], Tag(f"{TAG}names")],
    Discriminator(lambda given: f"{TAG}{'names' if isinstance(given, dict) else 'list'}"),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RankRequest(_Strict):
    """What to decide on."""

    context: Context = Field(
        description="Numbers, one for each feature; or {name: value}, if features have names: "
        "those left out, or null, are unknown. /state lists the features."
    )
    slots: Annotated[int, Strict(), Field(ge=0, le=LARGEST)] | None = Field(
        None, description="The most labels to show; null sets no limit."
    )
    candidates: list[Label] | None = Field(None, description="Only these labels may be shown.")
    exclude: list[Label] | None = Field(None, description="These labels may not be shown.")
    id: Id | None = Field(
        None,
        description="Yours, to ask again safely: the same id gives the same decision. "
        "With another request under the same id: 409.",
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

    id: str = Field(description="Give it back with the feedback.")
    slate: list[Shown] = Field(description="Best first; may be shorter than the slots, or empty.")
    version: int = Field(description="The learner's round when it decided.")


class FeedbackRequest(_Strict):
    """What became of a decision."""

    id: Id
    clicked: list[Label] = Field(description="The shown labels that were relevant; [] for none.")
    examined: list[Label] | None = Field(
        None, description="The shown labels the user looked at; only these are learned from."
    )


class Accepted(BaseModel):
    """The feedback is in the log."""

    id: str
    status: Literal["accepted"] = "accepted"


class Problem(BaseModel):
    """Why not."""

    detail: str


class BatchProblem(BaseModel):
    """Why not, for one of a batch."""

    status: int
    detail: str


class RankBatch(_Strict):
    """Many to decide on."""

    requests: list[RankRequest]


class RankResults(BaseModel):
    """A decision or a problem for each request, in their order."""

    results: list[Decided | BatchProblem]


class FeedbackBatch(_Strict):
    """Feedback to many decisions, learned in this order."""

    feedback: list[FeedbackRequest]


class FeedbackResults(BaseModel):
    """Accepted or a problem for each, in their order."""

    results: list[Accepted | BatchProblem]


class Added(_Strict):
    """Labels to add: names, or how many more if labels are numbered."""

    labels: Annotated[
        list[Label] | Annotated[int, Strict(), Field(ge=0, le=LARGEST)],
        OneMistake("expected a list of labels, or how many more"),
    ]


class Retired(_Strict):
    """Labels to retire."""

    labels: list[Label]


class LabelList(BaseModel):
    """The labels that can be shown."""

    labels: list[Label]


class Snapshot(BaseModel):
    """A snapshot is in the store."""

    position: int = Field(description="The last event of the log that is in it.")
