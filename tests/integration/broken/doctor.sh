#!/bin/bash
# doctor.sh MPIRUN DOCTOR INFO SHIM: each condition is created and has to be found; SHIM is a library
# under which OpenBLAS cannot be told how many threads to use, or "none".
mpirun=$1 doctor=$2 info=$3 shim=$4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS BLIS_NUM_THREADS OPENBLAS_CORETYPE
failures=0
expect() { # status words command...
    local want=$1 words=$2
    shift 2
    "$@" > "$work/out" 2>&1
    local got=$?
    if [ $got -ne "$want" ] || ! grep -qF -e "$words" "$work/out"; then
        cat "$work/out"
        echo "FAILED: $*: status $got, expected $want, and '$words'" >&2
        failures=$((failures + 1))
    fi
}
say() { # a file of another machine
    mkdir -p "$(dirname "$work/root/$1")"
    echo "$2" > "$work/root/$1"
}

# a machine with two cores of two processors each, and a device
mkdir -p "$work/root"
for cpu in 0 1 2 3; do
    say sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list "$((cpu / 2 * 2))-$((cpu / 2 * 2 + 1))"
    say sys/devices/system/cpu/cpu$cpu/topology/physical_package_id 0
done
say sys/devices/system/cpu/online 0-3
say cpuset 0-3

# nothing is wrong
better=$("$doctor" --look | sed -n 's/.*set OPENBLAS_CORETYPE=\([A-Z0-9]*\) .*/\1/p' | head -1)
if [ -n "$better" ]; then
    expect 1 "wrong   blas-kernels" "$doctor" --look
    export OPENBLAS_CORETYPE=$better
fi
expect 0 "fine    smt" env DAG_THREADS=1 "$doctor" --look
expect 2 usage "$doctor" --gpus
expect 2 "there is no setting" env DAG_THREDS=1 "$doctor"

expect 1 "wrong   smt             4 workers on 2 cores with 4 processors" \
    env DAG_THREADS=4 "$doctor" --look --root "$work/root"
expect 1 "wrong   binding" env DAG_THREADS=999 "$doctor" --look
expect 0 "gpu-library     none" env DAG_THREADS=1 "$doctor" --look --root "$work/root"
expect 1 "1 GPUs are wanted" env DAG_THREADS=1 "$doctor" --look --root "$work/root" --gpus 1
say dev/nvidia0 ""
if ! ldconfig -p 2> "$work/err" | grep -q libcuda.so.1; then
    expect 1 "libcuda.so.1 cannot be loaded" env DAG_THREADS=1 "$doctor" --look --root "$work/root"
    expect 1 "install the package that contains libcuda.so.1" \
        env DAG_THREADS=1 "$doctor" --look --root "$work/root"
    expect 0 "libcuda.so.1 cannot be loaded" "$info" --root "$work/root"
fi

if [ "$shim" != none ]; then
    expect 1 "OPENBLAS_NUM_THREADS=4 asks the BLAS for threads of its own" \
        env DAG_THREADS=1 OPENBLAS_NUM_THREADS=4 "$doctor" --look
    expect 1 "wrong   blas-kernels" env DAG_THREADS=1 OPENBLAS_CORETYPE=Prescott "$doctor" --look
    if [ "$(nproc)" -gt 1 ]; then # OpenBLAS never takes more threads than processors
        expect 1 "others of the BLAS worked" \
            env DAG_THREADS=1 OPENBLAS_NUM_THREADS=2 LD_PRELOAD="$shim" "$doctor"
    fi
fi

if [ "$mpirun" != none ]; then
    expect 1 "2 ranks of" "$mpirun" -np 2 env DAG_THREADS=1 taskset -c 0 "$doctor" --look
    expect 1 "wrong   cpuset-overlap" "$mpirun" -np 2 env DAG_THREADS=1 taskset -c 0 "$doctor" --look
    if [ "$(nproc)" -gt 1 ]; then
        cat > "$work/uneven" <<'RANK'
#!/bin/bash
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] && exec taskset -c 0-1 "$@"
exec taskset -c 1 "$@"
RANK
        chmod +x "$work/uneven"
        expect 1 "different but overlapping" \
            "$mpirun" -np 2 env DAG_THREADS=1 "$work/uneven" "$doctor" --look
    fi
fi

for tool in "$doctor --look" "$info"; do
    # shellcheck disable=SC2086
    DAG_THREADS=1 $tool --json > "$work/out"
    if command -v python3 > "$work/err"; then
        python3 -c 'import json, sys; json.load(sys.stdin)' < "$work/out" || {
            echo "FAILED: $tool --json is no JSON" >&2
            failures=$((failures + 1))
        }
    fi
done
expect 0 "sched = global (environment)" env DAG_SCHED=global "$info"
echo "threads = 1" > "$work/config"
expect 0 "threads = 1 (file)" env DAG_CONFIG="$work/config" "$info"
[ $failures -eq 0 ]
