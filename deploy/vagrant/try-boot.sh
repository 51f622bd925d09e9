#!/bin/sh
# For maintainers: boot the machine of the Vagrantfile from a new local box, run a command in it with the committed
# files, and remove the machine and the box. Run this script as root, with /dev/kvm, a running libvirtd, vagrant-libvirt
# and the requirements of debian-box.sh.
#
#     sudo deploy/vagrant/try-boot.sh [COMMAND [SUITE [MIRROR]]]
#     sudo deploy/vagrant/try-boot.sh 'make test'
#     sudo BENCH_DRIVER=qemu deploy/vagrant/try-boot.sh    # without /dev/kvm: half an hour, and the figures are meaningless
set -eu

command=${1:-make bench}
shift "$((${#} > 0))"
project=$(cd "$(dirname "$0")/../.." && pwd)

die() {
    echo "try-boot: $*" >&2
    exit 1
}

[ "$(id -u)" = 0 ] || die "run it as root: sudo $0"
[ -w /dev/kvm ] || [ "${BENCH_DRIVER:-}" = qemu ] || die "there is no /dev/kvm; BENCH_DRIVER=qemu emulates a processor, slowly"
command -v vagrant >/dev/null || die "vagrant is missing: apt-get install vagrant-libvirt"
virsh --connect qemu:///system version >/dev/null 2>&1 || die "libvirtd is not running: apt-get install libvirt-daemon-system"

work=$(mktemp -d /var/tmp/boot.XXXXXX)
chmod 755 "$work"
export VAGRANT_HOME="$work/vagrant" VAGRANT_CWD="$work/project" VAGRANT_DEFAULT_PROVIDER=libvirt
export BENCH_BOX=try-boot/debian

clean_up() {
    vagrant destroy --force >/dev/null 2>&1 || true
    virsh --connect qemu:///system vol-list default 2>/dev/null | awk '/try-boot-VAGRANTSLASH/ { print $1 }' |
        xargs -r -n 1 virsh --connect qemu:///system vol-delete --pool default >/dev/null
    rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

git clone --quiet "$project" "$work/project"
"$project/deploy/vagrant/debian-box.sh" "$work/debian.box" "$@"
vagrant box add --name "$BENCH_BOX" "$work/debian.box"
vagrant up
vagrant ssh -c "cd /vagrant && $command"
