# Functions of the scripts in this folder; to be sourced by them.
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

# OpenTofu, or Terraform, which it came from.
if command -v tofu >/dev/null; then
    tofu=tofu
elif command -v terraform >/dev/null; then
    tofu=terraform
else
    die "install OpenTofu (https://opentofu.org/docs/intro/install/)"
fi

# in_cloud COMMAND ...: OpenTofu on the pair, with its state in a separate folder.
in_cloud() {
    TF_DATA_DIR=$state/providers "$tofu" -chdir="$here" "$@"
}

output() {
    in_cloud output -state="$state/pair.tfstate" -raw "$1"
}

# at_client COMMAND ...: on the machine that makes the load. The caller's SSH agent is what lets it on to the server.
at_client() {
    ssh -A -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile="$state/known_hosts" \
        -o ServerAliveInterval=15 "$user@$(output client)" "$@"
}
