#!/bin/sh
# install.sh CMAKE BUILD VERSION - what cmake --install puts down is complete and runs.
set -u
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
"$1" --install "$2" --prefix "$tmp/usr" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
bad=0
pages=$(cd "$(dirname "$0")/../man" && echo *.1) || exit 2
set -- "$1" "$2" "$3" bin/linemate share/bash-completion/completions/linemate share/zsh/vendor-completions/_linemate
for page in $pages; do set -- "$@" "share/man/man1/$page"; done
version=$3
shift 3
for file in "$@"; do
	if [ ! -s "$tmp/usr/$file" ]; then
		echo "not installed: $file"
		bad=1
	fi
done
case $("$tmp/usr/bin/linemate" --version) in
*"$version"*) ;;
*)
	echo "the installed program does not say version $version"
	bad=1
	;;
esac
exit "$bad"
