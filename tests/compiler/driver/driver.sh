#!/usr/bin/env bash
# dagcc behaves like cc: outputs, exit statuses, dependency files, options for the C compiler.
#   driver.sh DAGCC [runtime]      runtime: libdag is part of this build, programs can be linked
set -u
dagcc=$(realpath "$1")
manual=$(realpath "$(dirname "$0")/../../../docs/dagcc.1")
kinds=$(realpath "$(dirname "$0")/../../../include/dag/device_kinds.h")
runtime=${2:-}
work=$(mktemp -d)
cache=$(mktemp -d)
trap 'rm -rf "$work" "$cache"' EXIT
cd "$work" || exit 1
export LC_ALL=C TERM=dumb TMPDIR="$work/tmp"
export XDG_CACHE_HOME="$cache"
unset DAGCC_CC DAGCC_PROOF_CACHE
mkdir tmp
failures=0

fail() {
    echo "FAIL: $*"
    [ -s err ] && sed 's/^/  | /' err
    failures=$((failures + 1))
}
# expect STATUS arguments...: runs dagcc, its output goes to out and err
expect() {
    local want=$1
    shift
    "$dagcc" "$@" >out 2>err
    local have=$?
    [ "$have" = "$want" ] || fail "exit $have instead of $want: dagcc $*"
}
says() { grep -qF -- "$1" "${2:-err}" || fail "'$1' is not in ${2:-err}"; }
silent() { [ ! -s err ] || fail "something on stderr: $*"; }
exists() { [ -e "$1" ] || fail "no file $1"; }
missing() { [ ! -e "$1" ] || fail "there is a file $1"; }

cat >good.jdf <<'JDF'
D [type = "dag_collection *"]
N [type = int]

T(k)
  k = 0 .. N-1
: D(k)
RW X <- D(k)
     -> D(k)
BODY
  double *x = X;
  x[0] += k;
END
JDF
sed 's/N-1/Q-1/' good.jdf >bad.jdf
sed 's/x\[0\] += k;/x[0] += undeclared;/' good.jdf >badc.jdf
{ echo '%precision s d c z'; sed 's/  double \*x = X;/  elem_t *x = X;/' badc.jdf; } >badp.jdf
sed 's/^RW X/  m = k\n&/;s/^: D(k)$//;s/  m = k/  m = k\n: D(k)/' good.jdf >warn.jdf

# ---- two files
if [ "$("$dagcc" --version | grep -c "without isl")" = 0 ]; then
    expect 0 --same good.jdf good.jdf; silent
    expect 1 --same good.jdf bad.jdf; says "Q"
    sed 's/N-1/N-2/' good.jdf >shorter.jdf
    expect 1 --same good.jdf shorter.jdf; says "[-Wdifferent]"
    expect 2 --same good.jdf; says "compares two files"
    expect 2 --same=all good.jdf good.jdf; says "'control'"
    expect 2 --rename N=M -fsyntax-only good.jdf; says "belongs to --same"
    expect 1 --same good.jdf nothing.jdf; says "cannot read nothing.jdf"
    rm shorter.jdf
fi

# ---- information
expect 0 --help; says "--std=dag|parsec" out; silent
expect 0 --version; says dagcc out; silent
expect 0 --list-checks; says unbound-name out
expect 0 --explain unbound-name; says "Names of C" out
expect 2 --explain unbuond-name; says "did you mean 'unbound-name'"
expect 2; says "no input file"
expect 2 --nonsense good.jdf; says "unknown option '--nonsense'"
expect 2 --formta good.jdf; says "did you mean '--format'"
[ "$(cat err)" = "dagcc: unknown option '--formta'; did you mean '--format'?" ] || fail "wording"
expect 2 --renam=A=B good.jdf; says "did you mean '--rename'"
expect 2 --sam good.jdf good.jdf; says "did you mean '--same'"
if [ -w /dev/full ]; then
    for options in --help --version --list-checks "--explain unbound-name" "--emit=jdf good.jdf"; do
        "$dagcc" $options >/dev/full 2>err && fail "exit 0 of dagcc $options >/dev/full"
        says "standard output"
    done
fi
expect 2 --std=c99 good.jdf; says "dag or parsec"
expect 2 --emit=asm good.jdf; says "not 'asm'"
expect 2 --max-errors=many good.jdf; says "takes a number"
expect 2 -o; says "needs a value"
expect 2 good.txt; says "does not end in .jdf"
expect 2 -Wunbuond-name -fsyntax-only good.jdf; says "did you mean 'unbound-name'"
expect 2 -i -fsyntax-only good.jdf; says "belongs to --format"
expect 2 -c -o x.o good.jdf bad.jdf; says "cannot name the outputs"
expect 2 --emit=c --emit=dot good.jdf; says "--emit=c and --emit=dot exclude each other"
expect 2 --count N=3 --emit=dot:N=3 good.jdf; says "exclude each other"
expect 2 -c --format good.jdf; says "-c and --format exclude each other"
expect 2 --count N=3 --count N=4 good.jdf; says "exclude each other"
expect 0 -c -fsyntax-only good.jdf; silent
expect 0 -fsyntax-only -c good.jdf; silent; missing good.o
expect 0 --emit=jdf --emit=jdf good.jdf; silent
expect 0 --help -c --format; says "Usage" out
expect 0 -fsyntax-only -o x.o good.jdf; says "-o x.o is ignored"; missing x.o
expect 0 --emit=jdf -MD good.jdf; says "-MD is ignored"
expect 0 -fsyntax-only -MF x.d good.jdf; says "ignored without -MD"
expect 2 -c -MD -MF x.d good.jdf warn.jdf; says "dependency files of several"
expect 2 -MD good.jdf warn.jdf; says "needs -c"
printf '\xef\xbb\xbf' | cat - good.jdf >bom.jdf; touch -r good.jdf bom.jdf
expect 1 -fsyntax-only bom.jdf; says "bom.jdf:1:1: error: the file begins with a byte order mark"
expect 1 -fsyntax-only absent.jdf; says "cannot read absent.jdf: No such file"

# ---- the manual knows every option of --help
"$dagcc" --help >help
for word in $(grep -oE '(^| )--[a-z-]+' help | sort -u) $(grep -oE '(^| )-(M[A-Z]|[a-zA-Z])( |$)' help); do
    sed 's/\\-/-/g' "$manual" | grep -qF -- "$word" || fail "$word is not in docs/dagcc.1"
done

# ---- checking
expect 0 -fsyntax-only good.jdf; silent
expect 1 -fsyntax-only bad.jdf; says "bad.jdf:5:12: error: 'Q' is not declared"
expect 1 -fsyntax-only good.jdf bad.jdf warn.jdf; says "bad.jdf:5:12"; says "warn.jdf:"
expect 0 -fsyntax-only - <good.jdf; silent
expect 1 -fsyntax-only - <bad.jdf; says "<stdin>:5:12: error"
expect 0 -fsyntax-only warn.jdf; says "[-Wunused-definition]"
expect 0 -fsyntax-only -Wno-unused-definition warn.jdf; silent
expect 1 -fsyntax-only -Werror warn.jdf; says "error: 'm' is never used"
expect 1 -fsyntax-only -Werror=unused-definition warn.jdf; says "error: 'm' is never used"
expect 0 -fsyntax-only -Werror -Wno-error=unused-definition warn.jdf; says "warning: 'm'"
expect 1 -fsyntax-only -Wno-unbound-name bad.jdf; says "'Q' is not declared"; says "cannot be switched off"
expect 0 -fsyntax-only -Wno-error=unbound-name good.jdf; says "cannot be switched off"
expect 0 -fsyntax-only -Werror=unbound-name -Wunbound-name good.jdf; silent
expect 1 -fsyntax-only --color=always bad.jdf; says $'\033['
expect 1 -fsyntax-only bad.jdf; ! grep -q $'\033' err || fail "colour in a file"
expect 0 -fsyntax-only -Wextra -Wno-shadow -Wformat=2 -Werror=vla good.jdf; silent
for option in -Wfoo-bar-baz -Wno-foo-bar-baz -Werror=foo-bar-baz -Wno-error=foo-bar-baz; do
    expect 2 -fsyntax-only $option good.jdf; says "neither dagcc nor the C compiler knows"
done
expect 1 -fsyntax-only --assume 'M > 0' good.jdf; says "--assume:1:1: error: 'M' is not declared"
expect 0 -fsyntax-only --assume 'N > 0' good.jdf; silent
[ -z "$(find . -newer warn.jdf -type f ! -name out ! -name err ! -name help)" ] || fail "-fsyntax-only wrote files"

# ---- JSON
expect 1 -fsyntax-only --diagnostics=json bad.jdf warn.jdf
python3 - err <<'PY' || fail "JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert len(d) == 2, d
e = d[0]
assert e["kind"] == "error" and e["option"] == "-Wunbound-name", e
caret = e["locations"][0]["caret"]
assert (caret["file"], caret["line"], caret["column"]) == ("bad.jdf", 5, 12), caret
assert d[1]["kind"] == "warning" and d[1]["children"] == [], d[1]
PY
name=$(printf 'latin\351"\303\251.jdf'); cp bad.jdf "$name"
expect 1 -fsyntax-only --diagnostics=json bad.jdf absent.jdf "$name"
python3 - err <<'PY' || fail "JSON of files that cannot be read or named"
import json, sys
d = json.loads(open(sys.argv[1], "rb").read().decode("utf-8"))
assert len(d) == 3, d
assert d[1]["message"] == "cannot read absent.jdf: No such file or directory", d[1]
assert d[1]["kind"] == "error" and d[1]["locations"] == [] and "option" not in d[1], d[1]
assert d[2]["locations"][0]["caret"]["file"] == 'latin\\xe9"\u00e9.jdf', d[2]
PY
rm -f "$name"
expect 0 -fsyntax-only --diagnostics=json good.jdf
[ "$(cat err)" = "[]" ] || fail "JSON of a file without messages"

# ---- C
mkdir d
expect 0 --emit=c -o d/x.c good.jdf; exists d/x.c; exists d/x.h; silent
touch -d '2001-01-01' d/x.h
expect 0 --emit=c -o d/x.c good.jdf
[ d/x.h -ot good.jdf ] || fail "an unchanged header was replaced"
[ d/x.c -nt d/x.h ] || fail "the C file was not replaced"
expect 0 --emit=c good.jdf; exists good.c; exists good.h
rm -f good.h good.c
expect 0 --emit=header good.jdf; exists good.h; missing good.c
expect 0 --emit=c -o - good.jdf; says "BODY" good.jdf; says "good" out; missing stdout.c
expect 0 --emit=dot good.jdf; says "digraph" out

# ---- C of bodies for devices includes what the row of their kind names
kernels=$(sed -n 's/.*X(CUDA, .*"\([^"]*\)").*/#include <\1>/p' "$kinds")
grep -q "^#include <dag/.*>$" <<<"$kernels" || fail "no header of kernels in $kinds"
{ sed 's/^END$//' good.jdf; printf 'END\nBODY [type = CUDA]\nEND\n'; } >device.jdf
expect 0 --emit=c -o - device.jdf; says "$kernels" out
expect 0 --emit=c -o - good.jdf; ! grep -qxF "$kernels" out || fail "kernels of devices without a body for them"
expect 0 --emit=plan good.jdf; [ -s out ] || fail "no plan"
expect 0 --emit=jdf good.jdf; cmp -s out <("$dagcc" --format good.jdf) || fail "--emit=jdf"
expect 0 --emit=ast good.jdf; says "class T <4:1-" out
expect 1 --emit=c -o d/bad.c bad.jdf; missing d/bad.c; missing d/bad.h
expect 1 --emit=c -o d/two.c -Werror warn.jdf; missing d/two.c
expect 1 --emit=c -o absent/x.c good.jdf; says "absent/x"
expect 1 --emit=c good.jdf bad.jdf; missing good.c

expect 2 --emit=c -o d/own.h good.jdf; says "header would overwrite"; missing d/own.h
cp good.jdf own.jdf; ln -s own.jdf own-link; ln own.jdf own-hard; ln -s own.jdf own.h; mkdir o
echo 'int other;' >other.c
for output in own.jdf ./own.jdf o/../own.jdf own-link own-hard "$PWD/own.jdf"; do
    for action in --emit=c --emit=dot --emit=jdf --format --complete -c ""; do
        expect 2 $action -o "$output" own.jdf other.c; says "would overwrite the input own.jdf"
    done
done
expect 2 --emit=c own.jdf; says "would overwrite the input own.jdf"  # own.h is a link to it
expect 2 --emit=c -o x.c -MD -MF own-link own.jdf; says "would overwrite"
expect 2 -o other.c own.jdf other.c; says "would overwrite the input other.c"
expect 2 --emit=c -o x.c -MD -MF x.c good.jdf; says "x.c would be written twice"
cmp -s own.jdf good.jdf || fail "an input was overwritten"
rm -f own.h own-link own-hard own.jdf other.c; rmdir o
mkdir same; cp good.jdf same
expect 1 --emit=c good.jdf same/good.jdf; says "would both generate"; missing good.c
rm -f good.h
expect 1 --emit=header good.jdf same/good.jdf; says "would both generate"; missing good.h

# ---- outputs that are links
mkdir real
echo old >real/linked.c; ln -s real/linked.c linked.c; ln -s linked.c twice.c
ln -s real/new.c dangling.c; ln -s /dev/null null.c; cp good.jdf real/format.jdf
ln -s "$PWD/real/format.jdf" format.jdf
expect 0 --emit=c -o twice.c good.jdf; silent
[ -L twice.c ] && [ -L linked.c ] || fail "a link was replaced"
says "dag_taskpool" real/linked.c
expect 0 --emit=c -o dangling.c good.jdf; [ -L dangling.c ] || fail "a link was replaced"
says "dag_taskpool" real/new.c
expect 0 --emit=c -o null.c good.jdf
[ -L null.c ] && [ -c /dev/null ] || fail "/dev/null or its link was replaced"
tr -s ' ' <good.jdf >real/format.jdf
"$dagcc" --format real/format.jdf >pretty
expect 0 --format -i format.jdf; [ -L format.jdf ] || fail "--format -i replaced a link"
cmp -s real/format.jdf pretty || fail "--format -i of a link"
"$dagcc" --emit=jdf -o /proc/self/fd/3 good.jdf 3>viafd 2>err; says "k = 0" viafd
ln -s /proc/self/fd/3 tofd; "$dagcc" --emit=jdf -o tofd good.jdf 3>viafd2 2>err
[ -L tofd ] || fail "a link to an open file was replaced"
says "k = 0" viafd2
[ "$(ls real)" = "$(printf 'format.jdf\nlinked.c\nnew.c')" ] || fail "temporaries are left in real"
rm -f twice.h linked.h dangling.h null.h

# ---- dependency files
expect 0 --emit=c -MD -o d/x.c good.jdf; says "d/x.c: good.jdf" d/x.d
expect 0 --emit=c -MD -MF dep -MT 'target one' -MP -o d/x.c good.jdf; says "target one: good.jdf" dep
expect 0 --emit=c -MD -MF dep -MQ 'a b$c' -o d/x.c good.jdf; says 'a\ b$$c: good.jdf' dep

# ---- proofs are kept
sed 's/<- D(k)/<- (k < N) ? D(k)/' good.jdf >guard.jdf; rm -rf "$cache"/*
entries() { find "$cache" -type f 2>/dev/null | wc -l; }
expect 0 -fsyntax-only --no-proof-cache guard.jdf; says "holds for all tasks"; cp err first
[ "$(entries)" = 0 ] || fail "--no-proof-cache keeps proofs"
DAGCC_PROOF_CACHE=off expect 0 --emit=c -o kept1.c guard.jdf; [ "$(entries)" = 0 ] || fail "off keeps"
expect 0 --emit=c -o kept2.c guard.jdf; cmp -s err first || fail "other messages"
[ "$(entries)" = 1 ] || fail "$(entries) entries, not one"
entry=$(find "$cache" -type f)
sed -i 's/for all tasks/for any tasks/' "$entry"        # to see that it is read
expect 0 --emit=c -o kept3.c guard.jdf; says "for any tasks"
expect 0 --diagnostics=json -fsyntax-only guard.jdf; says "for any tasks"
[ "$(entries)" = 1 ] || fail "$(entries) entries, not one"
sed 's/kept1/kept2/g' kept1.c | cmp -s - kept2.c || fail "C after keeping differs"
sed 's/kept3/kept2/g' kept3.c | cmp -s - kept2.c || fail "C of kept proofs differs"
for broken in "" "dagcc proofs 1" "$(head -3 "$entry")" "$(sed 's/[0-9]/9/g' "$entry")"; do
    printf '%s\n' "$broken" >"$entry"
    expect 0 -fsyntax-only guard.jdf; cmp -s err first || fail "messages with a broken entry"
done
expect 0 -fsyntax-only -Wno-constant-guard guard.jdf; silent
expect 1 -fsyntax-only -Werror guard.jdf; expect 1 -fsyntax-only -Werror guard.jdf
expect 0 -fsyntax-only --assume 'N > 2' guard.jdf
[ "$(entries)" = 3 ] || fail "$(entries) entries, not three"
XDG_CACHE_HOME=/proc/none expect 0 -fsyntax-only good.jdf; silent
DAGCC_PROOF_CACHE=$work/own/cache expect 0 -fsyntax-only good.jdf; [ -d own/cache ] || fail "own cache"
printf '%s\n' 'D [type = "dag_vector *"]' 'N [type = int]' 'T(k)' '  k = 0 .. N-1' ': D(k)' BODY END >lib.jdf
printf '%s\n' 'D [type = "dag_vector *"]' 'N [type = int]' '%import a "lib.jdf"' >imports.jdf
expect 0 --emit=c -MD -o d/x.c imports.jdf; says "lib.jdf" d/x.d; says "a_T" d/x.c
expect 0 -fsyntax-only imports.jdf; silent
ln -s lib.jdf tolib.c; cp lib.jdf before
expect 2 --emit=c -o tolib.c imports.jdf; says "would overwrite lib.jdf, which imports.jdf imports"
cmp -s lib.jdf before || fail "an imported file was overwritten"
sed -i 's/: D(k)/: D(N-1-k)\nCTL c <- c T(k-1)/' lib.jdf    # proofs of what it was do not count
expect 1 -fsyntax-only imports.jdf; says "lib.jdf:6"
rm -f imports.h

# ---- corrections
cat >wrong.jdf <<'JDF'
D [type = "dag_vector *"]
N [type = int]

Gemm(k)
  k = 0 .. N-1
: D(k)
RW X <- (k == 0) ? D(k) : X Gem(k-1)
BODY
END
JDF
expect 1 --fix wrong.jdf; says "X Gemm(k-1)" out; says "did you mean 'Gemm'"; cp out right.jdf
expect 1 --fix -i right.jdf; says "     -> (k <= N - 2) ? X Gemm(k + 1)" right.jdf
expect 0 -fsyntax-only right.jdf; silent
expect 0 --fix right.jdf; cmp -s out right.jdf || fail "--fix changes what is right"
sed 's/X Gemm(k + 1)/X Gemm(k + 2)/' right.jdf >shifted.jdf
expect 1 --fix shifted.jdf; cp out back.jdf; expect 0 -fsyntax-only back.jdf; silent
sed 's/(k == 0)/(k == 0/' right.jdf >paren.jdf
expect 1 --fix paren.jdf; cmp -s out right.jdf || fail "a parenthesis is not put back"

# ---- formatting
tr -s ' ' <good.jdf >ugly.jdf
expect 0 --format ugly.jdf; cp out pretty
expect 0 --format -i ugly.jdf; cmp -s ugly.jdf pretty || fail "--format -i"
expect 0 --format - <pretty; cmp -s out pretty || fail "--format of formatted text"
touch -d '2001-01-01' ugly.jdf
expect 0 --format -i ugly.jdf; [ ugly.jdf -ot pretty ] || fail "formatted file was rewritten"
echo 'T(k' >broken.jdf; cp broken.jdf broken.orig
expect 1 --format -i broken.jdf; cmp -s broken.jdf broken.orig || fail "broken file was changed"

# ---- the C compiler
cat >fakecc <<'SH'
#!/bin/sh
printf ' %s\n' "$*" >>"$CCLOG"
for a; do case $p in -o) echo object >"$a" ;; esac; p=$a; done
exit ${CCEXIT:-0}
SH
chmod +x fakecc
export CCLOG="$work/cclog"
DAGCC_CC="./fakecc -fake" expect 0 -c -O2 -g -Iinc -DX=1 -UY -fno-common -march=native -Wextra \
    -std=gnu11 -pthread good.jdf
exists good.o
for word in -fake -O2 -g -Iinc -DX=1 -UY -fno-common -march=native -Wextra -std=gnu11 -pthread -c; do
    says " $word" cclog
done
rm -f good.o
CCEXIT=3 DAGCC_CC=./fakecc expect 1 -c good.jdf
DAGCC_CC=./no-such-cc expect 1 -c good.jdf; says "cannot run the C compiler"
DAGCC_CC=./fakecc expect 0 -v -c -o y.o good.jdf; says "fakecc"; exists y.o
[ -z "$(ls tmp)" ] || fail "temporary files are left: $(ls tmp)"

# ---- signals: nothing is left, and the C compiler ends too
cat >slowcc <<'SH'
#!/bin/sh
for a; do case $p in -o) echo part >"$a" ;; esac; p=$a; done
touch started
exec sleep 60
SH
chmod +x slowcc
for signal in TERM HUP INT; do
    rm -f started
    # An asynchronous command of a script ignores SIGINT; env gives it back.
    DAGCC_CC=./slowcc env --default-signal=INT "$dagcc" -c good.jdf warn.jdf >out 2>err &
    pid=$!
    for _ in $(seq 600); do [ -e started ] && break; sleep 0.1; done
    exists started
    kill -$signal "$pid"
    wait "$pid" 2>/dev/null && fail "exit 0 after SIG$signal"
    [ -z "$(ls tmp)" ] || fail "temporary files are left by SIG$signal: $(ls tmp)"
done

if "$dagcc" -c good.jdf >out 2>err; then
    exists good.o
    expect 0 -c -MD -o d/g.o good.jdf; says "d/g.o: good.jdf" d/g.d; says "dag/" d/g.d
    ! grep -q "$TMPDIR" d/g.d || fail "temporary files among the dependencies"
    expect 1 -c badc.jdf; says "badc.jdf:11:11: error"; missing badc.o
    rm -f good.o; expect 1 -c -MD good.jdf badc.jdf; missing good.o; missing good.d
    cp good.jdf other.jdf
    expect 0 -c -MD good.jdf other.jdf; exists good.o; exists other.o; says "other.o: other.jdf" other.d
    expect 1 -c --diagnostics=json badc.jdf warn.jdf; cp err json
    expect 1 -c --diagnostics=sarif badc.jdf warn.jdf
    python3 - json err <<'PY' || fail "messages of the C compiler for tools"
import json, sys
found = json.load(open(sys.argv[1]))
error = [e for e in found if e["kind"] == "error"][0]
caret = error["locations"][0]["caret"]
assert (caret["file"], caret["line"], caret["column"]) == ("badc.jdf", 11, 11), caret
assert "undeclared" in error["message"], error
assert any(e.get("option") == "-Wunused-definition" for e in found), found
sarif = json.load(open(sys.argv[2]))
assert sarif["version"] == "2.1.0"
results = sarif["runs"][0]["results"]
error = [r for r in results if r["level"] == "error"][0]
place = error["locations"][0]["physicalLocation"]
assert place["artifactLocation"]["uri"] == "badc.jdf", place
assert (place["region"]["startLine"], place["region"]["startColumn"]) == (11, 11), place
assert any(r.get("ruleId") == "unused-definition" for r in results), results
PY
    # names that a shell, C or a URI would take for something else
    for name in "$(printf -- '-a "b\n%%.jdf')" '-a "b\%.jdf' "-it's.jdf"; do
        cp good.jdf "./$name"
        expect 0 -c -o quoted.o -- "$name"; exists quoted.o
        expect 0 --emit=c -- "$name"; ls | grep -q '^-.*_.*[.]h$' || fail "no header of $name"
        rm -f -- ./-* quoted.o
    done
    cp good.jdf $'a\nb.jdf'; expect 2 --emit=c -MD $'a\nb.jdf'; says "cannot name"; rm -f $'a\nb.jdf'
    expect 2 --emit=c -o 'x".c' good.jdf; says "cannot be included"
    cp badc.jdf 'b "c%.jdf'
    expect 1 -c --diagnostics=sarif 'b "c%.jdf'; says '"uri": "b%20%22c%25.jdf"'
    expect 1 -c badp.jdf; says "badp.jdf:12:11: error"
    [ "$(grep -c 'error:' err)" = 1 ] || fail "an error in a %precision file is repeated"
    printf '#include "extra.h"\n' >extra.txt
    mkdir sub
    { echo 'extern "C" %{'; echo '#include "extra.h"'; echo '%}'; cat good.jdf; } >sub/inc.jdf
    echo '#define FROM_HEADER 1' >sub/extra.h
    expect 0 -c -MD sub/inc.jdf; says "extra.h" inc.d
else
    fail "-c good.jdf"
fi
[ -z "$(ls tmp)" ] || fail "temporary files are left: $(ls tmp)"

if [ -n "$runtime" ]; then
    cat >prog.jdf <<'JDF'
extern "C" %{
#include <stdio.h>
%}
D [type = "dag_vector *"]
N [type = int]

Hello(i)
  i = 0 .. N-1
: D(i)
RW X <- D(i)
     -> D(i)
BODY
  *(double *)X = i;
END

extern "C" %{
int other(void);
int main(void)
{
    dag_context *ctx;
    dag_vector *v;
    char why[256];
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS)
        return 1;
    if (dag_vector_new(ctx, 5, sizeof(double), &v) != DAG_SUCCESS)
        return 2;
    dag_taskpool *pool = prog_new(ctx, v, 5);
    int bad = !pool || dag_add(ctx, pool) != DAG_SUCCESS || dag_wait(pool) != DAG_SUCCESS;
    printf("%s %d\n", bad ? "bad" : "good", other());
    dag_taskpool_free(pool);
    dag_vector_free(v);
    dag_fini(ctx);
    return bad;
}
%}
JDF
    echo 'int other(void) { return 42; }' >other.c
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
    expect 0 prog.jdf good.jdf other.c; exists a.out
    [ "$(./a.out 2>err)" = "good 42" ] || fail "a.out"
    expect 0 -O1 -o prog prog.jdf other.c -lm; exists prog
    expect 1 -o prog2 prog.jdf; missing prog2
    mkdir twice; cp good.jdf twice
    expect 1 prog.jdf good.jdf twice/good.jdf other.c; says "would both generate"
    [ -z "$(ls tmp)" ] || fail "temporary files are left: $(ls tmp)"
fi

echo "$failures failures"
[ "$failures" = 0 ]
