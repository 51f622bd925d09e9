# Functions for the scripts in this folder, which source this file.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
pair=vm
user=vagrant
server=192.168.57.12          # as in the Vagrantfile
state=$project/.vagrant/pair  # Vagrant's state, and the SSH configuration of the machines

die() {
    echo "$pair: $*" >&2
    exit 1
}

# of_pair COMMAND ...: run Vagrant for the pair, with a separate state from the single machine's.
of_pair() {
    VAGRANT_CWD=$here VAGRANT_DOTFILE_PATH=$state vagrant "$@"
}

# at MACHINE COMMAND ...: run a command on a machine.
at() {
    ssh -F "$state/ssh_config" "$@"
}

at_client() {
    at client "$@"
}
