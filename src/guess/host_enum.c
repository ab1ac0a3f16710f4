/* Enumerators in template arguments, which compilers spell as their values. */
#include "guess/host_launch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Of `enum class NAME : TYPE { ... }` at `at`; false: it lists nothing. */
static bool find_list(const HostText *text, size_t at, HostSpan *name, HostSpan *list) {
    *name = (HostSpan){at, at};
    for (at += strlen("enum"); at < text->length && !strchr("{;()=", text->text[at]); at++) {
        HostSpan word = host_word(text, at);
        bool begins = word.end > word.begin && !host_is_word(text->text[at - 1]);
        if (text->text[at] == ':') {
            while (at < text->length && !strchr("{;", text->text[at])) at++;
            break;
        }
        if (begins && !host_span_is(text, word, "class") && !host_span_is(text, word, "struct")) *name = word;
    }
    if (at >= text->length || text->text[at] != '{') return false;
    *list = (HostSpan){at + 1, host_skip_brackets(text, at, text->length) - 1};
    return true;
}

/* The enumerator `word` of the list: explicit numbers count from there. */
static bool find_value(HostCode *code, HostSpan list, const char *word, long long *value) {
    HostSpan item;
    *value = -1;
    for (int i = 0; host_list_item(&code->text, list, i, &item); i++) {
        item = host_trim(&code->text, item);
        HostSpan own = host_word(&code->text, item.begin);
        size_t sign = host_skip_blanks(&code->text, own.end, item.end);
        ++*value;
        if (sign < item.end && code->text.text[sign] == '=') {
            HostNumber given = host_value(&code->values, (HostSpan){sign + 1, item.end}, item.begin);
            if (!given.is_known || given.is_float) return false;
            *value = given.integer;
        }
        if (host_span_is(&code->text, own, word)) return true;
    }
    return false;
}

/* `scope`: the word before "::", of the enumeration or what it lies in; "": none. Of several, the enumeration's counts. */
static bool find_enumerator(HostCode *code, const char *scope, const char *word, long long *value) {
    const HostText *text = &code->text;
    bool found = false;
    for (const char *at = text->text; (at = strstr(at, "enum")); at++) {
        HostSpan name, list;
        size_t place = (size_t)(at - text->text);
        long long own;
        if ((place && host_is_word(at[-1])) || host_is_word(at[4]) || !find_list(text, place, &name, &list) ||
            !find_value(code, list, word, &own))
            continue;
        bool is_its = *scope && host_span_is(text, name, scope);
        if (is_its || !found) *value = own;
        found = true;
        if (is_its) return true;
    }
    return found;
}

void host_code_spell(HostCode *code, const char *name, Text *out) {
    char words[2][128] = {"", ""}; /* scope, word */
    int depth = 0;
    for (const char *at = name; *at;) {
        const char *begin = at;
        depth += (*at == '<') - (*at == '>');
        bool is_path = depth && (isalpha((unsigned char)*at) || *at == '_');
        if (!is_path) {
            while (host_is_word(*at)) at++;
            at += at == begin;
            text_add_bytes(out, begin, (size_t)(at - begin));
            continue;
        }
        words[0][0] = words[1][0] = 0;
        for (;;) {
            size_t length = 0;
            while (host_is_word(at[length])) length++;
            memcpy(words[0], words[1], sizeof words[0]);
            snprintf(words[1], sizeof words[1], "%.*s", (int)length, at);
            at += length;
            if (at[0] != ':' || at[1] != ':') break;
            at += 2;
        }
        long long value;
        const char *after = at + strspn(at, " ");
        if ((*after == ',' || *after == '>') && find_enumerator(code, words[0], words[1], &value))
            text_print(out, "%lld", value);
        else
            text_add_bytes(out, begin, (size_t)(at - begin));
    }
}
