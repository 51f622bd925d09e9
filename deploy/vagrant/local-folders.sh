#!/bin/sh
# Gives the machine a .venv and a node_modules of its own inside the folder it shares with the host. Run as root.
#
#     sudo deploy/vagrant/local-folders.sh PROJECT
#
# Shared folders often have no symbolic links, and what the host installed there is for the host's system: without
# this, `make` would fail or replace it. Everything else stays shared, results/ above all.
set -eu

project=${1:?the project folder is needed}
local=/var/lib/bench
owner=${SUDO_USER:-root}

for name in .venv node_modules; do
    mkdir -p "$project/$name" "$local/$name"
    chown "$owner:" "$local/$name"
    mountpoint --quiet "$project/$name" || mount --bind "$local/$name" "$project/$name"
done
