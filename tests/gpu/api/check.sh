#!/usr/bin/env bash
# check.sh CC API TOOLKIT: the header API (runtime/device/cuda/api.h) says what the headers in the
# directory TOOLKIT say: values of constants, sizes and fields of structs, prototypes. Everything is
# made into assertions, which the compiler checks with NVIDIA's headers.
set -euo pipefail

cc=$1 api=$2 toolkit=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/layout.c" <<'EOF'
#include "api.h"
#include <stdio.h>
#define SIZE(type) \
    printf("_Static_assert(sizeof(%s) == %zu && _Alignof(%s) == %zu, \"%s\");\n", #type, \
           sizeof(type), #type, _Alignof(type), #type)
#define FIELD(type, field) \
    printf("_Static_assert(offsetof(%s, %s) == %zu && sizeof((%s *)0)->%s == %zu, \"%s\");\n", \
           #type, #field, offsetof(type, field), #type, #field, sizeof((type *)0)->field, #field)
#define PROP(field) FIELD(struct cudaDeviceProp, field)
#define POINTER(field) FIELD(struct cudaPointerAttributes, field)
int main(void)
{
    SIZE(struct cudaDeviceProp);
    SIZE(struct cudaPointerAttributes);
    SIZE(cuComplex);
    SIZE(cuDoubleComplex);
    SIZE(cudaStream_t);
    PROP(name); PROP(uuid); PROP(totalGlobalMem); PROP(major); PROP(minor);
    PROP(multiProcessorCount); PROP(integrated); PROP(canMapHostMemory); PROP(concurrentKernels);
    PROP(ECCEnabled); PROP(pciBusID); PROP(pciDeviceID); PROP(pciDomainID); PROP(tccDriver);
    PROP(asyncEngineCount); PROP(unifiedAddressing); PROP(memoryBusWidth); PROP(l2CacheSize);
    PROP(streamPrioritiesSupported); PROP(pageableMemoryAccess);
    PROP(canUseHostPointerForRegisteredMem); PROP(hostRegisterSupported);
    PROP(gpuDirectRDMASupported); PROP(hostNumaId); PROP(reserved);
    POINTER(type); POINTER(device); POINTER(devicePointer); POINTER(hostPointer); POINTER(reserved);
    return 0;
}
EOF
mkdir "$work/api"
cp "$api" "$work/api/api.h"
"$cc" -std=gnu17 -I"$work/api" "$work/layout.c" -o "$work/layout"

{
    echo '#include <cuda_runtime_api.h>'
    echo '#include <cublas_v2.h>'
    echo '#include <cusolverDn.h>'
    echo '#include <stddef.h>'
    echo '#define DAGI_CUDA_TOOLKIT_TYPES'
    echo '#include "api.h"'
    "$work/layout"
    # Enumerators "NAME = value", several on a line at times, and macros "#define NAME 0x...".
    grep -oE '\b(cuda[A-Za-z0-9]+|CU[A-Z]+_[A-Z0-9_]+) = [0-9]+' "$api" |
        sed -E 's/^(.*) = (.*)$/_Static_assert((int)\1 == \2, "\1");/'
    sed -nE 's/^#define (cuda[A-Za-z]+) (0x[0-9]+)$/_Static_assert(\1 == \2, "\1");/p' "$api"
} >"$work/check.c"

count=$(grep -c _Static_assert "$work/check.c")
if [ "$count" -lt 140 ]; then
    echo "only $count assertions were made from $api: has its layout changed?" >&2
    exit 1
fi
"$cc" -std=gnu17 -fsyntax-only -I"$work/api" -isystem "$toolkit" "$work/check.c"
echo "$count assertions and the prototypes of $(grep -c '(' "$work/api/api.h") lines hold"
