"""What Python 2 wrote for {'name': array}, protocol 0: the real files have this form."""

import bz2

import numpy as np


def dump(arrays: dict) -> bytes:
    out = b"(dp0\n"
    for number, (name, array) in enumerate(arrays.items()):
        array = np.asarray(array)
        p = [b"p%d\n" % (100 * number + i) for i in range(1, 20)]
        shape = b"".join(b"I%d\n" % n for n in array.shape)
        kind = f"{array.dtype.kind}{array.dtype.itemsize}".encode()
        order = b"|" if array.dtype.itemsize == 1 else b"<"
        fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        data = array.tobytes("F" if fortran else "C")
        text = repr(data)[1:].encode()
        out += b"S'" + name.encode() + b"'\n" + p[0]
        out += b"cnumpy.core.multiarray\n_reconstruct\n" + p[1]
        out += b"(cnumpy\nndarray\n" + p[2] + b"(I0\nt" + p[3] + b"S'b'\n" + p[4] + b"t" + p[5]
        out += b"R" + p[6] + b"(I1\n(" + shape + b"t" + p[7]
        out += b"cnumpy\ndtype\n" + p[8] + b"(S'" + kind + b"'\n" + p[9] + b"I0\nI1\nt" + p[10]
        out += b"R" + p[11] + b"(I3\nS'" + order + b"'\n" + p[12] + b"NNNI-1\nI-1\nI0\nt" + p[13]
        out += b"bI0%d\n" % fortran + b"S" + text + b"\n" + p[14] + b"t" + p[15] + b"bs"
    return out + b"."


def member(X, y) -> bytes:
    return bz2.compress(dump({"y": np.asarray(y, dtype=np.int64), "X": np.asarray(X)}))
