#!/bin/sh
# valgrind.sh PROGRAM - the flagship under valgrind: no invalid access, no use of
# what was never set, nothing lost.
set -u
program=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cp -r "$here/data/flagship/include" "$tmp" && cd "$tmp" && git init -q || exit 2
# shellcheck disable=SC2046
valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
	--errors-for-leak-kinds=definite,indirect --suppressions="$here/valgrind.supp" --log-file="$tmp/valgrind.log" \
	"$program" patch --struct mem_cgroup --header include/linux/memcontrol.h \
	--profile "$here/data/flagship/sites.access" --config v1:+CONFIG_MEMCG_V1 \
	-- $(cat "$here/data/flagship/flags") >out.patch 2>out.words
code=$?
if [ "$code" -ne 0 ] || [ ! -s out.patch ] || [ -s valgrind.log ]; then
	echo "exit code $code"
	cat out.words valgrind.log
	exit 1
fi
