# consumer.sh <build dir> <project dir> <work dir> <mpirun> <cc> <tutorial dir>
# Installs the build, moves the installation to another place, and makes the project from there:
# by find_package with CMake, by pkg-config with make. Both programs must run.
set -eu
build=$1 project=$2 work=$3 mpirun=$4 cc=$5 tutorial=$6

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
prefix=$work/moved

if grep -rlI -e "$work/first" -e "$build" "$prefix/lib/cmake" "$prefix/lib/pkgconfig" \
    "$prefix/include"; then
    echo "the files above name the directory they were installed to or built in" >&2
    exit 1
fi
for file in bin/dagcc include/dag/dag.h include/dag/insert.hpp include/dag/config.h share/man/man1/dagcc.1 \
    share/dagcc/dag.py; do
    [ -e "$prefix/$file" ] || {
        echo "not installed: $file" >&2
        exit 1
    }
done

echo "== dagcc, like cc"
mkdir "$work/direct"
(cd "$work/direct" && "$prefix/bin/dagcc" "$tutorial/hello.jdf")
"$mpirun" -np 1 "$work/direct/a.out" | grep 'Hello(5)'

echo "== find_package"
cmake -S "$project" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc"
cmake --build "$work/cmake"
"$mpirun" -np 1 "$work/cmake/hello"
if [ "${MPIRUN:-}" != none ]; then
    "$mpirun" -np 2 "$work/cmake/hello"
fi

echo "== a second build has nothing to do; a changed .jdf is translated again"
cp -r "$project" "$work/project"
cmake -S "$work/project" -B "$work/again" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" >/dev/null
cmake --build "$work/again" >/dev/null
cmake --build "$work/again" | tee "$work/nothing.log"
if grep -q 'Compiling hello.jdf' "$work/nothing.log"; then
    echo "translated without need" >&2
    exit 1
fi
sleep 1
touch "$work/project/hello.jdf"
cmake --build "$work/again" | grep 'Compiling hello.jdf'

echo "== pkg-config and make"
mkdir "$work/make"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -C "$work/make" -f "$project/Makefile" \
    SOURCE="$project" CC="$cc"
# pkg-config names no place to load shared libraries from: that is up to whoever installs them.
export LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
"$mpirun" -np 1 "$work/make/hello"
if [ -e "$prefix/lib/pkgconfig/dag_la.pc" ]; then
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -C "$work/make" -f "$project/Makefile" \
        SOURCE="$project" CC="$cc" solve
    "$mpirun" -np 1 "$work/make/solve"
elif [ -e "$prefix/lib/libdag_la.a" ] || [ -e "$prefix/lib/libdag_la.so" ]; then
    echo "not installed: dag_la.pc" >&2
    exit 1
fi
