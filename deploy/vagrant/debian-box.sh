#!/bin/sh
# Create a Vagrant box of Debian for the provider libvirt, for machines that can't download or trust a public box.
# Run this script as root on Debian or Ubuntu with debootstrap, qemu-utils and e2fsprogs.
#
#     sudo deploy/vagrant/debian-box.sh FILE [SUITE [MIRROR]]
#     vagrant box add --name local/debian FILE && BENCH_BOX=local/debian vagrant up --provider libvirt
#
# EXTRA_CA is the path of a file with additional certificates to trust, such as a proxy's.
set -eu

file=${1:?give the path of the new file, such as debian.box}
suite=${2:-trixie}
mirror=${3:-http://deb.debian.org/debian}
size=12  # GB; the file only needs the space that the system uses

die() {
    echo "debian-box: $*" >&2
    exit 1
}

[ "$(id -u)" = 0 ] || die "run it as root: sudo $0"
for tool in debootstrap qemu-img mke2fs ssh-keygen; do
    command -v "$tool" >/dev/null || die "$tool is missing: apt-get install debootstrap qemu-utils e2fsprogs openssh-client"
done

work=$(mktemp -d /var/tmp/box.XXXXXX)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM

packages=linux-image-amd64,systemd-sysv,udev,dbus,ifupdown,isc-dhcp-client,iproute2,openssh-server,sudo,rsync,ca-certificates
debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$mirror" >"$work/log" 2>&1 || {
    tail -n 5 "$work/log" >&2
    die "debootstrap failed"
}

# Vagrant's account. The box contains its private key, so don't publish the box.
ssh-keygen -q -t ed25519 -N "" -C vagrant -f "$work/key"
chroot "$root" useradd --create-home --shell /bin/bash vagrant
install -d -m 700 "$root/home/vagrant/.ssh"
install -m 600 "$work/key.pub" "$root/home/vagrant/.ssh/authorized_keys"
chroot "$root" chown -R vagrant: /home/vagrant/.ssh
echo "vagrant ALL=(ALL) NOPASSWD: ALL" > "$root/etc/sudoers.d/vagrant"
echo "UseDNS no" > "$root/etc/ssh/sshd_config.d/vagrant.conf"

echo bench > "$root/etc/hostname"
echo "127.0.0.1 localhost" > "$root/etc/hosts"
echo "/dev/vda / ext4 defaults 0 1" > "$root/etc/fstab"
cat > "$root/etc/network/interfaces" <<NETWORK
auto lo eth0
iface lo inet loopback
iface eth0 inet dhcp
NETWORK
if [ -n "${EXTRA_CA:-}" ]; then
    install -m 644 "$EXTRA_CA" "$root/usr/local/share/ca-certificates/extra.crt"
    chroot "$root" update-ca-certificates >"$work/log" 2>&1
    # Programs that contain their own certificates use the system's instead.
    for name in PIP_CERT NODE_EXTRA_CA_CERTS SSL_CERT_FILE; do
        echo "$name=/etc/ssl/certs/ca-certificates.crt" >> "$root/etc/environment"
    done
fi
chroot "$root" apt-get clean

# libvirt starts the kernel directly, so the disk needs no boot loader and no partitions.
cp "$root"/boot/vmlinuz-* "$work/vmlinuz"
cp "$root"/boot/initrd.img-* "$work/initrd.img"
mke2fs -q -t ext4 -d "$root" "$work/disk.raw" "${size}G"
qemu-img convert -O qcow2 "$work/disk.raw" "$work/box.img"
cat > "$work/metadata.json" <<METADATA
{"provider": "libvirt", "format": "qcow2", "virtual_size": $size}
METADATA
cat > "$work/Vagrantfile" <<'VAGRANTFILE'
Vagrant.configure("2") do |config|
  config.ssh.private_key_path = File.expand_path("key", __dir__)
  config.vm.provider "libvirt" do |machine|
    machine.kernel = File.expand_path("vmlinuz", __dir__)
    machine.initrd = File.expand_path("initrd.img", __dir__)
    # BENCH_DRIVER=qemu emulates a processor, which is enough to test the boot, but not for measurements.
    if ENV["BENCH_DRIVER"] == "qemu"
      machine.driver = "qemu"
      machine.cpu_mode = "custom"
      machine.cpu_model = "qemu64"
      machine.qemuargs value: "-cpu"
      machine.qemuargs value: "max"
    end
    machine.cmd_line = "root=/dev/vda rw net.ifnames=0 console=ttyS0"
  end
end
VAGRANTFILE
tar -C "$work" -czf "$file" metadata.json Vagrantfile box.img vmlinuz initrd.img key
echo "debian-box: created $file from $suite"
