# mypy: ignore-errors
"""The inner loop of looks: a few vectors times a few contexts, with all sums in SIMD registers.

LLVM by itself keeps sums over arrays in memory and does not use the widest registers; half of the
machine's speed is lost that way. So the loop is written in LLVM's vector types: ROWS vectors v_k
times a chunk of contexts are ROWS·2 running sums, and each v_k[c] is spread over a register and
used twice.

Contexts lie in chunks of `chunk(XT)`: XT[(q·D + c)·chunk + b] is feature c of context q·chunk + b.
D is d rounded up to a multiple of ROWS, and the numbers in between are zero. A chunk is two
registers wide, or one if there are few contexts. The type says which: a first dimension of 1 makes
XT two-dimensional in the second case.
"""

from __future__ import annotations

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["B", "ROWS", "VECTOR", "chunk", "contexts_at_once", "dots", "forms", "products"]

B = 64  # contexts in a window
WIDE = bool(llvm.get_host_cpu_features().get("avx512f", False))
ROWS = 8 if WIDE else 4  # as many as there are registers for
VECTOR = 64 if WIDE else 32  # bytes of a register
SUM = ("contract",)
I32, I64 = ir.IntType(32), ir.IntType(64)


def registers(XT):
    """How wide a chunk is."""
    return 2 if XT.ndim == 1 else 1


@intrinsic
def chunk(typing, XT):
    """How many contexts lie side by side, a constant of the type."""
    size = registers(XT) * VECTOR // (XT.dtype.bitwidth // 8)
    return types.intp(XT), lambda context, builder, signature, args: I64(size)


class _Emit:
    """Writes the loop for one type of numbers and of contexts, which argument number `XT` has."""

    def __init__(self, context, builder, signature, args, XT) -> None:
        self.builder = builder
        self.wide = registers(signature.args[XT])
        self.of = signature.args[0].dtype
        self.lanes = VECTOR // (self.of.bitwidth // 8)
        self.vector = ir.VectorType(context.get_value_type(self.of), self.lanes)
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)
        self.args = [
            cgutils.create_struct_proxy(kind)(context, builder, value=value).data
            if isinstance(kind, types.Array)
            else value
            for kind, value in zip(signature.args, args, strict=True)
        ]

    def at(self, pointer, *places):
        """The address of a vector."""
        for place in places:
            pointer = self.builder.gep(pointer, [place])
        return self.builder.bitcast(pointer, self.vector.as_pointer())

    def load(self, pointer, *places):
        found = self.builder.load(self.at(pointer, *places))
        found.align = self.of.bitwidth // 8
        return found

    def store(self, value, pointer, *places) -> None:
        self.builder.store(value, self.at(pointer, *places)).align = self.of.bitwidth // 8

    def add(self, a, b, total):
        """total + a·b."""
        return self.builder.fadd(self.builder.fmul(a, b, flags=SUM), total, flags=SUM)

    def spread(self, number):
        """One number in all places of a vector."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        one = self.builder.insert_element(undefined, number, I32(0))
        mask = ir.Constant(ir.VectorType(I32, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, undefined, mask)

    def sums(self, rows, first, count, chunks, before):
        """before + Σ_c rows[k][first + c]·x[c] for count columns c, by row, chunk and register."""
        builder, start = self.builder, self.builder.block
        loop, done = builder.append_basic_block("loop"), builder.append_basic_block("done")
        builder.cbranch(builder.icmp_signed(">", count, I64(0)), loop, done)
        builder.position_at_end(loop)
        c = builder.phi(I64)
        now = [builder.phi(self.vector) for _ in before]
        place = builder.mul(c, I64(self.wide * self.lanes))
        parts = [I64(v * self.lanes) for v in range(self.wide)]
        x = [self.load(chunk, place, part) for chunk in chunks for part in parts]
        column, after = builder.add(c, first), []
        for row in rows:
            number = self.spread(builder.load(builder.gep(row, [column])))
            after += [self.add(number, part, now[len(after) + v]) for v, part in enumerate(x)]
        following = builder.add(c, I64(1))
        builder.cbranch(builder.icmp_signed("<", following, count), loop, done)
        builder.position_at_end(done)
        c.add_incoming(I64(0), start)
        c.add_incoming(following, loop)
        result = [builder.phi(self.vector) for _ in before]
        for old, new, phi, end in zip(before, after, now, result, strict=True):
            for which in (phi, end):
                which.add_incoming(old, start)
                which.add_incoming(new, loop)
        return result

    def rows(self, flat, offsets):
        """The addresses of flat[offsets[k]]."""
        load, gep = self.builder.load, self.builder.gep
        return [gep(flat, [load(gep(offsets, [I64(k)]))]) for k in range(ROWS)]


@intrinsic
def products(typing, flat, offsets, n, XT, at, out):
    """out[k·chunk + b] = v_k·x_b with v_k = flat[offsets[k] :][:n], the contexts from XT[at]."""

    def emit(context, builder, signature, args):
        e = _Emit(context, builder, signature, args, XT=3)
        flat, offsets, n, XT, at, out = e.args
        zeros = [e.zero] * (e.wide * ROWS)
        sums = e.sums(e.rows(flat, offsets), I64(0), n, [builder.gep(XT, [at])], zeros)
        for place, total in enumerate(sums):
            e.store(total, out, I64(place * e.lanes))
        return context.get_dummy_value()

    return types.void(flat, offsets, n, XT, at, out), emit


@intrinsic
def dots(typing, v, n, XT, D, q, out):
    """out[b] = v[:n]·x_b for `contexts_at_once` contexts from q on, all their chunks at once."""

    def emit(context, builder, signature, args):
        e = _Emit(context, builder, signature, args, XT=2)
        v, n, XT, D, q, out = e.args
        chunks = [
            builder.gep(XT, [builder.mul(D, builder.add(q, I64(2 * i * e.lanes)))])
            for i in range(_chunks_at_once(e.lanes))
        ]
        sums = e.sums([v], I64(0), n, chunks, [e.zero] * (2 * len(chunks)))
        for place, total in enumerate(sums):
            e.store(total, out, q, I64(place * e.lanes))
        return context.get_dummy_value()

    return types.void(v, n, XT, D, q, out), emit


@intrinsic
def contexts_at_once(typing, XT):
    """How many contexts `dots` takes at once, a constant of the type."""
    lanes = VECTOR // (XT.dtype.bitwidth // 8)
    size = 2 * lanes * _chunks_at_once(lanes)
    return types.intp(XT), lambda context, builder, signature, args: I64(size)


def _chunks_at_once(lanes):
    """How many chunks of contexts `dots` takes at once: as many as there are registers for."""
    return min(4, B // (2 * lanes))


@intrinsic
def forms(typing, flat, offsets, n, twice, before, own, XT, here, out, at):
    """out[at + b] += Σ_k x_b[k]·(v_k·x_b), the part of x·A x that ROWS rows of a symmetric A give.

    Of v_k = flat[offsets[k] :] the first n entries are counted twice (the contexts doubled, from
    twice[before]), the `own` after them, the block on the diagonal, once: from XT[here] on, where
    the rows' own features are.
    """

    def emit(context, builder, signature, args):
        e = _Emit(context, builder, signature, args, XT=6)
        flat, offsets, n, twice, before, own, XT, here, out, at = e.args
        rows, mine = e.rows(flat, offsets), builder.gep(XT, [here])
        zeros = [e.zero] * (e.wide * ROWS)
        sums = e.sums(rows, I64(0), n, [builder.gep(twice, [before])], zeros)
        sums = e.sums(rows, n, own, [mine], sums)
        for v in range(e.wide):
            place = I64(v * e.lanes)
            total = [e.load(out, at, place), e.zero]
            for k in range(ROWS):
                x = e.load(mine, I64(e.wide * k * e.lanes), place)
                total[k % 2] = e.add(x, sums[e.wide * k + v], total[k % 2])
            e.store(builder.fadd(*total), out, at, place)
        return context.get_dummy_value()

    kinds = (flat, offsets, n, twice, before, own, XT, here, out, at)
    return types.void(*kinds), emit
