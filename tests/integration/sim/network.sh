#!/usr/bin/env bash
# network.sh MPIRUN PROGRAMS: dag_doctor describes the network of this machine so that dag_sim takes it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" -np 2 --timeout 100 --threads 1 "$2/dag_doctor" --network > "$work/machine"
cat "$work/machine"
grep -qx 'nodes = 1' "$work/machine" && grep -qx 'ranks = 2' "$work/machine"
grep -qE '^within = [0-9]+\.[0-9]{3}us [0-9]+\.[0-9]{6}GB/s copy$' "$work/machine"
grep -qE '^send = [0-9]+\.[0-9]{3}us$' "$work/machine" && grep -qE '^receive = [0-9]+\.[0-9]{3}us$' "$work/machine"
said=$(DAG_NETWORK=$work/machine "$2/dag_info")
grep -qE '16384 KiB to 64 ranks: .*, [0-9.]+ us$' <<<"$said"
sed 's/us /minutes /' "$work/machine" > "$work/wrong"
said=$(DAG_NETWORK=$work/wrong "$2/dag_info" 2>&1) && exit 1
grep -qF "$work/wrong:6: expected lines" <<<"$said"
"$2/dag_sim" -np 2 --machine "$work/machine" "$2/dag_potrf" --n 300 --json | grep -q '"simulated": true'
said=$("$2/dag_sim" -np 3 --machine "$work/machine" "$2/dag_potrf" --n 300 2>&1) && exit 1
grep -qF "too few for 3 ranks" <<<"$said"
said=$("$2/dag_doctor" --network 2>&1) && exit 1
grep -qF "start two or more" <<<"$said"
