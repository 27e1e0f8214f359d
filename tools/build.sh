# Functions shared by tools/demo and tools/test. Sourced from the root of the repository.

# dag_configure <preset> [option...]: Ninja where it is installed, else make; a build directory
# keeps the generator it has.
dag_configure() {
    local preset=$1 dir generator=()
    shift
    dir=$(dag_build_dir "$preset")
    if [ ! -f "$dir/CMakeCache.txt" ] && command -v ninja >/dev/null; then
        generator=(-G Ninja)
    fi
    cmake --preset "$preset" "${generator[@]}" "$@"
}

dag_build_dir() {
    case $1 in
    release) echo build ;;
    *) echo "build-$1" ;;
    esac
}

# dag_build <preset> [target...]
dag_build() {
    local preset=$1
    shift
    cmake --build "$(dag_build_dir "$preset")" --parallel "$(nproc)" ${1:+--target "$@"}
}
