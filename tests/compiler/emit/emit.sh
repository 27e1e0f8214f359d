#!/bin/bash
# What is printed, seen from outside: it compiles without a warning, it is small, errors in the
# user's C come out at their place in the .jdf, the lowered form is the one we know.
#   emit.sh <dagcc> <source directory>
set -u
dagcc=$1
top=$2
here=$top/tests/compiler/emit
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
# What the library's graphs prove was found when it was built, and is another test's.
unset DAGCC_PROOF_CACHE
fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

warnings="-Wall -Wextra -Wshadow -Wmissing-prototypes -Wcast-qual -Werror -Wno-unused-function"
compilers=
for cc in gcc clang; do
    command -v $cc > "$work/which" && compilers="$compilers $cc"
done
[ -n "$compilers" ] || compilers=${CC:-cc}

# translate FILE [option...]: prints the path of the .c
translate() {
    local file=$1 name
    shift
    name=$(basename "$file" .jdf)
    "$dagcc" --emit=c "$@" -o "$work/$name.c" "$file" 2> "$work/messages" ||
        { fail "dagcc $* $file: $(cat "$work/messages")"; return 1; }
    echo "$work/$name.c"
}

check_compiles() {
    local c cc
    c=$(translate "$@") || return
    for cc in $compilers; do
        # shellcheck disable=SC2086
        $cc -std=c17 $warnings -I"$top/include" -I"$top/tests/common" -I"$here/cases" -I"$(dirname "$1")" -I"$top/dsl-examples" \
            -fsyntax-only "$c" 2> "$work/messages" ||
            fail "$cc -std=c17 on the C of $1: $(head -5 "$work/messages")"
    done
    local header=${c%.c}.h
    gcc -std=c11 -pedantic -Wall -Wextra -Werror -I"$top/include" -fsyntax-only -x c "$header" ||
        fail "the header of $1 is not C11"
    if command -v g++ > "$work/which"; then
        g++ -std=c++17 -pedantic -Wall -Wextra -Werror -I"$top/include" -fsyntax-only -x c++ \
            "$header" || fail "the header of $1 is not C++17"
    fi
}

for jdf in "$here"/cases/*.jdf; do
    case $jdf in
    */live.jdf) check_compiles "$jdf" --std=parsec ;;
    *) check_compiles "$jdf" ;;
    esac
done
# The builds compile the library with all compilers, as GNU C.
compilers=gcc
for jdf in "$top"/dsl-examples/*/*.jdf; do
    check_compiles "$jdf"
done

# Size of Cholesky for four precisions, .c and .h together: per line of JDF, and of both triangles
# without their bodies for devices.
lines=0
mkdir "$work/cores"
for triangle in L U; do
    jdf=$top/dsl-examples/cholesky/potrf_$triangle.jdf
    c=$(translate "$jdf") || continue
    n=$(cat "$c" "${c%.c}.h" | wc -l)
    [ "$n" -le $(($(wc -l < "$jdf") * 8)) ] || fail "$jdf makes $n lines, more than 8 per line"
    plain=$work/cores/potrf_$triangle.jdf
    awk '/^BODY \[type = DEVICE/ { skip = 1 } !skip; /^END/ { skip = 0 }' "$jdf" > "$plain"
    cmp -s "$jdf" "$plain" && fail "$jdf has no bodies for devices"
    c=$(translate "$plain") || continue
    lines=$((lines + $(cat "$c" "${c%.c}.h" | wc -l)))
done
[ $lines -gt 0 ] && [ $lines -lt 1300 ] || fail "Cholesky makes $lines lines of C"

# A mistake in C is reported once, at its line and column.
c=$(translate "$here/errors/columns.jdf")
gcc -std=gnu17 -fdiagnostics-column-unit=byte -DDAG_ONE_PRECISION -I"$top/include" -fsyntax-only "$c" 2> "$work/messages" &&
    fail "errors/columns.jdf compiles"
sed -n "s/^.*\(columns.jdf:[0-9]*:[0-9]*\): error: .\([A-Za-z0-9_]*\). undeclared.*/\1: \2/p" \
    "$work/messages" | sort -t: -k2n -k3n > "$work/got"
diff "$here/errors/columns.want" "$work/got" || fail "places of errors in C"

# The lowered form. What a verifier proved about memory is not part of it.
for want in "$here"/golden/*.plan; do
    name=$(basename "$want" .plan)
    jdf=$(ls "$here/cases/$name.jdf" "$top"/dsl-examples/*/"$name.jdf" 2> "$work/which" | head -1)
    "$dagcc" --emit=plan -o "$work/$name.plan" "$jdf" 2> "$work/messages" ||
        fail "dagcc --emit=plan $jdf: $(cat "$work/messages")"
    sed -i -E 's/ memory (deferred|read|write|in-place)/ memory/; s/ proven//; s/ active .*//; s/ in-memory//;
               s/start asks:/start:/' "$work/$name.plan"
    if [ "${UPDATE_GOLDEN:-0}" = 1 ]; then
        cp "$work/$name.plan" "$want"
    fi
    diff "$want" "$work/$name.plan" || fail "the plan of $name (UPDATE_GOLDEN=1 accepts it)"
done
for want in "$here"/golden/*.dot; do
    name=$(basename "$want" .dot)
    "$dagcc" --emit=dot -o "$work/$name.dot" "$top"/dsl-examples/*/"$name.jdf" \
        2> "$work/messages" || fail "dagcc --emit=dot $name: $(cat "$work/messages")"
    if [ "${UPDATE_GOLDEN:-0}" = 1 ]; then
        cp "$work/$name.dot" "$want"
    fi
    diff "$want" "$work/$name.dot" || fail "the graph of $name (UPDATE_GOLDEN=1 accepts it)"
done

# Loops that look at other ranks' instances are named on request.
"$dagcc" -Wenumerate --emit=plan -o "$work/out" "$here/cases/spaces.jdf" 2> "$work/messages"
grep -q "to find its own tasks.*-Wenumerate" "$work/messages" || fail "-Wenumerate says nothing"

[ $failures -eq 0 ] || exit 1
