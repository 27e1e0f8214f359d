# launcher.sh <tools/mpirun> <rank program>
set -u
mpirun=$1 rank=$2
mark=launcher-test-$$
failed=0

# expect <status> <text in the output> command...
expect() {
    local want=$1 text=$2 output got
    shift 2
    output=$("$@" 2>&1)
    got=$?
    if [ "$got" -ne "$want" ] || [[ $output != *"$text"* ]]; then
        echo "FAILED: $*"
        echo "  status $got, expected $want; output should contain '$text':"
        echo "$output"
        failed=1
    fi
}

no_orphans() {
    local tries process left=''
    for ((tries = 0; tries < 120; tries++)); do
        left=''
        for process in /proc/[0-9]*; do
            if tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -q "^$rank $mark"; then
                left+=" ${process#/proc/}"
            fi
        done
        [ -n "$left" ] || return
        sleep 0.5
    done
    echo "FAILED: processes outlived their job:$left"
    failed=1
}

expect 0 'usage: tools/mpirun' "$mpirun" --help
expect 2 'say how many ranks' "$mpirun" "$rank"
expect 2 'no program given' "$mpirun" -np 1
expect 2 "positive number, not '0'" "$mpirun" -np 0 "$rank"
expect 2 "positive number, not '2x'" "$mpirun" -np 1 --threads 2x "$rank"
expect 2 "unknown option '--bogus'" "$mpirun" -np 1 --bogus "$rank"
expect 2 'no such program' "$mpirun" -np 1 ./no-such-program
expect 2 'need MPI' env MPIRUN=none "$mpirun" -np 2 "$rank"
expect 0 'ranks=1 threads=unset' "$mpirun" -np 1 "$rank" "$mark"
expect 0 'ranks=1 threads=3' "$mpirun" -np 1 --threads 3 "$rank" "$mark"
expect 7 '' "$mpirun" -np 1 "$rank" "$mark" exit 0 7
if [ "${MPIRUN:-}" != none ]; then
    expect 0 'ranks=3 threads=unset' "$mpirun" -np 3 "$rank" "$mark"
    expect 0 'ranks=2 threads=1' "$mpirun" -np 2 --threads 1 "$rank" "$mark"
    expect 7 '' "$mpirun" -np 3 "$rank" "$mark" exit 2 7
    expect 137 'rank 1' "$mpirun" -np 3 "$rank" "$mark" kill 1
    no_orphans
    expect 124 '' "$mpirun" -np 3 --timeout 2 "$rank" "$mark" kill 9
    no_orphans
fi

# A launcher that neither ends nor lets its rank end when it is told to: both are gone soon after the tool is
# told, and nothing of the job is left. Told before the launcher is started, the tool does not start it.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/tmp"
cat >"$folder/deaf" <<'TEXT'
#!/bin/sh
trap '' TERM
[ "$1" != --version ] || { echo 'mpirun (Open MPI) of the test'; exit; }
echo $$ >"${0%/*}/started"
while sleep 0.1; do :; done
TEXT
cat >"$folder/bin/mkfifo" <<'TEXT'
#!/bin/sh
PATH=${PATH#*:}
mkfifo "$@"
kill -TERM $PPID
TEXT
chmod +x "$folder/deaf" "$folder/bin/mkfifo"
told_to_end() { # what is expected of the launcher: command...
    local want=$1 status=0
    shift
    env TMPDIR="$folder/tmp" MPIRUN="$folder/deaf" "$@" "$mpirun" -np 1 "$rank" "$mark" &
    tool=$!
    if [ "$want" = started ]; then
        until [ -s "$folder/started" ]; do sleep 0.1; done
        kill -TERM $tool
    fi
    wait $tool || status=$?
    if [ $status -ne 143 ] || [ -n "$(ls "$folder/tmp")" ] ||
        kill -0 "$(cat "$folder/started" 2>/dev/null || echo none)" 2>/dev/null; then
        echo "FAILED: told to end ($want): status $status, left: $(ls "$folder/tmp")"
        failed=1
    fi
}
told_to_end 'not started' PATH="$folder/bin:$PATH"
if [ -e "$folder/started" ]; then
    echo 'FAILED: the launcher is started after the tool was told to end'
    failed=1
fi
told_to_end started

# A launcher that somebody kills, as the kernel does where a control group is short of memory.
cat >"$folder/dying" <<'TEXT'
#!/bin/sh
[ "$1" != --version ] || { echo 'mpirun (Open MPI) of the test'; exit; }
kill -KILL $$
TEXT
chmod +x "$folder/dying"
expect 1 "$folder/dying was ended by signal 9" env TMPDIR="$folder/tmp" MPIRUN="$folder/dying" "$mpirun" -np 1 "$rank"
if [ -n "$(ls "$folder/tmp")" ]; then
    echo "FAILED: the launcher is killed, left: $(ls "$folder/tmp")"
    failed=1
fi
exit $failed
