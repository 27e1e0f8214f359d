#!/usr/bin/env bash
# threads.sh <tools/mpirun> <threads program> <program> <argument...>
# With one worker the runtime has no thread of its own and MPI runs at MPI_THREAD_SINGLE; with two it
# has one (so that the counting is known to see it). Then the same of a whole program while it runs.
set -u
mpirun=$1 count=$2
shift 2
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}

for ranks in 1 2; do
    own=$("$mpirun" -np $ranks --threads 1 "$count" own) || fail "$ranks ranks, MPI of the program"
    dag=$("$mpirun" -np $ranks --threads 1 "$count" dag) || fail "$ranks ranks, MPI of dag_init()"
    [ "$own" = "$dag" ] || fail "$ranks ranks: '$own' if the program starts MPI, else '$dag'"
    "$mpirun" -np $ranks --threads 2 "$count" own >/dev/null || fail "$ranks ranks, two workers"
done
mpi=${own#threads }

# The program as users start it: threads of its ranks while tasks run. OpenBLAS makes threads when it is
# loaded, for callers that want them; they are not the runtime's.
# Other jobs of the program may run meanwhile: a mark in the environment tells ours. As often as it takes
# to have seen them some times.
export THREADS_TEST_MARK=$$-$RANDOM
program=$(readlink -f "$1")
seen=0
while [ $seen -lt 4 ] && [ $failed -eq 0 ]; do
    OPENBLAS_NUM_THREADS=1 "$mpirun" -np 2 "$@" >/dev/null 2>&1 &
    launcher=$!
    while kill -0 $launcher 2>/dev/null; do
        for exe in $(find /proc -maxdepth 2 -name exe -lname "$program" 2>/dev/null); do
            process=${exe%/exe}
            grep -qz "^THREADS_TEST_MARK=$THREADS_TEST_MARK\$" "$process/environ" 2>/dev/null || continue
            threads=$(ls "$process/task" 2>/dev/null | wc -l)
            [ "$threads" -gt 0 ] || continue
            seen=$((seen + 1))
            # fewer while MPI starts
            [ "$threads" -le "$mpi" ] || fail "$1 has $threads threads, MPI alone has $mpi"
        done
        [ $failed -eq 0 ] || break
        sleep 0.1
    done
    wait $launcher || fail "$* ends with status $?"
done
exit $failed
