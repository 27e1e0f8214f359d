# expect.sh <status> <text> command...
# Succeeds if the command ends with exactly this status and its output contains the text.
want=$1 text=$2
shift 2
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
got=${PIPESTATUS[0]}
if [ "$got" -eq 77 ]; then
    exit 77 # skipped, and the output says why
fi
if [ "$got" -ne "$want" ]; then
    echo "exit status is $got, expected $want" >&2
    exit 1
fi
if ! grep -qF -e "$text" "$log"; then
    echo "the output does not contain '$text'" >&2
    exit 1
fi
