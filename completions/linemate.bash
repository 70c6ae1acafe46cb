# Completion of linemate(1) for bash.  Commands, options and what they take are asked of the program, so that they
# cannot differ from it.

_linemate_commands()
{
	"$1" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

_linemate_options()
{
	"$1" "$2" --help 2>/dev/null | sed -n '/^Examples:/,$d; s/^ \{2,6\}\(-[^ ], \)\{0,1\}\(--\{0,1\}[a-zA-Z][a-z-]*\).*/\2/p'
}

# What an option takes, as the help calls it: FILE, DIR, N, ...
_linemate_takes()
{
	"$1" "$2" --help 2>/dev/null | sed -n "/^Examples:/,\$d; s/^ \{2,6\}\(-[^ ], \)\{0,1\}$3\[\{0,1\}[= ]\([A-Z][A-Z]*\).*/\2/p"
}

_linemate()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]}

	COMPREPLY=()
	# "--line=6" comes as three words: the option, "=", the value.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$(_linemate_commands "$program") help --help --version" -- "$cur")
		return
	fi
	if [[ $verb == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_linemate_commands "$program")" -- "$cur")
		return
	fi
	case $prev in
	--order)
		mapfile -t COMPREPLY < <(compgen -W "recorded turns random" -- "$cur")
		return
		;;
	--configs)
		mapfile -t COMPREPLY < <(compgen -W "auto" -- "$cur")
		return
		;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur")
		return
		;;
	--line)
		mapfile -t COMPREPLY < <(compgen -W "32 64 128 256" -- "$cur")
		return
		;;
	--moves)
		mapfile -t COMPREPLY < <(compgen -W "1 2 3 all" -- "$cur")
		return
		;;
	-*)
		case $(_linemate_takes "$program" "$verb" "$prev") in
		FILE)
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return
			;;
		DIR)
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -d -- "$cur")
			return
			;;
		?*)
			return
			;;
		esac
		;;
	esac
	if [[ $verb == check && $cur != -* ]]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -X '!*.promise' -- "$cur"; compgen -d -- "$cur")
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_linemate_options "$program" "$verb")" -- "$cur")
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

complete -F _linemate linemate
