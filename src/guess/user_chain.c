/* Several launches of a host function, one after another, each of which reads what an earlier one wrote: partial results,
 * then their reduction. They are written as --launch, and run as one. */
#include "guess/guess.h"

#include "guess/guess_arguments.h"
#include "plan/launches.h"
#include "guess/uses.h"
#include "guess/host_code.h"
#include "guess/user_chain.h"
#include "guess/user_launch.h"
#include <inttypes.h>
#include <string.h>

enum { BUFFERS = 64 };

typedef struct ChainBuffer {
    size_t identity;
    const char *name;
    bool is_produced; /* by a launch of the chain */
} ChainBuffer;

typedef struct Chain {
    Guess *guess;
    HostCode *code;
    ChainBuffer buffers[BUFFERS];
    int buffer_count, launches, last_line;
    bool has_loop;
    Text text, lines;
} Chain;

typedef struct Link { /* one of the launches */
    const HostLaunch *host;
    PtxFunction *entry;
    PlanLaunch launch; /* its sizes */
    Use uses[USES_PARAMETERS];
    size_t identities[USES_PARAMETERS]; /* of the pointers; 0: not known */
    GuessHint hints[USES_PARAMETERS];
} Link;

static ChainBuffer *find_identity(Chain *chain, size_t identity) {
    for (int i = 0; identity && i < chain->buffer_count; i++)
        if (chain->buffers[i].identity == identity) return &chain->buffers[i];
    return NULL;
}

static const char *new_name(Chain *chain, const char *wanted) {
    const char *name = wanted;
    for (int number = 2, i = 0; i < chain->buffer_count; i++) {
        if (strcmp(chain->buffers[i].name, name) != 0) continue;
        size_t letters = strcspn(wanted, "0123456789");
        name = arena_print(&chain->guess->arena, "%.*s%d", (int)letters, wanted, number++);
        i = -1;
    }
    return name;
}

static int parameters_of(const Link *link) {
    int count = link->entry->parameter_count;
    return count < USES_PARAMETERS ? count : USES_PARAMETERS;
}

/* All of its arguments and sizes, as the file says them; false: something is not known. */
static bool read_link(Chain *chain, Link *link) {
    HostCode *code = chain->code;
    const HostLaunch *host = link->host;
    if (!user_parse(chain->guess, link->entry, NULL) || host->item_count != link->entry->parameter_count ||
        host->item_count > USES_PARAMETERS)
        return false;
    uses_find(link->entry, link->uses);
    for (int i = 0; i < host->item_count; i++) {
        GuessHint *hint = &link->hints[i];
        uint64_t bytes = guess_element_bytes(link->entry, i);
        hint->is_null = bytes && user_is_null(host->items[i]);
        if (hint->is_null) continue;
        if (bytes) {
            HostPointer pointer = host_code_pointer(code, host, i);
            link->identities[i] = pointer.identity;
            if (!pointer.identity || !pointer.bytes.is_known || pointer.bytes.number < (double)bytes)
                return false;
            hint->count = (uint64_t)pointer.bytes.number / bytes;
            continue;
        }
        HostNumber value = host_code_evaluate(code, host, host->items[i]);
        if (!value.is_known) return false;
        *hint = (GuessHint){
            .has_value = true, .is_float = value.is_float, .integer = value.integer, .number = value.number};
    }
    HostNumber shared = {0};
    if (host->shared) shared = host_code_evaluate(code, host, host->shared);
    if (host->shared && (!shared.is_known || shared.number < 0 || shared.number > 227 << 10)) return false;
    link->launch.dynamic_shared_bytes = (uint32_t)shared.number;
    return host_code_evaluate_size(code, host, host->grid, link->launch.grid) &&
           host_code_evaluate_size(code, host, host->block, link->launch.block);
}

/* It loads what an earlier launch has stored, and the host has overwritten nothing of that. */
static bool reads_produced(Chain *chain, const Link *link, size_t from) {
    bool found = false;
    for (int i = 0; i < parameters_of(link); i++) {
        const ChainBuffer *buffer = find_identity(chain, link->identities[i]);
        const Use *use = &link->uses[i];
        if (!buffer || !buffer->is_produced || !use->is_read || use->is_updated) continue;
        if (host_code_overwrites(chain->code, from, link->host->at, link->host->items[i])) return false;
        found = true;
    }
    return found;
}

static bool writes_produced(Chain *chain, const Link *link) {
    for (int i = 0; i < parameters_of(link); i++) {
        const ChainBuffer *buffer = find_identity(chain, link->identities[i]);
        if (buffer && buffer->is_produced && (link->uses[i].is_written || link->uses[i].is_updated))
            return true;
    }
    return false;
}

/* The item of parameter `index`, "in=float[n]:random", by the names of the chain. */
static void add_item(Chain *chain, const Link *link, int index, const char *item, size_t length, Text *out) {
    const char *equal = memchr(item, '=', length);
    ChainBuffer *buffer =
        equal || link->identities[index] ? find_identity(chain, link->identities[index]) : NULL;
    if (index) text_add(out, ", ");
    if (buffer) {
        text_add(out, buffer->name);
    } else if (equal && chain->buffer_count < BUFFERS) {
        const char *own = arena_copy_text(&chain->guess->arena, item, (size_t)(equal - item));
        chain->buffers[chain->buffer_count] =
            (ChainBuffer){.identity = link->identities[index], .name = new_name(chain, own)};
        text_print(out, "%s%.*s", chain->buffers[chain->buffer_count++].name,
                   (int)(length - (size_t)(equal - item)), equal);
        buffer = &chain->buffers[chain->buffer_count - 1];
    } else {
        text_add_bytes(out, item, length);
    }
    if (buffer) buffer->is_produced |= link->uses[index].is_written || link->uses[index].is_updated;
}

static void add_link(Chain *chain, const Link *link) {
    Guess *guess = chain->guess;
    uint64_t n = guess->account.n;
    GuessInput input = {.n = n,
                        .grid = launch_volume(link->launch.grid),
                        .side = n,
                        .fill = user_fill_text(guess),
                        .has_fill = guess->request.has_fill,
                        .shared_bytes = link->launch.dynamic_shared_bytes,
                        .hints = link->hints,
                        .names = user_parameter_names(guess, chain->code, link->entry)};
    Text guessed = {0}, arguments = {0};
    guess_arguments(link->entry, &input, &guessed);
    const char *begin = text_string(&guessed);
    int depth = 0, index = 0;
    for (const char *at = begin; index < parameters_of(link); at++) {
        depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
        if (*at && (*at != ',' || depth)) continue;
        begin += strspn(begin, " ");
        add_item(chain, link, index++, begin, (size_t)(at - begin), &arguments);
        if (!*at) break;
        begin = at + 1;
    }
    text_add(&chain->text, chain->launches ? "; " : "");
    launches_print(ptx_readable_name(guess->request.module, link->entry->name), &link->launch,
                   text_string(&arguments), &chain->text);
    if (link->host->line != chain->last_line)
        text_print(&chain->lines, "%s%d", chain->launches ? ", " : "", link->host->line);
    chain->last_line = link->host->line;
    chain->launches++;
    text_done(&guessed);
    text_done(&arguments);
}

/* ---- loops -------------------------------------------------------------------------------------------------- */

typedef struct Round { /* what a loop is visited with */
    Chain *chain;
    EntryOfLaunch entry_of;
} Round;

/* The launch is in the chain already, with the same arguments: it is repeated to take its time. */
static bool is_repeated(const Chain *chain, size_t begin) {
    const char *text = text_string(&chain->text), *added = text + begin + strspn(text + begin, "; ");
    size_t length = strlen(added);
    for (const char *at = strstr(text, added); at && at < added; at = strstr(at + 1, added))
        if (at[length] == ';') return true;
    return false;
}

static bool visit(void *context, const HostLaunch *launch) {
    Round *round = context;
    Chain *chain = round->chain;
    Link link = {.host = launch, .entry = round->entry_of(chain->guess, launch)};
    size_t begin = chain->text.length;
    if (!link.entry || chain->launches == PLAN_LAUNCHES || !read_link(chain, &link)) return false;
    if (chain->launches && !reads_produced(chain, &link, launch->at)) return false;
    add_link(chain, &link);
    return chain->launches == 1 || !is_repeated(chain, begin);
}

/* Adds all launches of the loop around `host`; false: it is none whose rounds differ, and the chain is what it was. */
static bool add_loop(Chain *chain, const HostLaunch *host, EntryOfLaunch entry_of) {
    Chain before = *chain;
    size_t text = chain->text.length, lines = chain->lines.length;
    Round round = {chain, entry_of};
    bool is_done = !chain->guess->trial.no_loops && host_code_repeat(chain->code, host, visit, &round);
    chain->has_loop |= is_done;
    if (is_done) return true;
    host_code_forget_loop(chain->code);
    before.text = chain->text;
    before.lines = chain->lines;
    *chain = before;
    text_cut(&chain->text, text);
    text_cut(&chain->lines, lines);
    return false;
}

/* Of launches from `first` on: what follows in a straight line, loops as their rounds. */
static void follow(Chain *chain, const HostLaunch *first, EntryOfLaunch entry_of) {
    HostCode *code = chain->code;
    size_t from = first->at, begin, end, behind = 0;
    HostLaunch start = *first;
    if (host_code_find_loop(code, first, &begin, &end) && chain->launches > 1) {
        behind = end;
        start.at = begin;
        from = end;
    }
    for (int i = 0; i < host_code_launch_count(code) && chain->launches < PLAN_LAUNCHES; i++) {
        Link link = {.host = host_code_launch(code, i)};
        HostLaunch place = *link.host;
        if (link.host->at < behind) continue;
        bool is_looped = host_code_find_loop(code, link.host, &begin, &end) && begin > start.at;
        if (is_looped) place.at = begin;
        if (!host_code_follows(code, &start, &place)) continue;
        if (is_looped) {
            if (add_loop(chain, link.host, entry_of)) from = behind = end;
            continue;
        }
        link.entry = entry_of(chain->guess, link.host);
        if (!link.entry || !read_link(chain, &link)) break;
        if (!reads_produced(chain, &link, from)) {
            if (writes_produced(chain, &link)) break; /* another result in the same buffers */
            continue;
        }
        add_link(chain, &link);
        from = link.host->at;
    }
}

bool user_plan_chain(Guess *guess, HostCode *code, const HostLaunch *first, PtxFunction *entry,
                     EntryOfLaunch entry_of) {
    Chain chain = {.guess = guess, .code = code};
    Link link = {.host = first, .entry = entry};
    bool is_chain = add_loop(&chain, first, entry_of);
    if (!is_chain) is_chain = read_link(&chain, &link);
    if (is_chain && !chain.launches) add_link(&chain, &link);
    if (is_chain) follow(&chain, first, entry_of);
    host_code_forget_loop(code);
    is_chain = chain.launches > 1;
    if (is_chain) {
        Plan single = *guess->plan;
        *guess->plan = (Plan){0};
        is_chain = user_plan_launches(guess, text_string(&chain.text), NULL);
        plan_free(is_chain ? &single : guess->plan);
        if (!is_chain) *guess->plan = single;
    }
    guess->account.has_loop = is_chain && chain.has_loop;
    if (is_chain) {
        guess->account.guessed = NULL;
        guess->account.guesses_arguments = guess->account.guesses_block = guess->account.guesses_grid = false;
        guess->account.reads_arguments = false;
        guess->account.reads_launches = true;
        guess->account.read = arena_print(
            &guess->arena, "--launch '%s' --n %" PRIu64 " (line%s %s%s)", guess->account.arguments,
            guess->account.n, strchr(text_string(&chain.lines), ',') ? "s" : "", text_string(&chain.lines),
            guess->account.is_reduced ? ", with a smaller n" : "");
    }
    text_done(&chain.text);
    text_done(&chain.lines);
    return is_chain;
}
