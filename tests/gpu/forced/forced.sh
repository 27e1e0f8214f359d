#!/usr/bin/env bash
# forced.sh KERNEL,KERNEL,... PROGRAM ARGUMENT...: the program passes on the fake, makes no mistake
# there, and has run each of these kernels.
set -euo pipefail
kernels=$1
shift
report=$(mktemp)
trap 'rm -f "$report"' EXIT
FAKE_CUDA_REPORT=$report FAKE_CUDA_POISON=1 DAG_GPUS=1 DAG_DEVICE_ALWAYS=on "$@"
grep -q '"misuse": 0' "$report" || { echo "the fake counts mistakes:" && cat "$report"; exit 1; } >&2
for kernel in ${kernels//,/ }; do
    grep -q "\"$kernel\": " "$report" || {
        echo "no $kernel ran on the device" >&2
        exit 1
    }
done
