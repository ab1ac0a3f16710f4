#include "base/json.h"

#include <math.h>
#include <stdlib.h>

static void escape(Text *out, const char *value);

static void begin(Json *json, const char *key) {
    if (json->comma) text_add(json->out, ",");
    json->comma = true;
    if (!key) return;
    escape(json->out, key);
    text_add(json->out, ":");
}

static void open_level(Json *json, const char *key, const char *bracket) {
    begin(json, key);
    text_add(json->out, bracket);
    json->comma = false;
}

static void close_level(Json *json, const char *bracket) {
    text_add(json->out, bracket);
    json->comma = true;
}

void json_open_object(Json *json, const char *key) {
    open_level(json, key, "{");
}
void json_close_object(Json *json) {
    close_level(json, "}");
}
void json_open_array(Json *json, const char *key) {
    open_level(json, key, "[");
}
void json_close_array(Json *json) {
    close_level(json, "]");
}

void json_null(Json *json, const char *key) {
    begin(json, key);
    text_add(json->out, "null");
}

void json_boolean(Json *json, const char *key, bool value) {
    begin(json, key);
    text_add(json->out, value ? "true" : "false");
}

void json_integer(Json *json, const char *key, int64_t value) {
    begin(json, key);
    text_print(json->out, "%lld", (long long)value);
}

void json_unsigned(Json *json, const char *key, uint64_t value) {
    begin(json, key);
    text_print(json->out, "%llu", (unsigned long long)value);
}

void json_number(Json *json, const char *key, double value) {
    if (!isfinite(value)) {
        json_null(json, key);
        return;
    }
    begin(json, key);
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    text_add(json->out, digits);
}

void json_string(Json *json, const char *key, const char *value) {
    if (!value) {
        json_null(json, key);
        return;
    }
    begin(json, key);
    escape(json->out, value);
}

/* Bytes of the well-formed UTF-8 sequence at `s` (RFC 3629, section 4); 0: malformed. */
static int sequence_length(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    int length = s[0] >= 0xf0 && s[0] <= 0xf4  ? 4
                 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                                               : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return length;
}

static void escape(Text *out, const char *value) {
    text_add(out, "\"");
    const unsigned char *s = (const unsigned char *)value;
    while (*s) {
        int length = sequence_length(s);
        if (!length) {
            text_add(out, "\xef\xbf\xbd");
            s++;
        } else if (*s == '"' || *s == '\\') {
            text_print(out, "\\%c", *s++);
        } else if (*s < 32 || *s == 127) {
            text_print(out, "\\u%04x", *s++);
        } else if (*s == 0xc2 && s[1] < 0xa0) { /* C1 controls */
            text_print(out, "\\u%04x", s[1]);
            s += 2;
        } else {
            text_add_bytes(out, (const char *)s, (size_t)length);
            s += length;
        }
    }
    text_add(out, "\"");
}
