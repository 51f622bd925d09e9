# Functions for the scripts in this folder, which source this file.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
pair=cloud
user=ubuntu
state=$project/.cloud  # the created resources; needed to remove them

die() {
    echo "$pair: $*" >&2
    exit 1
}

# OpenTofu, or Terraform, from which OpenTofu was forked.
if command -v tofu >/dev/null; then
    tofu=tofu
elif command -v terraform >/dev/null; then
    tofu=terraform
else
    die "install OpenTofu (https://opentofu.org/docs/intro/install/)"
fi

# in_cloud COMMAND ...: run OpenTofu for the pair, with its state in a separate folder.
in_cloud() {
    TF_DATA_DIR=$state/providers "$tofu" -chdir="$here" "$@"
}

output() {
    in_cloud output -state="$state/pair.tfstate" -raw "$1"
}

# at_client COMMAND ...: run a command on the client, which generates the load. It reaches the server with the forwarded
# SSH agent of the caller.
at_client() {
    ssh -A -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile="$state/known_hosts" \
        -o ServerAliveInterval=15 "$user@$(output client)" "$@"
}
