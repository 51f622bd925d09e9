#!/bin/sh
# Remove the pair, and print how to check that no instance is left.
. "$(dirname "$0")/common.sh"

[ -f "$state/pair.tfvars" ] || die "there is no pair that was created from this folder"
in_cloud destroy -input=false -auto-approve -state="$state/pair.tfstate" -var-file="$state/pair.tfvars"
rm -r "$state"
echo "All resources are deleted. To check, search your account for the tag Purpose=django-serving-benchmark"
