#!/bin/bash
# A program of the serial oracle on several numbers of virtual ranks and in several orders of tasks.
set -u
for ranks in 1 2 3 4 6; do
    for seed in 1 2 3; do
        if ! SERIAL_RANKS=$ranks SERIAL_SEED=$seed "$1"; then
            echo "$1 failed with SERIAL_RANKS=$ranks SERIAL_SEED=$seed" >&2
            exit 1
        fi
    done
done
