#!/usr/bin/env bash
# counts.sh MPIRUN PROGRAM RANKS: a simulated run counts the messages, bytes and tasks of a real one.
set -euo pipefail
for shape in scatter ring hier trees auto; do
    real=$(DAG_BCAST=$shape "$1" -np "$3" --timeout 100 --threads 1 "$2")
    played=$(DAG_BCAST=$shape DAG_SIMULATE=$3 "$2")
    if [ "$(wc -l <<<"$real")" -lt 8 ] || [ "$real" != "$played" ]; then
        printf 'broadcasts %s, really run:\n%s\nsimulated:\n%s\n' "$shape" "$real" "$played"
        exit 1
    fi
done
for again in 1 2; do
    [ "$(DAG_SIMULATE=$3 "$2")" = "$played" ]
done
