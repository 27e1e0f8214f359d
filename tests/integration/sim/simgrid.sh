#!/usr/bin/env bash
# simgrid.sh SOURCE WORK PROGRAM MACHINE: under SimGrid, in a build of its own, ranks send what dag_sim says.
set -euo pipefail
source=$1 work=$2 program=$3 machine=$4
cmake -S "$source" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDAG_SIMGRID=ON -DDAG_WITH_CUDA=OFF \
    -DBUILD_TESTING=OFF >"$work.log" 2>&1 || { cat "$work.log"; exit 1; }
cmake --build "$work" --target sim_counts >>"$work.log" 2>&1 || { tail -50 "$work.log"; exit 1; }
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

# 1,024 ranks start, factor a matrix of 32 x 32 tiles, and take a megabyte each at most.
measured='import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True)
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(done.stdout.rpartition(",")[0])
print(f"{memory // 1024} MiB", file=sys.stderr)
sys.exit(done.returncode or memory > 1024 * 1024)'
many=(cholesky 4096 128)
machine=$work.machine
printf 'name = many\nnetwork = flat\nbetween = 1.5us 12.5GB/s\nkernel = * * 128:40\n' >"$machine"
played=$(DAG_SIMULATE=1024 DAG_MACHINE=$machine "$program" "${many[@]}")
other=$(python3 -c "$measured" "$source/tools/simulate" -np 1024 --machine "$machine" "$work/bin/sim_counts" "${many[@]}")
if [ "$other" != "${played%,*}" ]; then
    printf '1024 ranks, dag_sim:\n%s\nSimGrid:\n%s\n' "$played" "$other"
    exit 1
fi
