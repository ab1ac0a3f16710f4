/* The choice of a kernel in a file, and of the launch in the file that is its launch. */
#include "guess/user_launch.h"

#include "base/memory.h"
#include "ptx/ptx_check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_cuda_source(const char *file) {
    const char *dot = strrchr(file, '.');
    return dot && !strcmp(dot, ".cu");
}

HostCode *user_read_host_code(const GuessRequest *options) {
    return options->file && is_cuda_source(options->file) ? host_code_open(options->file) : NULL;
}

/* Of the launches of one template, as in `switch (threads)`, that whose arguments have the block's size. */
static bool names_block(const GuessRequest *options, const HostLaunch *launch) {
    uint32_t block[3];
    bool is_read = host_code_evaluate_size(launch->code, launch, launch->block, block);
    uint64_t threads = options->block[0] ? options->block[0] : is_read ? launch_volume(block) : USER_BLOCK;
    for (const char *at = launch->arguments; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strtoull(at + strspn(at, " "), NULL, 10) == threads) return true;
    return false;
}

static const HostLaunch *best_instance(const GuessRequest *options, const HostLaunch *launch) {
    if (!launch->arguments || names_block(options, launch)) return launch;
    for (int i = 0; i < host_code_launch_count(launch->code); i++) {
        const HostLaunch *other = host_code_launch(launch->code, i);
        if (!strcmp(other->kernel, launch->kernel) && other->arguments && names_block(options, other))
            return other;
    }
    return launch;
}

const char *guess_instance(const GuessRequest *request, Arena *arena, bool *is_guess) {
    HostCode *code = user_read_host_code(request);
    const char *instance = NULL;
    Text guessed = {0};
    *is_guess = false;
    for (int i = 0; code && i < host_code_launch_count(code) && !instance; i++) {
        const HostLaunch *launch = best_instance(request, host_code_launch(code, i));
        if (launch->arguments && *launch->kernel)
            instance = arena_print(arena, "%s<%s>", launch->kernel, launch->arguments);
    }
    bool is_completed = false; /* as its launch leaves it to be deduced, else of the first template */
    for (int i = 0; code && i < host_code_launch_count(code) && !is_completed; i++) {
        const HostLaunch *launch = best_instance(request, host_code_launch(code, i));
        bool is_whole =
            launch->arguments && strchr(launch->arguments, '<'); /* commas within are no separators */
        is_completed = !is_whole && (!instance || launch->arguments) &&
                       host_code_complete_instance(code, launch, &guessed);
    }
    if (code && (is_completed || (!instance && host_code_guess_instance(code, &guessed)))) {
        *is_guess = !instance || strcmp(instance, text_string(&guessed)) != 0;
        instance = arena_copy_text(arena, text_string(&guessed), guessed.length);
    }
    text_done(&guessed);
    host_code_free(code);
    return instance;
}

bool user_parse(Guess *guess, PtxFunction *entry, Error *error) {
    for (int i = 0; i < guess->checked_count; i++)
        if (guess->checked[i] == entry) return true;
    PtxModule *module = guess->request.module;
    PtxProgram *program =
        ptx_function_parse(module, entry, error) ? ptx_program_link(module, entry, error) : NULL;
    bool good = program && ptx_program_check(program, error);
    ptx_program_free(program);
    if (good) array_push(guess->checked, guess->checked_count, guess->checked_capacity, entry);
    return good;
}

/* "sum" of "space::sum<float,256>". */
static bool is_bare_name(const char *readable, const char *name) {
    size_t bare = strcspn(readable, "<(");
    const char *last = readable;
    for (const char *c = readable; c + 2 < readable + bare; c++)
        if (c[0] == ':' && c[1] == ':') last = c + 2;
    size_t length = bare - (size_t)(last - readable);
    return strlen(name) == length && !memcmp(name, last, length);
}

/* Enumerators are spelled as their values where the file says which they are. */
static PtxFunction *find_named(Guess *guess, HostCode *code, const char *name, Error *error) {
    Text spelled = {0};
    Error inner = {0};
    if (code) host_code_spell(code, name, &spelled);
    PtxFunction *entry =
        code ? ptx_module_find_entry(guess->request.module, text_string(&spelled), &inner) : NULL;
    text_done(&spelled);
    return entry ? entry : ptx_module_find_entry(guess->request.module, name, error);
}

PtxFunction *user_entry_of_launch(Guess *guess, const HostLaunch *launch) {
    PtxModule *module = guess->request.module;
    Error ignored = {0};
    if (launch->arguments) {
        const char *whole = arena_print(&guess->arena, "%s<%s>", launch->kernel, launch->arguments);
        PtxFunction *exact = find_named(guess, launch->code, whole, &ignored);
        if (exact) return exact;
    }
    for (int i = 0; *launch->kernel && i < module->function_count; i++) {
        PtxFunction *function = module->functions[i];
        if (function->is_entry && function->has_body &&
            is_bare_name(ptx_readable_name(module, function->name), launch->kernel))
            return function;
    }
    return NULL;
}

static int count_entries(const PtxModule *module) {
    int count = 0;
    for (int i = 0; i < module->function_count; i++)
        count += module->functions[i]->is_entry && module->functions[i]->has_body;
    return count;
}

static bool has_pointer(const PtxFunction *entry) {
    bool found = false;
    for (int i = 0; i < entry->parameter_count && i < USES_PARAMETERS; i++)
        found |= entry->parameters[i]->bytes > 8 || guess_element_bytes(entry, i) > 0;
    return found;
}

/* Its name says that it reduces, as one step of a sum does whose threads do not work together. */
static bool is_named_reduction(UserLaunch *user, const PtxFunction *entry) {
    static const char *const parts[] = {"reduc", "sum", "dot", "max", "min", "mean", "norm", "scan", "hist"};
    char lower[128] = "";
    const char *name = ptx_readable_name(user->guess->request.module, entry->name);
    for (size_t i = 0, end = strcspn(name, "<("); i < end && i + 1 < sizeof lower; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(lower, parts[i])) return true;
    return false;
}

/* Threads that work together, on what they are given, make a reduction, all the more where its name says so. A kernel without
 * a pointer shows how an instruction works. -1: it leaves nothing behind, like one whose body is commented out. */
static int score_entry(UserLaunch *user, const PtxFunction *entry) {
    bool works_together = uses_communicate(entry), is_named = is_named_reduction(user, entry);
    if (!uses_store(entry)) return -1;
    return (works_together ? 2 + 2 * has_pointer(entry) : 0) + is_named;
}

/* Of the kernels that the file launches the first with the best score, else of all kernels that which is written first: where
 * it launches none, or one through a pointer, and by name only one that does not reduce. */
static PtxFunction *choose_entry(UserLaunch *user) {
    const GuessRequest *options = &user->guess->request;
    PtxModule *module = user->guess->request.module;
    PtxFunction *first = NULL;
    int best = -1;
    bool has_other = false; /* a launch through a pointer */
    for (int i = 0; i < host_code_launch_count(user->code); i++) {
        PtxFunction *entry =
            user_entry_of_launch(user->guess, best_instance(options, host_code_launch(user->code, i)));
        has_other |= !entry;
        if (!entry || !user_parse(user->guess, entry, NULL)) continue;
        int score = score_entry(user, entry);
        if (score > best) first = entry;
        if (score > best) best = score;
    }
    size_t place = SIZE_MAX;
    bool is_launched = first && (best > 0 || !has_other);
    if (!is_launched) best = -2;
    for (int i = 0; !is_launched && i < module->function_count; i++) {
        PtxFunction *entry = module->functions[i];
        if (!entry->is_entry || !entry->has_body || !user_parse(user->guess, entry, NULL)) continue;
        size_t at = host_code_place(user->code, ptx_readable_name(module, entry->name));
        int score = score_entry(user, entry);
        if (score < best || (score == best && at >= place)) continue;
        best = score;
        place = at;
        first = entry;
    }
    return first;
}

static bool is_launched_by_name(UserLaunch *user, const PtxFunction *entry) {
    for (int i = 0; i < host_code_launch_count(user->code); i++)
        if (user_entry_of_launch(user->guess, host_code_launch(user->code, i)) == entry) return true;
    return false;
}

/* The other kernels that reduce, by what they are called, or, where no launch of the chosen one was read, by what they do, in the
 * order of the module: the first is 1. */
static PtxFunction *find_other(UserLaunch *user, PtxFunction *chosen) {
    PtxModule *module = user->guess->request.module;
    int wanted = user->guess->trial.entry, count = 0;
    bool is_launched = chosen && is_launched_by_name(user, chosen);
    PtxFunction *found = chosen;
    for (int i = 0; chosen && i < module->function_count; i++) {
        PtxFunction *entry = module->functions[i];
        bool is_other =
            entry != chosen && entry->is_entry && entry->has_body && user_parse(user->guess, entry, NULL);
        if (!is_other || !has_pointer(entry) || score_entry(user, entry) < 1) continue;
        if (is_launched && !is_named_reduction(user, entry)) continue;
        if (++count == wanted) found = entry;
    }
    user->guess->account.other_entries = count;
    user->guess->account.is_launched = is_launched;
    return found;
}

/* As it was asked for. An instance that the compiler has just made may have another name: arguments that are enumerators,
 * aliases or sums are spelled as their values there. It is the only one of its template then. */
PtxFunction *user_find_entry(UserLaunch *user, Error *error) {
    Guess *guess = user->guess;
    const GuessRequest *options = &guess->request;
    int entries = count_entries(guess->request.module);
    if (!options->entry && user->code && entries > 1) {
        PtxFunction *chosen = find_other(user, choose_entry(user));
        if (chosen)
            text_print(&user->guessed, " --entry '%s'",
                       ptx_readable_name(guess->request.module, chosen->name));
        return chosen;
    }
    if (guess->request.guessed_instance)
        text_print(&user->guessed, " --entry '%s'", guess->request.guessed_instance);
    PtxFunction *entry = options->entry ? find_named(guess, user->code, options->entry, error)
                                        : ptx_module_find_entry(guess->request.module, NULL, error);
    if (entry || !options->entry || !strchr(options->entry, '<') || !is_cuda_source(options->file))
        return entry;
    size_t bare = strcspn(options->entry, "<");
    Error ignored = {0};
    entry = ptx_module_find_entry(guess->request.module, arena_copy_text(&guess->arena, options->entry, bare),
                                  &ignored);
    if (entry && error) *error = (Error){0};
    return entry;
}

bool user_is_null(const char *item) {
    return !strcmp(item, "nullptr") || !strcmp(item, "NULL") || !strcmp(item, "0");
}

/* A launch that only makes an instance of a template passes no pointers. */
bool user_passes_nothing(const PtxFunction *entry, const HostLaunch *launch) {
    int pointers = 0, null = 0;
    for (int i = 0; i < launch->item_count && i < entry->parameter_count; i++) {
        const char *item = launch->items[i];
        if (!guess_element_bytes(entry, i)) continue;
        pointers++;
        null += user_is_null(item);
    }
    return pointers && null == pointers;
}

/* One thread: it warms the GPU up. */
static bool is_single(UserLaunch *user, const HostLaunch *launch) {
    uint32_t grid[3], block[3];
    return host_code_evaluate_size(user->code, launch, launch->grid, grid) &&
           host_code_evaluate_size(user->code, launch, launch->block, block) &&
           launch_volume(grid) * launch_volume(block) == 1;
}

/* The file's launch of it; one through a pointer, or a macro, may be of any kernel. */
const HostLaunch *user_find_launch(UserLaunch *user) {
    const HostLaunch *any = NULL;
    for (int i = 0; user->code && i < host_code_launch_count(user->code); i++) {
        const HostLaunch *launch = host_code_launch(user->code, i);
        PtxFunction *entry = user_entry_of_launch(user->guess, launch);
        if (user_passes_nothing(user->entry, launch) ||
            (is_single(user, launch) && i + 1 < host_code_launch_count(user->code)))
            continue;
        if (entry == user->entry) return launch;
        bool is_its =
            is_bare_name(ptx_readable_name(user->guess->request.module, user->entry->name), launch->kernel);
        if ((is_its || !entry) && !any && launch->item_count == user->entry->parameter_count) any = launch;
    }
    return any;
}

static bool may_be_named(const char *name, const char *const *others, int count) {
    static const char *const taken[] = {"n", "block", "grid", "null", "inf", "nan"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(name, taken[i])) return false;
    for (int i = 0; i < count; i++)
        if (!strcmp(name, others[i])) return false;
    return true;
}

const char *const *user_parameter_names(Guess *guess, HostCode *code, const PtxFunction *entry) {
    if (!code || !entry->parameter_count) return NULL;
    int count = entry->parameter_count;
    const char **names = arena_new(&guess->arena, (size_t)count * sizeof *names);
    const char *readable = ptx_readable_name(guess->request.module, entry->name);
    size_t bare = strcspn(readable, "<("), begin = bare;
    while (begin > 0 && readable[begin - 1] != ':') begin--;
    const char *kernel = arena_copy_text(&guess->arena, readable + begin, bare - begin);
    for (int i = 0; i < count; i++) {
        names[i] = host_code_parameter_name(code, kernel, i, count, &guess->arena);
        bool is_pointer = guess_element_bytes(entry, i) > 0;
        if (!names[i] || (is_pointer && !may_be_named(names[i], names, i))) return NULL;
    }
    return names;
}
