# Completion of linemate(1) for bash.  The options are asked of the program, so that they cannot differ from it.

_linemate_options()
{
	"$1" "$2" --help 2>/dev/null | sed -n 's/^ \{2,6\}\(-[^ ], \)\{0,1\}\(--\{0,1\}[a-zA-Z][a-z-]*\).*/\2/p'
}

_linemate()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}

	COMPREPLY=()
	# "--line=6" comes as three words: the option, "=", the value.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "patch show profile diff log check replay bench rank report help --help --version" -- "$cur")
		return
	fi
	if [[ $verb == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "patch show profile diff log check replay bench rank report" -- "$cur")
		return
	fi
	case $prev in
	--header | --source | --profile | --binary | --before | --after | --kconfig | --promise | -o)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	-p | --kbuild | --kernel-headers | --root | --keep)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
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
	--order)
		mapfile -t COMPREPLY < <(compgen -W "recorded turns random" -- "$cur")
		return
		;;
	--struct | --config | --object | --cpus | --base-align | --pin | --keep-together | --apart | --pair | --time | \
		--rounds | --ms | --top)
		return
		;;
	esac
	if [[ $verb == check && $cur != -* ]]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -X '!*.promise' -- "$cur"; compgen -d -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$(_linemate_options "${COMP_WORDS[0]}" "$verb")" -- "$cur")
}

complete -F _linemate linemate
