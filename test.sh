#!/bin/sh
# test.sh - installs what is missing, builds, and runs every test: with gcc, with
# sanitizers, and built once with clang.  Ends with "N passed, N failed".
set -u
cd "$(dirname "$0")" || exit 2
. scripts/packages.sh
lm_install build test || exit 1
jobs=$(nproc)
passed=0
failed=0
mkdir -p build

fail() {
	failed=$((failed + 1))
	echo "FAILED: $*"
}

# build PRESET - configure and compile; quiet if it works.
build() {
	echo "== $1: build"
	if ! { cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs"; } >"build/$1.log" 2>&1; then
		tail -n 60 "build/$1.log"
		fail "build with preset $1"
		return 1
	fi
}

# run PRESET - all tests of a build, counted.
run() {
	echo "== $1: tests"
	ctest --preset "$1" -j "$jobs" 2>&1 | tee "build/$1-tests.log"
	summary=$(grep -E '^[0-9]+% tests passed, ' "build/$1-tests.log")
	if [ -z "$summary" ]; then
		fail "ctest of preset $1 came to no end"
		return
	fi
	bad=$(echo "$summary" | sed -E 's/.*passed, ([0-9]+) tests? failed.*/\1/')
	all=$(echo "$summary" | sed -E 's/.* out of ([0-9]+).*/\1/')
	failed=$((failed + bad))
	passed=$((passed + all - bad))
}

ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS UBSAN_OPTIONS
for preset in dev asan; do
	if build "$preset"; then
		run "$preset"
	fi
done
if build clang; then
	passed=$((passed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
