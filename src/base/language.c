#include "base/language.h"

#include "base/memory.h"
#include <stdint.h>
#include <string.h>

static const LanguageText texts[] = {
#define TEXT(english, chinese) {english, chinese},
#include "base/texts/key_texts.def"
#include "base/texts/table_texts.def"
#include "base/texts/screen_texts.def"
#include "base/texts/catalog_texts.def"
#include "base/texts/explain_texts.def"
#include "base/texts/exercise_texts.def"
#include "base/texts/finding_texts.def"
#include "base/texts/trap_texts.def"
#include "base/texts/pane_texts.def"
#include "base/texts/plain_texts.def"
#include "base/texts/side_texts.def"
#undef TEXT
};

enum { TEXTS = sizeof texts / sizeof *texts };

/* Open addressing over `texts`, at most half full; an entry is an index + 1. Made when Chinese is set. */
static uint16_t *index_of;
static uint32_t index_mask;
static bool is_chinese;

static uint32_t hash_of(const char *text) { /* FNV-1a */
    uint32_t hash = 2166136261u;
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 16777619u;
    return hash;
}

static void make_index(void) {
    uint32_t size = 64;
    while (size < 2 * TEXTS) size *= 2;
    index_mask = size - 1;
    index_of = memory_new(size * sizeof *index_of);
    for (int i = 0; i < TEXTS; i++) {
        uint32_t at = hash_of(texts[i].english) & index_mask;
        while (index_of[at]) at = (at + 1) & index_mask;
        index_of[at] = (uint16_t)(i + 1);
    }
}

bool language_set(const char *name) {
    if (strcmp(name, "en") != 0 && strcmp(name, "zh") != 0) return false;
    is_chinese = *name == 'z';
    if (is_chinese && !index_of) make_index();
    return true;
}

const char *language(void) {
    return is_chinese ? "zh" : "en";
}

const char *tr(const char *english) {
    if (!is_chinese) return english;
    for (uint32_t at = hash_of(english) & index_mask; index_of[at]; at = (at + 1) & index_mask)
        if (!strcmp(texts[index_of[at] - 1].english, english)) return texts[index_of[at] - 1].chinese;
    return english;
}

const LanguageText *language_texts(int *count) {
    *count = TEXTS;
    return texts;
}
