#!/bin/sh
# Runs a study on the pair, and fetches its run folder into results/, also of a failed run: bench.sh STUDY
. "$(dirname "$0")/common.sh"
. "$here/../pair.sh"

study=${1:?name a study}
[ -f "$state/ssh_config" ] || die "there is no pair: make vm-up"
bench "$study"
