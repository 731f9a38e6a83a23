"""What Python 2 wrote for {'name': array}, protocol 0: the real files have this form."""

import bz2

import numpy as np

NAMES = [b"cnumpy.core.multiarray\n_reconstruct\n", b"cnumpy\nndarray\n", b"S'b'\n"]


def dump(arrays: dict) -> bytes:
    """The pickle; as in the real files, names that were used before are referred to."""
    out, dtypes = b"(dp0\n", {}
    for number, (name, array) in enumerate(arrays.items()):
        array = np.asarray(array)
        p = [b"p%d\n" % (100 * number + i) for i in range(1, 20)]
        made, ndarray, b = (
            code + p[i] if number == 0 else b"g%d\n" % (i + 1)
            for i, code in zip((1, 2, 4), NAMES, strict=True)
        )
        shape = b"".join(b"I%d\n" % n for n in array.shape)
        fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        text = repr(array.tobytes("F" if fortran else "C"))[1:].encode()
        out += b"S'" + name.encode() + b"'\n" + p[0] + made
        out += b"(" + ndarray + b"(I0\nt" + p[3] + b + b"t" + p[5]
        out += b"R" + p[6] + b"(I1\n(" + shape + b"t" + p[7]
        out += dtypes.get(array.dtype) or _dtype(array.dtype, p)
        dtypes[array.dtype] = b"g" + p[11][1:]
        out += b"I0%d\n" % fortran + b"S" + text + b"\n" + p[14] + b"t" + p[15] + b"bs"
    return out + b"."


def _dtype(dtype, p) -> bytes:
    code = f"{dtype.kind}{dtype.itemsize}".encode()
    order = b"|" if dtype.itemsize == 1 else b"<"
    out = b"cnumpy\ndtype\n" + p[8] if p[0] == b"p1\n" else b"g9\n"
    out += b"(S'" + code + b"'\n" + p[9] + b"I0\nI1\nt" + p[10]
    return (
        out
        + b"R"
        + p[11]
        + b"(I3\nS'"
        + order
        + b"'\n"
        + p[12]
        + b"NNNI-1\nI-1\nI0\nt"
        + p[13]
        + b"b"
    )


def member(X, y) -> bytes:
    """The content of a NAME-train.dump.bz2."""
    return bz2.compress(dump({"y": np.asarray(y, dtype=np.int64), "X": np.asarray(X)}))
