"""Optional packages: imported when they are needed, and named if they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from semibandit.errors import MissingExtra

__all__ = ["import_extra"]


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional package, or raise `MissingExtra`.

    Parameters
    ----------
    module : str
        The module to import.
    extra : str
        The extra of semibandit that installs it, such as "plot".
    purpose : str
        What needs it: the subject of the error message.

    Returns
    -------
    module
        The module.

    Raises
    ------
    MissingExtra
        If the module, or one that it imports, is not installed. A module of semibandit itself that
        is missing is a bug, and stays a `ModuleNotFoundError`.

    Examples
    --------
    >>> import_extra("json", "plot", "a report").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "semibandit":
            raise
        raise MissingExtra(
            f"{purpose} needs {error.name}: pip install 'semibandit[{extra}]'", name=error.name
        ) from error
