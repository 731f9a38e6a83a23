"""Every error is public, documented, ours, and also what it would be in plain Python."""

import pytest

import semibandit.errors as errors

BUILT_IN = {
    "InputError": ValueError,
    "UnknownKeyword": TypeError,
    "UnknownLabel": ValueError,
    "LabelExists": ValueError,
    "NotShown": ValueError,
    "UnknownDecision": ValueError,
    "Conflict": ValueError,
    "FileError": ValueError,
    "MissingFile": FileNotFoundError,
    "MissingExtra": ImportError,
    "DeviceError": RuntimeError,
    "StoreError": RuntimeError,
    "DuplicateId": RuntimeError,
    "StoreDamaged": RuntimeError,
    "StoreFull": RuntimeError,
    "StoreInUse": RuntimeError,
    "StoreMoved": RuntimeError,
    "RunError": RuntimeError,
    "ClusterError": ConnectionError,
    "ShardLost": ConnectionError,
    "DownloadError": OSError,
    "ServiceUnavailable": ConnectionError,
    "AccessDenied": PermissionError,
    "UnprovenWidth": UserWarning,
}


def test_all_errors_are_listed():
    assert set(errors.__all__) == {"SemibanditError", *BUILT_IN}


@pytest.mark.parametrize(("name", "plain"), BUILT_IN.items())
def test_an_error_is_ours_and_pythons(name, plain):
    error = getattr(errors, name)
    assert issubclass(error, errors.SemibanditError)
    assert issubclass(error, plain)
    assert error.__doc__
    assert name in errors.__doc__
    assert str(error("what was wrong")) == "what was wrong"
