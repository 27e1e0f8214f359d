#!/bin/bash
# for.sh SOURCE BUILD: the tests that tools/test --for finds for a file are those that cover it.
set -u
source=$1 build=$2
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# covered FILE TEST... [-- TEST...]: by these, and by none of the others
covered() {
    local file=$1 want=yes test
    shift
    python3 "$source/tools/tests_for.py" "$build" "$source/$file" >"$log" || fail "$file: status $?"
    for test; do
        [ "$test" != -- ] || { want=no; continue; }
        if grep -qx "test $test" "$log"; then
            [ $want = yes ] || fail "$test should not cover $file"
        else
            [ $want = no ] || fail "$test does not cover $file"
        fi
    done
}
# exactly FILE LINE...: and nothing else is printed
exactly() {
    local file=$1
    shift
    covered "$file"
    [ "$(cat "$log")" = "$(printf '%s\n' "$@")" ] || fail "$file: $(cat "$log")"
}

# a source of the runtime, alone in a unit test, in another library of a test, and in the runtime
covered runtime/net/bell.c test_bell comm_protocol_2 core_graphs_np2 -- test_heap compiler-golden
grep -qx 'target tests/unit/test_bell' "$log" || fail "test_bell would not be built"
grep -qx 'target tests/unit/test_heap' "$log" && fail "test_heap would be built"
# one of the compiler: what runs dagcc, not what dagcc has translated
covered compiler/verify/inline.c verify-commands compiler-golden -- comm_pingpong_2 tutorial_ring_np1
# a source of a test, its program and all tests of that
# (quotes: a script whose text names a file covers it)
exactly tests/unit/test_bell".c" "test test_bell" "target tests/unit/test_bell"
covered tests/integration/comm/disagree.jdf comm_disagree_late_0 comm_disagree_order_2 -- comm_remote_2
# a graph, what is made of it
covered dsl-examples/tutorial/ring.jdf tutorial_ring_np1 verify-shipped -- tutorial_tree_np1 test_bell
# an input of a script, the script, and what many scripts call
covered tests/compiler/verify/commands/inline-memory.jdf verify-commands -- tutorial_ring_np1
covered tests/compiler/checks/syntax.bad.jdf compiler-golden -- verify-commands
covered tests/integration/launcher/launcher.sh launcher -- robust_harm
covered tools/mpirun launcher comm_pingpong_2 -- test_bell
# the place of registration, documents
covered tests/integration/comm.cmake comm_remote_2 -- launcher test_bell
covered docs/language.md docs_snippets docs_places -- test_bell
exactly LICEN"SE" "none LICEN"SE

# labelled REGEXP [--without REGEXP]: what tests with labels need
labelled() {
    python3 "$source/tools/tests_for.py" "$build" --labels "$@" >"$log" || fail "--labels $*: status $?"
}
labelled '^sanitize$' --without '^full$'
grep -qx 'target tests/unit/test_bell' "$log" || fail "test_bell would not be built for its label"
grep -qx 'target lib/libdag_cuda.so' "$log" || ! [ -e "$build/lib/libdag_cuda.so" ] || fail "plug-ins would not be built"
grep -qx 'target tests/unit/test_heap' "$log" && fail "test_heap would be built for a label that it has not"
labelled '^sanitize$' --without .
grep -q '^target tests/' "$log" && fail "tests without allowed labels would be built"
python3 "$source/tools/tests_for.py" "$build" --labels asan full >"$log" 2>&1 && fail "a word too many was taken"

says() { # TEXT STATUS ARGUMENT...
    local text=$1 status=$2 got
    shift 2
    "$source/tools/test" "$@" >"$log" 2>&1
    got=$?
    [ $got -eq "$status" ] || fail "tools/test $*: status $got, not $status"
    grep -qF -e "$text" "$log" || fail "tools/test $*: no '$text' in $(cat "$log")"
}
says "no such file" 2 --for nothing.c
says "needs a file" 2 --for
says "goes with --for" 2 --list
says "chooses the tests" 2 --quick --for "$source/LICEN"SE
says "say --for" 2 "$source/LICEN"SE
if [ "$build" = "$source/build" ]; then # which it lists
    says "no test covers LICEN"SE 1 --for "$source/LICEN"SE --list
    says "test_bell" 0 --for "$source/tests/unit/test_bell".c --list
    [ "$(wc -l <"$log")" -eq 1 ] || fail "more is listed: $(cat "$log")"
fi
exit $failed
