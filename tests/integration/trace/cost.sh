#!/bin/bash
# cost.sh <source tree> <bench_tasks>
# What recording costs while it is off: instructions per empty task, counted by callgrind, of this
# build and of one without the calls. At most 2 % may be theirs.
set -eu
source=$1 with=$2
command -v valgrind >/dev/null || { echo "no valgrind"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset "${!DAG_@}"
{
    cmake -S "$source" -B "$dir" -DCMAKE_BUILD_TYPE=Release -DDAG_NO_TRACE=ON &&
        cmake --build "$dir" --parallel 2 --target bench_tasks
} >"$dir/log" 2>&1 || { tail -20 "$dir/log"; exit 1; }
without=$dir/tools/bench/tasks/bench_tasks
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" --threads 1 --runs 1 \
        --only "$2" --tasks "$3" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
failed=0
for graph in independent ctl chain wavefront stencil; do
    a=$(($(count "$without" $graph 40000) - $(count "$without" $graph 20000)))
    b=$(($(count "$with" $graph 40000) - $(count "$with" $graph 20000)))
    awk -v g=$graph -v a=$a -v b=$b 'BEGIN {
        printf "%-12s %8.1f instructions per task without, %8.1f with the calls: %+.2f %%\n", g,
            a / 40000, b / 40000, 100 * (b - a) / a
        exit b > 1.02 * a }' || failed=1
done
exit $failed
