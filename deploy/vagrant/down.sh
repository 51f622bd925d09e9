#!/bin/sh
# Removes the pair, with its disks.
. "$(dirname "$0")/common.sh"

[ -d "$state" ] || die "there is no pair that was made from here"
of_pair destroy --force
rm -r "$state"
echo "Both machines are gone"
