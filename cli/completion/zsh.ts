/** The completion script for zsh. It passes the words of the command line as arguments and never evaluates them. */
export const zshScript = `#compdef svc
# zsh completion for svc
_svc() {
    local line directive
    local -a lines values
    lines=("\${(@f)$(svc complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
    directive=$lines[-1]
    for line in $lines; do
        [[ $line == *$'\\t'* ]] || continue
        values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    done
    [[ $PREFIX == -*=* ]] && compset -P '*='
    if (( $#values )); then
        _describe svc values
    elif [[ $directive == :0 ]]; then
        _files
    fi
}
# The file is the function itself when zsh loads it from fpath.
if [[ $funcstack[1] == _svc ]]; then
    _svc "$@"
else
    compdef _svc svc
fi
`;
