#!/bin/bash
# refused.sh DAGCC NESTS EXAMPLES
# What --emit=insert does not take, and what it alone takes; all nests that are shipped can be inserted.
dagcc=$1 nests=$2 examples=$3
failed=0

# expect STATUS TEXT ARGUMENTS...
expect() {
    local want=$1 text=$2 out status
    shift 2
    out=$("$dagcc" "$@" 2>&1)
    status=$?
    if [ "$status" -ne "$want" ] || ! grep -qF -e "$text" <<<"$out"; then
        echo "dagcc $*: status $status, expected $want and '$text': $out" >&2
        failed=1
    fi
}

expect 2 "--emit=insert takes one sequential nest" --emit=insert "$examples/tutorial/chain.jdf"
expect 2 "--emit=insert takes one sequential nest" --emit=insert "$nests/branch.seq.c" "$nests/branch.seq.c"
expect 1 "may call min and max" -fsyntax-only "$nests/branch.seq.c"
for nest in "$examples"/sequential/*.seq.c; do
    name=$(basename "$nest" .seq.c)
    expect 0 "${name}_insert(dag_context" --emit=insert "$nest"
done
exit "$failed"
