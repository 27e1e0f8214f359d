#!/usr/bin/env bash
# pivots.sh MPIRUN PROGRAM P Q: LU whose pivots are of more rows than a tile has elements, on P x Q ranks. A simulated run
# draws them, and counts the messages, bytes and tasks of a real one, which finds them.
set -euo pipefail
ranks=$(($3 * $4))
counts() { # without the time, which the two have their own of
    sed -n 's/^\(lu: [0-9]* messages, [0-9]* bytes, [0-9]* tasks\), [0-9.]* s$/\1/p'
}
real=$("$1" -np $ranks --timeout 100 --threads 1 "$2" lu 1200 32 "$3" "$4" | counts)
played=$(DAG_SIMULATE=$ranks "$2" lu 1200 32 "$3" "$4" | counts)
if [ -z "$real" ] || [ "$real" != "$played" ]; then
    printf 'really run:\n%s\nsimulated:\n%s\n' "$real" "$played"
    exit 1
fi
