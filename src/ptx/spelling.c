/* Compares two spellings of a name. Both are first brought into one form without spaces, casts of literals
 * and suffixes, then compared part by part, from the last to the first, with the template arguments of each
 * part. */
#include "ptx/spelling.h"

#include "base/text.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 48 };

typedef struct Letters {
    const char *begin, *end;
} Letters;

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static size_t length_of(Letters span) {
    return (size_t)(span.end - span.begin);
}

static bool equals(Letters span, const char *text) {
    return strlen(text) == length_of(span) && !memcmp(span.begin, text, length_of(span));
}

static bool begins(Letters span, const char *text) {
    return strlen(text) <= length_of(span) && !memcmp(span.begin, text, strlen(text));
}

static bool same(Letters a, Letters b) {
    return length_of(a) == length_of(b) && !memcmp(a.begin, b.begin, length_of(a));
}

static int depth_of(char c) {
    return c && strchr("<([{", c) ? 1 : c && strchr(">)]}", c) ? -1 : 0;
}

/* ---- one form ------------------------------------------------------------------------------------------ */

/* 0x40u is 64, 'a' is 97, true is 1. */
static void add_word(Text *out, Letters word) {
    char *end;
    unsigned long long value = strtoull(word.begin, &end, 0);
    bool is_number = isdigit((unsigned char)*word.begin) && end <= word.end;
    for (; is_number && end < word.end; end++) is_number = strchr("uUlL", *end) != NULL;
    if (is_number)
        text_print(out, "%llu", value);
    else if (equals(word, "true") || equals(word, "false"))
        text_add(out, *word.begin == 't' ? "1" : "0");
    else
        text_add_bytes(out, word.begin, length_of(word));
}

/* Removes spaces, except between words. */
static void normalize(const char *text, Text *out) {
    static const char *const unnamed[] = {"(anonymous namespace)::", "(anonymous)::", "{anonymous}::"};
    for (const char *at = text; *at;) {
        size_t skipped = strspn(at, " \t\n");
        for (size_t i = 0; i < sizeof unnamed / sizeof *unnamed && !skipped; i++)
            if (!strncmp(at, unnamed[i], strlen(unnamed[i]))) skipped = strlen(unnamed[i]);
        Letters word = {at, at};
        while (is_word(*word.end)) word.end++;
        if (skipped) {
            at += skipped;
        } else if (*at == '\'' && at[1] && at[2] == '\'') {
            text_print(out, "%d", at[1]);
            at += 3;
        } else if (word.end > at) {
            bool follows = out->length && is_word(out->data[out->length - 1]);
            text_add(out, follows ? " " : "");
            add_word(out, word);
            at = word.end;
        } else {
            text_add_bytes(out, at++, 1);
        }
    }
}

/* The text before `separator`, outside all brackets; false: nothing is left. */
static bool next_item(Letters *rest, char separator, Letters *item) {
    int depth = 0;
    if (!rest->begin) return false;
    const char *at = rest->begin;
    for (; at < rest->end && (*at != separator || depth > 0); at++) depth += depth_of(*at);
    *item = (Letters){rest->begin, at};
    rest->begin = at < rest->end ? at + 1 : NULL;
    return true;
}

/* The name alone, from "void red<int,0>(int const*,int)". `parameters`: the text between the parentheses. */
static Letters name_of(Letters text, Letters *parameters) {
    Letters name = text;
    int depth = 0;
    *parameters = (Letters){0};
    for (const char *at = text.begin; at < text.end; at++) {
        if (*at == '(' && !depth && at > text.begin) {
            *parameters = (Letters){at + 1, at + 1};
            for (int open = 1; parameters->end < text.end; parameters->end++)
                if (!(open += depth_of(*parameters->end))) break;
            name.end = at;
            break;
        }
        if (*at == ' ' && !depth) name.begin = at + 1;
        depth += depth_of(*at);
    }
    while (name.begin < name.end && strchr("&:", *name.begin)) name.begin++;
    return name;
}

/* ---- types and values ---------------------------------------------------------------------------------- */

/* "int const" is "const int", "uint" is "unsigned int". */
static void add_type(Text *out, Letters type) {
    static const char *const words[][2] = {{"unsigned", "unsigned int"},
                                           {"uint", "unsigned int"},
                                           {"uint32_t", "unsigned int"},
                                           {"int32_t", "int"},
                                           {"signed", "int"},
                                           {"uint64_t", "unsigned long"},
                                           {"size_t", "unsigned long"},
                                           {"int64_t", "long"},
                                           {"uint8_t", "unsigned char"},
                                           {"uint16_t", "unsigned short"},
                                           {"int16_t", "short"},
                                           {"long int", "long"},
                                           {"unsigned long int", "unsigned long"},
                                           {"long unsigned int", "unsigned long"},
                                           {"long long int", "long long"},
                                           {"unsigned long long int", "unsigned long long"},
                                           {"half", "__half"},
                                           {"nv_bfloat16", "__nv_bfloat16"}};
    Text base = {0};
    const char *end = type.begin;
    int depth = 0;
    for (; end < type.end && (depth || !strchr("*&", *end)); end++) depth += depth_of(*end);
    bool is_const = false;
    Letters rest = {type.begin, end}, word;
    while (next_item(&rest, ' ', &word)) {
        bool is_this = equals(word, "const");
        is_const |= is_this;
        if (equals(word, "std::size_t")) word.begin += 5;
        if (!is_this && length_of(word) && !equals(word, "typename") && !equals(word, "struct"))
            text_print(&base, "%s%.*s", base.length ? " " : "", (int)length_of(word), word.begin);
    }
    const char *known = text_string(&base);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(known, words[i][0])) known = words[i][1];
    text_print(out, "%s%s", is_const ? "const " : "", known);
    for (const char *at = end; at < type.end; at++)
        if (*at != ' ') text_add_bytes(out, at, 1);
    text_done(&base);
}

static bool same_type(Letters a, Letters b) {
    Text one = {0}, other = {0};
    add_type(&one, a);
    add_type(&other, b);
    bool is_same = !strcmp(text_string(&one), text_string(&other));
    text_done(&one);
    text_done(&other);
    return is_same;
}

static bool is_number(Letters span) {
    if (span.begin < span.end && *span.begin == '-') span.begin++;
    bool good = span.begin < span.end;
    for (; span.begin < span.end; span.begin++) good = good && isdigit((unsigned char)*span.begin);
    return good;
}

/* The number in "(Op)0", "Op(0)", "Op{0}", "static_cast<Op>(0)"; `cast` is "Op". */
static bool split_cast(Letters argument, Letters *cast, Letters *value) {
    *cast = (Letters){0};
    *value = argument;
    if (is_number(argument)) return true;
    const char *at = argument.begin;
    if (at == argument.end) return false;
    if (*at == '(') {
        const char *close = memchr(at, ')', length_of(argument));
        if (!close) return false;
        *cast = (Letters){at + 1, close};
        *value = (Letters){close + 1, argument.end};
        return is_number(*value);
    }
    if (!strchr(")}", argument.end[-1])) return false;
    const char *open = argument.end - 1;
    while (open > at && !strchr("({", *open)) open--;
    *cast = (Letters){at, open};
    *value = (Letters){open + 1, argument.end - 1};
    if (begins(*cast, "static_cast<")) *cast = (Letters){at + 12, open - 1};
    return open > at && is_number(*value);
}

/* "sum" in "ops::sum". `scope`: "ops"; empty: none. */
static Letters last_part(Letters path, Letters *scope) {
    int depth = 0;
    const char *at = path.end;
    for (; at > path.begin; at--) {
        depth -= depth_of(at[-1]);
        if (!depth && at[-1] == ':' && at - 2 >= path.begin) break;
    }
    *scope = (Letters){path.begin, at > path.begin ? at - 2 : path.begin};
    return (Letters){at, path.end};
}

static SpellingFit worse(SpellingFit a, SpellingFit b) {
    return a < b ? a : b;
}

static SpellingFit fit_path(Letters asked, Letters readable, int depth);

/* Op::kSum, or Kind::A of ops::Kind, may be (Op)0. */
static bool may_be_enumerator(Letters asked, Letters cast) {
    Letters scope, type_scope, ignored;
    if (!length_of(asked) || isdigit((unsigned char)*asked.begin) ||
        strcspn(asked.begin, "<([{*&-") < length_of(asked))
        return false;
    last_part(asked, &scope);
    if (!length_of(scope) || !length_of(cast)) return length_of(cast) > 0;
    Letters type = last_part(cast, &type_scope);
    return same(last_part(scope, &ignored), type) || same(scope, type_scope);
}

static bool is_lambda(Letters text) {
    return begins(text, "(lambda") || begins(text, "lambda") || begins(text, "{lambda") ||
           begins(text, "[") || begins(text, "<lambda");
}

/* The number after '#', or 0. */
static unsigned long lambda_number(Letters text) {
    const char *sign = memchr(text.begin, '#', length_of(text));
    return sign ? strtoul(sign + 1, NULL, 10) : 0;
}

static SpellingFit fit_argument(Letters asked, Letters readable, int depth) {
    Letters cast[2], value[2], scope, parameters;
    if (same(asked, readable) || same_type(asked, readable)) return SPELLING_WHOLE;
    bool is_value = split_cast(readable, &cast[1], &value[1]);
    if (split_cast(asked, &cast[0], &value[0])) {
        bool is_same = is_value && same(value[0], value[1]), is_cast = cast[0].begin && cast[1].begin;
        return !is_same ? SPELLING_OTHER : is_cast ? fit_path(cast[0], cast[1], depth) : SPELLING_WHOLE;
    }
    if (is_value) return may_be_enumerator(asked, cast[1]) ? SPELLING_MAY_FIT : SPELLING_OTHER;
    Letters last = last_part(readable, &scope);
    if (begins(last, "{lambda")) {
        Letters own = last_part(asked, &scope);
        unsigned long number = lambda_number(own);
        if (!is_lambda(own)) return SPELLING_OTHER;
        return !number || number == lambda_number(last) ? SPELLING_SHORTER : SPELLING_OTHER;
    }
    if (*readable.begin == '&') { /* a function: &sum, from &(sum(int)) */
        if (begins(asked, "&")) asked.begin++;
        if (begins(asked, "(") && asked.end[-1] == ')') asked = (Letters){asked.begin + 1, asked.end - 1};
        return fit_path(name_of(asked, &parameters), (Letters){readable.begin + 1, readable.end}, depth);
    }
    const char *sign = readable.end;
    while (sign > readable.begin && strchr("*&", sign[-1])) sign--;
    size_t signs = (size_t)(readable.end - sign);
    if (signs && (length_of(asked) <= signs || memcmp(asked.end - signs, sign, signs) != 0))
        return SPELLING_OTHER;
    Text types[2] = {{0}};
    add_type(&types[0], (Letters){asked.begin, asked.end - signs});
    add_type(&types[1], (Letters){readable.begin, sign});
    Letters a = {text_string(&types[0]), text_string(&types[0]) + types[0].length},
            b = {text_string(&types[1]), text_string(&types[1]) + types[1].length};
    bool is_const = begins(a, "const ");
    SpellingFit fit = SPELLING_OTHER;
    if (is_const == begins(b, "const ")) {
        if (is_const) a.begin += 6, b.begin += 6;
        fit = fit_path(a, b, depth);
    }
    text_done(&types[0]);
    text_done(&types[1]);
    return fit;
}

/* Compares their template arguments; the last ones may be omitted. */
static SpellingFit fit_arguments(Letters asked, Letters readable, int depth) {
    SpellingFit fit = SPELLING_WHOLE;
    Letters one, other;
    while (next_item(&asked, ',', &one)) {
        if (!length_of(one)) return asked.begin || length_of(readable) ? SPELLING_SHORTER : fit;
        if (!next_item(&readable, ',', &other)) return SPELLING_OTHER;
        fit = worse(fit, fit_argument(one, other, depth));
    }
    return readable.begin ? worse(fit, SPELLING_SHORTER) : fit;
}

/* "sum<int>" without namespaces. */
static SpellingFit fit_part(Letters asked, Letters readable, int depth) {
    const char *open[2] = {memchr(asked.begin, '<', length_of(asked)),
                           memchr(readable.begin, '<', length_of(readable))};
    Letters bare[2] = {{asked.begin, open[0] ? open[0] : asked.end},
                       {readable.begin, open[1] ? open[1] : readable.end}};
    if (!same(bare[0], bare[1])) return SPELLING_OTHER;
    if (!open[0]) return open[1] ? SPELLING_SHORTER : SPELLING_WHOLE;
    if (!open[1]) return SPELLING_OTHER;
    Letters list = {open[0] + 1, asked.end[-1] == '>' ? asked.end - 1 : asked.end};
    return fit_arguments(list, (Letters){open[1] + 1, readable.end - 1}, depth);
}

static SpellingFit fit_path(Letters asked, Letters readable, int depth) {
    SpellingFit fit = SPELLING_WHOLE;
    if (depth > DEEPEST) return SPELLING_OTHER;
    while (fit && length_of(asked) && length_of(readable)) {
        Letters scopes[2], parts[2] = {last_part(asked, &scopes[0]), last_part(readable, &scopes[1])};
        fit = worse(fit, fit_part(parts[0], parts[1], depth + 1));
        asked = scopes[0];
        readable = scopes[1];
    }
    if (length_of(asked)) return SPELLING_OTHER;
    return length_of(readable) ? worse(fit, SPELLING_SHORTER) : fit;
}

static Letters whole(const Text *text) {
    return (Letters){text_string(text), text_string(text) + text->length};
}

SpellingFit ptx_spelling_fit(const char *asked, const char *readable) {
    Text texts[2] = {{0}};
    normalize(asked, &texts[0]);
    normalize(readable, &texts[1]);
    Letters parameters, name = name_of(whole(&texts[0]), &parameters);
    SpellingFit fit = length_of(name) ? fit_path(name, whole(&texts[1]), 0) : SPELLING_OTHER;
    text_done(&texts[0]);
    text_done(&texts[1]);
    return fit;
}

bool ptx_spelling_has_parameters(const char *asked) {
    Text text = {0};
    Letters parameters;
    normalize(asked, &text);
    name_of(whole(&text), &parameters);
    text_done(&text);
    return parameters.begin != NULL;
}

bool ptx_spelling_fits_parameters(const char *asked, const char *lines) {
    Text texts[2] = {{0}};
    Letters list, line, one;
    normalize(asked, &texts[0]);
    name_of(whole(&texts[0]), &list);
    bool fits = list.begin != NULL;
    if (fits && !length_of(list)) list.begin = NULL; /* f() */
    Letters all = {*lines ? lines : NULL, lines + strlen(lines)};
    while (fits && next_item(&list, ',', &one)) {
        fits = next_item(&all, '\n', &line);
        if (!fits) break;
        text_clear(&texts[1]);
        Text typed = {0};
        text_add_bytes(&typed, line.begin, length_of(line));
        normalize(text_string(&typed), &texts[1]);
        text_done(&typed);
        fits = fit_argument(one, whole(&texts[1]), 0) != SPELLING_OTHER;
    }
    text_done(&texts[0]);
    text_done(&texts[1]);
    return fits && !all.begin;
}
