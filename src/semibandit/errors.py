"""Every error that semibandit raises on purpose.

All of them derive from `SemibanditError`, and from the built-in exception that fits, so that code
which catches `ValueError` or `OSError` goes on working. Code that handles errors catches these
types alone: any other exception is a bug, and must never look like a wrong request.

    SemibanditError
    ├── InputError            (ValueError)        a value, a request or a file cannot be used
    │   ├── UnknownKeyword    (TypeError)         no parameter has this name
    │   ├── UnknownLabel                          no label has this name
    │   ├── LabelExists                           the label to add is there already
    │   ├── NotShown                              feedback names a label that was not shown
    │   ├── UnknownDecision                       no decision has this id
    │   ├── Conflict                              the id was used for something else
    │   ├── FileError                             a file is damaged, or of another kind
    │   └── MissingFile       (FileNotFoundError) there is no such file or folder
    ├── MissingExtra          (ImportError)       an optional package is not installed
    ├── DeviceError           (RuntimeError)      a GPU is missing, or has too little memory
    ├── StoreError            (RuntimeError)      the store cannot be read or written now
    │   ├── DuplicateId                           the log already has an event with this id
    │   ├── StoreDamaged                          its bytes are not those that were written
    │   ├── StoreFull                             there is no room on its disk
    │   ├── StoreInUse                            another process writes to the store
    │   └── StoreMoved                            its file was deleted, replaced or cut short
    ├── RunError              (RuntimeError)      a run of a sweep failed
    ├── ClusterError          (ConnectionError)   a Ray cluster cannot be reached, or is too small
    │   └── ShardLost                             a shard has died, and is not back yet
    ├── DownloadError         (OSError)           a data set could not be downloaded
    ├── ServiceUnavailable    (ConnectionError)   the service does not answer, or is overloaded
    ├── AccessDenied          (PermissionError)   the service refuses the key
    └── UnprovenWidth         (UserWarning)       a theorem's width, used where it proves nothing

`UnprovenWidth` is a warning; it is raised only if warnings are made errors.
"""

from __future__ import annotations

__all__ = [
    "AccessDenied",
    "ClusterError",
    "Conflict",
    "DeviceError",
    "DownloadError",
    "DuplicateId",
    "FileError",
    "InputError",
    "LabelExists",
    "MissingExtra",
    "MissingFile",
    "NotShown",
    "RunError",
    "SemibanditError",
    "ServiceUnavailable",
    "ShardLost",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreInUse",
    "StoreMoved",
    "UnknownDecision",
    "UnknownKeyword",
    "UnknownLabel",
    "UnprovenWidth",
]


class SemibanditError(Exception):
    """The base class of every error that semibandit raises on purpose."""


class InputError(SemibanditError, ValueError):
    """A value, a request or a file cannot be used; the text says what was given and expected."""


class UnknownKeyword(InputError, TypeError):
    """No parameter has this name; the text names the nearest one that exists."""


class UnknownLabel(InputError):
    """A label was named that the learner does not have."""


class LabelExists(InputError):
    """A label is to be added that the learner already has."""


class NotShown(InputError):
    """Feedback names a label that was not shown."""


class UnknownDecision(InputError):
    """Feedback names a decision that is not in the log."""


class Conflict(InputError):
    """An id is used again for a different request or different feedback."""


class FileError(InputError):
    """A file is damaged, cut off, or of another kind than expected."""


class MissingFile(InputError, FileNotFoundError):
    """There is no such file or folder; the text names it."""


class MissingExtra(SemibanditError, ImportError):
    """An optional package is not installed; the text says how to install it."""


class DeviceError(SemibanditError, RuntimeError):
    """A device is missing, or its memory is too small; nothing was learned by the call."""


class StoreError(SemibanditError, RuntimeError):
    """The store cannot be read or written at the moment; it may work again later."""


class DuplicateId(StoreError):
    """The log already has an event of this kind with this id; nothing was written."""


class StoreDamaged(StoreError):
    """The database of the store is damaged; only a backup helps."""


class StoreFull(StoreError):
    """The store cannot be written because its disk is full."""


class StoreInUse(StoreError):
    """Another process writes to this store."""


class StoreMoved(StoreError):
    """The store's file was deleted, moved, replaced or cut short while it was open."""


class RunError(SemibanditError, RuntimeError):
    """A run of a sweep failed; the text says which, and why."""


class ClusterError(SemibanditError, ConnectionError):
    """A Ray cluster cannot be reached, or is too small; the text says what it has."""


class ShardLost(ClusterError):
    """A shard of the learner has died and is not back yet: nothing was decided or learned."""


class DownloadError(SemibanditError, OSError):
    """A data set could not be downloaded."""


class ServiceUnavailable(SemibanditError, ConnectionError):
    """The service does not answer, is overloaded, or is stopping; nothing was recorded."""


class AccessDenied(SemibanditError, PermissionError):
    """The service needs a key, or refuses the one that was given."""


class UnprovenWidth(SemibanditError, UserWarning):
    """A width of the theorems is used where nothing says that it covers the truth: a warning."""
