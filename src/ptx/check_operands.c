/* Checks operands against a form ("Operand Type Checking").
 *
 * A register of a bit type fits every type of its size, an integer register any integer type, a float
 * register only its own type. Some instructions allow a register wider than the type. */
#include "ptx/checking.h"

#include <stdarg.h>

typedef enum TypeClass { CLASS_PREDICATE, CLASS_BITS, CLASS_INTEGER, CLASS_FLOAT, CLASS_PACKED } TypeClass;

bool ptx_fault(PtxFault *fault, int operand, int item, const char *format, ...) {
    va_list list;
    fault->operand = operand;
    fault->item = item;
    va_start(list, format);
    vsnprintf(fault->text, sizeof fault->text, format, list);
    va_end(list);
    return false;
}

/* ---- types ------------------------------------------------------------------------------------------- */

static TypeClass class_of(PtxType type) {
    switch (type) {
    case PTX_PRED:
        return CLASS_PREDICATE;
    case PTX_B8:
    case PTX_B16:
    case PTX_B32:
    case PTX_B64:
    case PTX_B128:
        return CLASS_BITS;
    case PTX_U8:
    case PTX_U16:
    case PTX_U32:
    case PTX_U64:
    case PTX_S8:
    case PTX_S16:
    case PTX_S32:
    case PTX_S64:
        return CLASS_INTEGER;
    case PTX_F16:
    case PTX_BF16:
    case PTX_F32:
    case PTX_F64:
        return CLASS_FLOAT;
    default:
        return CLASS_PACKED;
    }
}

typedef struct WantedType { /* what an operand must be */
    PtxType type;
    TypeClass class;
    int bytes;
    bool or_wider;
} WantedType;

static WantedType wanted_of(const PtxInstruction *in, const PtxFormOperand *form) {
    PtxType type = form->slot >= 0 ? in->types[form->slot] : form->type;
    return (WantedType){type, class_of(type), ptx_type_bytes(type) << form->is_doubled, form->may_be_wider};
}

static bool register_fits(PtxType type, const WantedType *wanted) {
    TypeClass class = class_of(type);
    if (class == CLASS_PREDICATE || wanted->class == CLASS_PREDICATE) return class == wanted->class;
    int bytes = ptx_type_bytes(type);
    if (wanted->or_wider ? bytes < wanted->bytes : bytes != wanted->bytes) return false;
    if (class == CLASS_BITS || wanted->class == CLASS_BITS || type == wanted->type) return true;
    bool takes_integers = wanted->class == CLASS_INTEGER || wanted->type == PTX_BF16;
    if (takes_integers) return class == CLASS_INTEGER || class == CLASS_PACKED;
    return class == CLASS_PACKED && wanted->class == CLASS_PACKED;
}

/* "a 32-bit integer (.s32, .u32 or .b32)" */
static const char *describe(const WantedType *wanted, char *out, size_t bytes) {
    int bits = wanted->bytes * 8;
    const char *wider = wanted->or_wider ? " or more" : "";
    switch (wanted->class) {
    case CLASS_PREDICATE:
        return "a predicate (.pred)";
    case CLASS_INTEGER:
        snprintf(out, bytes, "an integer of %d bits%s (.s%d, .u%d or .b%d)", bits, wider, bits, bits, bits);
        break;
    case CLASS_FLOAT:
        snprintf(out, bytes, "%sa .%s or a .b%d", "", ptx_type_text(wanted->type), bits);
        break;
    default:
        snprintf(out, bytes, "%d bits%s (such as .b%d)", bits, wider, bits);
        break;
    }
    return out;
}

/* ---- operands ---------------------------------------------------------------------------------------- */

typedef struct Place {
    const PtxChecker *checker;
    const PtxFormOperand *form;
    int operand, item;
    PtxFault *fault;
} Place;

#define FAULT(place, ...) ptx_fault((place)->fault, (place)->operand, (place)->item, __VA_ARGS__)

/* Digits below `limit`, each below the one before it if they are a mask. */
static bool are_digits(const char *text, char letter, size_t count, int limit, bool is_mask) {
    size_t length = strlen(text);
    if (*text != letter || (is_mask ? length < 2 || length > count + 1 : length != count + 1)) return false;
    for (const char *at = text + 1; *at; at++)
        if (*at < '0' || *at >= '0' + limit || (is_mask && at > text + 1 && *at >= at[-1])) return false;
    return true;
}

/* The selectors of video instructions ("Video Instructions"). */
static bool selects(char part, const char *text) {
    switch (part) {
    case 's':
    case 'S':
        return are_digits(text, 'b', 1, 4, false) || are_digits(text, 'h', 1, 2, false);
    case 'h':
        return are_digits(text, 'h', 2, 4, false);
    case 'q':
        return are_digits(text, 'b', 4, 8, false);
    case 'm':
        return are_digits(text, 'h', 2, 2, true);
    case 'n':
        return are_digits(text, 'b', 4, 4, true);
    default:
        return false;
    }
}

static bool check_part(const Place *place, const PtxOperand *operand) {
    const char *name = place->checker->name;
    char part = place->form->part;
    if (!operand->selector && part == 'S')
        return FAULT(place, "%s merges its result into a part of operand %d: name it, %s.b0", name,
                     place->operand + 1, operand->reg->name);
    if (!operand->selector || selects(part, operand->selector)) return true;
    if (part == 0 || part == 'r')
        return FAULT(place, "%s takes no part of a register (.%s)", name, operand->selector);
    return FAULT(place, "%s has no part .%s of operand %d; they are such as .%s", name, operand->selector,
                 place->operand + 1,
                 part == 'h'   ? "h32"
                 : part == 'q' ? "b7654"
                 : part == 'm' ? "h10"
                 : part == 'n' ? "b320"
                               : "b0 and .h1");
}

static bool check_register(const Place *place, const PtxOperand *operand, const WantedType *wanted) {
    char text[80];
    const PtxRegister *reg = operand->reg;
    const char *name = place->checker->name;
    if (reg->vector > 1 && operand->component < 0)
        return FAULT(place, "operand %d of %s is one value; %s is a vector of %d: name a part, %s.x",
                     place->operand + 1, name, reg->name, reg->vector, reg->name);
    if (!check_part(place, operand)) return false;
    if (!register_fits(reg->type, wanted))
        return FAULT(place, "operand %d of %s must be %s; %s is .%s", place->operand + 1, name,
                     describe(wanted, text, sizeof text), reg->name, ptx_type_text(reg->type));
    if (operand->negated && wanted->class != CLASS_PREDICATE && !place->form->may_be_negated)
        return FAULT(place, "only a predicate can be negated; %s is .%s", reg->name,
                     ptx_type_text(reg->type));
    return true;
}

static bool check_constant(const Place *place, const PtxOperand *operand, const WantedType *wanted) {
    const char *name = place->checker->name;
    char part = place->form->part;
    bool is_float = operand->kind == PTX_OPERAND_FLOAT,
         only_registers = part == 'h' || part == 'q' || part == 'r';
    bool takes_integers =
        !only_registers &&
        ((wanted->class != CLASS_FLOAT && wanted->class != CLASS_PACKED) || wanted->type == PTX_BF16);
    if (!is_float && takes_integers) return true;
    if (is_float && (wanted->type == PTX_F32 || wanted->type == PTX_F64)) return true;
    if (is_float && wanted->class == CLASS_BITS && wanted->bytes == (operand->float_bytes == 4 ? 4 : 8))
        return true;
    if (is_float && wanted->class == CLASS_BITS && wanted->bytes == 4)
        return FAULT(place, "%s is 64 bits wide: write it as a 32-bit constant (0f3F800000 is 1.0)",
                     operand->name);
    if (wanted->type == PTX_F32 || wanted->type == PTX_F64)
        return FAULT(place, "operand %d of %s is a .%s: write %s as %s.0", place->operand + 1, name,
                     ptx_type_text(wanted->type), operand->name, operand->name);
    if (!takes_integers)
        return FAULT(place, "%s takes no constants: move %s into a .b%d register first", name, operand->name,
                     wanted->bytes * 8);
    return FAULT(place, "operand %d of %s is not a float: %s needs an integer there", place->operand + 1,
                 name, place->checker->instruction->name);
}

static bool check_value(const Place *place, const PtxOperand *operand, const WantedType *wanted) {
    const PtxFormOperand *form = place->form;
    const char *name = place->checker->name;
    int number = place->operand + 1;
    if (operand->kind == PTX_OPERAND_REGISTER) return check_register(place, operand, wanted);
    if (operand->kind == PTX_OPERAND_SINK && form->is_written && form->may_be_sink) return true;
    if (operand->kind == PTX_OPERAND_SINK && form->is_written)
        return FAULT(place, "the result of %s cannot be discarded; name a register", name);
    if (operand->kind == PTX_OPERAND_SINK)
        return FAULT(place, "operand %d of %s is read; _ is only for results", number, name);
    if (form->is_written)
        return FAULT(place, "operand %d of %s is its result: it must be a register", number, name);
    switch (operand->kind) {
    case PTX_OPERAND_INTEGER:
    case PTX_OPERAND_FLOAT:
        return check_constant(place, operand, wanted);
    case PTX_OPERAND_SPECIAL:
        if (form->may_be_special && wanted->class == CLASS_INTEGER) return true;
        return FAULT(place, "%s cannot read %s: move it into a register first (mov)", name, operand->name);
    case PTX_OPERAND_VARIABLE:
        if (form->may_be_symbol) return true;
        return FAULT(place, "%s cannot take the address of '%s': move it into a register first (mov)", name,
                     operand->variable->name);
    case PTX_OPERAND_MEMORY:
        return FAULT(place,
                     "operand %d of %s cannot be an address: only loads, stores and atomics access memory",
                     number, name);
    default:
        return FAULT(place, "operand %d of %s must be a register or a constant", number, name);
    }
}

static bool check_vector(Place place, const PtxOperand *operand, const WantedType *wanted) {
    const PtxChecker *checker = place.checker;
    int count = place.form->count ? place.form->count : checker->instruction->vector;
    if (!place.form->count && operand->kind == PTX_OPERAND_REGISTER && operand->reg->vector == count &&
        operand->component < 0)
        return register_fits(operand->reg->type, wanted) ||
               FAULT(&place, "the parts of %s do not fit .%s", operand->reg->name,
                     ptx_type_text(wanted->type));
    if (operand->kind != PTX_OPERAND_VECTOR)
        return FAULT(&place, "operand %d of %s must be a vector of %d: {a%s%s}", place.operand + 1,
                     checker->name, count, count > 1 ? ", b" : "", count > 2 ? ", ..." : "");
    if (operand->item_count != count)
        return FAULT(&place, "operand %d of %s must have %d elements, not %d", place.operand + 1,
                     checker->name, count, operand->item_count);
    for (place.item = 0; place.item < count; place.item++) {
        const PtxOperand *item = &operand->items[place.item];
        if (item->kind == PTX_OPERAND_SINK && place.form->is_written && !place.form->count) continue;
        if (!check_value(&place, item, wanted)) return false;
    }
    return true;
}

/* d|p */
static bool check_pair(Place place, const PtxOperand *operand, const WantedType *wanted) {
    WantedType second = {place.form->pair, class_of(place.form->pair), ptx_type_bytes(place.form->pair),
                         false};
    PtxFormOperand form = *place.form;
    place.item = 0;
    if (!check_value(&place, &operand->items[0], wanted)) return false;
    form.may_be_sink = !form.needs_pair;
    place.form = &form;
    place.item = 1;
    return check_value(&place, &operand->items[1], &second);
}

static bool check_typed(Place place, const PtxOperand *operand) {
    const PtxFormOperand *form = place.form;
    const PtxInstruction *in = place.checker->instruction;
    WantedType wanted = wanted_of(in, form);
    if (form->count) return check_vector(place, operand, &wanted);
    if (form->may_be_vector && (in->vector > 1 || operand->kind == PTX_OPERAND_VECTOR))
        return check_vector(place, operand, &wanted);
    if (operand->kind == PTX_OPERAND_PAIR && form->pair != PTX_NO_TYPE)
        return check_pair(place, operand, &wanted);
    if (operand->kind == PTX_OPERAND_PAIR)
        return FAULT(&place, "operand %d of %s is one register, not a pair", place.operand + 1,
                     place.checker->name);
    if (form->needs_pair)
        return FAULT(&place, "operand 1 of %s is a pair: d|p, with a predicate p", place.checker->name);
    return check_value(&place, operand, &wanted);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static const char *space_text(PtxSpace space) {
    static const char *const texts[] = {"generic", "reg",    "const",           "global", "local",
                                        "param",   "shared", "shared::cluster", "tex"};
    return texts[space];
}

/* An instruction that copies names two spaces: .global.shared::cta. */
static bool check_space(const Place *place, const PtxVariable *variable) {
    const PtxInstruction *in = place->checker->instruction;
    PtxSpace space = in->space, lies = variable->space;
    if (lies == PTX_SPACE_SHARED && ptx_instruction_has(in, PTX_MOD_SHARED_CTA)) return true;
    if (space == PTX_SPACE_SHARED_CLUSTER) space = PTX_SPACE_SHARED;
    if (lies == PTX_SPACE_SHARED_CLUSTER) lies = PTX_SPACE_SHARED;
    if (space == PTX_SPACE_GENERIC || lies == PTX_SPACE_TEX || space == lies) return true;
    return FAULT(place, "'%s' lies in .%s memory, but this is %s", variable->name, space_text(lies),
                 place->checker->name);
}

static bool is_number_register(const PtxOperand *operand) {
    if (!operand->reg) return true;
    TypeClass class = class_of(operand->reg->type);
    return (operand->reg->vector <= 1 || operand->component >= 0) &&
           (class == CLASS_BITS || class == CLASS_INTEGER || class == CLASS_PACKED);
}

static bool check_memory(const Place *place, const PtxOperand *operand) {
    const char *name = place->checker->name;
    if (operand->kind != PTX_OPERAND_MEMORY && operand->kind != PTX_OPERAND_OTHER)
        return FAULT(place, "operand %d of %s must be an address in brackets, such as [%%rd1+4]",
                     place->operand + 1, name);
    if (operand->kind == PTX_OPERAND_OTHER)
        return FAULT(
            place,
            "operand %d of %s must be an address, [a] or [a+4]: a register or a variable, and a constant",
            place->operand + 1, name);
    if (operand->variable) return check_space(place, operand->variable);
    return is_number_register(operand) || FAULT(place, "an address must be an integer; %s is .%s",
                                                operand->reg->name, ptx_type_text(operand->reg->type));
}

static bool check_address(const Place *place, const PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_INTEGER) return true;
    bool good = operand->kind == PTX_OPERAND_REGISTER && is_number_register(operand) &&
                ptx_type_bytes(operand->reg->type) >= 4;
    return good || FAULT(place, "operand %d of %s must be a register with an address", place->operand + 1,
                         place->checker->name);
}

/* ---- mov --------------------------------------------------------------------------------------------- */

/* The 64-bit ones; %gridid has 32 or 64. */
static bool is_long_special(const char *name) {
    size_t length = strlen(name);
    return (length > 2 && !strcmp(name + length - 2, "64")) || !strcmp(name, "%globaltimer") ||
           !strcmp(name, "%current_graph_exec");
}

static bool is_vector_special(const char *name) {
    static const char *const names[] = {"%tid",       "%ntid",       "%ctaid",         "%nctaid",
                                        "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

static bool check_special(const Place *place, const PtxOperand *operand, const WantedType *wanted) {
    const char *name = operand->name;
    if (operand->component < 0 && is_vector_special(name))
        return FAULT(place, "%s is a vector: name a part, %s.x", name, name);
    if (wanted->class == CLASS_FLOAT)
        return FAULT(place, "%s is an integer: read it with mov.u32, then convert it (cvt)", name);
    bool is_long = is_long_special(name);
    if (strcmp(name, "%gridid") != 0 && ((wanted->bytes == 4 && is_long) || (wanted->bytes == 8 && !is_long)))
        return FAULT(place, "%s has %d bits: read it with mov.u%d", name, is_long ? 64 : 32,
                     is_long ? 64 : 32);
    return true;
}

/* {a, b} on one side of a mov: together the elements have the size of its type. */
static bool check_packed(Place place, const PtxOperand *operand, const WantedType *wanted) {
    const PtxChecker *checker = place.checker;
    int count = operand->item_count, bytes = count ? wanted->bytes / count : 0;
    if (wanted->class != CLASS_BITS)
        return FAULT(&place, "only a mov of a bit type packs or unpacks: mov.b%d", wanted->bytes * 8);
    if ((count != 2 && count != 4 && count != 8) || !bytes)
        return FAULT(&place, "%s packs 2 or 4 elements, not %d", checker->name, count);
    for (place.item = 0; place.item < count; place.item++) {
        const PtxOperand *item = &operand->items[place.item];
        if (item->kind == PTX_OPERAND_SINK && place.form->is_written) continue;
        if (item->kind == PTX_OPERAND_INTEGER && !place.form->is_written) continue;
        if (item->kind != PTX_OPERAND_REGISTER)
            return FAULT(&place, "element %d must be a register", place.item + 1);
        if (item->reg->vector <= 1 && ptx_type_bytes(item->reg->type) != bytes)
            return FAULT(&place, "%d elements of %s have %d bits each; %s is .%s", count, checker->name,
                         bytes * 8, item->reg->name, ptx_type_text(item->reg->type));
    }
    return true;
}

static bool check_mov(const Place *place, const PtxOperand *operand) {
    const PtxChecker *checker = place->checker;
    const PtxInstruction *in = checker->instruction;
    PtxFormOperand scalar = {.slot = 0, .is_written = place->form->is_written};
    WantedType wanted = wanted_of(in, &scalar);
    Place as = *place;
    as.form = &scalar;
    if (in->vector > 1) return true;
    switch (operand->kind) {
    case PTX_OPERAND_VECTOR:
        return check_packed(as, operand, &wanted);
    case PTX_OPERAND_REGISTER:
        if (operand->reg->vector > 1 && operand->component < 0) return true; /* packs or unpacks its parts */
        return check_value(&as, operand, &wanted);
    case PTX_OPERAND_SPECIAL:
        return scalar.is_written ? check_value(&as, operand, &wanted) : check_special(&as, operand, &wanted);
    case PTX_OPERAND_VARIABLE:
    case PTX_OPERAND_FUNCTION:
    case PTX_OPERAND_LABEL:
        if (scalar.is_written) return check_value(&as, operand, &wanted);
        return (wanted.class != CLASS_FLOAT && wanted.class != CLASS_PREDICATE) ||
               FAULT(place, "an address is an integer: mov.u64 takes it, %s does not", checker->name);
    default:
        return check_value(&as, operand, &wanted);
    }
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static bool check_operand(Place place, const PtxOperand *operand) {
    switch (place.form->kind) {
    case PTX_FORM_TYPED:
        if (place.form->may_be_symbol && operand->kind == PTX_OPERAND_VARIABLE)
            return check_space(&place, operand->variable);
        return check_typed(place, operand);
    case PTX_FORM_MEMORY:
        return check_memory(&place, operand);
    case PTX_FORM_ADDRESS:
        return check_address(&place, operand);
    case PTX_FORM_MOV:
        return check_mov(&place, operand);
    case PTX_FORM_SINK:
        return operand->kind == PTX_OPERAND_SINK ||
               FAULT(&place, "%s gives no result here: operand %d must be _", place.checker->name,
                     place.operand + 1);
    case PTX_FORM_NUMBER:
        return operand->kind == PTX_OPERAND_INTEGER ||
               FAULT(&place, "operand %d of %s must be an integer constant", place.operand + 1,
                     place.checker->name);
    default:
        return true;
    }
}

static int least_operands(const PtxForm *form) {
    int count = 0;
    while (count < form->operand_count && !form->operands[count].is_optional &&
           form->operands[count].kind != PTX_FORM_ANY)
        count++;
    return count;
}

bool ptx_check_operands(const PtxChecker *checker, const PtxForm *form, PtxFault *fault) {
    const PtxInstruction *in = checker->instruction;
    bool is_open = form->operand_count && form->operands[form->operand_count - 1].kind == PTX_FORM_ANY;
    int least = least_operands(form), most = form->operand_count;
    if (most && form->operands[most - 1].is_hint) { /* the last one */
        bool has_hint = ptx_instruction_has(in, PTX_MOD_L2_CACHE_HINT);
        least += has_hint;
        most -= !has_hint;
    }
    for (int i = 0; i < most; i++) is_open |= form->operands[i].kind == PTX_FORM_ANY;
    if (in->operand_count < least || (in->operand_count > most && !is_open)) {
        fault->operand = -1;
        return ptx_fault(fault, in->operand_count > most ? most : -1, -1, "%s takes %s%d operand%s, not %d",
                         checker->name, least < most || is_open ? "at least " : "", least,
                         least == 1 ? "" : "s", in->operand_count);
    }
    for (int i = 0; i < in->operand_count && i < most; i++) {
        if (form->operands[i].kind == PTX_FORM_ANY) break;
        Place place = {checker, &form->operands[i], i, -1, fault};
        if (!check_operand(place, &in->operands[i])) return false;
    }
    return true;
}

/* ---- checks a call against its function or prototype ("Control Flow Instructions: call") --------------- */

/* The signature that the call must follow; NULL: not known. */
static const PtxFunction *signature(const PtxChecker *checker, const PtxOperand *called) {
    const PtxInstruction *in = checker->instruction;
    if (called->kind == PTX_OPERAND_FUNCTION) return called->function;
    const PtxLabel *label = in->operands[in->operand_count - 1].label;
    if (!label) return NULL;
    const PtxStatement *list = &checker->function->statements[label->statement];
    if (list->kind == PTX_STATEMENT_PROTOTYPE) return list->prototype;
    bool has_targets = list->kind == PTX_STATEMENT_TARGETS && list->is_call_targets && list->name_count;
    return has_targets ? list->targets[0].function : NULL;
}

static bool check_list(const PtxOperand *list, int operand, PtxVariable *const *wanted, int count,
                       const char *function, const char *what, PtxFault *fault) {
    int given = list ? list->item_count : 0;
    if (given != count)
        return ptx_fault(fault, list ? operand : -1, -1, "%s has %d %s%s, this call has %d", function, count,
                         what, count == 1 ? "" : "s", given);
    for (int i = 0; i < count; i++) {
        const PtxOperand *item = &list->items[i];
        if (item->kind != PTX_OPERAND_REGISTER || item->reg->vector > 1 || wanted[i]->vector > 1) continue;
        int bytes = ptx_type_bytes(wanted[i]->type), has = ptx_type_bytes(item->reg->type);
        if (bytes >= 4 && wanted[i]->count == 1 && has != bytes)
            return ptx_fault(fault, operand, i, "%s %d of %s has %d bits; %s is .%s", what, i + 1, function,
                             bytes * 8, item->reg->name, ptx_type_text(item->reg->type));
    }
    return true;
}

bool ptx_check_call(const PtxChecker *checker, PtxFault *fault) {
    const PtxInstruction *in = checker->instruction;
    int at = in->operand_count && in->operands[0].kind == PTX_OPERAND_ARGUMENTS;
    if (at >= in->operand_count || in->operands[at].kind == PTX_OPERAND_ARGUMENTS)
        return ptx_fault(fault, -1, -1, "call lacks the function: call (results), function, (arguments)");
    const PtxOperand *called = &in->operands[at];
    const PtxOperand *arguments = at + 1 < in->operand_count ? &in->operands[at + 1] : NULL;
    if (called->kind != PTX_OPERAND_FUNCTION && called->kind != PTX_OPERAND_REGISTER)
        return ptx_fault(fault, at, -1, "call needs the name of a function, or a register with its address");
    int address = checker->program->module->address_bytes;
    if (called->reg && ptx_type_bytes(called->reg->type) != address)
        return ptx_fault(fault, at, -1, "the address of a function has %d bits; %s is .%s", address * 8,
                         called->reg->name, ptx_type_text(called->reg->type));
    if (arguments && arguments->kind != PTX_OPERAND_ARGUMENTS) arguments = NULL;
    const PtxFunction *function = signature(checker, called);
    if (!function) return true;
    const char *name = function->name && *function->name != '_' ? function->name : "the function";
    if (called->kind == PTX_OPERAND_FUNCTION) name = function->name;
    return check_list(at ? &in->operands[0] : NULL, 0, function->results, function->result_count, name,
                      "result", fault) &&
           check_list(arguments, at + 1, function->parameters, function->parameter_count, name, "argument",
                      fault);
}
