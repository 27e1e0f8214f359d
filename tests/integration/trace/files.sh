#!/bin/bash
# files.sh <part> <program> <dag_trace> <mpirun>
# Traces as files: their formats, what is refused, disks that are full, the report, the bar.
set -u
part=$1 program=$2 dag_trace=$3 mpirun=$4
dir=$(mktemp -d) || exit 1
trap 'mountpoint -q "$dir/small" && umount "$dir/small"; rm -rf "$dir"' EXIT
unset "${!DAG_@}"
failed=0

fail() { echo "FAILED: $*" >&2; failed=1; }
# says TEXT STATUS command...: the command ends with the status, and its output has the text
says() {
    local text=$1 status=$2 got
    shift 2
    "$@" >"$dir/log" 2>&1
    got=$?
    [ "$got" -eq "$status" ] || fail "$*: exit status $got, not $status: $(cat "$dir/log")"
    [ -z "$text" ] || grep -qF -e "$text" "$dir/log" || fail "$*: says nothing of '$text': $(cat "$dir/log")"
}
traced() { DAG_TRACE=$1 DAG_THREADS=2 "$program"; }

case $part in
formats)
    traced "$dir/a.trace" || fail "no trace"
    traced "$dir/b.html" || fail "no page"
    traced "$dir/b.json" || fail "no JSON"
    python3 -m json.tool "$dir/b.json" >/dev/null || fail "that is not JSON"
    grep -q '"ph":"X"' "$dir/b.json" || fail "JSON without tasks"
    says "task classes" 0 "$dag_trace" "$dir/a.trace"
    says "rank 0 worker 1" 0 "$dag_trace" summary --workers "$dir/a.trace"
    says "waited" 0 "$dag_trace" path "$dir/a.trace"
    # `profile = off` leaves nothing, and a critical path passes through
    grep -q Hidden "$dir/b.json" && fail "tasks of a class with profile = off are in the trace"
    "$dag_trace" path "$dir/a.trace" >"$dir/path"
    grep -q 'Done(' "$dir/path" || fail "the critical path does not end with Done"
    [ "$(grep -c 'Step(' "$dir/path")" -eq 250 ] || fail "the critical path is not a chain"
    says "wall time" 0 "$dag_trace" compare "$dir/a.trace" "$dir/a.trace"
    says "" 0 "$dag_trace" json "$dir/a.trace"
    python3 -m json.tool "$dir/a.trace.json" >/dev/null || fail "dag_trace json writes no JSON"
    says "" 0 "$dag_trace" html "$dir/a.trace" -o "$dir/a.html"
    grep -q 'id="row1"' "$dir/a.html" || fail "page without rows"
    grep -Eq '(src|href)=' "$dir/a.html" && fail "the page refers to other files"
    ;;
refused)
    traced "$dir/a.trace" || fail "no trace"
    : >"$dir/empty"
    echo "something else" >"$dir/other"
    head -c 500 "$dir/a.trace" >"$dir/short"
    says "has not ended" 1 "$dag_trace" "$dir/empty"
    says "not a trace" 1 "$dag_trace" "$dir/other"
    says "ends early" 1 "$dag_trace" "$dir/short"
    says "No such file" 1 "$dag_trace" "$dir/none"
    says "takes two files" 3 "$dag_trace" compare "$dir/a.trace"
    says "unknown option" 3 "$dag_trace" --nonsense
    says "No space left" 1 "$dag_trace" json "$dir/a.trace" -o /dev/full
    [ -c /dev/full ] || fail "a device was removed"
    says "No such file" 1 "$dag_trace" html "$dir/a.trace" -o "$dir/none/page.html"
    ;;
errors) # before the run, and at its end; on all ranks, which must not hang
    says "cannot write the trace" 1 traced "$dir/none/a.trace"
    says "No space left" 1 traced /dev/full
    says "there is no setting DAG_TRAC" 1 env DAG_TRAC=x "$program"
    says "has been removed" 1 bash -c \
        'trap "" XFSZ; ulimit -f 1; DAG_WARNINGS=1 DAG_THREADS=2 DAG_TRACE=$1 "$2"' \
        - "$dir/large.trace" "$program"
    [ -e "$dir/large.trace" ] && fail "an incomplete file was left"
    if [ "$mpirun" != none ]; then
        says "cannot write the trace" 1 "$mpirun" -np 3 --threads 1 \
            env DAG_TRACE="$dir/none/a.trace" "$program"
        says "No space left" 1 "$mpirun" -np 3 --threads 2 env DAG_TRACE=/dev/full "$program"
        says "" 0 "$mpirun" -np 3 --threads 2 env DAG_TRACE="$dir/b.trace" "$program"
        says "3 ranks" 0 "$dag_trace" "$dir/b.trace"
    fi
    # events beyond trace_bytes are dropped, which is said, and the rest can be read
    DAG_TRACE_BYTES=64k DAG_TRACE="$dir/lossy.trace" says "lacks the last" 0 "$program" 0 20000
    says "were dropped" 0 "$dag_trace" "$dir/lossy.trace"
    ;;
report)
    DAG_REPORT=1 DAG_THREADS=2 says "critical path" 0 "$program"
    DAG_REPORT=1 DAG_THREADS=2 says "rank 0 worker 1" 0 "$program"
    if [ "$mpirun" != none ]; then
        says "link 0 -> 1" 0 "$mpirun" -np 2 --threads 1 env DAG_REPORT=1 "$program"
    fi
    ;;
progress)
    command -v script >/dev/null || { echo "script(1) is not installed"; exit 77; }
    began=$SECONDS
    says "tasks" 0 env DAG_PROGRESS=1 DAG_THREADS=1 script -qec "$program 500" /dev/null
    grep -q '100%' "$dir/log" || fail "the bar does not reach its end"
    # at most ten a second, for as long as it has run, and none where there is no terminal
    most=$(((SECONDS - began + 1) * 10 + 10))
    lines=$(tr '\r' '\n' <"$dir/log" | grep -c 'tasks,')
    [ "$lines" -ge 3 ] || fail "$lines looks at the bar"
    [ "$lines" -le $most ] || fail "$lines looks at the bar: too many"
    DAG_PROGRESS=1 DAG_THREADS=2 "$program" 2>"$dir/log" || fail "no run"
    grep -q 'tasks' "$dir/log" && fail "a bar where there is no terminal"
    if [ "$mpirun" != none ]; then
        says "tasks" 0 env DAG_PROGRESS=1 script -qec \
            "'$mpirun' -np 2 --threads 1 '$program' 500" /dev/null
    fi
    ;;
browser) # the page, with the events of 10^6 tasks
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
        { echo "no Chromium"; exit 77; }
    DAG_TRACE="$dir/big.trace" DAG_THREADS=2 "$program" 0 "${TASKS:-1000000}" || fail "no trace"
    says "" 0 "$dag_trace" html "$dir/big.trace" -o "$dir/big.html"
    open_page() {
        timeout 600 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" \
            --window-size=1400,900 --dump-dom "$1" 2>/dev/null
    }
    # How fast browser and machine are at the moment: a page of nothing, which is there within a second
    # where nothing else runs.
    began=$(date +%s%3N)
    open_page about:blank >/dev/null
    blank=$(($(date +%s%3N) - began))
    open_page "file://$dir/big.html#try" | grep -o '<html[^>]*>' | head -1 | tee "$dir/log"
    most() { echo $(($1 > $1 * blank / 1000 ? $1 : $1 * blank / 1000)); }
    number() { sed -n "s/.*data-$1=\"\([0-9]*\)\".*/\1/p" "$dir/log"; }
    [ -n "$(number ready)" ] || fail "the page did not open"
    [ "$(number tasks)" -ge "${TASKS:-1000000}" ] || fail "the page shows $(number tasks) tasks"
    [ "$(number ready)" -lt "$(most "${READY:-3000}")" ] || fail "it opened after $(number ready) ms"
    [ "$(number frame)" -lt "$(most 500)" ] || fail "moving about takes $(number frame) ms"
    [ "$(number moved)" = 40 ] || fail "$(number moved) of 40 turns of the wheel moved the chart"
    [ "$(number tip)" = 1 ] || fail "no task is named under the pointer"
    [ "$(number hits)" = "$(number expected)" ] || fail "the search finds $(number hits) tasks"
    ;;
esac
exit $failed
