/* Recursive descent over the text: every skip_ function returns the position after its value, or NULL. */
#include "tests/cli/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_value(const char *at);

static const char *skip_space(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static const char *skip_string(const char *at) {
    if (*at++ != '"') return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20) return NULL; /* also the end of the text */
        if (*at != '\\') continue;
        at++;
        if (*at == 'u') {
            if (strspn(at + 1, "0123456789abcdefABCDEF") < 4) return NULL;
            at += 4;
        } else if (!*at || !strchr("\"\\/bfnrt", *at)) {
            return NULL;
        }
    }
    return at + 1;
}

static const char *skip_digits(const char *at) {
    size_t count = strspn(at, "0123456789");
    return count ? at + count : NULL;
}

/* number = -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
static const char *skip_number(const char *at) {
    if (*at == '-') at++;
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at && *at == '.') at = skip_digits(at + 1);
    if (at && (*at == 'e' || *at == 'E')) {
        at++;
        if (*at == '+' || *at == '-') at++;
        at = skip_digits(at);
    }
    return at;
}

/* The items of an object or an array, whose bracket is at `at`. */
static const char *skip_items(const char *at, char close) {
    at = skip_space(at + 1);
    if (*at == close) return at + 1;
    for (;;) {
        if (close == '}') {
            at = skip_string(at);
            if (!at) return NULL;
            at = skip_space(at);
            if (*at++ != ':') return NULL;
        }
        at = skip_value(at);
        if (!at) return NULL;
        at = skip_space(at);
        if (*at == close) return at + 1;
        if (*at++ != ',') return NULL;
        at = skip_space(at);
    }
}

static const char *skip_value(const char *at) {
    static const char *const words[] = {"true", "false", "null"};
    at = skip_space(at);
    if (*at == '{') return skip_items(at, '}');
    if (*at == '[') return skip_items(at, ']');
    if (*at == '"') return skip_string(at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0) return at + strlen(words[i]);
    return skip_number(at);
}

bool json_valid(const char *text) {
    const char *end = skip_value(text);
    return end && !*skip_space(end);
}

/* The value of `key` (or item number `key`) in the object or array at `at`. */
static const char *find(const char *at, const char *key, size_t length) {
    at = skip_space(at);
    bool object = *at == '{';
    if (!object && *at != '[') return NULL;
    at = skip_space(at + 1);
    for (long index = 0; *at != '}' && *at != ']'; index++) {
        bool here = !object && index == strtol(key, NULL, 10);
        if (object) {
            here = strncmp(at + 1, key, length) == 0 && at[1 + length] == '"';
            at = skip_space(skip_string(at)) + 1;
        }
        at = skip_space(at);
        if (here) return at;
        at = skip_space(skip_value(at));
        if (*at == ',') at = skip_space(at + 1);
    }
    return NULL;
}

const char *json_at(const char *text, const char *path) {
    const char *at = text;
    while (at && *path) {
        size_t length = strcspn(path, ".");
        at = find(at, path, length);
        path += length + (path[length] == '.');
    }
    return at;
}

int json_array_count(const char *array) {
    int count = 0;
    char index[16] = "0";
    for (; find(array, index, strlen(index)); snprintf(index, sizeof index, "%d", count)) count++;
    return count;
}

static bool is_listed(const char *key, size_t length, const char *const *list) {
    for (; *list; list++)
        if (strlen(*list) == length && !strncmp(*list, key, length)) return true;
    return false;
}

static bool contains_at(const char *actual, const char *expected, const char *const *prose, char *path,
                        size_t path_bytes);

/* Compares item `key` of both; `path` holds it if they differ. */
static bool contains_item(const char *actual, const char *item, const char *key, size_t length,
                          const char *const *prose, char *path, size_t path_bytes) {
    size_t end = strlen(path);
    snprintf(path + end, path_bytes - end, "%s%.*s", end ? "." : "", (int)length, key);
    const char *found = find(actual, key, length);
    bool same = found && (is_listed(key, length, prose) ? *found == *item
                                                        : contains_at(found, item, prose, path, path_bytes));
    if (same) path[end] = 0;
    return same;
}

static bool contains_items(const char *actual, const char *expected, const char *const *prose, char *path,
                           size_t path_bytes) {
    bool is_object = *expected == '{', same = true;
    const char *at = skip_space(expected + 1);
    for (int index = 0; same && *at != '}' && *at != ']'; index++) {
        char number[16];
        const char *key = number;
        snprintf(number, sizeof number, "%d", index);
        size_t length = strlen(number);
        if (is_object) {
            key = at + 1;
            at = skip_string(at);
            length = (size_t)(at - 1 - key);
            at = skip_space(skip_space(at) + 1);
        }
        same = contains_item(actual, at, key, length, prose, path, path_bytes);
        at = skip_space(skip_value(at));
        if (*at == ',') at = skip_space(at + 1);
    }
    return same && (is_object || json_array_count(actual) == json_array_count(expected));
}

static bool contains_at(const char *actual, const char *expected, const char *const *prose, char *path,
                        size_t path_bytes) {
    actual = skip_space(actual);
    expected = skip_space(expected);
    if (*actual != *expected) return false;
    if (*expected == '{' || *expected == '[')
        return contains_items(actual, expected, prose, path, path_bytes);
    size_t length = (size_t)(skip_value(expected) - expected);
    return length == (size_t)(skip_value(actual) - actual) && !strncmp(actual, expected, length);
}

bool json_contains(const char *actual, const char *expected, const char *const *prose, char *path,
                   size_t path_bytes) {
    *path = 0;
    return contains_at(actual, expected, prose, path, path_bytes);
}
