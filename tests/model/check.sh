#!/usr/bin/env bash
# check.sh <table>|none <cc> <model.pml> right|wrong [spin options...]
#
# Prints the tables of the model with the program <table>, if it has some, and runs spin over all states of it.
# right: there must be no error; prints the number of states. wrong MISTAKE: spin must find one.
# MISTAKE is a number for WRONG in the model, or a word for <table>, which is given the options as well.
set -euo pipefail

table=$1 cc=$2 model=$3 expect=$4
shift 4
if ! command -v spin >/dev/null; then
    echo "skipped: spin is not installed (Debian: apt-get install spin)"
    exit 77
fi
mistake=''
if [ "$expect" = wrong ]; then
    mistake=$1
    shift
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$model" "$work/model.pml"
case $mistake in
'' | [0-9]*) set_up=() ;;
*) set_up=("$mistake") ;;
esac
[ "$table" = none ] || "$table" "${set_up[@]}" "$@" >"$work/table.pml"
case $mistake in
[0-9]*) set -- "$@" "-DWRONG=$mistake" ;;
esac

cd "$work"
spin -a "$@" model.pml
# The C that spin prints is not ours to have warnings for; to optimise it takes longer than to run
# it. MEMLIM is in MiB.
"$cc" -w -O0 -DSAFETY -DCOLLAPSE -DMEMLIM=1900 -o pan pan.c
./pan -m1000000 -n >out 2>&1 || true
errors=$(sed -n 's/.* errors: \([0-9]*\)$/\1/p' out)
if [ "$expect" = right ]; then
    # What stops short of the end (memory, depth) says so, and is no proof.
    if [ "$errors" != 0 ] || grep -Eq 'max search depth|Search not completed' out; then
        cat out
        [ ! -f model.pml.trail ] || spin -t -p -g "$@" model.pml | tail -60
        exit 1
    fi
    echo "no error; $(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out) states," \
        "$(sed -n 's/.*depth reached \([0-9]*\),.*/\1/p' out) steps deep," \
        "$(sed -n 's/^ *\([0-9.]*\).*total actual memory usage/\1/p' out) MiB ($*)"
else
    if [ "${errors:-0}" = 0 ]; then
        cat out
        echo "the mistake '$mistake' was not found"
        exit 1
    fi
    grep '^pan:1:' out
fi
