#!/bin/sh
# For maintainers: run provision.sh in a bare root file system, then a command in a copy of the project, as an ordinary
# user. Run this script as root on Debian or Ubuntu with debootstrap. It removes all its files.
#
#     sudo deploy/try-in-debootstrap.sh [SUITE [MIRROR [COMMAND]]]
#     sudo deploy/try-in-debootstrap.sh noble http://archive.ubuntu.com/ubuntu 'make setup'
#
# If debootstrap can't find the file with the archive's keys, set KEYRING to its path.
set -eu

# Use a separate mount namespace, so that the mounts always end with the script.
[ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare --mount "$0" "$@"

suite=${1:-trixie}
mirror=${2:-http://deb.debian.org/debian}
command=${3:-make bench}
project=$(cd "$(dirname "$0")/.." && pwd)
root=$(mktemp -d /var/tmp/bare.XXXXXX)
chmod 755 "$root"
components=main
case $mirror in *ubuntu*) components=main,universe ;; esac

clean_up() {
    awk -v root="$root/" 'index($2, root) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n 1 umount
    if grep -q " $root/" /proc/mounts; then
        echo "a file system is still mounted below $root, so the folder is not removed" >&2
        exit 1
    fi
    rm -rf --one-file-system "$root"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# This also works for Ubuntu releases for which this debootstrap has no script.
script=
[ -e "/usr/share/debootstrap/scripts/$suite" ] || script=/usr/share/debootstrap/scripts/gutsy
# shellcheck disable=SC2086  # empty if it isn't needed
debootstrap --variant=minbase --components="$components" ${KEYRING:+"--keyring=$KEYRING"} \
    "$suite" "$root" "$mirror" $script

for name in proc sys dev dev/pts dev/shm; do
    mount --bind "/$name" "$root/$name"
done

chroot "$root" useradd --create-home bench
mkdir "$root/vagrant"
(cd "$project" && git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create) |
    tar --extract --directory="$root/vagrant" --no-same-owner
chroot "$root" chown -R bench: /vagrant

# The bare system needs this machine's configuration for the package indexes, such as a proxy's certificate.
settings=
certificates=${PIP_CERT:-${NODE_EXTRA_CA_CERTS:-}}
if [ -n "$certificates" ]; then
    cp "$certificates" "$root/etc/host-certificates.pem"
    settings="PIP_CERT=/etc/host-certificates.pem NODE_EXTRA_CA_CERTS=/etc/host-certificates.pem"
fi
[ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/pip.conf"

inside() {
    user=$1
    shift
    chroot "$root" su --login "$user" -c "export SUDO_USER=bench $settings; cd /vagrant && $*"
}
inside root deploy/provision.sh /vagrant
inside root deploy/vagrant/local-folders.sh /vagrant
inside root deploy/provision.sh /vagrant
inside root deploy/vagrant/local-folders.sh /vagrant
inside bench "$command"
