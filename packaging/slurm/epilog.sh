#!/bin/sh
# Slurm's Epilog: after a job that failed, a report on why it died, from its output, its record and this node's kernel log.
#
#   slurm.conf:  Epilog=/etc/slurm/coroner-epilog.sh
#
# Reports go to CORONER_REPORTS, a file for each job and node, for root alone. slurmd runs this as root with no PATH, waits for it,
# and drains the node if it fails: so it asks the controller once, gives each step its time, and always ends with 0. The end of the
# job's output is read as its user, so that a link in it leads no further than the user could go.
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
export PATH
umask 077
reports=${CORONER_REPORTS:-/var/log/coroner}

record=$(scontrol show job "$SLURM_JOB_ID") || exit 0
field() { printf '%s\n' "$record" | tr ' ' '\n' | sed -n "s/^$1=//p" | head -n 1; }
# A path may hold blanks, and stands alone on its line.
path() { printf '%s\n' "$record" | sed -n "s/^ *$1=//p" | head -n 1; }
end_of() { timeout 20 runuser -u "$SLURM_JOB_USER" -- tail -c 256M "$1" 2>/dev/null; }
[ "$(field ExitCode)" != 0:0 ] || exit 0

evidence=$(mktemp -d) || exit 0
trap 'rm -rf "$evidence"' EXIT
printf '%s\n' "$record" > "$evidence/scontrol.txt"
timeout 20 journalctl -k --no-pager -o short-iso --since "$(field StartTime | tr T ' ')" > "$evidence/kernel.log" 2>/dev/null
output=$(path StdOut)
errors=$(path StdErr)
end_of "$output" > "$evidence/output.log"
if [ "$errors" != "$output" ]; then
    end_of "$errors" > "$evidence/errors.log"
fi

mkdir -p "$reports" && reports=$(cd "$reports" && pwd) && cd "$evidence" || exit 0
timeout 60 coroner --platform slurm --output "$reports/$SLURM_JOB_ID-$(hostname -s).txt" . 2>/dev/null
exit 0
