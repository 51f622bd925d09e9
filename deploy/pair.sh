# Runs a study on a pair of machines. To be sourced after the common.sh of cloud/ or vagrant/, which sets the pair's
# name (pair), its account (user), the client's name of the servers' machine (server), and how to run a command on the client
# (at_client).

first="-o StrictHostKeyChecking=accept-new"  # the server's key is not known yet

# quoted WORD: so that a shell reads it as one word.
quoted() {
    printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}

# bench STUDY: copies what is committed, sets both up, runs the study, and fetches its run folder into results/, also of
# a failed run. Ends the script when a step fails: not to be called where sh ignores that (`bench || ...`).
bench() {
    there=ssh://$user@$server
    loadtests="SSH_COMMAND='ssh $first' .venv/bin/python -m loadtests"
    # A folder for each run, also of the same day.
    run=results/$pair-$(date -u +%Y-%m-%dT%H%M%SZ)
    git -C "$project" diff --quiet HEAD || echo "$pair: what is not committed is not measured" >&2
    git -C "$project" bundle create --quiet - HEAD | at_client 'cat > bench.bundle'
    at_client 'set -e
        command -v git >/dev/null || { sudo apt-get -qq update; sudo apt-get -qq -y install git; }
        [ -d bench ] || git clone -q bench.bundle bench
        cd bench
        git fetch -q ../bench.bundle HEAD
        git checkout -q --detach FETCH_HEAD
        sudo sh deploy/provision.sh .
        make setup'
    at_client "cd bench && tar -cf - deploy/provision.sh pyproject.toml package.json | ssh $first $user@$server \
        'mkdir -p provisioning && tar -C provisioning -xf - && sudo sh provisioning/deploy/provision.sh provisioning'"
    at_client "cd bench && $loadtests hosts prepare $there && $loadtests hosts check $there"

    status=0
    trap 'status=130' INT TERM  # finished trials are still fetched
    at_client "cd bench && $loadtests run $(quoted "$1") --servers $there --output $run" || status=$?
    trap 'exit 130' INT TERM
    # A failed or interrupted run is fetched too: it has finished trials.
    mkdir -p "$project/results"
    at_client "tar -C bench -cf - $run" | tar -C "$project" -xf - || die "there is no run folder to fetch"
    echo "The run is in $run"
    return "$status"
}
