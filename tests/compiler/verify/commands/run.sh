#!/bin/bash
# Commands that look at the graph of given parameters, and --complete.
#   run.sh DAGCC POTRF.jdf
set -u
dagcc=$1
potrf=$2
cd "$(dirname "$0")" || exit 1
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
mkdir "$out/tmp" && export TMPDIR="$out/tmp" # where nobody else leaves files
failures=0

fail() { echo "FAIL: $*"; failures=$((failures + 1)); }

# expect STATUS TEXT COMMAND...: the exit status, and TEXT somewhere in what is printed
expect() {
    local status=$1 text=$2 have
    shift 2
    have=$("$@" 2>&1)
    local got=$?
    [ $got -eq "$status" ] || fail "exit $got, not $status: $*"$'\n'"$have"
    case $have in *"$text"*) ;; *) fail "no '$text' from: $*"$'\n'"$have" ;; esac
}

# Cholesky with 5 tiles: 5 + 10 + 10 + 10 tasks, 4 * 3 + 1 tasks in a row.
"$dagcc" --count N=5,P=2,Q=2 --diagnostics=json "$potrf" > "$out/count" 2> /dev/null
grep -q '"POTRF": 5, "TRSM": 10, "HERK": 10, "GEMM": 10}, "total": 35, "edges": 60' "$out/count" ||
    fail "--count: $(cat "$out/count")"
grep -q '"path_tasks": 13' "$out/count" || fail "critical path: $(cat "$out/count")"
grep -qF '"bytes": [[0, 96, 96, 0], [96, 0, 32, 0], [0, 96, 0, 96], [0, 96, 32, 0]]' "$out/count" ||
    fail "bytes between ranks: $(cat "$out/count")"
expect 0 "critical path, tasks                5
critical path, flops               20" "$dagcc" --count N=5 work.jdf
expect 0 "sends between ranks                 0" "$dagcc" --count N=5 "$potrf"
expect 0 'label = "GEMM(m=2, n=1, k=0)"' "$dagcc" --emit=dot:N=3 "$potrf"
expect 0 "" "$dagcc" --enumerate N=5,P=2,Q=2 "$potrf"
expect 1 "contradict this assumption" "$dagcc" --enumerate 'A->mt=3,A->nt=4' "$potrf"
expect 1 "did you mean" "$dagcc" --enumerate 'A->nm=3' "$potrf"
expect 1 "is not NAME=VALUE" "$dagcc" --enumerate 5 "$potrf"
expect 1 "must be an integer from" "$dagcc" --enumerate N=x "$potrf"
expect 1 "must be an integer from" "$dagcc" --enumerate N=99999999999 "$potrf"
expect 1 "has no value" "$dagcc" --enumerate P=2 "$potrf"

# Inline C: evaluated in a process with limits.
expect 0 "" "$dagcc" --enumerate N=20 inline.jdf
expect 1 "Node(k=2) sends out to Node(k=1).in, but that flow does not wait for it" \
    "$dagcc" --enumerate N=3 inline-wrong.jdf
expect 1 "took more than its share" "$dagcc" --enumerate N=3 inline-hang.jdf
expect 1 "took more than its share" "$dagcc" --enumerate N=3 inline-memory.jdf
expect 1 "took more than its share" "$dagcc" --enumerate N=3 inline-pieces.jdf
[ -z "$(ls -A "$TMPDIR")" ] || fail "temporary files are left: $(ls -A "$TMPDIR")"

# Commands that notes propose run as they are printed, and find nothing in what is right.
mkdir "$out/a b"
for file in inline-global.jdf global-n.jdf dynamic.jdf assumed.jdf; do
    for options in "" "--std=parsec"; do
        [ -n "$options" ] && [ $file = dynamic.jdf ] && continue    # no such guard there
        cp $file "$out/a b/"
        (cd "$out" && "$dagcc" $options -fsyntax-only "a b/$file") > "$out/messages" 2>&1
        command=$(sed -n "s/.*check small sizes with '\\(.*\\)'.*/\\1/p" "$out/messages" | head -1)
        [ -n "$command" ] || fail "no command for $file $options: $(cat "$out/messages")"
        (cd "$out" && eval "\"$dagcc\" ${command#dagcc}" > "$out/messages" 2>&1) ||
            fail "$command: $(cat "$out/messages")"
        values=$(sed 's/.*--enumerate \("[^"]*"\|[^ ]*\) .*/\1/' <<< "$command")
        (cd "$out" && eval "\"$dagcc\" $options --count $values 'a b/$file'" > "$out/count" 2>&1 &&
            eval "\"$dagcc\" $options --emit=dot:$values 'a b/$file'" > "$out/dot" 2>&1) ||
            fail "--count or --emit=dot of $file: $(cat "$out/count" "$out/dot")"
    done
done
expect 1 "is outside 'D'" "$dagcc" --enumerate 'N=4,D->count=3' inline-global.jdf
expect 0 "" "$dagcc" --enumerate 'N=4,D->count=5' inline-global.jdf
expect 1 "the buffer of T(k=2).X has no shape" "$dagcc" --enumerate N=4 shapes.jdf

# A flow is made in its element only where nothing else is stored: not in D, where Twice overwrites
# a part, nor in E, of which one element is stored several times; in F it is.
"$dagcc" --emit=plan -o "$out/plan" stored.jdf 2> "$out/messages" || fail "$(cat "$out/messages")"
[ "$(sed -n 's/^ *bind \([A-Z]\) new-like \([^(]*\)(.*/\1 \2/p' "$out/plan" | tr '\n' ';')" = \
    "P D;Q E;R in-memory F;X D;" ] || fail "$(grep new-like "$out/plan")"

# A completed file is accepted and complete.
expect 1 "has no '<- X T1(...)'" "$dagcc" -fsyntax-only incomplete.jdf
"$dagcc" --complete incomplete.jdf > "$out/complete.jdf" 2> /dev/null || fail "--complete"
expect 0 "" "$dagcc" -fsyntax-only "$out/complete.jdf"
"$dagcc" --complete "$out/complete.jdf" > "$out/again.jdf" || fail "--complete, again"
cmp -s "$out/complete.jdf" "$out/again.jdf" || fail "--complete changes a complete file"
grep -q "CTL c <- c T2(0 .. N - 1)" "$out/complete.jdf" || fail "$(cat "$out/complete.jdf")"

# A reduction is a class of tasks; what its sender lacks is said in the words of the file.
"$dagcc" --complete reduction.jdf > "$out/reduction.jdf" 2> /dev/null || fail "--complete reduction.jdf"
expect 0 "" "$dagcc" -fsyntax-only "$out/reduction.jdf"
[ "$(grep -c -- "-> S All(0 .. 1)" "$out/reduction.jdf")" = 1 ] || fail "$(cat "$out/reduction.jdf")"
expect 0 '"Work": 5, "All": 2, "All_S": 10}, "total": 17, "edges": 20' \
    "$dagcc" --count N=5,P=2 --diagnostics=json "$out/reduction.jdf"
expect 0 "" "$dagcc" --enumerate 'N=7,D->super.size=3' "$out/reduction.jdf"
expect 0 'label = "All_S(k=1, i=2)"' "$dagcc" --emit=dot:N=3 "$out/reduction.jdf"

[ $failures -eq 0 ] && echo "all commands work"
exit $((failures != 0))
