/* JSON writer: appends to a Text and handles commas and escaping. Numbers that JSON cannot hold (NaN,
 * infinities) become null. Integers are written exactly. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/text.h"
#include <stdint.h>

typedef struct Json {
    Text *out;
    bool comma; /* a value precedes at this level */
} Json;

/* `key` is NULL inside arrays and at the top. */
void json_open_object(Json *json, const char *key);
void json_close_object(Json *json);
void json_open_array(Json *json, const char *key);
void json_close_array(Json *json);
void json_null(Json *json, const char *key);
void json_boolean(Json *json, const char *key, bool value);
void json_integer(Json *json, const char *key, int64_t value);
void json_unsigned(Json *json, const char *key, uint64_t value);
void json_number(Json *json, const char *key, double value); /* shortest text that reads back the same */
/* NULL writes null; invalid UTF-8 becomes U+FFFD. */
void json_string(Json *json, const char *key, const char *value);

#endif
