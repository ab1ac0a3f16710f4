# Types LINE and Tab into an interactive zsh, and prints the command line: complete.zsh FOLDER LINE. FOLDER
# contains _redviz.
zmodload zsh/zpty
zpty shell 'TERM=dumb zsh -f -i'
zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; show() { print -r -- \"<\$BUFFER>\" >$1/line; exit }"
zpty -w shell "zle -N show; bindkey '^X' show; setopt no_list_beep; echo REA''DY"
zpty -r shell output '*READY*'
zpty -w -n shell "$2"$'\t\x18'
while zpty -r shell output; do :; done
cat $1/line
