#!/usr/bin/env bash
# variant.sh <source dir> <work dir> <generator> <cc> <c++> <expected line> [--hide package]...
#     [cmake option...]
#
# Configures the project in one way, from nothing; --hide: as if pkg-config did not know that
# package. The configuration must end without a complaint of CMake, its summary must have the
# expected line (an extended regular expression), every target and test must have what it names.
# With DAGCC_TEST_FULL set it is built as well, warnings being errors.
set -euo pipefail
source=$1 work=$2 generator=$3 cc=$4 cxx=$5 expected=$6
shift 6
hidden=()
while [ "${1:-}" = --hide ]; do
    hidden+=("$2")
    shift 2
done

rm -rf "$work"
mkdir -p "$work"
if [ ${#hidden[@]} -gt 0 ]; then
    real=$(command -v pkg-config) || real=/bin/false
    cat >"$work/pkg-config" <<TEXT
#!/bin/sh
for word; do
    for package in ${hidden[*]}; do
        [ "\${word%% *}" != "\$package" ] || exit 1
    done
done
exec $real "\$@"
TEXT
    chmod +x "$work/pkg-config"
    set -- "-DPKG_CONFIG_EXECUTABLE=$work/pkg-config" "$@"
fi

fail() {
    cat "$work/log"
    echo "variant.sh: $*"
    exit 1
}

cmake -S "$source" -B "$work/build" -G "$generator" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_CXX_COMPILER="$cxx" -DDAG_WERROR=ON "$@" >"$work/log" 2>&1 ||
    fail "it does not configure"
if grep -q 'CMake .*\(Error\|Warning\)' "$work/log"; then
    fail "CMake complains"
fi
grep -Eq -e "$expected" "$work/log" || fail "the summary has no line '$expected'"
# Without building: rules for all there is to build, files for all they need.
cmake --build "$work/build" -- -n >"$work/build.log" 2>&1 || {
    tail -20 "$work/build.log"
    fail "the build has no rule for something"
}
if [ -n "${DAGCC_TEST_FULL:-}" ]; then
    cmake --build "$work/build" --parallel 2 >"$work/build.log" 2>&1 || {
        grep -E -A6 'error|FAILED' "$work/build.log" | head -60
        fail "it does not build"
    }
fi
tests=$(ctest --test-dir "$work/build" -N | sed -n 's/^Total Tests: //p')
[ "${tests:-0}" -gt 0 ] || [[ " $* " = *" -DBUILD_TESTING=OFF "* ]] || fail "no test is registered"
echo "$tests tests; left out: $(wc -l <"$work/build/tests-left-out.txt")"
