# The loop of a session's bash, which it reads from descriptor 3. `shell.rs` joins its lines to one, so that messages
# count the lines of the command. Descriptor 60 leads to the agent, 61 to the command's stderr, 62 to its stdout until it begins;
# descriptor 2 is the null device, so that `set -x` does not trace the loop. Its one name is __sandhaven, as a
# function and as an array of 1: the status before, 2: the folder of the outputs, 3: the command, 4: what is wrong
# with it, 5: its status, 6: the agent's answer.
builtin unset -v __sandhaven;
__sandhaven() { return "$1"; };
exec 60>&3 3>&-;
builtin printf 'ready\0' >&60;
while
IFS= TMOUT= builtin read -r -d '' -u 60 '__sandhaven[1]' &&
IFS= TMOUT= builtin read -r -d '' -u 60 '__sandhaven[2]' &&
IFS= TMOUT= builtin read -r -d '' -u 60 '__sandhaven[3]';
do
__sandhaven[5]='';
# Bash only warns of a here-document without its end, and would run it.
case ${__sandhaven[3]} in *'<<'*)
__sandhaven[4]=$(LC_ALL=C builtin eval $'builtin set -n\n'"${__sandhaven[3]}" 2>&1 60>&-) || builtin true;
case ${__sandhaven[4]} in *': warning: here-document at line '*' delimited by end-of-file (wanted '*)
__sandhaven[3]='builtin printf "%s\n" "${__sandhaven[4]}" >&2; __sandhaven 2' ;; esac ;; esac;
# With `set -e` the eval itself must succeed where the command may fail, as in `test -f x && make`.
case $- in *e*) __sandhaven[3]+=$'\n\n{ __sandhaven[5]=$?; } 2>/dev/null' ;; esac;
# By exec, so that what a trap prints at the exit is the command's too.
if exec 62>|"${__sandhaven[2]}/out" 61>|"${__sandhaven[2]}/err";
then
builtin printf 'open\0' >&60;
# The agent sees to the order of what 61 and 62 get, and answers. Descriptor 1 is not its own while it prints.
IFS= TMOUT= builtin read -r -d '' -u 60 '__sandhaven[6]';
exec >&62 62>&-;
# The inner loop is for a stray `break`. Both branches run the command: its $? is the status before.
for __sandhaven in '';
do
if __sandhaven "${__sandhaven[1]}";
then builtin eval "${__sandhaven[3]}" 2>&61 60>&- 61>&-;
else builtin eval "${__sandhaven[3]}" 2>&61 60>&- 61>&-;
fi;
done;
__sandhaven[5]=${__sandhaven[5]:-$?};
exec >&2 61>&-;
else __sandhaven[5]=1;
fi;
builtin printf 'done %s\0' "${__sandhaven[5]}" >&60;
done
