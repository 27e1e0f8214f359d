#!/usr/bin/env bash
# serial.sh DAGCC NESTS NAME...: --serial-check finds nothing in these nests of the folder NESTS, and names the
# task of wrong ones.
set -u
dagcc=$1 nests=$2
shift 2
export DAGCC_PROOF_CACHE=off LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
failures=0

fail()
{
    echo "FAIL $*"
    sed 's/^/  | /' "$work/out" "$work/err"
    failures=$((failures + 1))
}

# check STATUS arguments...
check()
{
    local want=$1 have
    shift
    "$dagcc" "$@" >"$work/out" 2>"$work/err"
    have=$?
    [[ $have -eq $want ]] || fail "exit $have instead of $want: $*"
    [[ -z $(ls -A "$TMPDIR") ]] || fail "files are left behind: $*"
}
says() { grep -qF -- "$1" "$work/err" || fail "'$1' is not said"; }

for name in "$@"; do
    check 0 --serial-check "$nests/$name.seq.c"
    [[ $(grep -c 'tasks agree with' "$work/out") -ge 2 ]] || fail "$name: fewer than two inputs"
done

# nest CLAUSES BODY: a nest whose tasks NEXT have these clauses and do this.
nest()
{
    cat >"$work/wrong.seq.c" <<NEST
#include <dag/sequential.h>
#define A(i, j) DAG_AT(A, i, j)
#ifdef DAG_JDF_H
#define HERE 1
#else
#define HERE 2
#endif

#pragma dag task inout(C)
static void FIRST(DAG_TILE(C))
{
    C[0] += 1;
}

#pragma dag task $1
static void NEXT(DAG_TILE(T), DAG_TILE(C), int k)
{
    $2;
}

#pragma dag graph assume(A->nt == 2)
static void wrong(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++)
        FIRST(A(k, 0));
    for (int k = 1; k < A->mt; k++)
        NEXT(A(k - 1,
               0), A(k, 1), k);
}
NEST
}
values=A-\>mt=3,A-\>nt=2

nest 'in(T) inout(C)' 'C[0] += T[0] + k'
check 0 "--serial-check=$values" "$work/wrong.seq.c"
grep -qx '5 tasks agree with A->mt=3,A->nt=2' "$work/out" || fail "other values than those given"

nest 'in(T) inout(C)' 'if (k == 2) T[1 + T_ld] = 7'
check 1 "--serial-check=$values" "$work/wrong.seq.c"
says 'wrong.seq.c:27: error: NEXT(k = 2): element (1, 1) of T, tile A(k - 1, 0), is 7 in the nest and '
says 'the body of NEXT writes this element, but its pragma says in(T)'
says 'with A->mt=3,A->nt=2'

nest 'in(T) inout(C: LOWER)' 'C[T_ld] = T[0]'
check 1 --serial-check "$work/wrong.seq.c"
says 'wrong.seq.c:27: error: NEXT(k = 1): element (0, 1) of C, tile A(k, 1), is '
says 'its pragma says inout(C: LOWER)'

nest 'in(T: LOWER) inout(C)' 'C[3] = T[T_ld]'
check 1 --serial-check "$work/wrong.seq.c"
says 'NEXT(k = 1): element (3, 0) of C, tile A(k, 1), is '

nest 'in(T) out(C)' 'for (int i = 1; i < 36; i++) C[i] = T[i]'
check 1 --serial-check "$work/wrong.seq.c"
says 'NEXT(k = 1): element (0, 0) of C, tile A(k, 1), is '

nest 'in(T) inout(C)' 'C[0] = HERE + k'
check 1 "--serial-check=$values" "$work/wrong.seq.c"
says 'NEXT(k = 1): element (0, 0) of C, tile A(k, 1), is 3 in the nest and 2 in the graph'

nest 'in(T) inout(C)' 'DAG_FAIL("it cannot")'
check 1 --serial-check "$work/wrong.seq.c"
says 'it cannot'
says 'the serial check ended with status 1 before anything was compared'

# ---- nests of tile libraries: matrices by value and by address, their kernels declared elsewhere
cp "$(dirname "$0")"/library/* "$work"
library=$work/potrf_tiles.seq.c
tiles=(--kernels "$work/kernels.h" --tile 'tl_addr(tl_desc A, i, j)')
check 0 --serial-check=h=NULL,A-\>m=20,A-\>n=20 "${tiles[@]}" "$library"
grep -qx '20 tasks agree with A->mt=4,A->nt=4,A->m=20,A->n=20' "$work/out" || fail "other tasks"
check 2 --serial-check "${tiles[@]}" "$library"
says "knows no value of type 'tl_handle *' for h"

sed -i 's/inout(t: LOWER)/inout(t: UPPER)/' "$work/kernels.h"
check 1 --serial-check=h=NULL,A-\>mt=2,A-\>nt=2 "${tiles[@]}" "$library"
says 'potrf_tiles.seq.c:24: error: tl_syrk(k = 0, m = 1): element (1, 0) of t, tile A(m, m), is '
says 'its pragma says inout(t: UPPER)'

# The nest's own sizes are not looked at by the graph.
cp "$(dirname "$0")/library/kernels.h" "$work"
sed -i 's/tl_trsm(TlRight, TlLower, TlTrans, tempmm,/tl_trsm(TlRight, TlLower, TlTrans, 1,/' "$library"
check 1 --serial-check=h=NULL,A-\>mt=2,A-\>nt=2 "${tiles[@]}" "$library"
says 'potrf_tiles.seq.c:19: error: tl_trsm(k = 0, m = 1): element (1, 0) of C, tile A(m, k), is '

sed -e 's/tl_desc A/tl_desc *A/; s/A\./A->/g; s/tl_ld(A,/tl_ld(*A,/; s/define A(m, n) tl_addr(A/define A(m, n) tl_addr(*A/' \
    -e 's/tl_addr(A, n, k)/A(n, k)/' "$(dirname "$0")/library/potrf_tiles.seq.c" >"$work/address.seq.c"
check 0 --serial-check=h=NULL --kernels "$work/kernels.h" --tile 'tl_addr(tl_desc *A, i, j)' "$work/address.seq.c"

sed -i 's/typedef dag_matrix tl_desc/typedef struct tl_desc { int m, mb, nb, mt, nt; } tl_desc/' "$work/tiles.h"
check 1 --serial-check=h=NULL "${tiles[@]}" "$library"
says '--serial-check runs nests over dag_matrix: let tl_desc be one'

# ---- words that are wrong
check 2 --serial-check=A-\>mx=3 "$work/wrong.seq.c"
says "no parameter of the nest is called 'A->mx'; did you mean 'A->mb'?"
check 2 --serial-check=A-\>mt "$work/wrong.seq.c"
says "'A->mt' is not NAME=VALUE"
check 2 --serial-check=A-\>mt=x "$work/wrong.seq.c"
says "A->mt takes a number from 1 to 1000, not 'x'"
check 2 --serial-check=A-\>mt=3,A-\>m=18 "$work/wrong.seq.c"
says "takes A->m or A->mt, not both"
check 2 --serial-check=A-\>nt=3 "$work/wrong.seq.c"
says 'no small values of the parameters satisfy all assumptions'
check 2 --serial-check "$work/wrong.seq.c" "$work/wrong.seq.c"
check 2 --serial-check "$work/wrong.jdf"
says 'takes one sequential nest'
nest 'in(T) inout(C)' 'C[0] += k'
sed -i 's/wrong(dag_matrix \*A)/wrong(dag_matrix *A, char *why)/' "$work/wrong.seq.c"
check 2 --serial-check "$work/wrong.seq.c"
says "knows no value of type 'char *' for why"
check 0 '--serial-check=why=(char *)"x"' "$work/wrong.seq.c"
exit $((failures > 0))
