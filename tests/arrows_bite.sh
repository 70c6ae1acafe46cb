#!/bin/sh
# arrows_bite.sh ARROWS - plants one wrong include at a time in a tree of its
# own and expects ARROWS to find each: a test that cannot fail proves nothing.
arrows=$1
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
bad=0

fresh() {
	rm -rf "$tmp/house"
	mkdir -p "$tmp/house/base" "$tmp/house/profiles" "$tmp/house/optimizer" "$tmp/house/output/cli"
	echo '#include "base/err.h"' >"$tmp/house/base/err.c"
	echo '#include <git2.h>' >"$tmp/house/output/diff.c"
	echo '#include "profiles/debuginfo.h"' >"$tmp/house/optimizer/join.c"
}

fresh
if ! "$arrows" "$tmp/house" >/dev/null; then
	echo "a right house is called wrong"
	bad=1
fi
while read -r file include; do
	fresh
	echo "#include $include" >"$tmp/house/$file"
	if "$arrows" "$tmp/house" >/dev/null; then
		echo "not found: $file includes $include"
		bad=1
	fi
done <<'LIST'
base/str.c "profiles/access.h"
base/str.c "output/diff.h"
profiles/access.c "optimizer/record.h"
profiles/reader.c "output/report.h"
optimizer/plan.c "output/rewrite.h"
optimizer/plan.c "profiles/debuginfo.h"
optimizer/plan.c "profiles/reader.h"
optimizer/body.c <clang-c/Index.h>
output/verify.c <libdwarf.h>
output/verify.c <dwarf.h>
optimizer/packing.c <glpk.h>
optimizer/packing.c <setjmp.h>
output/rewrite.c <git2/diff.h>
output/report.c <jansson.h>
optimizer/cost.c <uthash.h>
output/cli/main.c "../diff.h"
LIST
exit "$bad"
