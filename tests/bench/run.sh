#!/bin/sh
# run.sh [--tsv] [--runs N] [--vmlinux FILE [--perf PERF]] [BUILD] - prints what was promised
# about speed beside what is measured.  BUILD is a build folder; default: the
# release preset's, which is built first.  Takes some minutes; nothing else
# should run meanwhile.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
options=
while [ $# -gt 0 ]; do
	case $1 in
	--tsv) options="$options --tsv" ;;
	--runs | --vmlinux | --perf) options="$options $1 ${2:?$1 wants a value}"; shift ;;
	-*) echo "usage: run.sh [--tsv] [--runs N] [--vmlinux FILE [--perf PERF]] [BUILD]" >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
if [ $# -gt 0 ]; then
	build=$1
else
	build=$root/build/release
	cd "$root"
	{ cmake --preset release && cmake --build --preset release; } >&2
fi
# shellcheck disable=SC2086
exec python3 "$here/bench.py" $options "$build"
