#!/bin/sh
# Reports the deaths in the logs of a folder that were written since the last run, and prints nothing if nothing died:
#
#   new-deaths.sh FOLDER STATE
#
# STATE is a file whose time says how far the last run came. A log is read when it has been quiet for ten minutes.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 FOLDER STATE" >&2; exit 2; }
folder=$1 state=$2

mkdir -p "$(dirname "$state")"
report=$(mktemp)
trap 'rm -f "$report" "$state.next"' EXIT
touch -d '10 minutes ago' "$state.next"
[ -e "$state" ] || touch -d @0 "$state"
find "$folder" -type f -newer "$state" ! -newer "$state.next" -print0 |
    xargs -0 -r coroner scan --exit-code > "$report" || cat "$report"
mv "$state.next" "$state"
