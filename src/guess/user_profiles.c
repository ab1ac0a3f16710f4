/* Other values for the numbers of a launch that were guessed: where nothing says what a number is, it was taken for a size.
 * Its name may say otherwise (begin, end, stride, init); then all of them are tried as zeros, as ones, as sides. */
#include "guess/user_launch.h"

#include "guess/guess_declared.h"
#include <ctype.h>
#include <string.h>

enum { MOST_PROFILES = 16, MOST_TOKENS = 8, TOKEN = 16 };

typedef enum NumberKind {
    NUMBER_SIZE,
    NUMBER_OTHER,
    NUMBER_BEGIN, /* or a place: 0 */
    NUMBER_END,
    NUMBER_STEP,
    NUMBER_FLAG,
    NUMBER_REAL,
    NUMBER_START_VALUE /* a float that a fold begins with */
} NumberKind;

typedef struct Guessed { /* a number that nothing tells */
    int parameter;
    NumberKind kind;
    bool is_free;  /* of a size that only the command line has */
    int64_t first; /* what it was guessed to be */
} Guessed;

typedef struct Profile {
    int64_t values[USES_PARAMETERS]; /* [guessed] */
    double reals[USES_PARAMETERS];
    uint64_t side; /* rows, which decide a guessed grid; 0: as it was */
    uint64_t n;    /* elements; 0: as it was */
    bool has_one_block;
} Profile;

typedef struct Profiles {
    UserLaunch *user;
    Guessed guessed[USES_PARAMETERS];
    int guessed_count, count;
    Profile first, list[MOST_PROFILES];
} Profiles;

/* ---- what a name says ----------------------------------------------------------------------------------------- */

typedef struct NameTokens {
    char words[MOST_TOKENS][TOKEN]; /* "s", "row" of S_ROW, sRow */
    int count;
} NameTokens;

static NameTokens split_name(const char *name) {
    NameTokens tokens = {.count = 0};
    size_t length = 0;
    for (const char *c = name; *c && tokens.count < MOST_TOKENS; c++) {
        bool is_letter = isalpha((unsigned char)*c) != 0;
        bool begins = length && isupper((unsigned char)*c) && islower((unsigned char)c[-1]);
        if ((begins || !is_letter) && length) {
            tokens.count++;
            length = 0;
        }
        if (is_letter && tokens.count < MOST_TOKENS && length + 1 < TOKEN)
            tokens.words[tokens.count][length++] = (char)tolower((unsigned char)*c);
    }
    if (length && tokens.count < MOST_TOKENS) tokens.count++;
    return tokens;
}

static bool has_word(const NameTokens *tokens, const char *const *words) {
    for (int i = 0; i < tokens->count; i++)
        for (const char *const *word = words; *word; word++)
            if (!strcmp(tokens->words[i], *word)) return true;
    return false;
}

static const char *name_of(UserLaunch *user, int parameter) {
    const char *name = user->code
                           ? host_code_parameter_name(user->code, user_bare_name(user), parameter,
                                                      user->entry->parameter_count, &user->guess->arena)
                           : NULL;
    return name ? name : "";
}

/* The name of another parameter is this one but for its first letter: s_row, e_row. */
static bool has_partner(UserLaunch *user, int parameter, char wanted) {
    const char *name = name_of(user, parameter);
    for (int i = 0; i < user->entry->parameter_count && i < USES_PARAMETERS; i++) {
        const char *other = name_of(user, i);
        if (i != parameter && name[0] && tolower((unsigned char)other[0]) == wanted &&
            !strcmp(name + 1, other + 1))
            return true;
    }
    return false;
}

static NumberKind kind_of_whole(UserLaunch *user, int parameter) {
    static const char *const begins[] = {"start",  "begin",     "first",   "lo",     "low",  "from",
                                         "offset", "off",       "left",    "index",  "idx",  "id",
                                         "shift",  "pos",       "place",   "seed",   "root", "which",
                                         "pad",    "threshold", "padding", "margin", "skip", NULL};
    static const char *const ends[] = {"end", "last", "hi", "high", "stop", "right", NULL};
    static const char *const steps[] = {"stride", "step",  "inc",    "incx", "incy",   "scale",  "times",
                                        "repeat", "iters", "rounds", "reps", "factor", "passes", NULL};
    static const char *const sizes[] = {"n",    "m",   "size", "len",     "length",   "count",  "num",
                                        "rows", "row", "cols", "col",     "width",    "height", "total",
                                        "nx",   "ny",  "dim",  "columns", "elements", "batch",  NULL};
    NameTokens tokens = split_name(name_of(user, parameter));
    const char *name = name_of(user, parameter);
    bool is_begin = tolower((unsigned char)name[0]) == 's' && has_partner(user, parameter, 'e'),
         is_end = tolower((unsigned char)name[0]) == 'e' && has_partner(user, parameter, 's');
    return user->entry->parameters[parameter]->bytes == 1     ? NUMBER_FLAG
           : is_begin || has_word(&tokens, begins)            ? NUMBER_BEGIN
           : is_end || has_word(&tokens, ends)                ? NUMBER_END
           : has_word(&tokens, steps)                         ? NUMBER_STEP
           : has_word(&tokens, sizes) || strstr(name, "size") ? NUMBER_SIZE
                                                              : NUMBER_OTHER;
}

static bool is_known_name(UserLaunch *user, int parameter) {
    const char *name = name_of(user, parameter);
    return strstr(name, "bin") || strstr(name, "Bin") || strstr(name, "eps");
}

/* ---- the numbers that were guessed ---------------------------------------------------------------------------- */

static void list_guessed(Profiles *profiles) {
    static const char *const zeros[] = {"init", "neutral", "identity", "mean", "mu",   "average", "avg",
                                        "beta", "bias",    "offset",   "zero", "base", "start",   NULL};
    UserLaunch *user = profiles->user;
    Declared declared[USES_PARAMETERS] = {0};
    declared_list(user->entry, 1, declared);
    for (int i = 0; i < user->entry->parameter_count && i < USES_PARAMETERS; i++) {
        const PtxVariable *parameter = user->entry->parameters[i];
        const GuessHint *hint = &user->hints[i];
        bool is_number =
            parameter->bytes <= 8 && !declared[i].has_value && !guess_element_bytes(user->entry, i);
        bool is_real = ptx_type_is_float(parameter->type) || ptx_type_is_float(declared[i].type);
        if (!is_number || (hint->has_value && !hint->is_free) || is_known_name(user, i)) continue;
        Guessed *guessed = &profiles->guessed[profiles->guessed_count];
        *guessed = (Guessed){.parameter = i, .is_free = hint->has_value};
        guessed->first = hint->has_value ? hint->integer : parameter->bytes > 1 ? (int64_t)user->side : 1;
        guessed->kind = kind_of_whole(user, i);
        NameTokens tokens = split_name(name_of(user, i));
        if (is_real) guessed->kind = has_word(&tokens, zeros) ? NUMBER_START_VALUE : NUMBER_REAL;
        profiles->first.values[profiles->guessed_count] = guessed->first;
        profiles->first.reals[profiles->guessed_count] = 1;
        profiles->guessed_count++;
    }
}

/* ---- their profiles --------------------------------------------------------------------------------------------- */

static bool are_equal(const Profiles *profiles, const Profile *a, const Profile *b) {
    bool equal = a->has_one_block == b->has_one_block;
    for (int i = 0; i < profiles->guessed_count; i++) {
        bool is_float = profiles->guessed[i].kind >= NUMBER_REAL;
        equal &= is_float ? a->reals[i] == b->reals[i] : a->values[i] == b->values[i];
    }
    return equal;
}

static void add_profile(Profiles *profiles, const Profile *profile) {
    bool is_there = are_equal(profiles, profile, &profiles->first);
    for (int i = 0; i < profiles->count; i++) is_there |= are_equal(profiles, profile, &profiles->list[i]);
    if (!is_there && profiles->count < MOST_PROFILES) profiles->list[profiles->count++] = *profile;
}

/* What the names say; the last element is before an end, or at it. */
static Profile as_named(const Profiles *profiles, bool is_inclusive, bool has_steps) {
    Profile profile = profiles->first;
    for (int i = 0; i < profiles->guessed_count; i++) {
        NumberKind kind = profiles->guessed[i].kind;
        if (kind == NUMBER_BEGIN) profile.values[i] = 0;
        if (kind == NUMBER_STEP && has_steps) profile.values[i] = 1;
        if (kind == NUMBER_END) profile.values[i] = profiles->guessed[i].first - is_inclusive;
        if (kind == NUMBER_START_VALUE) profile.reals[i] = 0;
    }
    return profile;
}

/* All numbers of one kind are `value`. */
static void add_all(Profiles *profiles, NumberKind kind, int64_t value) {
    Profile profile = as_named(profiles, false, true);
    for (int i = 0; i < profiles->guessed_count; i++) {
        bool is_it = profiles->guessed[i].kind == kind ||
                     (kind == NUMBER_REAL && profiles->guessed[i].kind == NUMBER_START_VALUE);
        if (is_it) profile.values[i] = value;
        if (is_it) profile.reals[i] = (double)value;
    }
    add_profile(profiles, &profile);
}

/* Two sizes, or more, of which nothing is known: rows and columns of other matrices with n elements. A size that others follow
 * from stays. */
static void add_shapes(Profiles *profiles) {
    uint64_t n = profiles->user->guess->account.n, columns[] = {0, 32, 1, n};
    int places[USES_PARAMETERS], sizes = 0;
    columns[0] = launch_volume(profiles->user->launch->block);
    for (int i = 0; i < profiles->guessed_count; i++) {
        const Guessed *guessed = &profiles->guessed[i];
        if (guessed->kind == NUMBER_SIZE && !guessed->is_free) places[sizes++] = i;
    }
    if (sizes < 2 || sizes > 3) return;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        Profile profile = as_named(profiles, false, true);
        if (!columns[i] || columns[i] > n) continue;
        for (int k = 0; k + 2 < sizes; k++) profile.values[places[k]] = 1;
        profile.values[places[sizes - 2]] = (int64_t)(n / columns[i]);
        profile.values[places[sizes - 1]] = (int64_t)columns[i];
        profile.side = n / columns[i];
        add_profile(profiles, &profile);
    }
}

/* An element for each thread of the only block. */
static void add_threads(Profiles *profiles) {
    Profile profile = as_named(profiles, false, true);
    profile.n = launch_volume(profiles->user->launch->block);
    for (int i = 0; i < profiles->guessed_count; i++)
        if (profiles->guessed[i].kind == NUMBER_SIZE) profile.values[i] = (int64_t)profile.n;
    add_profile(profiles, &profile);
}

static void list_profiles(Profiles *profiles) {
    UserLaunch *user = profiles->user;
    Profile inclusive = as_named(profiles, true, true), exclusive = as_named(profiles, false, true),
            without_steps = as_named(profiles, false, false);
    add_profile(profiles, &inclusive);
    add_profile(profiles, &exclusive);
    add_profile(profiles, &without_steps);
    add_all(profiles, NUMBER_REAL, 0);
    add_all(profiles, NUMBER_FLAG, 0);
    for (int64_t value = 0; value < 2; value++) add_all(profiles, NUMBER_OTHER, value);
    add_all(profiles, NUMBER_OTHER, (int64_t)launch_volume(user->launch->block));
    if (!user->shape.counts_blocks && user->chooses_n) add_threads(profiles);
    add_shapes(profiles);
    Profile one_block = exclusive;
    one_block.has_one_block = true;
    uint32_t read[3];
    bool is_guessed = !user->guess->request.grid[0] && !user_reads_grid(user, read);
    if (is_guessed && user->shape.counts_blocks) add_profile(profiles, &one_block);
}

bool user_apply_profile(UserLaunch *user) {
    Profiles profiles = {.user = user};
    Guess *guess = user->guess;
    int wanted = guess->trial.profile;
    if (guess->request.args) return true;
    list_guessed(&profiles);
    list_profiles(&profiles);
    guess->account.profiles = profiles.count;
    if (!wanted || wanted > profiles.count) return !wanted;
    const Profile *profile = &profiles.list[wanted - 1];
    for (int i = 0; i < profiles.guessed_count; i++) {
        const Guessed *guessed = &profiles.guessed[i];
        GuessHint *hint = &user->hints[guessed->parameter];
        hint->has_value = true;
        hint->is_float = guessed->kind >= NUMBER_REAL;
        hint->integer = profile->values[i];
        hint->number = hint->is_float ? profile->reals[i] : (double)hint->integer;
    }
    if (profile->side) user->side = profile->side;
    if (profile->n) guess->account.n = profile->n;
    user->has_one_block = profile->has_one_block;
    return true;
}
