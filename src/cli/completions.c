/* Shell completions for options and their arguments. The argument names of options.def determine the words;
 * files complete as files. */
#include "cli/generate.h"

#include "catalog/catalog.h"
#include "cli/options.h"
#include <string.h>

typedef enum Argument {
    ARGUMENT_NONE,
    ARGUMENT_WORDS,
    ARGUMENT_FILE,
    ARGUMENT_FREE /* a number, a list: nothing to complete */
} Argument;

static const char ENDINGS[][8] = {"cu", "ptx", "redviz"};
enum { ENDING_COUNT = sizeof ENDINGS / sizeof *ENDINGS };

static void add_word(Text *words, const char *word, size_t length) {
    if (words->length) text_add(words, " ");
    text_add_bytes(words, word, length);
}

/* Adds each element type of the catalogue's kernels once. */
static void add_types(Text *words) {
    PtxType seen[PTX_TYPE_COUNT] = {0}, type;
    for (int i = 0; i < catalog_count(); i++)
        for (const char *at = catalog_row(i)->types; *at; at += strspn(at, " ")) {
            char name[16];
            size_t length = strcspn(at, " ");
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            at += length;
            if (!plan_type_parse(name, &type) || seen[type]) continue;
            seen[type] = 1;
            add_word(words, name, strlen(name));
        }
}

/* The completions of the option; `words` are separated by blanks. */
static Argument argument_of(const OptionRow *row, Text *words) {
    const char *name = row->argument;
    if (!name) return ARGUMENT_NONE;
    name += *name == '=';
    if (!strncmp(name, "FILE", 4)) return ARGUMENT_FILE;
    if (!strcmp(name, "NAME") || !strncmp(name, "NAME[", 5))
        for (int i = 0; i < catalog_count(); i++)
            add_word(words, catalog_row(i)->id, strlen(catalog_row(i)->id));
    if (!strcmp(name, "TYPE")) add_types(words);
    for (const char *at = strchr(name, '|') ? name : ""; *at; at += *at == '|') {
        size_t length = strcspn(at, "|:");
        add_word(words, at, at[length] == ':' ? length + 1 : length); /* for file:PATH, the fixed part */
        at += strcspn(at, "|");
    }
    return words->length ? ARGUMENT_WORDS : ARGUMENT_FREE;
}

static bool is_optional(const OptionRow *row) {
    return row->argument && *row->argument == '=';
}

/* ---- bash ---------------------------------------------------------------------------------------------- */

/* bash splits --option=value into three words. */
static const char BASH_BEGIN[] =
    "# bash completion for redviz\n"
    "_redviz() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} equals= ending\n"
    "    COMPREPLY=()\n"
    "    if [[ $word == '=' ]]; then\n"
    "        word= equals=1\n"
    "    elif [[ $option == '=' ]]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD-2]} equals=1\n"
    "    fi\n"
    "    case $equals$option in\n";

static void generate_bash(Text *out) {
    const OptionRow *row;
    const char *title;
    Text words = {0}, names = {0};
    text_add(out, BASH_BEGIN);
    for (int i = 0; (row = options_row(FOR_REDVIZ, i, &title)); i++, text_clear(&words)) {
        text_print(&names, "%s--%s", i ? " " : "", row->name);
        Argument argument = argument_of(row, &words);
        if (argument == ARGUMENT_NONE) continue;
        text_print(out, "    1--%s%s%s) ", row->name, is_optional(row) ? "" : " | --",
                   is_optional(row) ? "" : row->name);
        if (argument == ARGUMENT_WORDS)
            text_print(out, "COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", text_string(&words));
        else if (argument == ARGUMENT_FILE)
            text_add(out,
                     "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n");
        else
            text_add(out, "return ;;\n");
    }
    text_print(out,
               "    esac\n"
               "    if [[ $word == -* ]]; then\n"
               "        COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n"
               "        return\n"
               "    fi\n"
               "    compopt -o filenames 2>/dev/null\n"
               "    COMPREPLY=($(compgen -d -- \"$word\"))\n"
               "    for ending in",
               text_string(&names));
    for (int i = 0; i < ENDING_COUNT; i++) text_print(out, " %s", ENDINGS[i]);
    text_add(out, "; do\n"
                  "        COMPREPLY+=($(compgen -f -X \"!*.$ending\" -- \"$word\"))\n"
                  "    done\n"
                  "    return 0\n"
                  "} && complete -F _redviz redviz\n");
    text_done(&words);
    text_done(&names);
}

/* ---- zsh ----------------------------------------------------------------------------------------------- */

static void add_zsh(Text *out, const char *text) {
    for (; *text; text++) {
        if (*text == '\'')
            text_add(out, "'\\''");
        else if (strchr("[]:\\", *text))
            text_print(out, "\\%c", *text);
        else
            text_add_bytes(out, text, 1);
    }
}

static void generate_zsh(Text *out) {
    const OptionRow *row;
    const char *title;
    Text words = {0};
    text_add(out, "#compdef redviz\n# zsh completion for redviz\n_arguments -s -S \\\n");
    for (int i = 0; (row = options_row(FOR_REDVIZ, i, &title)); i++, text_clear(&words)) {
        Argument argument = argument_of(row, &words);
        bool repeats = !strcmp(row->name, "param");
        text_print(out, "    '%s--%s%s[", repeats ? "*" : "", row->name,
                   is_optional(row)            ? "=-"
                   : argument != ARGUMENT_NONE ? "="
                                               : "");
        add_zsh(out, row->help);
        text_add(out, "]");
        if (argument != ARGUMENT_NONE) {
            text_add(out, is_optional(row) ? "::" : ":");
            add_zsh(out, row->argument + is_optional(row));
            text_add(out, ":");
            if (argument == ARGUMENT_WORDS) {
                text_add(out, "(");
                add_zsh(out, text_string(&words));
                text_add(out, ")");
            }
            if (argument == ARGUMENT_FILE) text_add(out, "_files");
        }
        text_add(out, "' \\\n");
    }
    text_add(out, "    '*:kernel or saved run:_files -g \"*.(");
    for (int i = 0; i < ENDING_COUNT; i++) text_print(out, "%s%s", i ? "|" : "", ENDINGS[i]);
    text_add(out, ")(-.)\"'\n");
    text_done(&words);
}

/* ---- fish ---------------------------------------------------------------------------------------------- */

static void add_fish(Text *out, const char *text) {
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') text_add(out, "\\");
        text_add_bytes(out, text, 1);
    }
}

static void generate_fish(Text *out) {
    const OptionRow *row;
    const char *title;
    Text words = {0};
    text_add(out, "# fish completion for redviz\ncomplete -c redviz -k -x -a '(__fish_complete_suffix");
    for (int i = 0; i < ENDING_COUNT; i++) text_print(out, " .%s", ENDINGS[i]);
    text_add(out, ")'\n");
    for (int i = 0; (row = options_row(FOR_REDVIZ, i, &title)); i++, text_clear(&words)) {
        Argument argument = argument_of(row, &words);
        text_print(out, "complete -c redviz -l %s", row->name);
        if (argument == ARGUMENT_FILE)
            text_add(out, " -r -F");
        else if (argument != ARGUMENT_NONE && !is_optional(row))
            text_add(out, " -x");
        if (argument == ARGUMENT_WORDS) {
            text_add(out, " -a '");
            add_fish(out, text_string(&words));
            text_add(out, "'");
        }
        text_add(out, " -d '");
        add_fish(out, row->help);
        text_add(out, "'\n");
    }
    text_done(&words);
}

void generate(const char *what, Text *out) {
    if (!strcmp(what, "man")) generate_man(out);
    if (!strcmp(what, "bash")) generate_bash(out);
    if (!strcmp(what, "zsh")) generate_zsh(out);
    if (!strcmp(what, "fish")) generate_fish(out);
}
