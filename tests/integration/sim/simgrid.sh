#!/usr/bin/env bash
# simgrid.sh SOURCE WORK PROGRAM MACHINE: under SimGrid, in a build of its own, ranks send what dag_sim says; times are
# the same each time, those of traces and reports, too; what stalls is told as it is elsewhere.
set -euo pipefail
source=$1 work=$2 program=$3 machine=$4
cmake -S "$source" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDAG_SIMGRID=ON -DDAG_WITH_CUDA=OFF \
    -DBUILD_TESTING=OFF >"$work.log" 2>&1 || { cat "$work.log"; exit 1; }
cmake --build "$work" --target sim_counts broken_graph dag_potrf >>"$work.log" 2>&1 || { tail -50 "$work.log"; exit 1; }
for shape in scatter auto; do
    played=$(DAG_BCAST=$shape DAG_SIMULATE=6 DAG_MACHINE=$machine "$program")
    for again in 1 2; do
        other=$(DAG_BCAST=$shape "$source/tools/simulate" -np 6 --machine "$machine" "$work/bin/sim_counts")
        if [ "$(wc -l <<<"$played")" -lt 7 ] || [ "$other" != "$played" ]; then
            printf 'broadcasts %s, dag_sim:\n%s\nSimGrid:\n%s\n' "$shape" "$played" "$other"
            exit 1
        fi
    done
done

# Equal in all digits.
simulate() {
    "$source/tools/simulate" -np 4 --machine "$machine" "$@"
}
for routine in cholesky lu; do
    time=$(simulate "$work/bin/sim_counts" $routine 1024 64)
    for again in 1 2; do
        other=$(simulate "$work/bin/sim_counts" $routine 1024 64)
        if [ "$other" != "$time" ]; then
            printf '%s is not the same each time:\n%s\n%s\n' "$routine" "$time" "$other"
            exit 1
        fi
    done
done

# One clock: what the driver says, the trace, and the report.
factor=(--n 2000 --nb 100 --json --report)
for trace in first second; do
    json=$(DAG_TRACE=$work.$trace.json simulate "$work/bin/dag_potrf" "${factor[@]}" 2>"$work.report")
done
cmp "$work.first.json" "$work.second.json"
python3 "$source/tests/integration/sim/one_clock.py" "$json" "$work.second.json" "$work.report"

# A stall: our report, and no other. Rank 0 finds it after simulated time.
if said=$(DAG_STALL_TIME=0.5 timeout 600 "$source/tools/simulate" -np 4 --machine "$machine" \
    "$work/bin/broken_graph" missing 2>&1); then
    echo "a graph that stalls ends well"
    exit 1
fi
if [[ $said != *"missing edge: Join(2)"* || $said == *eadlock* ]]; then
    printf 'a graph that stalls:\n%s\n' "$said"
    exit 1
fi

# Networks of which SimGrid is told each way, and a rank alone: counts are equal, times near.
near() { # RANKS LINES ROUTINE N NB
    local ranks=$1
    printf 'name = near\nshare = fair\nbetween = 5us 1GB/s\nsend = 0us\nreceive = 0us\ntask = 0us\ncopy = 1000000GB/s\n%b' \
        "kernel = * * 128:40\n$2" >"$work.near"
    shift 2
    played=$(DAG_BCAST=binomial DAG_SIMULATE=$ranks DAG_MACHINE=$work.near "$program" "$@")
    other=$(DAG_BCAST=binomial "$source/tools/simulate" -np "$ranks" --machine "$work.near" "$work/bin/sim_counts" "$@")
    if [ "${other%,*}" != "${played%,*}" ] ||
        ! awk -v a="${played##*, }" -v b="${other##*, }" 'BEGIN { exit !(a + 0 > .9 * b && a + 0 < 1.1 * b) }'; then
        printf '%s, %s ranks, dag_sim:\n%s\nSimGrid:\n%s\n' "$(cat "$work.near")" "$ranks" "$played" "$other"
        exit 1
    fi
}
near 1 'network = flat\n' cholesky 1024 128
near 8 'network = torus 4x2\n' lu 1024 128
near 8 'network = dragonfly 2 2\n' cholesky 2048 128
near 8 'network = flat\nranks = 4\nadapters = 2\n' cholesky 2048 128
near 8 'network = fat-tree 2 4\nranks = 2\nadapters = 2\n' product 1024 128

# What a job takes at most, in MiB, without the addresses that lead nowhere: these count, and are one MiB.
measured='import resource, subprocess, sys
done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, text=True)
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024 - 1024
print(done.stdout.rpartition(",")[0])
print(f"{memory} MiB", file=sys.stderr)
sys.exit(done.returncode or memory > int(sys.argv[1]))'
machine=$work.machine
printf 'name = many\nnetwork = flat\nbetween = 1.5us 12.5GB/s\nkernel = * * 128:40\n' >"$machine"
within() { # MIB RANKS ROUTINE N NB
    local most=$1 ranks=$2
    shift 2
    played=$(DAG_SIMULATE=$ranks DAG_MACHINE=$machine "$program" "$@")
    other=$(python3 -c "$measured" "$most" "$source/tools/simulate" -np "$ranks" --machine "$machine" \
        "$work/bin/sim_counts" "$@")
    if [ "$other" != "${played%,*}" ]; then
        printf '%s ranks, dag_sim:\n%s\nSimGrid:\n%s\n' "$ranks" "$played" "$other"
        exit 1
    fi
}
# 1,024 ranks start, factor a matrix of 32 x 32 tiles and take .6 MiB each, 589 in all; with memory for the tiles, which have
# 128 MiB, it would be 676.
within 640 1024 cholesky 4096 128
# Few ranks: here the tiles, 512 MiB of them, would be most of it.
within 128 16 cholesky 8192 512
within 96 4 lu 4096 512 # with pivots 43 MiB: bodies look at none of what a value holds
