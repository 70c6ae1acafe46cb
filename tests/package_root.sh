#!/bin/sh
# package_root.sh PACKAGE.deb [ROOT] - installs the package on a clean Debian made by debootstrap (in ROOT, which must
# not exist; default: a temporary folder that is removed again), and lets it patch the kernel that Debian ships, as
# the first part of demo.sh does.
#
# Needs root, debootstrap and a network; not part of the test command, which takes the package apart instead.
set -eu
deb=$(realpath "$1")
tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=${2:-}
if [ ! "$root" ]; then
	root=$(mktemp -d)
	trap 'rm -rf "$root"' EXIT
fi
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
debootstrap --variant=minbase "$suite" "$root" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
rm -f "$root.log"
mirror=http://deb.debian.org
cat >"$root/etc/apt/sources.list" <<END
deb $mirror/debian $suite main
deb $mirror/debian $suite-updates main
deb $mirror/debian-security $suite-security main
END
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$deb" "$root/linemate.deb"
mkdir -p "$root/work"
cp "$tests/data/mem_cgroup-6.1.access" "$root/work/"
cat >"$root/work/run" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
apt-get update >/dev/null
apt-get install -y --no-install-recommends /linemate.deb git linux-headers-amd64 >/work/apt.log 2>&1 ||
	{ tail /work/apt.log; exit 1; }
linemate --version
cd /work
linemate patch --kernel-headers --struct mem_cgroup --header include/linux/memcontrol.h \
	--profile mem_cgroup-6.1.access -o memcg.patch 2>words || { cat words; exit 1; }
sed -n 1,4p words
mkdir -p tree/include/linux
cp /usr/src/linux-headers-*-common/include/linux/memcontrol.h tree/include/linux/
cd tree
git apply ../memcg.patch
cat ../memcg.patch
echo "the package works on a clean root"
END
chroot "$root" sh /work/run
