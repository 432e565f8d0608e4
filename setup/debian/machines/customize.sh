#!/bin/sh
# Turns a fresh Debian root into the machine of the tests. Takes the root; AUTHORIZED_KEY is root's.
set -eu
root=$1

echo machine >"$root/etc/hostname"
printf '127.0.0.1 localhost\n127.0.1.1 machine\n' >"$root/etc/hosts"
# The second disk holds what a test brings along. systemd's own 90 s are too short for a busy emulator.
cat >"$root/etc/fstab" <<'END'
/dev/vda / ext4 defaults 0 1
/dev/vdb /srv ext4 defaults,x-systemd.device-timeout=600 0 2
END
# The first boot would wait for someone to answer.
echo 0123456789abcdef0123456789abcdef >"$root/etc/machine-id"

# QEMU's own network has these addresses always: no DHCP, and nothing to wait for.
cat >"$root/etc/systemd/network/10-qemu.network" <<'END'
[Match]
Type=ether
Name=e*

[Network]
Address=10.0.2.15/24
Gateway=10.0.2.2
LinkLocalAddressing=no
END
rm -f "$root/etc/resolv.conf"
echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf"
chroot "$root" systemctl enable --quiet systemd-networkd ssh
chroot "$root" systemctl disable --quiet systemd-networkd-wait-online.service || true
mkdir -p "$root/etc/systemd/system.conf.d"
printf '[Manager]\nDefaultTimeoutStartSec=600\nDefaultDeviceTimeoutSec=600\n' >"$root/etc/systemd/system.conf.d/slow.conf"
# Nothing that works by itself, and nobody who logs in at a terminal.
chroot "$root" systemctl mask --quiet apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer \
  e2scrub_reap.service dpkg-db-backup.timer getty@tty1.service serial-getty@ttyS0.service man-db.timer
# The first boot would rebuild what the packages have just built.
touch "$root/etc/.updated" "$root/var/.updated"

# The few drivers of this computer: an initrd with all of them takes half a minute to unpack.
sed -i 's/^MODULES=.*/MODULES=list/' "$root/etc/initramfs-tools/initramfs.conf"
printf 'virtio_pci\nvirtio_blk\next4\ncrc32c_generic\n' >>"$root/etc/initramfs-tools/modules"
chroot "$root" update-initramfs -u -k all >/dev/null

mkdir -p "$root/root/.ssh" "$root/var/log/journal"
chmod 700 "$root/root/.ssh"
echo "$AUTHORIZED_KEY" >"$root/root/.ssh/authorized_keys"
# A reverse look-up or a key exchange that takes seconds on an emulated processor would slow every command.
printf 'UseDNS no\nGSSAPIAuthentication no\nMaxStartups 50\nMaxSessions 50\n' >"$root/etc/ssh/sshd_config.d/machine.conf"

# The service listens on the loopback; QEMU forwards connections to the machine's own address.
cat >"$root/etc/systemd/system/forward.socket" <<'END'
[Socket]
ListenStream=10.0.2.15:17420
FreeBind=yes

[Install]
WantedBy=sockets.target
END
cat >"$root/etc/systemd/system/forward.service" <<'END'
[Service]
ExecStart=/usr/lib/systemd/systemd-socket-proxyd 127.0.0.1:7420
END
chroot "$root" systemctl enable --quiet forward.socket
