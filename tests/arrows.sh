#!/bin/sh
# arrows.sh [ROOT] - the house has one-way doors; prints each #include that
# goes against one, and fails if there is one.
#
#   base <- profiles <- optimizer <- output   a folder may use those left of it
#   optimizer takes from profiles the access table, and join.[ch] the debug info
#   each foreign library is included by its door file and no other
cd "${1:-.}" || exit 2
folders=
for folder in base profiles optimizer output; do
	if [ -d "$folder" ]; then folders="$folders $folder"; fi
done
# shellcheck disable=SC2086
all=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]' --include='*.[ch]' $folders)
if [ -z "$all" ]; then
	echo "arrows.sh: no #include found in $(pwd): wrong folder?"
	exit 2
fi

# door PATTERN FILES - only FILES (an extended regular expression) may include PATTERN.
door() {
	echo "$all" | grep -E "[<\"]($1)" | grep -vE "^($2):"
}

bad=$(
	echo "$all" | grep '^base/' | grep -E '"(profiles|optimizer|output)/'
	echo "$all" | grep '^profiles/' | grep -E '"(optimizer|output)/'
	echo "$all" | grep '^optimizer/' | grep '"output/'
	echo "$all" | grep '^optimizer/' | grep '"profiles/' | grep -v '"profiles/access\.h"' |
		grep -vE '^optimizer/join\.[ch]:.*"profiles/debuginfo\.h"'
	# A header of our own is named from the root: "base/err.h", never "../err.h".
	echo "$all" | grep -E '"\.\.?/'
	door 'clang-c/'                   'optimizer/(source|hazard)[a-z_]*\.[ch]'
	door 'libdwarf|dwarf\.h'          'profiles/debuginfo[a-z_]*\.[ch]'
	door 'capstone'                   'profiles/insn[a-z0-9_]*\.[ch]'
	door '(lib|g)elf\.h'              'profiles/elf_image\.c'
	door 'glpk\.h'                    'optimizer/glpk\.c'
	door 'setjmp\.h'                  'optimizer/glpk\.c'
	door 'git2'                       'output/(diff|git)\.c'
	door 'jansson\.h'                 'optimizer/(compile_db|config)\.c|output/json\.[ch]'
	door 'ut(hash|array|list|string)\.h' 'base/table\.c|profiles/access\.c'
	door 'zstd\.h'                    'profiles/reader_data_zstd\.c'
)
if [ "$bad" ]; then
	echo "against the arrows (ARCHITECTURE.md):"
	echo "$bad"
	exit 1
fi
