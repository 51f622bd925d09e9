#!/bin/sh
# Create the pair of virtual machines, or start it again.
#
#     BENCH_CPUS (2)  BENCH_MEMORY (4096)  BENCH_BOX
. "$(dirname "$0")/common.sh"

command -v vagrant >/dev/null || die "install Vagrant (https://developer.hashicorp.com/vagrant)"
mkdir -p "$state"
of_pair up
of_pair ssh-config > "$state/ssh_config"
# Let the client log in to the server with its own key.
at client '[ -f .ssh/id_ed25519 ] || ssh-keygen -q -t ed25519 -N "" -f .ssh/id_ed25519'
at client 'cat .ssh/id_ed25519.pub' |
    at server 'cat > client.pub && { grep -qxFf client.pub .ssh/authorized_keys || cat client.pub >> .ssh/authorized_keys; }'
echo "The pair is running, and uses memory until: make vm-down"
