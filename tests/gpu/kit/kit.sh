#!/usr/bin/env bash
# kit.sh SOURCE BUILD FAKE: packs what is built, runs it on the fake, and looks at what was written.
set -euo pipefail
source=$1 build=$2 fake=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$source/tools/gpu/pack" --build "$build" --out "$work/pack"
for nvidia in "$work"/pack/lib/libcu* "$work"/pack/glibc/libcu*; do
    [ ! -e "$nvidia" ] || { echo "a library of CUDA was packed: $nvidia" >&2; exit 1; }
done
"$work/pack/run" --cuda "$fake" --out "$work/out" -- --sizes 200 --nb 64 --rounds 1 --capped 0 \
    --threads 2
for word in '"test_cuda", "result": "passed"' '"test_device_kernels", "result": "passed"' \
    '"test_device_rows", "result": "passed"' \
    '"dag_gesv_d_partial", "result": "passed"' '"dag_gesv_z_tournament", "result": "passed"' \
    '"dag_potrf_z", "result": "passed"' '"dag_gemm_s", "result": "passed"' '"fake": true' \
    '"what": "dag_potrf", "n": 200' '"what": "cusolver potrf", "n": 200'; do
    grep -qF "$word" "$work/out/gpu.json" || { echo "gpu.json lacks $word" >&2; exit 1; }
done
grep -q '^| dag_gemm | 200 | 64 | ' "$work/out/gpu.md"

# Without a device the tests are skipped, and programs that want one fail.
if FAKE_CUDA_DEVICES=0 "$work/pack/run" --cuda "$fake" --out "$work/none" --tests-only; then
    echo "without a device the drivers were told to use one, and run was content" >&2
    exit 1
fi
grep -qF '"test_cuda", "result": "skipped"' "$work/none/gpu.json"
