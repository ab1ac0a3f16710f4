#include "tui/panes/syntax.h"

#include <ctype.h>
#include <string.h>

static const char *const cuda_keywords[] = {"alignas",
                                            "auto",
                                            "bool",
                                            "break",
                                            "case",
                                            "char",
                                            "class",
                                            "const",
                                            "constexpr",
                                            "continue",
                                            "default",
                                            "delete",
                                            "do",
                                            "double",
                                            "else",
                                            "enum",
                                            "extern",
                                            "false",
                                            "float",
                                            "for",
                                            "goto",
                                            "half",
                                            "if",
                                            "inline",
                                            "int",
                                            "int32_t",
                                            "int64_t",
                                            "long",
                                            "namespace",
                                            "new",
                                            "nullptr",
                                            "operator",
                                            "private",
                                            "public",
                                            "return",
                                            "short",
                                            "signed",
                                            "size_t",
                                            "sizeof",
                                            "static",
                                            "static_assert",
                                            "static_cast",
                                            "struct",
                                            "switch",
                                            "template",
                                            "this",
                                            "true",
                                            "typedef",
                                            "typename",
                                            "uint32_t",
                                            "uint64_t",
                                            "union",
                                            "unsigned",
                                            "using",
                                            "void",
                                            "volatile",
                                            "while",
                                            "__align__",
                                            "__constant__",
                                            "__device__",
                                            "__forceinline__",
                                            "__global__",
                                            "__grid_constant__",
                                            "__half",
                                            "__host__",
                                            "__inline__",
                                            "__launch_bounds__",
                                            "__managed__",
                                            "__noinline__",
                                            "__restrict__",
                                            "__shared__"};

static const char *const python_keywords[] = {
    "and",  "as",    "assert", "break", "class",  "constexpr", "continue", "def",  "elif",
    "else", "False", "for",    "from",  "if",     "import",    "in",       "is",   "lambda",
    "None", "not",   "or",     "pass",  "return", "True",      "while",    "with",
};

/* What CUDA provides to a kernel: variables, barriers, shuffles, atomics. */
static bool is_intrinsic(const char *word, size_t length) {
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "printf"};
    static const char *const beginnings[] = {
        "__sync",        "__shfl",      "__ballot", "__any",   "__all",    "__match",
        "__activemask",  "__reduce",    "__popc",   "__ffs",   "__clz",    "__ldg",
        "__threadfence", "__nanosleep", "atomic",   "__half2", "__float2", "__brev"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(word, names[i], length)) return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strlen(beginnings[i]) <= length && !strncmp(word, beginnings[i], strlen(beginnings[i])))
            return true;
    return false;
}

static bool is_keyword(bool python, const char *word, size_t length) {
    const char *const *words = python ? python_keywords : cuda_keywords;
    size_t count = python ? sizeof python_keywords / sizeof *python_keywords
                          : sizeof cuda_keywords / sizeof *cuda_keywords;
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && !strncmp(word, words[i], length)) return true;
    return false;
}

bool syntax_is_python(const char *file) {
    const char *ending = file ? strrchr(file, '.') : NULL;
    return ending && !strcmp(ending, ".py");
}

static void mark(uint8_t *roles, const char *line, const char *from, const char *to, Role role) {
    if (roles) memset(roles + (from - line), (int)role, (size_t)(to - from));
}

/* The position after the string or character that begins at `at`, or the end of the line. */
static const char *end_of_string(const char *at) {
    char quote = *at++;
    while (*at && *at != quote) at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* Names may hold letters of any script. */
static bool begins_word(char byte) {
    return isalpha((unsigned char)byte) || byte == '_' || (unsigned char)byte >= 0x80;
}

static const char *end_of_word(const char *at) {
    while (begins_word(*at) || isdigit((unsigned char)*at)) at++;
    return at;
}

/* The position after the comment that continues at `at`, or the end of the line. */
static const char *end_of_comment(Syntax *syntax, const char *at) {
    const char *end = strstr(at, "*/");
    syntax->in_comment = !end;
    return end ? end + 2 : at + strlen(at);
}

void syntax_line(Syntax *syntax, const char *line, uint8_t *roles) {
    const char *at = line, *end;
    mark(roles, line, line, line + strlen(line), ROLE_TEXT);
    while (*at) {
        if (syntax->in_comment || (!syntax->is_python && at[0] == '/' && at[1] == '*')) {
            end = end_of_comment(syntax, syntax->in_comment ? at : at + 2);
            mark(roles, line, at, end, ROLE_COMMENT);
        } else if (syntax->is_python ? *at == '#' : at[0] == '/' && at[1] == '/') {
            end = at + strlen(at);
            mark(roles, line, at, end, ROLE_COMMENT);
        } else if (*at == '"' || *at == '\'') {
            end = end_of_string(at);
        } else if (begins_word(*at)) {
            end = end_of_word(at);
            if (is_keyword(syntax->is_python, at, (size_t)(end - at)))
                mark(roles, line, at, end, ROLE_KEYWORD);
            else if (is_intrinsic(at, (size_t)(end - at)))
                mark(roles, line, at, end, ROLE_INTRINSIC);
        } else if (!syntax->is_python && *at == '#' && at == line + strspn(line, " \t")) {
            end = end_of_word(at + 1 + strspn(at + 1, " \t"));
            mark(roles, line, at, end, ROLE_KEYWORD);
        } else {
            end = isdigit((unsigned char)*at) ? end_of_word(at) : at + 1;
        }
        at = end;
    }
}
