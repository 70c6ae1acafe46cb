#!/bin/sh
# perf_real.sh LINEMATE TELL_SAMPLES - a real perf records a program of ours with
# hardware breakpoints; linemate reads the perf.data without perf, and finds what
# the program did, to the last access.
#
# A kernel may not allow perf, or a machine have no debug registers: then only
# the file that was recorded before is read, and this script says so.
set -u
linemate=$1
tell=$2
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
bad=0

# same WHAT GOT WANT
same() {
	if [ "$2" = "$3" ]; then
		echo "ok: $1: $2"
	else
		echo "WRONG: $1: got $2, want $3"
		bad=1
	fi
}

# by_code FILE - its access file, members found by the program's code; no perf can be found and run.
by_code() {
	env PATH=/nonexistent "$linemate" profile --binary program --struct watched --profile "$1" -o out.access \
		2>words || { cat words; exit 1; }
}

# member NAME COLUMN - of the rows of out.access with a member; column 6: reads, 7: writes.
member() {
	awk -F '\t' -v name="$1" -v column="$2" '!/^#/ && $2 == name { n += $column } END { print n + 0 }' out.access
}

# access FILE OBJECT - its access file; no perf can be found and run.
access() {
	env PATH=/nonexistent "$linemate" profile -q --object "$2" --struct watched --profile "$1" -o out.access ||
		exit 1
}

# sum OFFSET COLUMN - of the rows of out.access at an offset; column 6: reads, 7: writes.
sum() {
	awk -F '\t' -v offset="$1" -v column="$2" '!/^#/ && $3 == offset { n += $column } END { print n + 0 }' out.access
}

samples() {
	sed -n 's/^#samples\t//p' out.access
}

# ---- a file recorded before ----
access "$here/data/profiles/c2c.perf.data" 0xa9ef040
same "recorded file: samples" "$(samples)" 1300
same "recorded file: writes of +24" "$(sum 24 7)" 420
same "recorded file: reads of +16" "$(sum 16 6)" 120

# ---- a real one ----
if ! command -v perf >/dev/null || ! command -v cc >/dev/null; then
	echo "no perf or no cc here: only the recorded file was read"
	exit "$bad"
fi
if ! cc -O1 -g -no-pie -o program "$here/perf_real_program.c"; then
	echo "cannot compile the program"
	exit 1
fi
base=0x$(nm program | awk '$3 == "watched" { print $1 }' | sed 's/^0*//')
written=$(printf '0x%x' $((base + 8)))
changed=$(printf '0x%x' $((base + 16)))
if ! perf record -q -o probe.data -e "mem:$written/8:rw:u" -c 1 ./program >perf.log 2>&1; then
	echo "the kernel gives no hardware breakpoints to perf: only the recorded file was read; perf said:"
	cat perf.log
	exit "$bad"
fi

# record NAME OPTIONS... - with all three breakpoints.
record() {
	name=$1
	shift
	perf record -q -o "$name" "$@" -m 256 -c 1 -d -e "mem:$written/8:w:u" -e "mem:$written/8:rw:u" \
		-e "mem:$changed/8:w:u" ./program 2>>perf.log
}

# check NAME - each write of .written trapped twice (w, rw) and counts once; a
# read-modify-write traps as a write.
check() {
	access "$1" "$base"
	same "$1: writes of .written" "$(sum 8 7)" 1000
	same "$1: reads of .written" "$(sum 8 6)" 250
	same "$1: changes of .changed" "$(sum 16 7)" 300
	same "$1: samples" "$(samples)" 2550
}

record plain.data && check plain.data
same "as many samples as perf prints" "$(samples)" "$(perf script -i plain.data 2>/dev/null | grep -c 'mem:0x')"
if record compressed.data -z; then
	check compressed.data
else
	echo "this perf cannot compress"
fi
record - >pipe.data && check pipe.data
access - "$base" <pipe.data
same "pipe mode through standard input" "$(samples)" 2550

# A file that is cut off gives what it has, and says that something is missing.
head -c "$(($(wc -c <plain.data) / 2))" plain.data >cut.data
access cut.data "$base"
same "half a file" "$(grep -c '^#dropped.truncated.1$' out.access)" 1

# ---- by the code of the program ----
by_code plain.data
same "by code: writes of written" "$(member written 7)" 1000
same "by code: reads of written" "$(member written 6)" 250
same "by code: changes of changed" "$(member changed 7)" 300
same "by code: one object" "$(awk -F '\t' '!/^#/ { print $8 }' out.access | sort -u)" 0
# A program that is not the one that ran.
cp program ran
sed 's/READS = 250/READS = 251/' "$here/perf_real_program.c" >other.c
cc -O1 -g -no-pie -o program other.c || exit 1
env PATH=/nonexistent "$linemate" profile --binary program --struct watched --profile plain.data >none 2>words
same "another build: exit code" "$?" 3
same "another build: words" "$(grep -c 'is not the file that was profiled: its build id is [0-9a-f]*, the profile says [0-9a-f]* for ' words)" 1
same "another build: rows" "$(cat none)" ""
mv ran program

# ---- how good is it? ----
same "breakpoints are exact" "$("$tell" plain.data)" "exact 1550"
if perf record -q -o clock.data -e cpu-clock:u ./program spin 2>>perf.log; then
	same "cpu-clock is late" "$("$tell" clock.data | cut -d ' ' -f 1)" skidding
	same "as many as perf prints" "$("$tell" clock.data | cut -d ' ' -f 2)" \
		"$(perf script -i clock.data -F event,ip 2>/dev/null | grep -c 'cpu-clock')"
	by_code clock.data
	same "cpu-clock by code: only what the loop writes" \
		"$(awk -F '\t' '!/^#/ { print $2, $6 ? "read" : "not read", $9 }' out.access | sort -u)" \
		"written not read skidding"
fi

# ---- a function that is handed a part of two records: the call chain tells them apart ----
# chain NAME FLAGS... - records calls in NAME.data.
chain() {
	name=$1
	shift
	cc -O1 -g -no-pie -fno-omit-frame-pointer "$@" -o program "$here/perf_real_program.c" || exit 1
	perf record -q -o "$name.data" --call-graph fp -e cpu-clock:u ./program part 2>>perf.log
}

# called CALLER - samples of bump whose second frame is CALLER.
called() {
	awk -v caller="$1" 'NF < 2 { n = 0; next } { n++ } n == 1 { first = $2 }
		n == 2 && first == "bump" && $2 == caller { sum++ } END { print sum + 0 }' chain.txt
}

# open_parts - samples of which the last run could not tell the record.
open_parts() {
	grep -c 'lies in the record, too' words
}

if chain frames -O0; then
	by_code frames.data
	perf script -i frames.data -F ip,sym 2>/dev/null >chain.txt
	ours=$(member part.hits 6) watched=$(called bump_watched) other=$(called bump_other)
	same "call chain: perf saw both callers" "$((watched > 50 && other > 50))" 1
	same "call chain: of $watched samples of the record's caller and $other of the other one, $ours are the record's" \
		"$((ours <= watched && 4 * ours >= watched))" 1
	# The same as text: perf's own printing, with and without where files were mapped.
	perf script -i frames.data --show-mmap-events 2>/dev/null >frames.script
	by_code frames.script
	same "call chain as text" "$(member part.hits 6)" "$ours"
	perf script -i frames.data 2>/dev/null >frames.script
	by_code frames.script
	same "call chain as text, without mappings" "$(member part.hits 6)" "$ours"
	# A leaf function without a frame: the chain misses its caller, who is known all the same.
	chain leaf
	env PATH=/nonexistent "$linemate" profile --binary program --struct watched --profile leaf.data >none 2>words
	same "call chain of a leaf: said so" "$(grep -c "by its call chain" words)" 1
	same "call chain of a leaf: nothing is open" "$(open_parts)" 0
fi
exit "$bad"
