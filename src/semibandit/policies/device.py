"""Where a learner's model is: the device is a property of the machine, not of the learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semibandit.errors import DeviceError
from semibandit.models.full import Full

__all__ = ["on_device"]


def on_device(settings: Mapping[str, Any], device: str | None) -> dict[str, Any]:
    """The settings of a learner, with its model on this device; None leaves it where it is.

    Raises
    ------
    InputError
        If the word names no device.
    DeviceError
        If the learner has no model that can be on a device.
    """
    if device is None:
        return dict(settings)
    model = settings.get("model")
    if not isinstance(model, Full):
        what = "this learner has no model" if model is None else f"{model!r} cannot be there"
        raise DeviceError(f"device = {device!r}, but {what}: only full matrices, Full(), can")
    return {**settings, "model": Full(device=device)}
