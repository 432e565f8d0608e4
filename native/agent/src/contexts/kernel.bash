# A context's bash: evaluates each code that comes on descriptor 3, behind its variables, and answers there. Every message ends in NUL. The agent joins
# the lines to one. Descriptor 60 leads to the agent; the one name is __sandhaven, as a function and an array.
# A SIGINT that comes while bash forks is lost with the child. So a run waits for "go", which does not come where it is to be interrupted.
builtin unset -v __sandhaven;
exec 60>&3 3>&-;
{ builtin printf 500 >/proc/$$/oom_score_adj; } 2>/dev/null;
__sandhaven() {
builtin printf '"begun"\0' >&60;
IFS= TMOUT= builtin read -r -d '' -u 60 '__sandhaven[4]' || builtin return 130;
builtin eval "${__sandhaven[3]}"; builtin eval "${__sandhaven[1]}" 60>&- </dev/null;
};
builtin printf '"ready"\0' >&60;
while
while IFS= TMOUT= builtin read -r -d '' -u 60 '__sandhaven[3]' && [[ ${__sandhaven[3]} == go ]]; do builtin :; done;
IFS= TMOUT= builtin read -r -d '' -u 60 '__sandhaven[1]';
do
builtin trap 'builtin return 130' INT;
for __sandhaven in ''; do __sandhaven; done;
__sandhaven[2]=$?;
builtin trap '' INT;
builtin printf '{"done":{"exit_code":%s}}\0' "${__sandhaven[2]}" >&60;
done
