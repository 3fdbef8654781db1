#!/bin/sh
# Slurm's Epilog: after a job that failed, a report on why it died, from its output, its record and this node's kernel log.
#
#   slurm.conf:  Epilog=/etc/slurm/coroner-epilog.sh
#
# Reports go to CORONER_REPORTS, a file for each job and node, for root alone. slurmd runs this as root with no PATH, waits for it,
# and drains the node if it fails: so it asks the controller once, reads for 60 seconds at most, and always ends with 0. The job's
# output is read as its user, so that a link in it leads no further than the user could go.
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
export PATH
umask 077
reports=${CORONER_REPORTS:-/var/log/coroner}

record=$(scontrol show job "$SLURM_JOB_ID") || exit 0
field() { printf '%s\n' "$record" | tr ' ' '\n' | sed -n "s/^$1=//p" | head -n 1; }
[ "$(field ExitCode)" != 0:0 ] || exit 0

evidence=$(mktemp -d) || exit 0
trap 'rm -rf "$evidence"' EXIT
printf '%s\n' "$record" > "$evidence/scontrol.txt"
journalctl -k --no-pager -o short-iso --since "$(field StartTime | tr T ' ')" > "$evidence/kernel.log" 2>/dev/null
output=$(field StdOut)
errors=$(field StdErr)
runuser -u "$SLURM_JOB_USER" -- cat "$output" > "$evidence/output.log" 2>/dev/null
if [ "$errors" != "$output" ]; then
    runuser -u "$SLURM_JOB_USER" -- cat "$errors" > "$evidence/errors.log" 2>/dev/null
fi

mkdir -p "$reports"
timeout 60 coroner --platform slurm --output "$reports/$SLURM_JOB_ID-$(hostname -s).txt" "$evidence" 2>/dev/null
exit 0
