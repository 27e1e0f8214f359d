#!/usr/bin/env bash
# kill.sh <tools/mpirun> <program> <times>
# One random rank of a running job is killed with SIGKILL: the job ends with a non-zero status within
# 10 s, the launcher names the rank, and no process of the job is left. On a machine so busy that the
# job's start took longer than half a second, its end may take 20 times the start.
set -u
mpirun=$1 program=$2 times=$3
[ -z "${DAGCC_TEST_FULL:-}" ] || times=20
mark=kill-test-$$
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

fail() {
    echo "FAILED ($what): $*"
    sed 's/^/  | /' "$log"
    failed=1
}

now_ms() { date +%s%3N; }

started() { # ranks
    local tries
    for ((tries = 0; tries < 3000; tries++)); do
        [ "$(grep -c ' is process ' "$log")" -lt "$1" ] || return 0
        sleep 0.1
    done
    return 1
}

is_ours() { # pid
    tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" | grep -q "^$program $mark"
}

left() {
    local process
    for process in /proc/[0-9]*; do
        if is_ours "${process#/proc/}"; then
            echo "${process#/proc/}"
        fi
    done
}

for ((n = 0; n < times; n++)); do
    ranks=$((2 + RANDOM % 3)) bytes=$((RANDOM % 2 ? 1000 : 100000)) victim=$((RANDOM % ranks))
    what="kill $n: rank $victim of $ranks, $bytes bytes"
    : >"$log" # now: the job's own redirection may come after the first look at it
    begin=$(now_ms)
    "$mpirun" -np $ranks --timeout 800 --threads $((1 + RANDOM % 2)) "$program" $mark $bytes >"$log" 2>&1 &
    launcher=$!
    if ! started $ranks; then
        fail "the job did not start"
        kill $launcher
        wait $launcher
        break
    fi
    most=$((20 * ($(now_ms) - begin)))
    [ $most -gt 10000 ] || most=10000
    sleep 0.$((RANDOM % 5))
    pid=$(sed -n "s/^rank $victim is process //p" "$log")
    if ! is_ours "$pid"; then
        fail "process '$pid' is none of the job"
        kill $launcher
        wait $launcher
        break
    fi
    begin=$(now_ms)
    kill -KILL "$pid"
    wait $launcher
    status=$?
    took=$(($(now_ms) - begin))
    [ $status -ne 0 ] || fail "the job ended with status 0"
    [ $took -lt $most ] || fail "the job took $took ms to end, of $most"
    [ $status -ne 124 ] || fail "the launcher's time was over"
    grep -q "rank $victim .*\(signal 9\|[Kk]illed\)" "$log" || fail "the launcher does not name the rank"
    for ((tries = 0; tries < 120; tries++)); do
        orphans=$(left)
        [ -n "$orphans" ] || break
        sleep 0.5
    done
    [ -z "$orphans" ] || fail "processes are left: $orphans"
    [ $failed -eq 0 ] || break
    echo "$what: ended with $status after $took ms"
done
exit $failed
