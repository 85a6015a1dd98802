#!/bin/sh
# Runs the README's commands in this folder, and says how each ended.
# The first process of a group is ended by these signals only if it asks for it.
trap 'exit 130' INT TERM

failed=0 said=''
for command in "make run" "make test"; do
    begin=$(date +%s)
    $command
    status=$?
    [ $status = 0 ] || failed=1
    said="$said$command: status $status after $(($(date +%s) - begin)) s
"
done
printf '%s' "$said"
exit $failed
