#!/bin/bash
# overhead.sh BUILD [ROUNDS]: what recording costs while it is on, on an idle machine.
# dag_potrf n=2000 nb=128 with and without a trace, and graphs of empty tasks: nanoseconds more per task,
# of which one record holds begin, end and the moment when it was ready. Fifteen rounds, in alternating
# order; medians of the differences within a round. What it costs while it is off is counted by
# tests/integration/trace/cost.sh.
set -eu
build=${1:?usage: overhead.sh BUILD [ROUNDS]}
rounds=${2:-15}
threads=$(nproc)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset "${!DAG_@}"
graphs="independent chain wavefront"

# once WHAT: seconds of the factorisation, or nanoseconds per task
once() {
    if [ "$1" = potrf ]; then
        "$build/bin/dag_potrf" --n 2000 --nb 128 --threads "$threads" --json | jq .time_s
    else
        "$build/tools/bench/tasks/bench_tasks" --threads 1 --runs 3 --only "$1" --tasks 300000 --json |
            jq .best_ns
    fi
}
off() { once "$1" >"$dir/off"; }
on() { DAG_TRACE=$dir/trace once "$1" >"$dir/on"; }

for ((i = 0; i < rounds; i++)); do
    for what in potrf $graphs; do
        if ((i % 2)); then off $what && on $what; else on $what && off $what; fi
        paste -d ' ' "$dir/off" "$dir/on" >>"$dir/$what"
    done
done
# median of what awk makes of the two columns
median() { awk "{print $1}" "$2" | sort -g | sed -n "$(((rounds + 1) / 2))p"; }
printf 'dag_potrf: %.4g s, with a trace %.4g s; %+.1f %%\n' "$(median '$1' "$dir/potrf")" \
    "$(median '$2' "$dir/potrf")" "$(median '100 * ($2 - $1) / $1' "$dir/potrf")"
for graph in $graphs; do
    printf '%s: %.4g ns per task, with a trace %.4g; %+.1f ns\n' $graph "$(median '$1' "$dir/$graph")" \
        "$(median '$2' "$dir/$graph")" "$(median '$2 - $1' "$dir/$graph")"
done
