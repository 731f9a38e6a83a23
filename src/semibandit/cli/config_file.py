"""The options of a command from a TOML file, and from the environment."""

from __future__ import annotations

import logging
import os
import tomllib
from pathlib import Path
from typing import Any

import typer

from semibandit._util.checks import listed, nearest
from semibandit.cli.errors import reporting_errors
from semibandit.errors import FileError, InputError, MissingFile

__all__ = ["read_config", "warn_of_unknown_variables"]

log = logging.getLogger("semibandit")
PREFIX = "SEMIBANDIT_"
OTHERS = ("SEMIBANDIT_CACHE",)  # variables that are no options


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Let the options that a file has be the defaults of this command.

    Options of the command line and of the environment come before them.
    """
    if path is not None:
        command = context.command
        with reporting_errors(command.name or ""):
            several = {
                one.name: getattr(one, "multiple", False)
                for one in command.params
                if one.name not in (None, "config", "help")
            }
            context.default_map = _options(path, command.name or "", several)
    return path


def warn_of_unknown_variables(context: typer.Context) -> None:
    """Log variables of the environment that look like options of this command, and are none."""
    known = [f"{PREFIX}{one.name}".upper() for one in context.command.params]
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in (*known, *OTHERS):
            log.warning("$%s is no option of %s%s", name, context.info_name, nearest(name, known))


def _options(path: Path, command: str, several: dict[Any, bool]) -> dict[str, Any]:
    """The file's options by the names of parameters; `several` says which may be repeated."""
    table = _read(path)
    if command in table:
        others = [key for key in table if key != command]
        if others:
            raise InputError(f"{path} has [{command}], and besides it {others[0]!r}")
        table = table[command]
        if not isinstance(table, dict):
            raise InputError(f"{path}: {command} = {table!r}, expected a table of options")
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in several:
            known = [one.replace("_", "-") for one in several]
            raise InputError(
                f"{path} has {key!r}, which is no option of {command}"
                f"{nearest(key.replace('_', '-'), known)} (options are {listed(known, 50)})"
            )
        found[name] = _value(path, key, value, several[name])
    return found


def _value(path: Path, key: str, value: Any, repeated: bool) -> Any:
    """As the command line has it: several names may be a list here."""
    if isinstance(value, dict):
        raise InputError(f"{path}: {key} is a table, expected a value")
    if repeated:
        return list(value) if isinstance(value, list) else [value]
    return ",".join(map(str, value)) if isinstance(value, list) else value


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise MissingFile(f"config = {str(path)!r}, but there is no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as why:
        raise FileError(f"config = {str(path)!r} is not TOML: {why}") from None
