#!/bin/sh
# Run a study on the pair, and fetch its run folder into results/, even if the run fails: bench.sh STUDY
. "$(dirname "$0")/common.sh"
. "$here/../pair.sh"

study=${1:?give the name of a study}
[ -f "$state/ssh_config" ] || die "there is no pair: make vm-up"
bench "$study"
