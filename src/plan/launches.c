/* --launch: reading and printing launches; the grammar is in the header. */
#include "plan/launches.h"

#include "plan/arguments.h"

#include <inttypes.h>
#include <limits.h>

enum { MOST_SHARED = 227 << 10 }; /* the most that any architecture offers */

static const uint32_t grid_limit[3] = {INT_MAX, 65535, 65535}, block_limit[3] = {1024, 1024, 64},
                      cluster_limit[3] = {LAUNCH_CLUSTER_BLOCKS, LAUNCH_CLUSTER_BLOCKS,
                                          LAUNCH_CLUSTER_BLOCKS};

/* The place of `word` from `begin` on, outside brackets if `is_outside`; SIZE_MAX if it is missing. */
static size_t find_word(const char *text, size_t begin, const char *word) {
    const char *found = strstr(text + begin, word);
    return found ? (size_t)(found - text) : SIZE_MAX;
}

/* The bracket that closes the one at `open`; SIZE_MAX if it is missing. */
static size_t find_close(Span text, size_t open) {
    int depth = 0;
    for (size_t at = open; at < text.length; at++) {
        char c = text.text[at];
        depth += (c == '(' || c == '{') - (c == ')' || c == '}');
        if (!depth) return at;
    }
    return SIZE_MAX;
}

static bool starts(Span span, const char *word) {
    return span.length >= strlen(word) && !memcmp(span.text, word, strlen(word));
}

/* The text between the brackets of (X, Y), {X} or dim3(X); false for an expression. */
static bool find_list(Span size, Span *list) {
    bool is_dim3 = starts(size, "dim3");
    Span rest = is_dim3 ? argument_cut(size, 4, size.length) : size;
    if (!rest.length || !strchr("({", rest.text[0]) || find_close(rest, 0) != rest.length - 1) return false;
    *list = argument_cut(rest, 1, rest.length - 1);
    return is_dim3 || rest.text[0] == '{' || argument_end(*list) < list->length;
}

static bool read_whole(ArgumentReader *reader, Span span, const char *what, uint64_t most, uint32_t *number) {
    ExpressionValue value;
    if (!argument_evaluate(reader, span, &value)) return false;
    if (value.is_float || value.integer < 1 || (uint64_t)value.integer > most)
        return argument_fail(reader, span, "%s '%.*s' is not a whole number from 1 to %" PRIu64, what,
                             argument_shown(span), span.text, most);
    *number = (uint32_t)value.integer;
    return true;
}

static bool read_size(ArgumentReader *reader, Span span, const char *what, const uint32_t limit[3],
                      uint32_t size[3]) {
    Span list = span;
    bool is_list = find_list(span, &list);
    size[0] = size[1] = size[2] = 1;
    for (int i = 0;; i++) {
        size_t comma = is_list ? argument_end(list) : list.length;
        if (i == 3) return argument_fail(reader, list, "%s has at most three dimensions", what);
        if (!read_whole(reader, argument_cut(list, 0, comma), what, limit[i], &size[i])) return false;
        if (comma == list.length) return true;
        list = argument_cut(list, comma + 1, list.length);
    }
}

static bool read_shared(ArgumentReader *reader, Span span, TypedLaunch *launch) {
    ExpressionValue value;
    if (!argument_evaluate(reader, span, &value)) return false;
    if (value.is_float || value.integer < 0 || value.integer > MOST_SHARED)
        return argument_fail(reader, span, "a block has at most %d bytes of dynamic shared memory",
                             MOST_SHARED);
    launch->shared_bytes = (uint32_t)value.integer;
    launch->has_shared = true;
    return true;
}

/* What follows grid and block. */
static bool read_more(ArgumentReader *reader, Span span, int index, TypedLaunch *launch) {
    size_t equal = argument_find(span, '=');
    if (argument_equals(span, "cooperative")) {
        launch->cooperative = true;
        return true;
    }
    if (equal < span.length && argument_equals(argument_cut(span, 0, equal), "cluster"))
        return read_size(reader, argument_cut(span, equal + 1, span.length), "the cluster", cluster_limit,
                         launch->cluster);
    if (index == 2 && equal == span.length) return read_shared(reader, span, launch);
    return argument_fail(reader, span, "'%.*s' is not one of SHARED, cluster=SIZE, cooperative",
                         argument_shown(span), span.text);
}

static bool read_configuration(ArgumentReader *reader, Span list, TypedLaunch *launch) {
    size_t comma = argument_end(list);
    if (comma == list.length) return argument_fail(reader, list, "write <<<GRID, BLOCK>>>");
    Span grid = argument_cut(list, 0, comma), rest = argument_cut(list, comma + 1, list.length);
    comma = argument_end(rest);
    Span block = argument_cut(rest, 0, comma);
    if (!read_size(reader, block, "the block", block_limit, launch->block)) return false;
    uint64_t threads = launch_volume(launch->block);
    if (threads > 1024)
        return argument_fail(reader, block, "a block of %" PRIu64 " threads; it has at most 1024", threads);
    reader->names[1].value = expression_integer((int64_t)threads);
    reader->name_count = 2;
    if (!read_size(reader, grid, "the grid", grid_limit, launch->grid)) return false;
    reader->names[2].value = expression_integer((int64_t)launch_volume(launch->grid));
    reader->name_count = 3;
    for (int i = 2; comma < rest.length; i++) {
        rest = argument_cut(rest, comma + 1, rest.length);
        comma = argument_end(rest);
        if (!read_more(reader, argument_cut(rest, 0, comma), i, launch)) return false;
    }
    if (!launch->cluster[0] || launch_volume(launch->cluster) <= LAUNCH_CLUSTER_BLOCKS) return true;
    return argument_fail(reader, list, "a cluster has at most %d blocks", LAUNCH_CLUSTER_BLOCKS);
}

/* The launch at `at`; *end is where it ends. */
static bool read_launch(ArgumentReader *reader, size_t at, size_t *end, TypedLaunch *launch, Arena *arena) {
    const char *text = reader->source.text;
    Span whole = {text, strlen(text)}, here = {text + at, whole.length - at};
    size_t open = find_word(text, at, "<<<"),
           close = open == SIZE_MAX ? SIZE_MAX : find_word(text, open, ">>>");
    if (open == SIZE_MAX)
        return argument_fail(reader, here, "a launch is KERNEL<<<GRID, BLOCK>>>(ARGUMENTS)");
    if (close == SIZE_MAX)
        return argument_fail(reader, (Span){text + open, 3}, "'>>>' is missing after '<<<'");
    Span name = argument_cut(whole, at, open), configuration = argument_cut(whole, open + 3, close);
    if (!name.length || name.text[name.length - 1] == '<' || argument_find(name, ';') < name.length)
        return argument_fail(reader, here, "a launch is KERNEL<<<GRID, BLOCK>>>(ARGUMENTS)");
    *launch = (TypedLaunch){.entry = arena_copy_text(arena, name.text, name.length),
                            .at = (size_t)(name.text - text)};
    if (!read_configuration(reader, configuration, launch)) return false;
    Span rest = argument_cut(whole, close + 3, whole.length);
    size_t begin = (size_t)(rest.text - text);
    if (!rest.length || rest.text[0] != '(')
        return argument_fail(reader, rest, "the arguments are missing: %.*s<<<...>>>(ARGUMENTS)",
                             argument_shown(name), name.text);
    size_t last = find_close(whole, begin);
    if (last == SIZE_MAX) return argument_fail(reader, rest, "')' is missing");
    launch->arguments = begin + 1;
    launch->argument_length = last - begin - 1;
    *end = last + 1;
    return true;
}

bool launches_read(const char *text, uint64_t n, TypedLaunch *launches, int *count, Arena *arena,
                   Error *error) {
    ArgumentReader reader = {.source = {.option = "--launch", .text = text}, .error = error};
    static const char *const names[] = {"n", "block", "grid"};
    for (int i = 0; i < 3; i++) reader.names[i].name = names[i];
    reader.names[0].value = expression_integer((int64_t)n);
    size_t end = 0;
    *count = 0;
    for (size_t at = 0;; at = end + 1) {
        Span rest = argument_trim((Span){text + at, strlen(text + at)});
        if (!rest.length && *count) return true;
        if (*count == PLAN_LAUNCHES)
            return argument_fail(&reader, rest, "more than %d launches", PLAN_LAUNCHES);
        reader.name_count = 1;
        if (!read_launch(&reader, (size_t)(rest.text - text), &end, &launches[*count], arena)) return false;
        ++*count;
        rest = argument_trim((Span){text + end, strlen(text + end)});
        if (!rest.length) return true;
        if (rest.text[0] != ';') return argument_fail(&reader, rest, "';' is missing between two launches");
        end = (size_t)(rest.text - text);
    }
}

static void print_size(const uint32_t size[3], Text *out) {
    int count = size[2] != 1 ? 3 : size[1] != 1 ? 2 : 1;
    if (count > 1) text_add(out, "(");
    for (int i = 0; i < count; i++) text_print(out, "%s%" PRIu32, i ? ", " : "", size[i]);
    if (count > 1) text_add(out, ")");
}

void launches_print(const char *entry, const PlanLaunch *launch, const char *arguments, Text *out) {
    text_print(out, "%s<<<", entry);
    print_size(launch->grid, out);
    text_add(out, ", ");
    print_size(launch->block, out);
    if (launch->dynamic_shared_bytes) text_print(out, ", %" PRIu32, launch->dynamic_shared_bytes);
    if (launch->cluster[0]) {
        text_add(out, ", cluster=");
        print_size(launch->cluster, out);
    }
    text_print(out, "%s>>>(%s)", launch->cooperative ? ", cooperative" : "", arguments);
}

void launches_show(const char *text, size_t at, Error *error) {
    char message[sizeof error->message];
    snprintf(message, sizeof message, "%s", error->message);
    error_set(error, "--launch: %.480s", message);
    error->column = (int)at + 1;
    error_show_line(error, text, strlen(text));
}
