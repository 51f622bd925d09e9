#!/bin/sh
# Mount the machine's own .venv and node_modules in the folder that it shares with the host. Run this script as root.
#
#     sudo deploy/vagrant/local-folders.sh PROJECT
#
# Shared folders often don't support symbolic links, and the packages that the host installed are for the host's system:
# `make` would fail or replace them. All other folders, such as results/, stay shared.
set -eu

project=${1:?give the path of the project folder}
local=/var/lib/bench
owner=${SUDO_USER:-root}

for name in .venv node_modules; do
    mkdir -p "$project/$name" "$local/$name"
    chown "$owner:" "$local/$name"
    mountpoint --quiet "$project/$name" || mount --bind "$local/$name" "$project/$name"
done
