#!/usr/bin/env python3
"""insert.py - the program of insert.c in Python, by ctypes.

All that dag/insert.h asks for is a C interface of plain structs and functions, so any language that can call C may
insert tasks: the graph unrolls while this program runs. Bodies are functions in Python here, which is slow and
short; functions of a C library may stand in their place, and then no interpreter has a part in a task.

The library is the shared libdag; LIBDAG names its file where the loader does not find it.

    tools/mpirun -np 2 env LIBDAG=build/lib/libdag.so python3 dsl-examples/tutorial/insert.py

The example is the Cholesky factorisation by tiles, A = L L^T, of A(i,j) = min(i,j) + 1: all of L is 1.
"""
import ctypes as c
import math
import os
import sys
import traceback

N, NB = 60, 8

# ---- dag/matrix.h, dag/insert.h: structs as they stand there -----------------------------------------


class MatrixDesc(c.Structure):
    _fields_ = [("prec", c.c_int), ("m", c.c_int64), ("n", c.c_int64), ("mb", c.c_int64), ("nb", c.c_int64),
                ("p", c.c_int), ("q", c.c_int), ("layout", c.c_int), ("uplo", c.c_int), ("local", c.c_void_p),
                ("lld", c.c_int64), ("name", c.c_char_p)]


class Tile(c.Structure):
    _fields_ = [("collection", c.c_void_p), ("i", c.c_int64), ("j", c.c_int64)]


class View(c.Structure):
    _fields_ = [("ptr", c.POINTER(c.c_double)), ("ld", c.c_int64), ("m", c.c_int64), ("n", c.c_int64)]


Body = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p, c.POINTER(View))


class Kernel(c.Structure):
    _fields_ = [("name", c.c_char_p), ("ntiles", c.c_int), ("access", c.c_int * 8), ("main", c.c_int),
                ("body", Body), ("priority", c.c_void_p), ("device", c.c_void_p), ("device_kind", c.c_int),
                ("workspace", c.c_void_p), ("reduce", c.c_void_p), ("rest", c.c_int)]


class InsertDesc(c.Structure):
    _fields_ = [("name", c.c_char_p), ("collections", c.POINTER(c.c_void_p)), ("ncollections", c.c_int),
                ("kernels", c.POINTER(c.POINTER(Kernel))), ("nkernels", c.c_int), ("window", c.c_int64),
                ("place", c.c_void_p)]


D, LOWER = 1, 122  # dag_precision, dag_uplo
READ, WRITE, RW = 1, 2, 3  # dag_tile_access


def library():
    name = os.environ.get("LIBDAG", "libdag.so")
    try:
        lib = c.CDLL(name, mode=c.RTLD_GLOBAL)  # MPI loads parts of itself, which look for its functions
    except OSError as e:
        sys.exit(f"insert.py: {e}: build with -DBUILD_SHARED_LIBS=ON, and let LIBDAG name the file")
    p = c.c_void_p
    for f, result, arguments in [
            ("dag_init", c.c_int, [c.POINTER(p), p, c.c_char_p, c.c_size_t]), ("dag_fini", c.c_int, [p]),
            ("dag_rank", c.c_int, [p]), ("dag_message", c.c_char_p, [p]), ("dag_wait", c.c_int, [p]),
            ("dag_taskpool_free", None, [p]), ("dag_matrix_free", None, [p]),
            ("dag_matrix_new", c.c_int, [p, c.POINTER(MatrixDesc), c.POINTER(p)]),
            ("dag_matrix_is_local", c.c_int, [p, c.c_int64, c.c_int64]),
            ("dag_matrix_at", c.POINTER(c.c_double), [p, c.c_int64, c.c_int64, c.POINTER(c.c_int64)]),
            ("dag_insert_begin", c.c_int, [p, c.POINTER(InsertDesc), c.POINTER(p)]),
            ("dag_insert", c.c_int, [p, c.POINTER(Kernel), p, c.c_size_t, c.POINTER(Tile), c.c_int]),
            ("dag_insert_release", c.c_int, [p, c.POINTER(Tile)]), ("dag_insert_end", c.c_int, [p])]:
        getattr(lib, f).restype, getattr(lib, f).argtypes = result, arguments
    return lib


# ---- kernels: what a task does with its tiles ---------------------------------------------------------


def kernel(main, *access):
    """A function of the views of its tiles, and of two numbers that it is told, becomes a kernel."""
    def of(function):
        def body(task, args, views):
            try:
                numbers = c.cast(args, c.POINTER(c.c_int64))
                return function(numbers[0], numbers[1], *[views[a] for a in range(len(access))]) or 0
            except Exception:  # no exception passes through C: the task fails, and with it the pool
                traceback.print_exc()
                return 1
        return Kernel(name=function.__name__.encode(), ntiles=len(access), access=(c.c_int * 8)(*access),
                      main=main, body=Body(body))
    return of


@kernel(0, WRITE)
def fill(i0, j0, t):
    for j in range(t.n):
        for i in range(t.m):
            t.ptr[i + j * t.ld] = min(i0 + i, j0 + j) + 1


@kernel(0, RW)
def factor(_i, _j, t):
    for j in range(t.n):
        for k in range(j):
            for i in range(j, t.m):
                t.ptr[i + j * t.ld] -= t.ptr[i + k * t.ld] * t.ptr[j + k * t.ld]
        d = t.ptr[j + j * t.ld]
        if d <= 0:
            return 1
        for i in range(j, t.m):
            t.ptr[i + j * t.ld] /= math.sqrt(d)
    return 0


@kernel(1, READ, RW)
def solve(_i, _j, l, t):
    for j in range(t.n):
        for i in range(t.m):
            s = sum(t.ptr[i + k * t.ld] * l.ptr[j + k * l.ld] for k in range(j))
            t.ptr[i + j * t.ld] = (t.ptr[i + j * t.ld] - s) / l.ptr[j + j * l.ld]


def product(a, b, t):
    for j in range(t.n):
        for i in range(t.m):
            t.ptr[i + j * t.ld] -= sum(a.ptr[i + k * a.ld] * b.ptr[j + k * b.ld] for k in range(a.n))


@kernel(2, READ, READ, RW)
def update(_i, _j, a, b, t):
    product(a, b, t)


@kernel(1, READ, RW)
def diagonal(_i, _j, a, t):
    product(a, a, t)


# ---- the sequential program ----------------------------------------------------------------------------


class Pool:
    def __init__(self, lib, ctx, matrix, *kernels):
        self.lib, self.ctx, self.pool = lib, ctx, c.c_void_p()
        desc = InsertDesc(name=b"cholesky", collections=(c.c_void_p * 1)(matrix), ncollections=1,
                          kernels=(c.POINTER(Kernel) * len(kernels))(*map(c.pointer, kernels)),
                          nkernels=len(kernels))
        self.check(lib.dag_insert_begin(ctx, desc, self.pool))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.lib.dag_message(self.ctx).decode())

    def insert(self, k, numbers, *tiles):
        args = (c.c_int64 * 2)(*numbers)
        self.check(self.lib.dag_insert(self.pool, k, args, c.sizeof(args), (Tile * len(tiles))(*tiles), len(tiles)))

    def release(self, tile):
        self.check(self.lib.dag_insert_release(self.pool, tile))

    def end(self):
        self.check(self.lib.dag_insert_end(self.pool))
        self.check(self.lib.dag_wait(self.pool))
        self.lib.dag_taskpool_free(self.pool)


def cholesky(pool, A, nt):
    def tile(i, j):
        return Tile(A, i, j)

    for j in range(nt):
        for i in range(j, nt):
            pool.insert(fill, (i * NB, j * NB), tile(i, j))
    for k in range(nt):
        pool.insert(factor, (k, k), tile(k, k))
        for i in range(k + 1, nt):
            pool.insert(solve, (i, k), tile(k, k), tile(i, k))
        for j in range(k + 1, nt):
            pool.insert(diagonal, (j, j), tile(j, k), tile(j, j))
            for i in range(j + 1, nt):
                pool.insert(update, (i, j), tile(i, k), tile(j, k), tile(i, j))
        for i in range(k, nt):  # nobody needs this column any more
            pool.release(tile(i, k))


def wrong_items(lib, A, nt):
    """How many items of L on this rank are not 1."""
    wrong, ld = 0, c.c_int64()
    for j in range(nt):
        for i in range(j, nt):
            if not lib.dag_matrix_is_local(A, i, j):
                continue
            at = lib.dag_matrix_at(A, i, j, ld)
            rows, columns = min(NB, N - i * NB), min(NB, N - j * NB)
            wrong += sum(at[r + s * ld.value] != 1 for s in range(columns) for r in range(s if i == j else 0, rows))
    return wrong


def main():
    lib, ctx, A, why = library(), c.c_void_p(), c.c_void_p(), c.create_string_buffer(256)
    if lib.dag_init(ctx, None, why, len(why)) != 0:
        sys.exit(why.value.decode())
    desc = MatrixDesc(prec=D, m=N, n=N, mb=NB, nb=NB, uplo=LOWER)
    if lib.dag_matrix_new(ctx, desc, A) != 0:
        sys.exit(lib.dag_message(ctx).decode())
    nt = (N + NB - 1) // NB
    pool = Pool(lib, ctx, A, fill, factor, solve, update, diagonal)
    cholesky(pool, A, nt)
    pool.end()
    wrong = wrong_items(lib, A, nt)
    print(f"rank {lib.dag_rank(ctx)}:", "WRONG" if wrong else "all of L is 1")
    lib.dag_matrix_free(A)
    lib.dag_fini(ctx)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
