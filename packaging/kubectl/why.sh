#!/bin/sh
# Why did the last run of a pod's containers die?  Takes the pod, and what else `kubectl` needs to find it:
#
#   why.sh trainer-0 -n training
#
# Its log, its record and its events are one incident. Arguments for coroner go into CORONER_ARGUMENTS, as "--format json".
set -eu
[ $# -gt 0 ] || { echo "usage: $0 POD [KUBECTL-OPTION...]" >&2; exit 2; }
pod=$1

evidence=$(mktemp -d)
trap 'rm -rf "$evidence"' EXIT
kubectl get pod "$@" -o json > "$evidence/pod.json"
kubectl logs "$@" --previous --all-containers --prefix --ignore-errors > "$evidence/$pod.log"
# A pod of which no container was restarted has no previous log; then the present one tells.
grep -q '^\[pod/' "$evidence/$pod.log" || kubectl logs "$@" --all-containers --prefix > "$evidence/$pod.log"
shift
kubectl get events "$@" --field-selector "involvedObject.name=$pod" -o json > "$evidence/events.json"

cd "$evidence"
# shellcheck disable=SC2086
coroner ${CORONER_ARGUMENTS:-} events.json pod.json "$pod.log"
