#!/bin/sh
# Removes the pair, and prints how to check that no instance is left.
. "$(dirname "$0")/common.sh"

[ -f "$state/pair.tfvars" ] || die "there is no pair that was made from here"
in_cloud destroy -input=false -auto-approve -state="$state/pair.tfstate" -var-file="$state/pair.tfvars"
rm -r "$state"
echo "All of it is gone. To be sure: nothing in your account has the tag Purpose=django-serving-benchmark"
