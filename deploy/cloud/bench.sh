#!/bin/sh
# Runs a study on the pair, and fetches its run folder into results/, also of a failed run: bench.sh STUDY
. "$(dirname "$0")/common.sh"
. "$here/../pair.sh"

study=${1:?name a study}
[ -f "$state/pair.tfstate" ] || die "there is no pair: make cloud-up"
server=$(output server)
trap 'echo "The pair costs money until: make cloud-down"' EXIT
trap 'exit 130' INT TERM HUP
bench "$study"
