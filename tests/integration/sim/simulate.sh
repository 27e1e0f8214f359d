#!/usr/bin/env bash
# simulate.sh TOOL: what tools/simulate makes of a description, and what it refuses. SimGrid is not needed.
set -u
tool=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
faults=0

# says STATUS TEXT ARGUMENT...
says() {
    local status=$1 text=$2 said ended
    shift 2
    said=$("$tool" "$@" 2>&1)
    ended=$?
    if [ $ended -ne "$status" ] || ! grep -qF -e "$text" <<<"$said"; then
        printf '%s\n  ended with %d, not %d, or did not say "%s":\n%s\n' "$*" $ended "$status" "$text" "$said"
        faults=$((faults + 1))
    fi
}

# described STATUS TEXT LINE...: a description with these lines, on six ranks
described() {
    local status=$1 text=$2
    shift 2
    printf '%s\n' "name = test" "$@" > "$work/m"
    says "$status" "$text" -np 6 --machine "$work/m" --dry-run program
}

says 2 "how many ranks" --machine "$work/m" program
says 2 "how many ranks" -np 0 --machine "$work/m" program
says 2 "which machine" -np 4 program
says 2 "which program" -np 4 --machine "$work/m"
says 2 "there is no option --nodes" -np 4 --nodes 3 program
says 1 "cannot read '$work/none'" -np 4 --machine "$work/none" program
described 1 "m:2: expected 'key = value'" "nodes"
described 1 "between: expected latency and bandwidth" "between = 1.5us"
described 1 "between: expected a time" "between = 1.5 12GB/s"
described 1 "nodes: expected a whole number" "nodes = many"
described 1 "2 nodes for 2 ranks each are too few for 6 ranks" "nodes = 2" "ranks = 2"
# Each way is told: of a torus with the first side first and the shorter way round, forward where both are as long.
described 0 'src="node-0" dst="node-5" symmetrical="NO"><link_ctn id="out-node-0"/><link_ctn id="side-0-down-0"/><link_ctn id="side-1-up-2"/><link_ctn id="in-node-5"/>' \
    "network = torus 3x2"
described 0 'src="node-0" dst="node-2" symmetrical="NO"><link_ctn id="out-node-0"/><link_ctn id="side-0-up-0"/><link_ctn id="side-0-up-1"/><link_ctn id="in-node-2"/>' \
    "network = torus 4x2"
described 0 '<link id="side-0-up-0" bandwidth="1e+09Bps" latency="2e-07s" sharing_policy="SHARED"/>' "network = torus 6" \
    "between = 1us 1GB/s" "hop = 200ns" "adapters = 2" "ranks = 2"
described 1 "network = torus 5 has 5 nodes, the job takes 6" "network = torus 5"
for wrong in "" " 0x3" " 2x2x2x2" " 2x" " 4 4"; do
    described 1 "network = torus$wrong: expected a torus with one to three sides" "network = torus$wrong"
done
# The wire between two groups is at the routers with each other's number.
described 0 'src="node-1" dst="node-4" symmetrical="NO"><link_ctn id="out-node-1"/><link_ctn id="group-0-1-0"/><link_ctn id="groups-0-2"/><link_ctn id="in-node-4"/>' \
    "network = dragonfly 2 1"
described 1 "network = dragonfly 2: expected dragonfly, routers per group, nodes per router" "network = dragonfly 2"
# Ranks of a node use its adapters in turn, and its memory among each other; a switch's trunk carries all adapters.
described 0 'src="node-0-0" dst="node-0-1" symmetrical="NO"><link_ctn id="within"/>' "adapters = 2" "ranks = 2" "network = flat"
described 0 'src="node-0-1" dst="node-1-0" symmetrical="NO"><link_ctn id="out-node-0-1"/><link_ctn id="in-node-1-0"/>' \
    "adapters = 2" "ranks = 3" "network = flat"
described 0 '<link id="up-0" bandwidth="4e+09Bps"' "adapters = 2" "ranks = 2" "network = fat-tree 2 1" "between = 1us 1GB/s"
described 0 'radical="0-5"' "adapters = 2" "network = flat" # of one rank, which uses one
described 0 '<link id="up-1" bandwidth="6e+09Bps"' "adapters = 2" "network = fat-tree 3 1" "between = 1us 1GB/s"
printf 'network = torus 40x40\n' > "$work/m"
says 1 "1600 adapters: SimGrid would have to read each way" -np 1600 --machine "$work/m" --dry-run program
described 0 'radical="0-5"' "network = flat"
described 0 'radical="0-2"' "ranks = 2" "network = fat-tree 4 2"
described 0 'radical="3-5"' "network = fat-tree 3 2"
described 0 '<link id="up-1" bandwidth="1.5e+09Bps" latency="2e-07s"' "network = fat-tree 3 2" "between = 1us 1GB/s" "hop = 200ns"
described 0 'dst="switch-1" gw_src="router-0"' "network = fat-tree 4"
described 0 '<link id="up-1" bandwidth="1.5e+09Bps"' "network = fat-tree +3 2e0" "between = 1us 1GB/s"
described 1 "network = fat-tree: expected flat, fat-tree NODES [TAPER], torus" "network = fat-tree"
for wrong in "4 0" "4 -1" "4 nan" "4 inf" "4 half" "0 2" "1048577 2" "four"; do
    described 1 "network = fat-tree $wrong: expected fat-tree, nodes per switch, taper" "network = fat-tree $wrong"
done
described 0 'bw="1.25e+10Bps" lat="7.5e-07s"' "between = 1.5us 12.5GB/s"
described 0 "smpi/or:0:1e-06:0" "receive = 1us"
described 0 "'share' is not looked at under SimGrid: transfers share a wire" "share = fifo"
described 0 "'devices' is not looked at under SimGrid: cores do all work" "devices = 2" "device_kernel = gemm d 96:50"
described 0 "'task' is not looked at" "task = 1us"
described 0 "'memory' is not looked at under SimGrid: tiles have no memory" "memory = 256G"
described 0 "'within ... copy' is not looked at under SimGrid: copies take no time" "within = 1us 5GB/s copy"
printf 'kernel = * d 32:5\n' > "$work/m"
says 0 "'kernel' is not looked at under SimGrid: kernels really run" -np 2 --compute --machine "$work/m" --dry-run program
printf 'memory = 256G\n' > "$work/m"
says 0 "SimGrid: matrices take the memory of this machine" -np 2 --compute --machine "$work/m" --dry-run program
printf 'kernel = * d 32:5\nshare = fair\nsend = 1us\n' > "$work/m"
if "$tool" -np 2 --machine "$work/m" --dry-run program 2>&1 | grep -q "not looked at"; then
    echo "lines that SimGrid knows are said to be ignored"
    faults=$((faults + 1))
fi
exit $((faults > 0))
