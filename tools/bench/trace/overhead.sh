#!/bin/bash
# overhead.sh BUILD: what recording costs while it is on, on an idle machine.
# dag_potrf n=2000 nb=128 with and without a trace, and nanoseconds per event (one per task) of graphs
# of empty tasks; seven runs of each in turn, the medians compared. What it costs while it is off is
# counted by tests/integration/trace/cost.sh.
set -eu
build=${1:?usage: overhead.sh BUILD}
threads=$(nproc)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset "${!DAG_@}"

potrf() { "$build/bin/dag_potrf" --n 2000 --nb 128 --threads "$threads" --json | jq .time_s; }
tasks() {
    "$build/tools/bench/tasks/bench_tasks" --threads 1 --runs 3 --only "$1" --tasks 300000 --json |
        jq -r .best_ns 2>/dev/null
}
median() { sort -g | sed -n 4p; }

for i in 1 2 3 4 5 6 7; do
    potrf >>"$dir/potrf.off"
    DAG_TRACE=$dir/trace potrf >>"$dir/potrf.on"
    for graph in independent chain; do
        tasks $graph >>"$dir/$graph.off"
        DAG_TRACE=$dir/trace tasks $graph >>"$dir/$graph.on"
    done
done
for what in potrf independent chain; do
    awk -v what=$what -v off="$(median <"$dir/$what.off")" -v on="$(median <"$dir/$what.on")" 'BEGIN {
        if (what == "potrf") printf "dag_potrf: %.4g s, with a trace %.4g s: %+.1f %%\n", off, on,
            100 * (on - off) / off
        else printf "%s: %.4g ns per task, with a trace %.4g: %+.1f ns\n", what, off, on, on - off }'
done
