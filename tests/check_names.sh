#!/bin/sh
# Fails if two files or two types of src and tui share a name: check_names.sh [ROOT]. Prints every such file, or
# every type that is defined in two places, even if both are private to a file; and every function in a header
# that begins with the name of another folder of src. (The library of runtime is a program of its own.)
set -eu
cd "${1:-$(dirname "$0")/..}"

# No two files have one name.
twice=$(find src tui -name '*.[ch]' -o -name '*.def' | sed 's|.*/||' | sort | uniq -d)
[ -z "$twice" ] || { echo "two files are called:" $twice >&2; exit 1; }

# A function's first word may be a folder of src only in this folder.
find src tui -name '*.h' ! -path 'src/runtime/library/*' | sort | xargs awk -v rooms="$(cd src && echo */)" '
    BEGIN { for (i = split(rooms, name, "/ *"); i; i--) is_room[name[i]] = 1 }
    /^[A-Za-z][^(;={"]*[ *][a-z][a-z0-9]*_[a-z0-9_]*\(/ && !/^(typedef|return)/ {
        function_name = $0
        sub(/\(.*/, "", function_name)
        sub(/.*[ *]/, "", function_name)
        word = function_name
        sub(/_.*/, "", word)
        split(FILENAME, part, "/")
        room = part[1] == "src" ? part[2] : part[1]
        if (word in is_room && word != room) {
            print FILENAME ":" FNR ": " function_name " begins with " word ", the name of another folder"
            bad = 1
        }
    }
    END { exit bad }' >&2 || exit 1

find src tui -name '*.[ch]' | sort | xargs awk '
    function define(name) {
        sub(/\[.*/, "", name)
        if (name in place) {
            print FILENAME ":" FNR ": " name " is also defined at " place[name]
            bad = 1
        } else {
            place[name] = FILENAME ":" FNR
            types++
        }
    }
    # struct NAME {  typedef enum NAME {
    /^[ \t]*(typedef[ \t]+)?(struct|enum|union)[ \t]+[A-Za-z_0-9]+[ \t]*(\{|$)/ {
        name = $0
        sub(/^[ \t]*(typedef[ \t]+)?(struct|enum|union)[ \t]+/, "", name)
        sub(/[ \t{].*/, "", name)
        define(name)
        next
    }
    # typedef struct {
    /^[ \t]*typedef[ \t]+(struct|enum|union)[ \t]*\{/ { is_unnamed = 1 }
    /^\}[ \t]*[A-Za-z_0-9]+;/ {
        if (is_unnamed) {
            name = $0
            sub(/^\}[ \t]*/, "", name)
            sub(/;.*/, "", name)
            define(name)
        }
        is_unnamed = 0
    }
    # typedef int (*NAME)(...);  typedef bool NAME(...);  typedef A NAME[2];  but not: typedef struct NAME NAME;
    /^typedef[ \t].*[;(]/ && !/\{/ {
        name = $0
        if (name ~ /\(\*/) {
            sub(/.*\(\*/, "", name)
            sub(/\).*/, "", name)
        } else {
            if (split(name, word, /[ \t;]+/) >= 4 && word[2] == "struct" && word[3] == word[4]) next
            sub(/[(;].*/, "", name)
            sub(/.*[ \t*]/, "", name)
        }
        define(name)
    }
    END {
        if (!types) print "no types here"
        exit bad || !types
    }' >&2 || exit 1
