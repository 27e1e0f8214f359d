# headers.sh <compiler> <language> <standard> <include dir> <flag>...
# Each public header compiles alone, and twice in a row, as strictly as the compiler can be.
set -u
compiler=$1 language=$2 standard=$3 include=$4
shift 4
flags=(-x "$language" "-std=$standard" -pedantic-errors -Wall -Wextra -Wshadow -Wcast-qual -Werror
    -fsyntax-only "-I$include" "$@")
case $language in
c) flags+=(-Wmissing-prototypes -Wstrict-prototypes) ;;
esac

has_mpi=yes
if grep -q '^#define DAG_HAVE_MPI 0' "$include/dag/config.h"; then
    has_mpi=no
fi
tried=0 failed=0
try() {
    tried=$((tried + 1))
    if ! "$compiler" "${flags[@]}" - <<<"$2"; then
        echo "does not compile: $1" >&2
        failed=$((failed + 1))
    fi
}

headers=("$include"/dag/*.h)
if [ "$language" = c++ ]; then
    headers+=("$include"/dag/*.hpp)
fi
for header in "${headers[@]}"; do
    name=dag/${header##*/}
    case $name in
    dag/precision.h | dag/each_precision.h | dag/precision_undef.h | dag/kernels_decl.h | dag/kernels_device_decl.h) continue ;; # templates: below
    dag/mpi.h) [ $has_mpi = yes ] || continue ;;
    esac
    try "$name" "#include <$name>
#include <$name>
int main(void) { return 0; }"
done
for letter in s d c z; do
    try "dag/precision.h for $letter" "#include <dag/types.h>
#define DAG_PRECISION $letter
#include <dag/precision.h>
elem_t first(const elem_t *x);
elem_t first(const elem_t *x) { return CONJ(*x); }
#include <dag/precision_undef.h>
int main(void) { return 0; }"
done

echo "$((tried - failed)) of $tried compile with $compiler -std=$standard"
[ $failed -eq 0 ] && [ $tried -gt 4 ]
