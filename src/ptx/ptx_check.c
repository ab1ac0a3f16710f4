/* Check: finds the form of each instruction, or the nearest form and the reason it does not fit. */
#include "ptx/ptx_check.h"

#include "ptx/checking.h"
#include "ptx/lexer.h"
#include "ptx/messages.h"
#include "ptx/names.h"
#include "ptx/opcodes.h"
#include "ptx/versions.h"

/* ---- places in the text ------------------------------------------------------------------------------ */

static PtxLexer lexer_at(const PtxModule *module, int line, int column) {
    const char *begin = ptx_line_begin(module, line), *end = module->text + module->length;
    return (PtxLexer){begin + column - 1 < end ? begin + column - 1 : end, end, begin, line};
}

/* The n-th suffix of the instruction. */
static PtxToken suffix_token(const PtxChecker *checker, int n) {
    const PtxInstruction *in = checker->instruction;
    PtxLexer lexer = lexer_at(checker->program->module, in->line, in->column);
    PtxToken token = ptx_lexer_next(&lexer);
    for (int i = 0; i <= n; i++) token = ptx_lexer_next(&lexer);
    return token;
}

static bool opens(int kind) {
    return kind == '(' || kind == '[' || kind == '{';
}
static bool closes(int kind) {
    return kind == ')' || kind == ']' || kind == '}';
}

/* The first token of an operand, or of an item of its braces or its pair. */
static PtxToken operand_token(const PtxChecker *checker, int operand, int item) {
    const PtxInstruction *in = checker->instruction;
    PtxLexer lexer = lexer_at(checker->program->module, in->line, in->column);
    PtxToken token;
    ptx_lexer_next(&lexer); /* the opcode */
    do token = ptx_lexer_next(&lexer);
    while (token.kind == PTX_TOKEN_DOT);
    for (int depth = 0; operand > 0 && token.kind != ';' && token.kind != PTX_TOKEN_END;) {
        depth += opens(token.kind) - closes(token.kind);
        operand -= token.kind == ',' && !depth;
        token = ptx_lexer_next(&lexer);
    }
    if (item < 0) return token;
    PtxToken first = token;
    bool is_list = opens(token.kind);
    if (is_list) token = ptx_lexer_next(&lexer);
    while (item > 0 && token.kind != ';' && token.kind != PTX_TOKEN_END) {
        item -= token.kind == (is_list ? ',' : '|');
        token = ptx_lexer_next(&lexer);
    }
    return token.kind == ';' || token.kind == PTX_TOKEN_END ? first : token;
}

/* Adds the line of CUDA that it came from. */
static bool fail_at(const PtxChecker *checker, const PtxToken *token, const char *text) {
    const char *file = checker->source.line ? checker->source.file : NULL,
               *slash = file ? strrchr(file, '/') : NULL;
    char source[128] = "";
    if (file) snprintf(source, sizeof source, " (%.80s:%d)", slash ? slash + 1 : file, checker->source.line);
    return ptx_fail_at(checker->program->module, token->begin, token->line, token->column, checker->error,
                       "%s%s", text, source);
}

static bool fail(const PtxChecker *checker, const PtxFault *fault) {
    const PtxInstruction *in = checker->instruction;
    PtxToken token = {.begin = NULL, .line = in->line, .column = in->column};
    if (fault->operand >= 0) token = operand_token(checker, fault->operand, fault->item);
    return fail_at(checker, &token, fault->text);
}

/* ---- names ------------------------------------------------------------------------------------------- */

static bool fail_name(const PtxChecker *checker) {
    size_t count;
    const char *const *names = ptx_forms_names(&count), *name = checker->instruction->name;
    const char *nearest = text_nearest(name, names, count);
    PtxFault fault;
    ptx_fault(&fault, -1, -1, "there is no instruction '%.60s'%s%s%s", name,
              nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return fail(checker, &fault);
}

static void spell(PtxChecker *checker) {
    const PtxInstruction *in = checker->instruction;
    size_t room = sizeof checker->name, length = (size_t)snprintf(checker->name, room, "%.40s", in->name);
    for (int i = 0; i < in->modifier_count && length + 1 < room; i++)
        length += (size_t)snprintf(checker->name + length, room - length, ".%s", in->modifiers[i].text);
}

/* ---- modifiers --------------------------------------------------------------------------------------- */

typedef struct Match {
    int used[PTX_FORM_GROUPS]; /* the suffix that matched each group, from 1; 0: none */
    int score;                 /* number of matching suffixes; types count twice */
    int bad;                   /* the first suffix that does not match; -1: all do */
    int bad_group;             /* its group, if another suffix has taken it; else -1 */
    int late_group;            /* its group, if it is part of the name and stands too late; else -1 */
    int missing;               /* the first required group without a suffix; -1: none */
} Match;

static bool has(const PtxFormGroup *group, const char *name) {
    for (int i = 0; i < group->count; i++)
        if (group->names[i] == name) return true;
    return false;
}

/* Types take their groups in order, and so do layouts. -1: the form has no further one. */
static int group_in_order(const PtxForm *form, const Match *match, bool is_type) {
    for (int g = 0; g < form->group_count; g++)
        if ((is_type ? form->groups[g].is_type : form->groups[g].is_layout) && !match->used[g]) return g;
    return -1;
}

/* The parts of the name before this group that the instruction has. */
static int name_parts_before(const Match *match, int group) {
    int count = 0;
    for (int g = 0; g < group; g++) count += match->used[g] > 0;
    return count;
}

/* With `match`, prefers a group without a suffix so far (.row.row). */
static int group_of(const PtxForm *form, const Match *match, const char *name) {
    int found = -1;
    for (int g = 0; g < form->group_count; g++) {
        if (!has(&form->groups[g], name)) continue;
        if (!match || !match->used[g]) return g;
        if (found < 0) found = g;
    }
    return found;
}

static void place_suffix(const PtxForm *form, const PtxInstruction *in, int i, Match *match) {
    const char *name = in->modifiers[i].text;
    PtxModifierKind kind = in->modifiers[i].kind;
    bool is_type = kind == PTX_MOD_TYPE, is_ordered = is_type || kind == PTX_MOD_ROW || kind == PTX_MOD_COL;
    int g = is_ordered ? group_in_order(form, match, is_type) : group_of(form, match, name);
    if (is_ordered && g >= 0 && !has(&form->groups[g], name)) g = -1;
    bool is_taken = g >= 0 && match->used[g] && in->modifiers[match->used[g] - 1].text != name;
    if (g >= 0 && !is_taken) {
        match->used[g] = i + 1;
        match->score += 1 + is_type;
        if (form->groups[g].is_name && i > name_parts_before(match, g) && match->bad < 0) {
            match->bad = i;
            match->late_group = g;
        }
    } else if (match->bad < 0 && (is_taken || !form->is_open)) {
        match->bad = i;
        match->bad_group = is_taken ? g : -1;
    }
}

static bool match_form(const PtxForm *form, const PtxInstruction *in, Match *match) {
    *match = (Match){.bad = -1, .bad_group = -1, .late_group = -1, .missing = -1};
    for (int i = 0; i < in->modifier_count; i++) place_suffix(form, in, i, match);
    for (int g = 0; g < form->group_count && match->missing < 0; g++)
        if (!form->groups[g].is_optional && !match->used[g]) match->missing = g;
    return match->bad < 0 && match->missing < 0;
}

static bool is_of_version(const PtxChecker *checker, const PtxForm *form) {
    const PtxModule *module = checker->program->module;
    return !form->until || module->version_major * 100 + module->version_minor <= form->until;
}

/* The forms of the instruction's opcode. */
static const PtxForm *first_form(const PtxChecker *checker, int *count) {
    return ptx_forms_of(checker->forms, checker->instruction->opcode, count);
}

/* True if no form of the opcode has this suffix; *nearest is then the closest one, or NULL. */
static bool is_unknown(const PtxChecker *checker, const char *suffix, const char **nearest) {
    enum { MOST = 400 };
    const char *names[MOST];
    size_t name_count = 0;
    int count;
    const PtxForm *form = first_form(checker, &count);
    for (int f = 0; f < count; f++) {
        if (group_of(&form[f], NULL, suffix) >= 0) return false;
        for (int g = 0; g < form[f].group_count; g++)
            for (int i = 0; i < form[f].groups[g].count && name_count < MOST; i++)
                names[name_count++] = form[f].groups[g].names[i];
    }
    *nearest = text_nearest(suffix, names, name_count);
    return true;
}

/* Adds the names that the list lacks, up to a readable length. */
static void add_new(Text *list, const PtxFormGroup *group) {
    enum { READABLE = 100 };
    for (int i = 0; i < group->count; i++) {
        char entry[64];
        bool is_first = !list->length;
        snprintf(entry, sizeof entry, "%s.%s", is_first ? "" : ", ", group->names[i]);
        const char *found = strstr(text_string(list), entry + (is_first ? 0 : 2));
        bool is_there = found && (found[strlen(entry) - 2] == ',' || !found[strlen(entry) - 2]);
        if (is_there || list->length >= READABLE) continue;
        text_add(list, entry);
        if (list->length >= READABLE) text_add(list, ", ...");
    }
}

/* Adds what the instruction lacks for the nearest forms that fail at the suffix `bad`. Nothing if one of them
 * is complete without it. */
static void add_missing(const PtxChecker *checker, int score, int bad, Text *list) {
    int count;
    const PtxForm *form = first_form(checker, &count);
    bool is_type = false;
    for (int f = 0; f < count; f++) {
        Match match;
        if (!is_of_version(checker, &form[f])) continue;
        match_form(&form[f], checker->instruction, &match);
        if (match.score != score || match.bad != bad) continue;
        if (match.missing < 0) {
            text_clear(list);
            return;
        }
        const PtxFormGroup *group = &form[f].groups[match.missing];
        if (!list->length) is_type = group->is_type;
        if (group->is_type == is_type) add_new(list, group);
    }
}

/* Adds the types that the opcode has: in its forms with `suffix`, or (NULL) in all. */
static void add_types(const PtxChecker *checker, const char *suffix, Text *list) {
    int count;
    const PtxForm *form = first_form(checker, &count);
    for (int f = 0; f < count; f++) {
        if (!is_of_version(checker, &form[f]) || (suffix && group_of(&form[f], NULL, suffix) < 0)) continue;
        for (int g = 0; g < form[f].group_count; g++)
            if (form[f].groups[g].is_type) add_new(list, &form[f].groups[g]);
    }
}

static void name_without(const PtxChecker *checker, int suffix, char *out, size_t bytes) {
    const PtxInstruction *in = checker->instruction;
    size_t length = (size_t)snprintf(out, bytes, "%.40s", in->name);
    for (int i = 0; i < in->modifier_count && length + 1 < bytes; i++)
        if (i != suffix)
            length += (size_t)snprintf(out + length, bytes - length, ".%s", in->modifiers[i].text);
}

static bool fail_suffix(const PtxChecker *checker, int suffix, const char *text) {
    PtxToken token = suffix_token(checker, suffix);
    return fail_at(checker, &token, text);
}

static bool fail_unknown(const PtxChecker *checker, int suffix, const char *nearest) {
    const PtxModifier *unknown = &checker->instruction->modifiers[suffix];
    const char *name = checker->instruction->name;
    char text[240];
    Text types = {0};
    if (unknown->kind == PTX_MOD_TYPE) add_types(checker, NULL, &types);
    if (types.length)
        snprintf(text, sizeof text, "%.40s takes no .%.60s, but %s", name, unknown->text,
                 text_string(&types));
    else
        snprintf(text, sizeof text, "%.40s has no suffix '.%.60s'%s%s%s", name, unknown->text,
                 nearest ? "; did you mean '." : "", nearest ? nearest : "", nearest ? "'?" : "");
    text_done(&types);
    return fail_suffix(checker, suffix, text);
}

/* The suffix is part of the name, but does not follow it: "mul.s32.lo". */
static bool fail_late(const PtxChecker *checker, const Match *match) {
    const PtxInstruction *in = checker->instruction;
    char text[400], name[120];
    size_t length = (size_t)snprintf(name, sizeof name, "%.40s", in->name);
    for (int g = 0; g < match->late_group; g++)
        if (match->used[g])
            length += (size_t)snprintf(name + length, sizeof name - length, ".%.20s",
                                       in->modifiers[match->used[g] - 1].text);
    const char *part = in->modifiers[match->bad].text;
    snprintf(text, sizeof text, ".%.20s is part of the name %s.%.20s: write it right after %s", part, name,
             part, name);
    return fail_suffix(checker, match->bad, text);
}

static bool fail_bad(const PtxChecker *checker, const PtxForm *form, const Match *match) {
    if (match->late_group >= 0) return fail_late(checker, match);
    const PtxInstruction *in = checker->instruction;
    const PtxModifier *bad = &in->modifiers[match->bad];
    char text[480], rest[160];
    Text list = {0}, types = {0};
    name_without(checker, match->bad, rest, sizeof rest);
    int type = bad->kind == PTX_MOD_TYPE ? group_in_order(form, match, true) : -1;
    if (type >= 0) add_new(&list, &form->groups[type]);
    if (type < 0) add_missing(checker, match->score, match->bad, &list);
    if (bad->kind != PTX_MOD_TYPE) add_types(checker, bad->text, &types);
    const char *own = in->type_count ? ptx_type_text(in->types[0]) : "";
    /* The types are not the problem. */
    if (types.length > 1 && !strcmp(text_string(&types) + 1, own)) text_clear(&types);
    if (match->bad_group >= 0)
        snprintf(text, sizeof text, "%.40s takes .%s or .%s, not both", in->name,
                 in->modifiers[match->used[match->bad_group] - 1].text, bad->text);
    else
        snprintf(text, sizeof text, "%s takes no .%.60s%s%s%s%.30s%s%s", rest, bad->text,
                 list.length ? ", but " : "", text_string(&list), types.length ? "; ." : "",
                 types.length ? bad->text : "", types.length ? " goes with " : "", text_string(&types));
    text_done(&list);
    text_done(&types);
    return fail_suffix(checker, match->bad, text);
}

static bool fail_missing(const PtxChecker *checker, int score) {
    Text list = {0};
    add_missing(checker, score, -1, &list);
    PtxFault fault;
    ptx_fault(&fault, -1, -1, "%s is incomplete: it needs %s%.200s", checker->name,
              strchr(text_string(&list), ',') ? "one of " : "", text_string(&list));
    text_done(&list);
    return fail(checker, &fault);
}

/* No form takes the suffixes: reports the problem with the form that takes most of them. */
static bool fail_modifiers(const PtxChecker *checker) {
    const PtxInstruction *in = checker->instruction;
    const char *nearest;
    for (int i = 0; i < in->modifier_count; i++)
        if (is_unknown(checker, in->modifiers[i].text, &nearest)) return fail_unknown(checker, i, nearest);
    int count;
    const PtxForm *form = first_form(checker, &count), *best = NULL;
    Match best_match = {0};
    for (int f = 0; f < count; f++) {
        Match match;
        if (!is_of_version(checker, &form[f])) continue;
        match_form(&form[f], in, &match);
        bool is_nearer = match.score > best_match.score ||
                         (match.score == best_match.score && match.bad < 0 && best_match.bad >= 0);
        if (best && !is_nearer) continue;
        best = &form[f];
        best_match = match;
    }
    return best_match.bad >= 0 ? fail_bad(checker, best, &best_match)
                               : fail_missing(checker, best_match.score);
}

/* ---- targets ------------------------------------------------------------------------------------------ */

/* True if the instruction has what the row is about; `used` then has the suffixes of its groups. */
static bool is_about(const PtxNeed *need, const PtxInstruction *in, int *used) {
    if (need->operands && need->operands != in->operand_count) return false;
    for (int g = 0; g < need->form.group_count; g++) {
        int found = -1;
        for (int i = 0; i < in->modifier_count && found < 0; i++) {
            bool is_used = false;
            for (int k = 0; k < g; k++) is_used |= used[k] == i;
            if (!is_used && has(&need->form.groups[g], in->modifiers[i].text)) found = i;
        }
        if (found < 0) return false;
        used[g] = found;
    }
    return true;
}

static bool fail_target(const PtxChecker *checker, const PtxNeed *need, const int *used) {
    const PtxInstruction *in = checker->instruction;
    Text text = {0};
    text_print(&text, "%.40s", in->name);
    for (int g = 0; g < need->form.group_count; g++) text_print(&text, ".%.40s", in->modifiers[used[g]].text);
    if (need->operands) text_print(&text, " with %d operands", need->operands);
    text_add(&text, " needs .target ");
    for (const char *at = need->targets; *at; at++) {
        const char *more = strchr(at, '|');
        int length = (int)(more ? more - at : (long)strlen(at));
        bool is_last = more && !strchr(more + 1, '|');
        text_print(&text, "%.*s%s", length, at, is_last ? " or " : more ? ", " : "");
        if (!more) break;
        at = more;
    }
    char last = text_string(&text)[text.length - 1];
    const char *later = strchr(need->targets, '|') ? ""
                        : last == 'f'              ? " or later of its family"
                        : last == 'a'              ? ""
                                                   : " or later";
    text_print(&text, "%s; this file has %.40s", later, checker->program->module->target);
    PtxToken token = {.line = in->line, .column = in->column};
    if (need->form.group_count) token = suffix_token(checker, used[0]);
    fail_at(checker, &token, text_string(&text));
    text_done(&text);
    return false;
}

/* "shfl", "vote": without .sync, the lanes that take part are unknown where lanes run independently. */
static bool check_sync(const PtxChecker *checker) {
    const PtxModule *module = checker->program->module;
    const PtxInstruction *in = checker->instruction;
    int version = module->version_major * 100 + module->version_minor;
    if ((in->opcode != PTX_shfl && in->opcode != PTX_vote) || version < 604 || !module->target ||
        ptx_instruction_has(in, PTX_MOD_SYNC) || !ptx_target_meets(module->target, "sm_70"))
        return true;
    PtxFault fault;
    ptx_fault(&fault, -1, -1,
              "%s needs .sync for .target sm_70 or later since PTX 6.4; this file has %.40s and PTX %d.%d",
              in->name, module->target, module->version_major, module->version_minor);
    return fail(checker, &fault);
}

static bool check_target(const PtxChecker *checker) {
    int count, used[PTX_FORM_GROUPS] = {0};
    const PtxNeed *need = ptx_forms_needs(checker->forms, checker->instruction->opcode, &count);
    for (int n = 0; n < count && checker->program->module->is_target_checked; n++)
        if (is_about(&need[n], checker->instruction, used)) return fail_target(checker, &need[n], used);
    return check_sync(checker);
}

/* ---- instructions ------------------------------------------------------------------------------------ */

/* Prefers the fault with the right number of operands, and furthest to the right. */
static bool is_later(const PtxFault *fault, const PtxFault *best) {
    return fault->operand > best->operand;
}

static bool check_form(PtxChecker *checker) {
    const PtxInstruction *in = checker->instruction;
    bool fits_modifiers = false;
    PtxFault best = {.operand = -2}, fault;
    int count;
    const PtxForm *form = first_form(checker, &count);
    for (int f = 0; f < count; f++) {
        Match match;
        if (!is_of_version(checker, &form[f]) || !match_form(&form[f], in, &match)) continue;
        if (!fits_modifiers) spell(checker);
        fits_modifiers = true;
        if (ptx_check_operands(checker, &form[f], &fault)) return true;
        if (best.operand == -2 || is_later(&fault, &best)) best = fault;
    }
    if (fits_modifiers) return fail(checker, &best);
    spell(checker);
    return !count || fail_modifiers(checker);
}

static bool check_instruction(PtxChecker *checker) {
    const PtxInstruction *in = checker->instruction;
    if (in->opcode == PTX_OTHER) return ptx_forms_is_parsed(in->name) || fail_name(checker);
    if (!check_form(checker) || !check_target(checker)) return false;
    PtxFault fault;
    return in->opcode != PTX_call || ptx_check_call(checker, &fault) || fail(checker, &fault);
}

/* ---- variables --------------------------------------------------------------------------------------- */

/* The name in its declaration; a token without a place if that line does not contain it. */
static PtxToken declared_name(const PtxModule *module, const PtxVariable *variable) {
    PtxLexer lexer = lexer_at(module, variable->line, 1);
    for (PtxToken token = ptx_lexer_next(&lexer); token.line == variable->line && token.kind != PTX_TOKEN_END;
         token = ptx_lexer_next(&lexer))
        if (token.kind == PTX_TOKEN_NAME && token.length == strlen(variable->name) &&
            !memcmp(token.begin, variable->name, token.length))
            return token;
    return (PtxToken){.line = variable->line};
}

static bool check_shared(const PtxChecker *checker, const PtxVariable *variable) {
    enum { STATIC_SHARED_BYTES = 48 * 1024 };
    if (variable->space != PTX_SPACE_SHARED || variable->bytes <= STATIC_SHARED_BYTES) return true;
    const PtxModule *module = checker->program->module;
    PtxToken name = declared_name(module, variable);
    return ptx_fail_at(
        module, name.begin, name.line, name.column, checker->error,
        "'%.80s' has %llu bytes; shared variables of a block have at most %d together, beyond that "
        "take .extern .shared",
        variable->name, (unsigned long long)variable->bytes, STATIC_SHARED_BYTES);
}

/* Checks the variables that the operands name. */
static bool check_named(const PtxChecker *checker, const PtxOperand *operands, int count) {
    for (int i = 0; i < count; i++)
        if ((operands[i].variable && !check_shared(checker, operands[i].variable)) ||
            !check_named(checker, operands[i].items, operands[i].item_count))
            return false;
    return true;
}

bool ptx_program_check(const PtxProgram *program, Error *error) {
    const PtxModule *module = program->module;
    if (module->version_major * 100 + module->version_minor > PTX_NEWEST) return true;
    PtxForms *forms = ptx_forms_new(module);
    bool good = true;
    for (int pc = 0; good && pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        PtxChecker checker = {.program = program,
                              .forms = forms,
                              .function = program->functions[program->code[pc].function].function,
                              .instruction = in->fused ? in->fused->sum : in,
                              .source = program->code[pc].line,
                              .error = error};
        good = check_instruction(&checker) &&
               check_named(&checker, checker.instruction->operands, checker.instruction->operand_count);
    }
    ptx_forms_free(forms);
    return good;
}
