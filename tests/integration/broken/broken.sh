#!/bin/bash
# broken.sh MPIRUN RANKS PROGRAM MODE text...
# A broken program has to end by itself, with an error, and to say what is wrong: every text.
mpirun=$1 ranks=$2 program=$3 mode=$4
shift 4
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
if [ "$ranks" -gt 1 ]; then
    timeout -k 5 220 "$mpirun" -np "$ranks" "$program" "$mode" > "$log" 2>&1
else
    timeout -k 5 220 "$program" "$mode" > "$log" 2>&1
fi
status=$?
cat "$log"
if [ $status -eq 124 ] || [ $status -eq 137 ]; then
    echo "it did not end by itself" >&2
    exit 1
fi
if [ $status -eq 0 ]; then
    echo "it ended as if nothing were wrong" >&2
    exit 1
fi
for text in "$@"; do
    grep -qF -e "$text" "$log" || {
        echo "the output does not contain '$text'" >&2
        exit 1
    }
done
