"""The device: which one a word names, whether it is there, and how much fits on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from semibandit._util.checks import shortened
from semibandit._util.extras import import_extra
from semibandit.errors import DeviceError, InputError
from semibandit.models.gpu.packed import packed_size, padded_size

__all__ = [
    "WORDS",
    "bytes_per_row",
    "check_word",
    "find_device",
    "free_memory",
    "reporting_memory",
]

WORDS = "'cpu', 'cuda' or 'cuda:1'"
BYTES_PER_LABEL = 8  # row_of and tie_rank: also of labels that were never shown


def check_word(word: object) -> str:
    """The name of a device, if it can be one; whether it is there, only `find_device` can say."""
    if isinstance(word, str):
        kind, colon, number = word.partition(":")
        if word == "cpu" or (kind == "cuda" and (not colon or number.isdecimal())):
            return word
    raise InputError(f"device = {shortened(word)}, but it must be {WORDS}, or None for numpy")


def find_device(word: str) -> Any:
    """The torch device that this word names.

    Raises
    ------
    MissingExtra
        If torch is not installed.
    InputError
        If the word names no device that torch could have.
    DeviceError
        If this machine has no such device, or torch was built without CUDA.
    """
    word = check_word(word)
    torch = import_extra("torch", "gpu", f"device={word!r}")
    if word == "cpu":
        return torch.device("cpu")
    if not torch.backends.cuda.is_built():
        raise DeviceError(
            f"device = {word!r}, but torch {torch.__version__} was built without CUDA: "
            "install a torch with CUDA, pip install 'semibandit[gpu]'"
        )
    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    index = int(word.partition(":")[2] or 0)
    if not there:
        raise DeviceError(f"device = {word!r}, but torch finds no CUDA device on this machine")
    if index >= there:
        names = ", ".join(f"cuda:{i}" for i in range(there))
        raise DeviceError(f"device = {word!r}, but this machine has {names} alone")
    return torch.device("cuda", index)


def free_memory(device: Any) -> int:
    """How many bytes can still be allocated on the device."""
    import torch

    if device.type == "cpu":
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0]) + int(unused)


def bytes_per_row(d: int) -> int:
    """How many bytes a label takes that was shown, with d features.

    Examples
    --------
    >>> bytes_per_row(64)
    12756
    """
    return 6 * padded_size(d) + 4 * d + 20


@contextmanager
def reporting_memory(device: Any, n_labels: int, rows: int, d: int) -> Iterator[None]:
    """Turn torch's lack of memory into a `DeviceError` that says what is needed and what fits.

    Parameters
    ----------
    device : torch.device
        Where memory is allocated.
    n_labels, rows : int
        How many labels there are, and for how many of them there is to be a matrix.
    d : int
        How many features a context has.
    """
    import torch

    try:
        yield
    except RuntimeError as why:
        if not isinstance(why, torch.OutOfMemoryError) and "allocate memory" not in str(why):
            raise
        raise DeviceError(_too_little(device, n_labels, rows, d)) from None


def _too_little(device: Any, n_labels: int, rows: int, d: int) -> str:
    each, fixed = bytes_per_row(d), BYTES_PER_LABEL * n_labels
    free = free_memory(device)
    total = free if device.type == "cpu" else _total_memory(device)
    fit = max(0, (total - fixed) // each)
    return (
        f"too little memory on {device}: {rows:,} labels that were shown, with {d} features, need "
        f"{_gigabytes(rows * each + fixed)} ({packed_size(d):,} numbers each); {_gigabytes(free)} "
        f"are free of {_gigabytes(total)}, in which about {fit:,} labels fit"
    )


def _total_memory(device: Any) -> int:
    import torch

    return int(torch.cuda.mem_get_info(device)[1])


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB"
