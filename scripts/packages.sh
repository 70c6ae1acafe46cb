# packages.sh - to be sourced from the checkout's root: what linemate needs from
# apt, in one place.  Debian 12 and later, Ubuntu 22.04 and later.
#
#   lm_install build          what building and running need
#   lm_install build demo     and what demo.sh needs, too
#   lm_install build test     and what test.sh needs, too
#
# Installs what is missing, and only then calls apt; its chatter goes to
# build/apt.log.
# shellcheck shell=sh

lm_say() {
	printf '%s\n' "$*" >&2
}

# True if all these packages are installed.
lm_have() {
	for lm_package in "$@"; do
		case $(dpkg-query -W -f='${db:Status-Abbrev}' "$lm_package" 2>/dev/null) in
		ii*) ;;
		*) return 1 ;;
		esac
	done
}

# The LLVM version to use: the newest that is installed, else the newest that apt has.
lm_llvm() {
	for lm_version in 19 18 17 16 15 14; do
		if lm_have "libclang-$lm_version-dev" "clang-$lm_version"; then
			echo "$lm_version"
			return
		fi
	done
	for lm_version in 19 18 17 16 15 14; do
		if apt-cache show "libclang-$lm_version-dev" >/dev/null 2>&1; then
			echo "$lm_version"
			return
		fi
	done
	echo 14
}

# The package with the kernel's headers: Debian's name, else Ubuntu's.
lm_kernel_headers() {
	lm_arch=$(dpkg --print-architecture)
	if apt-cache show "linux-headers-$lm_arch" >/dev/null 2>&1; then
		echo "linux-headers-$lm_arch"
	else
		echo linux-headers-generic
	fi
}

# A browser for the page's test, and a font for it.  Ubuntu's chromium only installs a snap, which is of no use there.
lm_browser() {
	if [ "$(apt-cache show chromium 2>/dev/null | grep -c '^Depends:.*libgtk')" -gt 0 ]; then
		echo chromium fonts-dejavu-core
	fi
}

lm_packages() {
	lm_version=$(lm_llvm)
	for lm_purpose in "$@"; do
		case $lm_purpose in
		build)
			echo gcc libc6-dev cmake ninja-build pkg-config git
			echo "libclang-$lm_version-dev" "clang-$lm_version" clang
			echo libdwarf-dev libelf-dev libcapstone-dev libzstd-dev libglpk-dev libjansson-dev libgit2-dev
			echo uthash-dev
			;;
		demo)
			lm_kernel_headers
			;;
		test)
			echo libcmocka-dev python3 patch dwarves valgrind zstd zsh dpkg-dev file
			lm_kernel_headers
			# A compiler and an emulator for arm64: 55 MB to download, 260 MB on disk.
			echo qemu-user
			if [ "$(dpkg --print-architecture)" != arm64 ]; then echo gcc-aarch64-linux-gnu; fi
			# Debian's name; without it the test with a real perf reads a recorded file only.
			if apt-cache show linux-perf >/dev/null 2>&1; then echo linux-perf; fi
			lm_browser
			;;
		esac
	done
}

lm_apt() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

lm_missing() {
	lm_gone=
	for lm_package in $(lm_packages "$@"); do
		lm_have "$lm_package" || lm_gone="$lm_gone $lm_package"
	done
	echo "${lm_gone# }"
}

lm_install() {
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
		lm_say "This script installs packages with apt, which this system does not have;" \
			"CONTRIBUTING.md lists what linemate needs, to be built with cmake -B build."
		return 1
	fi
	[ "$(lm_missing "$@")" ] || return 0
	if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
		lm_say "Missing packages: $(lm_missing "$@"). Install them as root (this user is not, and there is no sudo)."
		return 1
	fi
	mkdir -p build
	lm_say "Looking for packages ..."
	# The lists first: names differ from release to release.
	lm_apt apt-get update >build/apt.log 2>&1 || lm_say "apt-get update failed (build/apt.log); going on with old lists."
	lm_gone=$(lm_missing "$@")
	lm_say "Installing: $lm_gone"
	# shellcheck disable=SC2086
	if ! lm_apt env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $lm_gone \
		>>build/apt.log 2>&1; then
		lm_say "apt-get could not install these packages; build/apt.log says why."
		return 1
	fi
}
