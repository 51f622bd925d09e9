#!/bin/sh
# Remove the pair and its disks.
. "$(dirname "$0")/common.sh"

[ -d "$state" ] || die "there is no pair that was created from this folder"
of_pair destroy --force
rm -r "$state"
echo "Both machines are removed"
