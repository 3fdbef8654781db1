#!/bin/sh
# Why did a job on this machine die?  Its logs beside the kernel's, of this boot and for the time given:
#
#   why.sh '2 hours ago' train.log
#
# Reading the kernel's log takes root or the group systemd-journal.
set -eu
[ $# -gt 1 ] || { echo "usage: $0 SINCE LOG..." >&2; exit 2; }
since=$1
shift
journalctl -k --no-pager -o short-iso-precise --since "$since" | coroner - "$@"
