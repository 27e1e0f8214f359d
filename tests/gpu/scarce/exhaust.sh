#!/usr/bin/env bash
# Host memory ends under tasks on a device: at each of the first allocations of a run, once and for good.
# The result is right, or there is a status and a line that says why; nothing hangs.
# usage: exhaust.sh PRELOAD FIRST LAST PROGRAM [ARGUMENT...]
set -u
preload=$1 first=$2 last=$3
shift 3
failures=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for all in "" EXHAUST_ALL=1; do
    for ((at = first; at <= last; at++)); do
        # shellcheck disable=SC2086 # nothing where it is empty
        timeout 20 env LD_PRELOAD="$preload" EXHAUST_AT="$at" $all "$@" >"$out" 2>&1
        status=$?
        if [ $status -gt 2 ] || { [ $status -ne 0 ] && [ ! -s "$out" ]; }; then
            echo "FAILED: EXHAUST_AT=$at $all: exit status $status"
            cat "$out"
            failures=$((failures + 1))
            [ $status -ne 124 ] || exit 1 # time is short
        fi
    done
done
exit $((failures > 0))
