/*
 * Each script asks `guildhall completion --complete -- WORD…` what can stand at the cursor: one value a line, a tab and its description
 * behind it; `:files` asks for names of files. So a script that was saved once knows the commands of every later version.
 */

const BASH = `# guildhall completion for bash. Load it in ~/.bashrc: source <(guildhall completion bash)
_guildhall() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      # Bash 3 of macOS has no compopt.
      if type compopt >/dev/null 2>&1; then
        compopt -o default
      else
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
      fi
    elif [[ -n $line ]]; then
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <("$1" completion --complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _guildhall guildhall
`;

const ZSH = `#compdef guildhall
# guildhall completion for zsh. Load it in ~/.zshrc, after compinit: source <(guildhall completion zsh)
_guildhall() {
  local line value
  local -a described
  for line in "\${(@f)$("$words[1]" completion --complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      _files
    elif [[ -n $line ]]; then
      value=\${line%%$'\\t'*}
      described+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  (( $#described )) && _describe guildhall described
}
if [[ "$funcstack[1]" == _guildhall ]]; then
  _guildhall "$@"
else
  compdef _guildhall guildhall
fi
`;

const FISH = `# guildhall completion for fish. Load it: guildhall completion fish > ~/.config/fish/completions/guildhall.fish
function __guildhall_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct)
    for line in ($tokens[1] completion --complete -- $tokens[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c guildhall -f -a '(__guildhall_complete)'
`;

/** What `guildhall completion SHELL` prints. */
export const completionScripts = { bash: BASH, zsh: ZSH, fish: FISH };

/** A shell that has a script. */
export type Shell = keyof typeof completionScripts;
