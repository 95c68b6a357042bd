/**
 * The completion script for bash, from version 3.2 without the package bash-completion.
 *
 * The words of the command line are passed as arguments and never evaluated: the script of @bomb.sh/tab ran
 * `svc run $(command)` when Tab was pressed. bash splits words at `=` and `:` too, so the script joins the parts that no
 * space separates, and removes from each suggestion the part that bash does not replace.
 */
export const bashScript = `# bash completion for svc
__svc_complete() {
    local line=\${COMP_LINE:0:COMP_POINT} current=\${2-} typed="" prefix word i
    local -a words=()
    COMPREPLY=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=\${COMP_WORDS[i]}
        if ((i > 1)) && [[ $line != [[:space:]]* && $line == "\${word:0:\${#line}}"* ]]; then
            typed+=$word
        else
            ((i > 1)) && words+=("$typed")
            ((i > 0)) && typed=$word
        fi
        line=\${line#"\${line%%[![:space:]]*}"}
        # The cursor is inside this word.
        ((i == COMP_CWORD && \${#line} < \${#word})) && typed=\${typed%"\${word:\${#line}}"}
        line=\${line#"$word"}
    done
    words+=("$typed")
    prefix=\${typed%"$current"}
    while IFS= read -r line; do
        case $line in
            :0) ((\${#COMPREPLY[@]} == 0)) && compopt -o default 2>/dev/null ;;
            :*) ;;
            ?*)
                word=\${line%%$'\\t'*}
                [[ $typed == -*=* ]] && word=\${typed%%=*}=$word
                COMPREPLY+=("\${word#"$prefix"}")
                ;;
        esac
    done <<<"$(svc complete -- "\${words[@]}" 2>/dev/null)"
}
complete -F __svc_complete svc
`;
