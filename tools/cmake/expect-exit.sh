# expect-exit.sh <status> command...: succeeds if the command ends with exactly this status.
want=$1
shift
"$@"
got=$?
if [ "$got" -ne "$want" ]; then
    echo "exit status is $got, expected $want" >&2
    exit 1
fi
