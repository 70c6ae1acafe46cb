#!/bin/sh
# package.sh CPACK BUILD VERSION - the Debian package that cpack makes is complete, and what is in it works.
set -u
version=$3
tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
"$1" -G DEB --config "$2/CPackConfig.cmake" -B "$tmp/made" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
bad=0
fail() {
	echo "FAIL $*"
	bad=1
}

deb=$(find "$tmp/made" -maxdepth 1 -name "linemate_${version}_$(dpkg --print-architecture).deb")
[ "$deb" ] || { cat "$tmp/log"; echo "cpack made no package of this version"; exit 1; }
dpkg-deb -I "$deb" >"$tmp/control" || exit 1
cat "$tmp/control"
for part in "Package: linemate" "Version: $version" "Section: devel" "Recommends: gcc, clang, git"; do
	grep -qx " $part" "$tmp/control" || fail "control does not say: $part"
done
# dpkg-shlibdeps names the package of every library that the program is linked to.
for library in libc6 libclang libgit2 libglpk libjansson libdwarf libelf libcapstone libzstd "gcc | clang"; do
	grep '^ Depends:' "$tmp/control" | grep -qF "$library" || fail "does not depend on $library"
done
dpkg-deb -c "$deb" | awk '{ print $1, $2, $6 }' >"$tmp/list" || exit 1
need() {
	grep -qx -- "$1 root/root ./usr/$2" "$tmp/list" || fail "not in the package: $1 $2"
}
need -rwxr-xr-x bin/linemate
for page in "$tests"/../man/*.1; do need -rw-r--r-- "share/man/man1/$(basename "$page").gz"; done
for page in "$tests"/../docs/*.md; do need -rw-r--r-- "share/doc/linemate/$(basename "$page")"; done
for file in bash-completion/completions/linemate zsh/vendor-completions/_linemate doc/linemate/README.md \
	doc/linemate/copyright doc/linemate/changelog.gz; do
	need -rw-r--r-- "share/$file"
done

dpkg -x "$deb" "$tmp/root" || exit 1
linemate=$tmp/root/usr/bin/linemate
case $("$linemate" --version) in
"linemate $version"*) ;;
*) fail "the packaged program does not say version $version" ;;
esac
find "$tmp/root/usr/share" -name '*.gz' -exec gzip -t {} + || fail "a page is no gzip file"
cd "$tests/data/flagship" || exit 2
# shellcheck disable=SC2046
"$linemate" patch -q --struct mem_cgroup --header include/linux/memcontrol.h --profile sites.access --root . \
	--config v1:+CONFIG_MEMCG_V1 -- $(cat flags) >"$tmp/diff" || fail "the packaged program made no patch"
cp -r include "$tmp/include"
(cd "$tmp" && patch -s -p1 <diff) || fail "its patch does not apply"
exit "$bad"
