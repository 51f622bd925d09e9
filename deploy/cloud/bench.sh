#!/bin/sh
# Runs a study on the pair, and fetches its run folder into results/, whatever became of it: bench.sh STUDY
. "$(dirname "$0")/common.sh"

study=${1:?name a study}
[ -f "$state/pair.tfstate" ] || die "there is no pair: make cloud-up"
server=$(output server)
there=ssh://ubuntu@$server
first="-o StrictHostKeyChecking=accept-new"  # the server's key is not known yet
loadtests="SSH_COMMAND='ssh $first' .venv/bin/python -m loadtests"
# One of its own for each run: two of a day are not to be mixed.
run=results/cloud-$(date -u +%Y-%m-%dT%H%M%SZ)

# quoted WORD: so that a shell reads it as one word.
quoted() {
    printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}

git -C "$project" diff --quiet HEAD || echo "cloud: what is not committed is not measured" >&2
git -C "$project" bundle create --quiet - HEAD | at_client 'cat > bench.bundle'
at_client 'set -e
    command -v git >/dev/null || { sudo apt-get -qq update; sudo apt-get -qq -y install git; }
    [ -d bench ] || git clone -q bench.bundle bench
    cd bench
    git fetch -q ../bench.bundle HEAD
    git checkout -q --detach FETCH_HEAD
    sudo sh vagrant/provision.sh .
    make setup'
at_client "cd bench && tar -cf - vagrant pyproject.toml package.json | ssh $first ubuntu@$server \
    'mkdir -p provisioning && tar -C provisioning -xf - && sudo sh provisioning/vagrant/provision.sh provisioning'"
at_client "cd bench && $loadtests hosts prepare $there && $loadtests hosts check $there"

status=0
at_client "cd bench && $loadtests run $(quoted "$study") --servers $there --output $run" || status=$?
# Also of a run that failed, or was interrupted: what was measured is in it.
mkdir -p "$project/results"
at_client "tar -C bench -cf - $run" | tar -C "$project" -xf - || die "there is no run folder to fetch"
echo "The run is in $run; the pair costs money until: make cloud-down"
exit "$status"
