"""Files of learners that say more than they hold, or hold what does not belong there."""

import io
import json
import zipfile

import numpy as np

HUGE = 10**9  # of anything: there are 8 bytes for each, or more


def rewritten(content, header=(), arrays=(), save=np.savez, **labels):
    """The file of a learner with other keys in its header and its labels, and other arrays."""
    with np.load(io.BytesIO(content)) as file:
        there = dict(file)
    told = json.loads(there["semibandit"].tobytes()) | dict(header)
    told["labels"] = told["labels"] | labels
    text = json.dumps(told).encode()
    out = io.BytesIO()
    save(out, **there | dict(arrays) | {"semibandit": np.frombuffer(text, dtype=np.uint8)})
    return out.getvalue()


def with_member(content, name, data, compress=zipfile.ZIP_STORED):
    """The file with one more member, or with another one of this name."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as there, zipfile.ZipFile(out, "w") as archive:
        for one in there.infolist():
            if one.filename != name:
                archive.writestr(one.filename, there.read(one))
        archive.writestr(name, data, compress)
    return out.getvalue()


def array_of(header, data=b""):
    """The bytes of an array with this header."""
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + data


def zeros(n):
    """The bytes of an array of n zeros."""
    out = io.BytesIO()
    np.save(out, np.zeros(n))
    return out.getvalue()


SHAPE = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }\n"
HOSTILE = {  # and what is said about each
    "labels that are numbered": (
        lambda good: rewritten(good, named=False, names=HUGE),
        "it names 1000000000 labels, and the array 'tie' is of 3",
    ),
    "labels that are not there": (
        lambda good: rewritten(good, arrays={"tie": np.zeros(2)}),
        "it names 3 labels, and the array 'tie' is of 2",
    ),
    "features that are not there": (
        lambda good: rewritten(good, {"n_features": HUGE}),
        r"expected \(.*1000000001.*\) for 3 labels and 1000000000 features",
    ),
    "two labels of one name": (
        lambda good: rewritten(good, names=["a", "a", "b"]),
        "its header names 'a' twice",
    ),
    "a round beyond all numbers": (
        lambda good: rewritten(good, {"t": 10**400}),
        "it has a number of 401 digits",
    ),
    "a round beyond 64 bits": (
        lambda good: rewritten(good, {"t": 10**20}),
        "t = 100000000000000000000, but it must be a whole number",
    ),
    "an array that nobody needs": (
        lambda good: rewritten(good, arrays={"extra": np.zeros(1)}),
        "it holds the array 'extra', which a SlateUCB has not",
    ),
    "a compressed array that nobody needs": (
        lambda good: with_member(good, "extra.npy", zeros(1_500_000), zipfile.ZIP_DEFLATED),
        "the array 'extra' is compressed, as none in such a file is",
    ),
    "compressed arrays": (
        lambda good: rewritten(good, arrays={"tie": np.zeros(10**6)}, save=np.savez_compressed),
        "is compressed, as none in such a file is",
    ),
    "a member that is no array": (
        lambda good: with_member(good, "extra.pkl", b"cos\nsystem\n(S'false'\ntR."),
        "it holds 'extra.pkl', which is no array",
    ),
    "an array that is none": (
        lambda good: with_member(good, "tie.npy", b"cos\nsystem\n(S'false'\ntR."),
        "the array 'tie' is not one of numbers or texts",
    ),
    "an array with a deep header": (
        lambda good: with_member(good, "tie.npy", array_of(b"(" * 9000)),
        "the array 'tie' is not one of numbers or texts",
    ),
    "an array with a long header": (
        lambda good: with_member(good, "tie.npy", array_of(b"1" * 60_000)),
        "the array 'tie' is not one of numbers or texts",
    ),
    "an array of objects": (
        lambda good: with_member(
            good, "tie.npy", array_of(b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }\n")
        ),
        "the array 'tie' is not one of numbers or texts",
    ),
    "an array of more than is there": (
        lambda good: with_member(good, "tie.npy", array_of(SHAPE % HUGE, bytes(24))),
        "the array 'tie' does not have the bytes that its shape says",
    ),
    "an array of more than any": (
        lambda good: with_member(good, "tie.npy", array_of(SHAPE % 10**30, bytes(24))),
        "the array 'tie' does not have the bytes that its shape says",
    ),
    "the same array twice": (
        lambda good: good.replace(b"model.count.npy", b"model.owner.npy"),
        "it holds the array 'model.owner' twice",
    ),
    "a header that is nested deeply": (
        lambda good: with_member(
            good,
            "semibandit.npy",
            array_of(
                b"{'descr': '|u1', 'fortran_order': False, 'shape': (200000,), }\n", b"[" * 200_000
            ),
        ),
        "it is nested too deeply",
    ),
    "numbers that are none": (
        lambda good: rewritten(good, arrays={"tie": np.full(3, np.nan)}),
        "the array 'tie' has a number that is not finite",
    ),
    "a label with two rows": (
        lambda good: rewritten(good, arrays={"model.owner": np.zeros(3, np.int64)}),
        "the array 'owner' has a number twice",
    ),
}
