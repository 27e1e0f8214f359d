#!/usr/bin/env bash
# same.sh DAGCC EXAMPLES: the graph of each nest is the one of the library, proven for all parameters.
set -u
dagcc=$1 examples=$2
export DAGCC_PROOF_CACHE=off
failures=0

# The graph of the library, then options that say what a nest assumes and how names differ.
same()
{
    local name
    name=$(basename "$1")
    if ! "$dagcc" --same "$examples/$1.jdf" "$examples/sequential/$name.seq.c" "${@:2}"; then
        echo "FAIL $name"
        failures=$((failures + 1))
    fi
}

same cholesky/potrf_L
same cholesky/potrf_U
same lu/getrf_nopiv
same blas3/gemm_C --assume '0 <= ta && ta <= 1' --assume '0 <= tb && tb <= 1'
same blas3/trsm_L --assume '0 <= ta && ta <= 1' --assume '0 <= down && down <= 1'
same blas3/trtri --assume '0 <= lower && lower <= 1'
same blas3/trsm_R --assume '0 <= ta && ta <= 1' --assume '0 <= right && right <= 1'
same blas3/trmm_L --assume '0 <= ta && ta <= 1' --assume '0 <= up && up <= 1'
same blas3/trmm_R --assume '0 <= ta && ta <= 1' --assume '0 <= first && first <= 1'
same blas3/syrk --assume '0 <= ta && ta <= 1' --assume '0 <= lower && lower <= 1'
same blas3/syr2k --assume '0 <= ta && ta <= 1' --assume '0 <= lower && lower <= 1'
same blas3/symm_L --assume '0 <= lower && lower <= 1'
same blas3/symm_R --assume '0 <= lower && lower <= 1'
same qr/geqrf --assume 'TREE == 0'
same cholesky/lauum --assume '0 <= lower && lower <= 1' --rename SQUARE.n=SQUARE.k

# A nest of a tile library, with kernels that are declared elsewhere.
here=$(dirname "$0")
"$dagcc" --same "$examples/cholesky/potrf_L.jdf" "$here/library/potrf_tiles.seq.c" \
    --kernels "$here/library/kernels.h" --tile 'tl_addr(tl_desc A, i, j)' \
    --rename POTRF=tl_potrf,TRSM=tl_trsm,HERK=tl_syrk,HERK.C=tl_syrk.t,HERK.L=tl_syrk.a,GEMM=tl_gemm ||
    { echo "FAIL potrf_tiles"; failures=$((failures + 1)); }

# One that is another graph is seen to be: then the ones above say something.
"$dagcc" --same "$examples/blas3/trtri.jdf" "$examples/sequential/lauum.seq.c" 2>/dev/null
[[ $? -eq 1 ]] || { echo "FAIL trtri and lauum are one graph"; failures=$((failures + 1)); }
exit $((failures > 0))
