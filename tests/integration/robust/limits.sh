#!/usr/bin/env bash
# A program under limits of its address space or its stack: there is a right result, or a line that says
# why there is none; it does not hang and does not crash.
# usage: limits.sh MPIRUN RANKS space|stack PROGRAM [ARGUMENT...]
set -u
mpirun=$1 ranks=$2 what=$3 program=$4
shift 4
export DAG_THREADS=2
limits="s:64 s:128 s:192 s:256 Ss:64 Ss:192"
[ "$what" = stack ] ||
    limits="v:100000 v:150000 v:250000 v:300000 v:400000 v:1000000"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failures=0 right=0 refused=0
for limit in $limits; do
    set_limit="ulimit -${limit%:*} ${limit#*:}"
    # Below this the libraries do not even load.
    timeout --kill-after=5 40 bash -c "$set_limit; exec \"$program\" --version" >/dev/null 2>&1
    status=$?
    [ $status -ne 124 ] && [ $status -ne 137 ] || { echo "FAILED: $set_limit: --version hangs"; exit 1; }
    [ $status -eq 0 ] || continue
    command=(bash -c "$set_limit; exec \"\$0\" \"\$@\"" "$program" "$@")
    # The launcher is not limited in its address space, and has a stack like the ranks.
    if [ "$ranks" -gt 1 ] && [ "$what" = stack ]; then
        command=(bash -c "$set_limit; exec \"\$0\" \"\$@\"" "$mpirun" -np "$ranks" "$program" "$@")
    elif [ "$ranks" -gt 1 ]; then
        command=("$mpirun" -np "$ranks" "${command[@]}")
    fi
    timeout --kill-after=5 40 "${command[@]}" >"$out" 2>&1
    status=$?
    if [ $status -eq 0 ] && grep -q "backward error" "$out"; then
        right=$((right + 1))
    elif [ $status -gt 0 ] && [ $status -lt 124 ] && [ -s "$out" ]; then
        refused=$((refused + 1))
    else
        failures=$((failures + 1))
        echo "FAILED: $set_limit: exit status $status"
        cat "$out"
        [ $status -ne 124 ] && [ $status -ne 137 ] || exit 1 # time is short
    fi
done
echo "$right results, $refused refusals, $failures failures"
[ $failures -eq 0 ] && [ $right -gt 0 ] && [ $refused -gt 0 ]
