# Run a study on a pair of machines. Source this file after the common.sh of cloud/ or vagrant/, which defines the name
# of the pair (pair), the account (user), the address at which the client reaches the server (server), and a function
# that runs a command on the client (at_client).

first="-o StrictHostKeyChecking=accept-new"  # the server's key isn't known yet

# quoted WORD: print a word in quotes, so that a shell reads it as one word.
quoted() {
    printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}

# bench STUDY: copy the committed files, set up both machines, run the study, and fetch its run folder into results/,
# even if the run fails. If a step fails, the script exits, so don't call this function where sh ignores errors
# (`bench || ...`).
bench() {
    there=ssh://$user@$server
    loadtests="SSH_COMMAND='ssh $first' .venv/bin/python -m loadtests"
    # Each run has its own folder, even on the same day.
    run=results/$pair-$(date -u +%Y-%m-%dT%H%M%SZ)
    git -C "$project" diff --quiet HEAD || echo "$pair: uncommitted changes are not measured" >&2
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
    trap 'status=130' INT TERM  # the finished trials of an interrupted run are fetched, too
    at_client "cd bench && $loadtests run $(quoted "$1") --servers $there --output $run" || status=$?
    trap 'exit 130' INT TERM
    # A failed or interrupted run is fetched too, because it can contain finished trials.
    mkdir -p "$project/results"
    at_client "tar -C bench -cf - $run" | tar -C "$project" -xf - || die "there is no run folder to fetch"
    echo "The run is in $run"
    return "$status"
}
