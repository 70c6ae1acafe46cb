#!/bin/sh
# demo.sh - installs what is missing, builds linemate, and lets it repair two
# records: struct mem_cgroup of the kernel headers that the distribution ships,
# and the bundled record of a real regression.  Touches nothing but build/.
set -u
cd "$(dirname "$0")" || exit 2
root=$(pwd)
. scripts/packages.sh
lm_install build demo || exit 1
work=$root/build/demo
lm=$work/linemate
mkdir -p "$work"

title() {
	printf '\n==== %s ====\n\n' "$*"
}

# Shows the command on the terminal, whatever its own output goes to.
exec 3>&1
run() {
	printf '$ %s\n\n' "$*" | sed "s|$lm|linemate|g; s|$root/||g" >&3
	"$@"
}

die() {
	echo "demo.sh: $*" >&2
	exit 1
}

title "Building"
if ! { cmake -S . -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=OFF &&
	cmake --build "$work" --target linemate; } >"$work.log" 2>&1; then
	tail -n 40 "$work.log"
	die "the build failed; all of it is in build/demo.log"
fi
echo "build/demo/linemate, $("$lm" --version | head -n 1)"

# tree FOLDER - an empty work tree of its own.
tree() {
	rm -rf "$1"
	mkdir -p "$1"
	git -C "$1" init -q
}

# apply NAME FOLDER - build/demo/NAME.patch to the tree build/demo/FOLDER.
apply() {
	run git -C "$work/$2" apply "../$1.patch" || die "git apply did not take build/demo/$1.patch"
}

# enter FOLDER
enter() {
	printf '$ cd %s\n' "$1" | sed "s|$root/||" >&3
	cd "$1" || die "cannot enter $1"
}

# what WORDS - one line that says what changed: the report's first sentence.
what() {
	printf '\n=> %s\n' "$(sed '/^A transfer is\|^Kept as it is/,$d' "$1" | tr -s ' \n' ' ')"
}

kernel_headers() {
	title "struct mem_cgroup as $1 ships it"
	header=$1/include/linux/memcontrol.h
	run "$lm" patch --kernel-headers --struct mem_cgroup --header "$header" \
		--profile tests/data/mem_cgroup-6.1.access >"$work/debian.patch" 2>"$work/debian.words" ||
		{ cat "$work/debian.words"; die "linemate patch failed"; }
	cat "$work/debian.words" "$work/debian.patch"
	if [ -s "$work/debian.patch" ]; then
		echo
		tree "$work/debian"
		mkdir -p "$work/debian/include/linux"
		cp "$header" "$work/debian/include/linux"
		apply debian debian
		run "$lm" show --kernel-headers --struct mem_cgroup --header "$work/debian/include/linux/memcontrol.h" \
			--profile tests/data/mem_cgroup-6.1.access || die "linemate show failed"
	fi
	what "$work/debian.words"
}

flagship() {
	title "struct mem_cgroup with a regression of 36 %, in seven configurations"
	data=$root/tests/data/flagship
	tree "$work/before"
	cp -r "$data/include" "$work/before"
	enter "$work/before"
	# shellcheck disable=SC2046
	run "$lm" patch --struct mem_cgroup --header include/linux/memcontrol.h --profile "$data/sites.access" \
		--config nolru:-CONFIG_LRU_GEN_WALKS_MMU --config nowb:-CONFIG_CGROUP_WRITEBACK \
		--config v1:+CONFIG_MEMCG_V1 --config v1nolru:+CONFIG_MEMCG_V1,-CONFIG_LRU_GEN_WALKS_MMU \
		--config v1nowb:+CONFIG_MEMCG_V1,-CONFIG_CGROUP_WRITEBACK --config zswap:+CONFIG_ZSWAP \
		-- $(cat "$data/flags") >"$work/flagship.patch" 2>"$work/flagship.words" ||
		{ cat "$work/flagship.words"; die "linemate patch failed"; }
	cat "$work/flagship.words" "$work/flagship.patch"
	echo
	tree "$work/after"
	cp -r "$data/include" "$work/after"
	apply flagship after
	enter "$work/after"
	# shellcheck disable=SC2046
	run "$lm" show --struct mem_cgroup --header include/linux/memcontrol.h --profile "$data/sites.access" \
		-- $(cat "$data/flags") || die "linemate show failed"
	cd "$root" || exit 2
	what "$work/flagship.words"
}

common=$(find /usr/src -maxdepth 1 -name 'linux-headers-*-common' 2>/dev/null | sort -V | tail -n 1)
if [ "$common" ]; then
	kernel_headers "$common"
else
	title "struct mem_cgroup of the distribution's kernel"
	echo "/usr/src has no linux-headers-*-common folder (Debian's way); only the bundled record is shown."
fi
flagship
