#!/bin/sh
# Fetches the runs that were made in the virtual machine, where its provider shares no folder with this host.
#
#     make vm-results
#
# Existing folders of results/ aren't changed.
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
