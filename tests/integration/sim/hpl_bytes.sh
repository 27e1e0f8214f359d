#!/usr/bin/env bash
# hpl_bytes.sh PROGRAM: what ranks send in LU with factored columns unexchanged beside what High Performance
# Linpack sends. There, of panel k of jb columns, with m rows from its first on and n columns behind it, on P x Q:
# the rows below the top block once, the top block and the pivots once per process row, to each of the other
# Q-1 process columns; jb rows of n columns to each of P-1 process rows, and those that they displace there,
# (P-1)/P of jb; per column log2(P) messages of each process row, 2 jb + 4 numbers.
set -euo pipefail
hpl() {
    awk -v N="$1" -v NB="$2" -v P="$3" -v Q="$4" 'BEGIN {
        for (top = 0; top < N; top += NB) {
            jb = N - top < NB ? N - top : NB; m = N - top; n = m - jb
            words += (Q - 1) * ((m - jb) * jb + P * (jb * jb + jb + 1))
            words += (P - 1 + (P - 1) / P) * jb * n + P * log(P) / log(2) * jb * (2 * jb + 4)
        }
        printf "%.0f\n", 8 * words
    }'
}
while read -r p q percent; do
    ours=$(DAG_SIMULATE=$((p * q)) "$1" unexchanged 4000 128 "$p" "$q" | sed -n 's/.* \([0-9]*\) bytes.*/\1/p')
    theirs=$(hpl 4000 128 "$p" "$q")
    echo "${p}x$q: $ours bytes, HPL $theirs"
    [ $((100 * ours)) -le $((percent * theirs)) ]
done <<'END'
1 2 105
2 1 110
2 2 110
END
