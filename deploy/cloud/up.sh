#!/bin/sh
# Create the pair: two instances that cost money until `make cloud-down`, or until CLOUD_HOURS (3) have passed. If
# CLOUD_CALLER isn't set, AWS reports the caller's address.
#
#     CLOUD_REGION  CLOUD_TYPE  CLOUD_ARCHITECTURE  CLOUD_HOURS  CLOUD_KEY (~/.ssh/id_ed25519.pub)  CLOUD_CALLER
. "$(dirname "$0")/common.sh"

[ ! -f "$state/pair.tfvars" ] || die "there is a pair, or a part of one: make cloud-down first"
key=${CLOUD_KEY:-$HOME/.ssh/id_ed25519.pub}
[ -f "$key" ] || die "no SSH key at $key; set the path of a .pub file: CLOUD_KEY=..."
ssh-add -l >/dev/null 2>&1 || die "no key in the SSH agent; run ssh-add, because the client needs the key for the server"
caller=${CLOUD_CALLER:-$(curl --fail --silent --show-error --max-time 10 https://checkip.amazonaws.com)}

# variable NAME VALUE: set a variable of OpenTofu, if the value isn't empty.
variable() {
    [ -z "$2" ] || printf '%s = "%s"\n' "$1" "$2"
}

mkdir -p "$state"
chmod 700 "$state"
{
    variable name "bench-$(date -u +%Y%m%d%H%M%S)"
    variable created "$(date -u +%Y-%m-%dT%H:%MZ)"
    variable caller "$caller"
    variable public_key "$(cat "$key")"
    variable region "${CLOUD_REGION:-}"
    variable instance_type "${CLOUD_TYPE:-}"
    variable architecture "${CLOUD_ARCHITECTURE:-}"
    variable hours "${CLOUD_HOURS:-}"
} > "$state/pair.tfvars"
in_cloud init -input=false
in_cloud apply -input=false -auto-approve -state="$state/pair.tfstate" -var-file="$state/pair.tfvars"
echo "The pair is running, and costs money until: make cloud-down"
