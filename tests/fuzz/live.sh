#!/usr/bin/env bash
# live.sh <seconds> <work dir> <fuzzer> <dir>...
#
# Lets a libFuzzer program search for some seconds, from the inputs below the directories: files
# *.jdf, or *.seq.c for a fuzzer of nests, and those of a directory `corpus`. It fails on a crash, a
# leak or an input that takes too long; that input is kept in <work dir>/found and tried first from
# then on. Everything is written below <work dir>. One seed searches one way, farther where there is
# more time; DAGCC_TEST_SEED chooses another (0: any).
set -euo pipefail
seconds=$1 work=$2 fuzzer=$3
shift 3
# Seconds for one input. The longest to begin with takes 15 on an idle machine, and this one may be
# slow or busy with other things.
slowest=120

case $fuzzer in
*fuzz_seq*) kind='*.seq.c' ;; # as they are
*) kind='*.jdf' ;;
esac
mkdir -p "$work/found"
rm -rf "$work/seeds" "$work/corpus"
mkdir "$work/seeds" "$work/corpus"
count=0
while IFS= read -r -d '' file; do
    count=$((count + 1))
    case $file in
    # The first byte of an input chooses the dialect; odd is `parsec`.
    */lax/*.jdf | *.migrate.jdf | */parsec/*.jdf) { printf 1 && cat "$file"; } >"$work/seeds/$count" ;;
    *.jdf) { printf 0 && cat "$file"; } >"$work/seeds/$count" ;;
    *) cp "$file" "$work/seeds/$count" ;;
    esac
done < <(find "$@" -type f \( -name "$kind" -o -path '*/corpus/*' \) -print0 | sort -z)
if [ "$count" -eq 0 ]; then
    echo "live.sh: no inputs to begin with below: $*" >&2
    exit 1
fi

status=0
timeout --kill-after=10 $((seconds + 240)) "$fuzzer" -max_total_time="$seconds" \
    -seed="${DAGCC_TEST_SEED:-1}" -reload=0 \
    -timeout="$slowest" -rss_limit_mb=2048 -report_slow_units="$slowest" -print_final_stats=1 \
    -artifact_prefix="$work/found/" "$work/corpus" "$work/seeds" "$work/found" \
    >"$work/log" 2>&1 || status=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")
if [ $status -eq 0 ] && [ "${runs:-0}" -gt "$count" ]; then
    grep '^Done ' "$work/log"
    echo "from $count inputs; $(find "$work/corpus" -type f | wc -l) new ones reach further"
    exit 0
fi

tail -60 "$work/log"
if [ $status -eq 124 ]; then
    echo "The fuzzer did not end by itself."
elif [ $status -eq 0 ]; then
    echo "It has not got beyond the $count inputs to begin with."
fi
sed -n "s|.*Test unit written to |Kept as |p" "$work/log"
echo "Once more, alone: $fuzzer INPUT"
echo "All of the log: $work/log"
exit 1
