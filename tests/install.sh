#!/bin/sh
# install.sh CMAKE BUILD VERSION - what cmake --install puts down is complete and runs.
set -u
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
"$1" --install "$2" --prefix "$tmp/usr" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
bad=0
for file in bin/linemate share/man/man1/linemate.1 share/bash-completion/completions/linemate; do
	if [ ! -s "$tmp/usr/$file" ]; then
		echo "not installed: $file"
		bad=1
	fi
done
case $("$tmp/usr/bin/linemate" --version) in
*"$3"*) ;;
*)
	echo "the installed program does not say version $3"
	bad=1
	;;
esac
exit "$bad"
