#!/bin/sh
# Run a study on the pair, and fetch its run folder into results/, even if the run fails: bench.sh STUDY
. "$(dirname "$0")/common.sh"
. "$here/../pair.sh"

study=${1:?give the name of a study}
[ -f "$state/pair.tfstate" ] || die "there is no pair: make cloud-up"
server=$(output server)
trap 'echo "The pair costs money until: make cloud-down"' EXIT
trap 'exit 130' INT TERM HUP
bench "$study"
