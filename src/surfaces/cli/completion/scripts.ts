/** Scripts for shells. Each asks this program, which knows its commands: `completion line` and `completion words`. */

/** The line up to the cursor goes over as it is, since bash cuts words at : and =. */
const bash = `# Completion of sandhaven for bash: source <(sandhaven completion bash)
_sandhaven() {
  local answer candidate
  COMPREPLY=()
  {
    IFS= read -r answer || return 0
    while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done
  } < <("$1" completion line "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
  [[ $answer == *joined* ]] && compopt -o nospace 2>/dev/null
  [[ $answer == *files* ]] && compopt -o default 2>/dev/null
  return 0
}
complete -F _sandhaven sandhaven
`;

const zsh = `#compdef sandhaven
# Completion of sandhaven for zsh: source <(sandhaven completion zsh), after compinit.
_sandhaven() {
  local -a answer names space
  answer=("\${(@f)$("\${words[1]}" completion words -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  names=("\${(@)answer[2,-1]}")
  [[ $answer[1] == *joined* ]] && space=(-S '')
  (( $#names )) && compadd "\${space[@]}" -a names
  [[ $answer[1] == *files* ]] && _files
  return 0
}
compdef _sandhaven sandhaven
`;

const fish = `# Completion of sandhaven for fish: sandhaven completion fish | source
function __sandhaven_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l answer ($words[1] completion words -- $words[2..-1] 2>/dev/null </dev/null)
  test (count $answer) -gt 1; and printf '%s\\n' $answer[2..-1]
  string match -q '*files*' -- $answer[1]; and __fish_complete_path (commandline -ct)
end
complete -c sandhaven -f -a '(__sandhaven_complete)'
`;

export const scripts = { bash, zsh, fish } as const;
