# insert.sh <compiler> <include dir> <standard>...
# A program that inserts tasks by dag/insert.h or dag/insert.hpp compiles without a warning by each standard, and
# does not any more by the first with one call that is wrong, or one kernel; the compiler's reason is the one
# expected.
set -u
compiler=$1 include=$2
shift 2
standard=$1
flags=(-Wall -Wextra -Werror -fsyntax-only "-I$include")

c_program='#include <dag/insert.h>
typedef struct step { int64_t k; } step;
static int solve(struct dag_task *t, const step *s, const dag_tile_view *v) { (void)t, (void)v; return s->k < 0; }
DAG_KERNEL(Solve, step, solve, NULL, 1, DAG_TILE_READ, DAG_TILE_RW)
dag_status program(dag_taskpool *pool, dag_collection *A, dag_collection *S);
dag_status program(dag_taskpool *pool, dag_collection *A, dag_collection *S)
{
    (void)S;
    return DAG_INSERT(pool, Solve, {.k = 1}, {A, 0, 0}, {A, 1, 0});
}'
cxx_program='#include <dag/insert.hpp>
struct step { int64_t k; };
struct other { const char *k; };
static int solve(const step &s, dag::in<double> a, dag::inout<double> b) { b(0) = a(0); return s.k < 0; }
static int look(const step &, dag::list<dag::in<double>> all) { return all.size(); }
static constexpr dag::kernel<solve, 1> Solve("solve");
static constexpr dag::kernel<look, dag::anywhere> Look("look");
dag_status program(dag_taskpool *pool, dag_collection &a, dag_collection &s);
dag_status program(dag_taskpool *pool, dag_collection &a, dag_collection &s)
{
    const dag::collection<double> A(a);
    const dag::collection<float> S(s);
    (void)S;
    return Solve(pool, {1}, A(0, 0), {A, 1, 0}) ? DAG_ERR_ARG : Look.on(0, pool, {1}, {A(0), A(1)});
}'

tried=0 failed=0
fail() {
    echo "$1" >&2
    failed=$((failed + 1))
}

# wrong NAME BEFORE AFTER REASON: of the program, in which BEFORE stands once.
wrong() {
    local text=${program/"$2"/"$3"} said
    tried=$((tried + 1))
    if [ "$text" = "$program" ]; then
        fail "$1: the program has no '$2'"
    elif said=$("$compiler" "${flags[@]}" -x "$language" - <<<"$text" 2>&1); then
        fail "compiles: $1"
    elif ! grep -qE "$4" <<<"$said"; then
        fail "$1: the reason is not '$4':
$said"
    fi
}

case $standard in
c++*) language=c++ program=$cxx_program ;;
*) language=c program=$c_program ;;
esac
for each in "$@"; do
    "$compiler" "-std=$each" "${flags[@]}" -x "$language" - <<<"$program" ||
        fail "the program does not compile with -std=$each"
done
flags+=("-std=$standard")

if [ "$language" = c ]; then
    wrong "too few tiles" ', {A, 1, 0})' ')' 'negative|array size'
    wrong "too many tiles" '{A, 1, 0})' '{A, 1, 0}, {A, 2, 0})' 'negative|array size'
    wrong "unknown argument" '.k = 1' '.m = 1' "no member named|does not refer to any field"
    wrong "argument of another type" '.k = 1' '.k = "one"' 'conversion|integer from pointer'
    wrong "tile of something else" '{A, 1, 0}' '{pool, 1, 0}' 'incompatible'
    wrong "no such main tile" 'NULL, 1, DAG' 'NULL, 2, DAG' 'no such main tile'
    wrong "body of other arguments" 'const step *s' 'const float *s' 'incompatible|structure or union'
else
    wrong "too few tiles" ', {A, 1, 0})' ')' 'no match for call|no matching function'
    wrong "too many tiles" '{A, 1, 0})' '{A, 1, 0}, {A, 2, 0})' 'no match for call|no matching function|could not convert'
    wrong "arguments of another kernel" '{1}, A(0, 0)' 'other{"one"}, A(0, 0)' 'no match for call|no matching function'
    wrong "argument of another type" '{1}, A(0, 0)' '{"one"}, A(0, 0)' 'no match for call|no matching function|invalid conversion'
    wrong "tile of other items" '{A, 1, 0}' '{S, 1, 0}' 'no match for call|no matching function|could not convert'
    wrong "list of other items" '{A(0), A(1)}' '{A(0), S(1)}' 'no match|no matching|(could not|cannot) convert'
    wrong "no such main tile" 'solve, 1>' 'solve, 2>' 'no such main tile'
    wrong "anywhere, and it writes" 'solve, 1>' 'solve, dag::anywhere>' 'no such main tile'
    wrong "a rank that is said, with a main tile" 'Solve(pool' 'Solve.on(0, pool' 'runs where its main tile lives'
    wrong "no rank, and no main tile" 'Look.on(0, pool' 'Look(pool' 'has to say by on'
    wrong "write to what is read" 'b(0) = a(0)' 'a(0) = b(0)' 'read-only|const'
    wrong "contribution without a function" 'dag::inout<double> b)' 'dag::part<double> b)' 'needs a function'
    wrong "arguments that are no bytes" 'struct step { int64_t k; }' \
        'struct step { int64_t k = 0; step(int) {} step(const step &o) : k(o.k) {} }' 'copied as bytes'
fi
echo "$((tried - failed)) of $tried wrong calls are refused by $compiler -std=$standard"
[ $failed -eq 0 ] && [ $tried -gt 5 ]
