#!/bin/sh
# Fetch the runs from the virtual machine, if its provider doesn't share folders with this host.
#
#     make vm-results
#
# Existing folders in results/ aren't changed.
set -eu

project=$(cd "$(dirname "$0")/../.." && pwd)
config=$(mktemp)
trap 'rm -f "$config"' EXIT
cd "$project"
vagrant ssh-config >"$config" || {
    echo "vm-results: no machine is running. \`vagrant up\` starts it" >&2
    exit 1
}
rsync --archive --ignore-existing --rsh "ssh -F $config" default:/vagrant/results/ results/
