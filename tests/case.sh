#!/bin/sh
# case.sh DIR PROGRAM - runs DIR/cmd in a copy of DIR and compares what came out
# with DIR/stdout, DIR/stderr and DIR/exit.  LM_BLESS=1 rewrites them instead.
#
# cmd sees $LINEMATE (the program) and $LM_TESTS (this folder).
set -u
dir=$1
LINEMATE=$2
LM_TESTS=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 2
LC_ALL=C
export LINEMATE LM_TESTS LC_ALL
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cp -r "$dir/." "$tmp" || exit 2
(cd "$tmp" && sh ./cmd >got.stdout 2>got.stderr; echo $? >got.exit)
bad=0
for part in stdout stderr exit; do
	# The copy's place differs in every run, the checkout's on every machine.
	sed -e "s|$tmp|TMP|g" -e "s|$LM_TESTS|TESTS|g" "$tmp/got.$part" >"$tmp/clean.$part"
	if [ "${LM_BLESS:-}" ]; then cp "$tmp/clean.$part" "$dir/$part"; fi
	diff -u "$dir/$part" "$tmp/clean.$part" || bad=1
done
exit "$bad"
