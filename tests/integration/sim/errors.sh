#!/usr/bin/env bash
# errors.sh PROGRAMS: what cannot be simulated is refused with a sentence that says why, and nothing hangs.
set -u
sim=$1/dag_sim driver=$1/dag_potrf
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
faults=0

# refused STATUS TEXT COMMAND...
refused() {
    local status=$1 text=$2 said
    shift 2
    said=$(timeout -k 5 100 "$@" 2>&1)
    local ended=$?
    if [ $ended -ne "$status" ] || ! grep -qF -e "$text" <<<"$said"; then
        printf '%s\n  ended with %d, not %d, or did not say "%s":\n%s\n' "$*" $ended "$status" "$text" "$said"
        faults=$((faults + 1))
    fi
}

# described TEXT LINE...: a description with these lines is refused
described() {
    local text=$1
    shift
    printf '%s\n' "name = test" "$@" > "$work/m"
    refused 1 "$text" "$sim" -np 4 --machine "$work/m" "$driver" --n 500
}

refused 3 "how many ranks" "$sim" "$driver"
refused 3 "not a number of at least 1: 0" "$sim" -np 0 "$driver"
refused 3 "which program" "$sim" -np 4
refused 3 "no such option" "$sim" -np 4 --nodes 3 "$driver"
refused 127 "cannot start $work/none" "$sim" -np 4 "$work/none"
refused 1 "machine: cannot read '$work/none'" "$sim" -np 4 --machine "$work/none" "$driver" --n 500
described "$work/m:2: expected 'key = value'" "nodes"
described "$work/m:2: node: there is no 'node'" "node = 3"
described "$work/m:2: nodes: expected a whole number from 1" "nodes = none"
described "$work/m:2: between: expected latency and bandwidth" "between = 1.5 12GB/s"
described "$work/m:2: network: a torus has one to three sides" "network = torus 2x2x2x2"
described "$work/m:2: kernel: '96:12' is not ORDER:RATE" "kernel = gemm d 128:30 96:12"
described "$work/m:2: share: expected fair or fifo" "share = some"
described "$work/m:2: devices: expected a whole number from 0" "devices = some"
described "machine: $work/m: it has devices, and no line device_link says more" "devices = 4"
described "machine: $work/m: it has devices, and no line device_kernel says more" "devices = 1" "device_link = 8us 6GB/s"
described "machine: $work/m: more than 16 devices for a rank" "devices = 17"
described "$work/m:2: device_link: expected latency, bandwidth to a device" "device_link = 6GB/s"
described "$work/m:2: device_kernel: '480:700' is not ORDER:RATE" "device_kernel = gemm d 960:700 480:700"
described "$work/m:2: device_streams: expected a whole number from 1" "device_streams = 0"
described "$work/m:2: times: cannot read '$work/none'" "times = $work/none"
described "$work/m:2: times: $work/m: it is not a file of tile times" "times = $work/m"
described "machine 'test' has 1 node for 2 ranks each, which is too few for 4 ranks" "nodes = 1" "ranks = 2"
described "machine 'test' has 3 nodes for 1 rank each" "network = torus 3x1"
printf 'name = small\nnodes = 4\nmemory = 64k\n' > "$work/m"
refused 1 "on a node of machine 'small'" "$sim" -np 4 --machine "$work/m" "$driver" --n 5000
refused 3 "leave --check and files out" "$sim" -np 4 "$driver" --n 500 --check
refused 1 "a simulated run has no traces" "$sim" -np 4 "$driver" --n 500 --trace "$work/t"
refused 3 "--predict takes a number of ranks" "$driver" --n 500 --predict many
refused 3 "--grid 3x3 has more processes" "$driver" --n 500 --grid 3x3 --predict 4
refused 3 "--sample takes two lengths" "$driver" --n 5000 --predict 4 --sample 2000,1000
refused 3 "--sample 1000,8000: the whole, 5000, is shorter" "$driver" --n 5000 --predict 4 --sample 1000,8000
refused 3 "--sample and --runs do not go together" "$sim" -np 4 "$driver" --n 5000 --sample 1000,2000 --runs 2
refused 3 "--sample is for simulated runs" "$driver" --n 500 --sample 100,200
refused 3 "--sample needs --method" "$sim" -np 4 "${driver%potrf}gemm" --n 5000 --sample 1000,2000
refused 3 "--sample and --m do not go together" "$sim" -np 4 "${driver%potrf}geqrf" --m 6000 --n 5000 --sample 1000,2000
DAG_SPLIT=2,64 refused 1 "leave the setting split out, or --sample" \
    "$sim" -np 4 "$driver" --n 5000 --nb 192 --sample 1000,2000
printf 'name = small\nnodes = 4\nmemory = 20M\n' > "$work/m"
refused 1 "the matrices of the whole need" "$sim" -np 4 --machine "$work/m" "$driver" --n 5000 --nb 100 --sample 1000,2000
# A graph of 10^9 tasks on a million ranks, and no address space for that.
refused 1 "no memory to simulate" bash -c "ulimit -v 200000; exec '$sim' -np 4000000 '$driver' --n 500"
DAG_GPUS=3 refused 1 "gpus: 3 devices for a rank, and one of machine 'devices' has 2" \
    "$sim" -np 4 --machine "$(dirname "$0")/devices.machine" "$driver" --n 500
exit $((faults > 0))
