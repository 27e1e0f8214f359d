#!/usr/bin/env bash
# forced.sh KERNEL,KERNEL,... PROGRAM ARGUMENT...: the program passes on the fake, on all its ranks
# makes no mistake there, and has run each of these kernels.
set -euo pipefail
kernels=$1
shift
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
FAKE_CUDA_REPORT=$reports/rank FAKE_CUDA_POISON=1 DAG_GPUS=1 DAG_DEVICE_ALWAYS=on "$@"
for report in "$reports"/rank*; do
    grep -q '"misuse": 0' "$report" || { echo "the fake counts mistakes:" && cat "$report"; exit 1; } >&2
done
for kernel in ${kernels//,/ }; do
    grep -q "\"$kernel\": " "$reports"/rank* || {
        echo "no $kernel ran on the device" >&2
        exit 1
    }
done
