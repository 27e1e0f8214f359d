#!/usr/bin/env bash
# gdb.sh command...
# Runs the command if gdb can look into processes here, with DIR, a directory of its own, in its
# environment. Else says why not and ends with status 77.
set -euo pipefail

skip() {
    echo "skipped: $*"
    exit 77
}

command -v gdb >/dev/null || skip "gdb is not installed"
gdb -nx -batch -ex 'python print("python", "works")' 2>/dev/null | grep -q 'python works' ||
    skip "gdb is built without Python"
tried=$(gdb -nx -batch -ex 'set startup-with-shell off' -ex 'set debuginfod enabled off' \
    -ex 'set disable-randomization off' -ex run --args "$(command -v true)" 2>&1 || true)
grep -q 'exited normally' <<<"$tried" || skip "gdb cannot trace a process here: ${tried##*$'\n'}"

DIR=$(mktemp -d)
export DIR
trap 'rm -rf "$DIR"' EXIT
# What looks for leaks at the end is a tracer, too, and there is one already.
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 "$@"
