/* Forms: reads the strings of forms.def and targets.def. */
#include "ptx/forms.h"

#include "ptx/names.h"
#include "ptx/opcodes.h"
#include "ptx/versions.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>

static const struct {
    const char *name, *text;
} classes[] = {
#define CLASS(name, text) {#name, text},
#define FORM(...)
#define FORM_BEFORE(...)
#define PARSED(name)
#include "ptx/forms.def"
#undef CLASS
#undef FORM
#undef FORM_BEFORE
#undef PARSED
};

static const struct {
    PtxOpcode opcode;
    int until;
    const char *modifiers, *operands;
} rows[] = {
#define CLASS(name, text)
#define FORM(name, modifiers, operands)               {PTX_##name, 0, modifiers, operands},
#define FORM_BEFORE(until, name, modifiers, operands) {PTX_##name, until, modifiers, operands},
#define PARSED(name)
#include "ptx/forms.def"
#undef CLASS
#undef FORM
#undef FORM_BEFORE
#undef PARSED
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct {
    const char *targets, *opcodes, *modifiers;
    int operands;
} needs[] = {
#define NEEDS(targets, opcodes, modifiers)                {targets, opcodes, modifiers, 0},
#define NEEDS_WITH(targets, opcodes, modifiers, operands) {targets, opcodes, modifiers, operands},
#include "ptx/targets.def"
#undef NEEDS
#undef NEEDS_WITH
};
enum { NEEDS = sizeof needs / sizeof *needs };

#define CLASS(name, text)
#define FORM(...)
#define FORM_BEFORE(...)
static const char *const parsed_names[] = {
#define PARSED(name) #name,
#include "ptx/forms.def"
#undef PARSED
};
static const char *const all_names[] = {
#define OPCODE(name, ...) #name,
#include "ptx/opcodes.def"
#undef OPCODE
#define PARSED(name) #name,
#include "ptx/forms.def"
#undef PARSED
};
#undef CLASS
#undef FORM
#undef FORM_BEFORE

bool ptx_forms_is_parsed(const char *name) {
    for (size_t i = 0; i < sizeof parsed_names / sizeof *parsed_names; i++)
        if (!strcmp(name, parsed_names[i])) return true;
    return false;
}

const char *const *ptx_forms_names(size_t *count) {
    *count = sizeof all_names / sizeof *all_names;
    return all_names;
}

/* ---- modifiers --------------------------------------------------------------------------------------- */

typedef struct OpcodeForms {
    PtxForm *forms; /* [count]; NULL: not read yet */
    int count;
    PtxNeed *needs; /* [need_count]; NULL: not read yet */
    int need_count;
} OpcodeForms;

struct PtxForms {
    const PtxModule *module;
    OpcodeForms of[PTX_OPCODE_COUNT];
    Arena arena;
};

typedef struct FormReader {
    PtxForms *forms;
    const PtxModule *module;
    PtxForm *form;
} FormReader;

typedef struct Word { /* of a row's string */
    const char *begin;
    size_t length;
} Word;

static bool word_is(Word word, const char *text) {
    return word.length == strlen(text) && !memcmp(word.begin, text, word.length);
}

/* Cuts the next word off *text, up to `separator`; false at its end. */
static bool next_word(const char **text, const char *end, char separator, Word *word) {
    while (*text < end && **text == separator) ++*text;
    if (*text >= end) return false;
    const char *stop = memchr(*text, separator, (size_t)(end - *text));
    *word = (Word){*text, (size_t)((stop ? stop : end) - *text)};
    *text += word->length;
    return true;
}

static const char *class_text(Word word) {
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (word_is(word, classes[i].name)) return classes[i].text;
    return NULL;
}

static void add_name(FormReader *reader, PtxFormGroup *group, Word word) {
    PtxName *name = ptx_names_get(reader->module->names, word.begin, word.length);
    group->is_type |= name->modifier == PTX_MOD_TYPE;
    group->is_layout |= name->modifier == PTX_MOD_ROW || name->modifier == PTX_MOD_COL;
    group->names[group->count++] = name->text;
}

static void read_group(FormReader *reader, Word text) {
    enum { MOST_NAMES = 32 };
    assert(reader->form->group_count < PTX_FORM_GROUPS);
    PtxFormGroup *group = &reader->form->groups[reader->form->group_count++];
    group->is_name = text.begin[text.length - 1] == '!';
    text.length -= group->is_name;
    group->is_optional = *text.begin == '{';
    const char *at = text.begin + group->is_optional, *end = text.begin + text.length - group->is_optional;
    group->names = arena_new(&reader->forms->arena, MOST_NAMES * sizeof *group->names);
    for (Word word, inner; next_word(&at, end, '|', &word);) {
        const char *class = class_text(word);
        if (!class) add_name(reader, group, word);
        for (const char *stop = class ? class + strlen(class) : NULL;
             class && next_word(&class, stop, '|', &inner);)
            add_name(reader, group, inner);
    }
    assert(group->count <= MOST_NAMES);
}

static void read_modifiers(FormReader *reader, const char *text) {
    const char *end = text + strlen(text);
    for (Word word; next_word(&text, end, ' ', &word);) {
        const char *class = class_text(word);
        if (word_is(word, "..."))
            reader->form->is_open = true;
        else if (class && *class == '{')
            read_modifiers(reader, class);
        else
            read_group(reader, word);
    }
}

/* ---- operands ---------------------------------------------------------------------------------------- */

static PtxType type_of(FormReader *reader, Word word) {
    PtxType type = ptx_names_get(reader->module->names, word.begin, word.length)->type;
    assert(type != PTX_NO_TYPE);
    return type;
}

static bool read_kind(PtxFormOperand *operand, Word word) {
    static const struct {
        const char *text;
        PtxFormOperandKind kind;
    } kinds[] = {{"[]", PTX_FORM_MEMORY},   {"number", PTX_FORM_NUMBER}, {"address", PTX_FORM_ADDRESS},
                 {"label", PTX_FORM_LABEL}, {"mov", PTX_FORM_MOV},       {"_", PTX_FORM_SINK},
                 {"...", PTX_FORM_ANY}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (word_is(word, kinds[i].text)) {
            operand->kind = kinds[i].kind;
            return true;
        }
    return false;
}

static void read_flags(FormReader *reader, PtxFormOperand *operand, Word flags) {
    for (size_t i = 0; i < flags.length; i++) switch (flags.begin[i]) {
        case '+':
            operand->may_be_wider = true;
            break;
        case 'v':
            operand->may_be_vector = true;
            break;
        case '_':
            operand->may_be_sink = true;
            break;
        case '%':
            operand->may_be_special = true;
            break;
        case '@':
            operand->may_be_symbol = true;
            break;
        case '-':
            operand->may_be_negated = true;
            break;
        case '/':
            operand->part = flags.begin[++i];
            break;
        case '*':
            operand->is_doubled = true;
            i++;
            break;
        case '#':
            operand->count = flags.begin[++i] - '0';
            break;
        default: /* | or &, and a type */
            operand->needs_pair = flags.begin[i] == '&';
            operand->pair = type_of(reader, (Word){flags.begin + i + 1, flags.length - i - 1});
            return;
        }
}

static void read_operands(FormReader *reader, const char *text) {
    PtxForm *form = reader->form;
    const char *end = text + strlen(text);
    for (Word word; next_word(&text, end, ' ', &word);) {
        assert(form->operand_count < PTX_FORM_OPERANDS);
        PtxFormOperand *operand = &form->operands[form->operand_count++];
        operand->is_written = *word.begin == '=';
        word = (Word){word.begin + operand->is_written, word.length - operand->is_written};
        operand->slot = -1;
        char last = word.begin[word.length - 1];
        operand->is_hint = last == '^';
        operand->is_optional = last == '?' || operand->is_hint;
        word.length -= operand->is_optional;
        if (read_kind(operand, word)) continue;
        size_t length = 0;
        while (length < word.length && isalnum((unsigned char)word.begin[length]) &&
               word.begin[length] != 'v')
            length++;
        if (length == 1)
            operand->slot = *word.begin - '0';
        else
            operand->type = type_of(reader, (Word){word.begin, length});
        read_flags(reader, operand, (Word){word.begin + length, word.length - length});
    }
}

/* ---- the table --------------------------------------------------------------------------------------- */

PtxForms *ptx_forms_new(const PtxModule *module) {
    PtxForms *forms = memory_new(sizeof *forms);
    forms->module = module;
    return forms;
}

static void read_opcode(PtxForms *forms, PtxOpcode opcode) {
    OpcodeForms *of = &forms->of[opcode];
    int count = 0;
    for (int i = 0; i < ROWS; i++) count += rows[i].opcode == opcode;
    of->forms = arena_new(&forms->arena, (size_t)(count + 1) * sizeof *of->forms);
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].opcode != opcode) continue;
        FormReader reader = {forms, forms->module, &of->forms[of->count++]};
        reader.form->until = rows[i].until;
        read_modifiers(&reader, rows[i].modifiers);
        read_operands(&reader, rows[i].operands);
    }
}

const PtxForm *ptx_forms_of(PtxForms *forms, PtxOpcode opcode, int *count) {
    if (!forms->of[opcode].forms) read_opcode(forms, opcode);
    *count = forms->of[opcode].count;
    return forms->of[opcode].forms;
}

static bool lists(const char *opcodes, const char *name) {
    const char *end = opcodes + strlen(opcodes);
    for (Word word; next_word(&opcodes, end, ' ', &word);)
        if (word_is(word, name)) return true;
    return false;
}

static void read_needs(PtxForms *forms, PtxOpcode opcode) {
    OpcodeForms *of = &forms->of[opcode];
    const char *name = all_names[opcode - 1], *target = forms->module->target;
    bool is_needed[NEEDS];
    int count = 0;
    for (int i = 0; i < NEEDS; i++) {
        is_needed[i] = lists(needs[i].opcodes, name) && target && !ptx_target_meets(target, needs[i].targets);
        count += is_needed[i];
    }
    of->needs = arena_new(&forms->arena, (size_t)(count + 1) * sizeof *of->needs);
    for (int i = 0; i < NEEDS; i++) {
        if (!is_needed[i]) continue;
        PtxNeed *need = &of->needs[of->need_count++];
        need->targets = needs[i].targets;
        need->operands = needs[i].operands;
        FormReader reader = {forms, forms->module, &need->form};
        read_modifiers(&reader, needs[i].modifiers);
    }
}

const PtxNeed *ptx_forms_needs(PtxForms *forms, PtxOpcode opcode, int *count) {
    if (!forms->of[opcode].needs) read_needs(forms, opcode);
    *count = forms->of[opcode].need_count;
    return forms->of[opcode].needs;
}

void ptx_forms_free(PtxForms *forms) {
    if (!forms) return;
    arena_done(&forms->arena);
    free(forms);
}
