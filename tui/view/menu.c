#include "tui/view/menu.h"
#include "tui/view/key_actions.h"

#include "base/language.h"
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- how well a row matches ---------------------------------------------------------------------------- */

enum { NO_MATCH = 0, LETTERS, HOLDS_ABOUT, HOLDS_TITLE, HOLDS, WORD, BEGINS, IS_SAME };

static bool same_letter(char a, char b) {
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Where `text` holds `wanted`; -1: nowhere. Any case. */
static int find_in(const char *text, const char *wanted) {
    for (int at = 0; text[at]; at++) {
        int length = 0;
        while (wanted[length] && text[at + length] && same_letter(text[at + length], wanted[length]))
            length++;
        if (!wanted[length]) return at;
    }
    return -1;
}

/* A word of `text` begins with `wanted`. */
static bool has_word(const char *text, const char *wanted) {
    for (int from = 0, at; (at = find_in(text + from, wanted)) >= 0; from += at + 1)
        if (from + at == 0 || !isalnum((unsigned char)text[from + at - 1])) return true;
    return false;
}

static bool has_letters(const char *text, const char *wanted) {
    for (; *text && *wanted; text++)
        if (same_letter(*text, *wanted)) wanted++;
    return !*wanted;
}

static int match_name(const char *name, const char *wanted) {
    int at = find_in(name, wanted);
    if (at == 0) return strlen(name) == strlen(wanted) ? IS_SAME : BEGINS;
    return has_word(name, wanted) ? WORD : at > 0 ? HOLDS : has_letters(name, wanted) ? LETTERS : NO_MATCH;
}

const char *menu_tag(const MenuRow *row) {
    static const char *const tags[] = {
        [MENU_ENTRY] = "your file",   [MENU_KERNEL] = "kernel", [MENU_LECTURE] = "lecture",
        [MENU_EXERCISE] = "exercise", [MENU_FILE] = "file",     [MENU_RECENT] = "last run",
        [MENU_ACTION] = "action",     [MENU_BACK] = "action",   [MENU_STEP] = "step"};
    if (row->kind != MENU_KERNEL) return tags[row->kind];
    int group = catalog_row(row->index)->group;
    return group == CATALOG_LAB ? "lab" : group == CATALOG_BUG ? "bug" : tags[MENU_KERNEL];
}

static int match_of(const MenuRow *row, const char *wanted) {
    bool is_action = row->kind == MENU_ACTION || row->kind == MENU_BACK;
    int best = match_name(is_action ? key_rows[row->index].id : row->name, wanted);
    if (is_action && best < BEGINS && has_word(row->title, wanted)) best = WORD;
    const char *aliases = row->kind == MENU_KERNEL ? catalog_row(row->index)->aliases : NULL;
    if (aliases && best < BEGINS && has_word(aliases, wanted)) best = BEGINS;
    if (!is_action && best < WORD) {
        char name[96];
        snprintf(name, sizeof name, "%s %.80s", menu_tag(row), row->name);
        if (find_in(name, wanted) == 0) best = WORD;
    }
    if (best < HOLDS_TITLE && (find_in(row->title, wanted) >= 0 || find_in(tr(row->title), wanted) >= 0))
        best = HOLDS_TITLE;
    if (best < HOLDS_ABOUT && row->about && find_in(row->about, wanted) >= 0) best = HOLDS_ABOUT;
    return best;
}

/* ---- the rows ------------------------------------------------------------------------------------------ */

typedef struct Ranked {
    int match, place;
} Ranked;

typedef struct MenuFilling {
    MenuList *list;
    const char *filter;
    Ranked rank[MENU_MOST];
} MenuFilling;

static void add(MenuFilling *filling, MenuRow row) {
    MenuList *list = filling->list;
    int match = *filling->filter ? match_of(&row, filling->filter) : IS_SAME;
    if (match == NO_MATCH || list->count == MENU_MOST) return;
    filling->rank[list->count] = (Ranked){match, list->count};
    list->rows[list->count++] = row;
}

const char *menu_group_title(int group) {
    static const char *const titles[] = {[CATALOG_LADDER] = "the ladder",
                                         [CATALOG_NUMERICS] = "rows, columns, numerics",
                                         [CATALOG_TRITON] = "compiled by Triton",
                                         [CATALOG_LAB] = "labs",
                                         [CATALOG_BUG] = "bugs, wrong on purpose"};
    return titles[group];
}

static void add_kernels(MenuFilling *filling) {
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *kernel = catalog_row(i);
        add(filling, (MenuRow){MENU_KERNEL, i, kernel->id, kernel->title ? kernel->title : "", kernel->lesson,
                               menu_group_title(kernel->group), NULL});
    }
}

static void add_lectures(MenuFilling *filling, const ViewTitles *lectures) {
    for (int i = 0; lectures && i < lectures->count; i++)
        add(filling, (MenuRow){MENU_LECTURE, i, lectures->names[i], lectures->titles[i],
                               lectures->abouts ? lectures->abouts[i] : NULL, "lectures", NULL});
}

static void add_home(MenuFilling *filling, const ViewHome *home, bool recent) {
    for (int i = 0; home && recent && i < home->recent_count; i++)
        add(filling, (MenuRow){MENU_RECENT, i, home->recent[i], "", NULL, "last runs", NULL});
    for (int i = 0; home && !recent && i < home->file_count; i++)
        add(filling,
            (MenuRow){MENU_FILE, i, home->files[i], "", NULL, "your own files, in this folder", NULL});
}

/* What to begin with: each is below, too, among its like. */
static void add_start(MenuFilling *filling, MenuKind kind, const ViewTitles *of, const char *name,
                      const char *start) {
    for (int i = 0; of && i < of->count; i++)
        if (!name || !strcmp(of->names[i], name)) {
            add(filling, (MenuRow){kind, i, of->names[i], of->titles[i], of->abouts ? of->abouts[i] : NULL,
                                   "start here", start});
            return;
        }
}

static void add_starts(MenuFilling *filling, const ViewDisplay *display) {
    if (*filling->filter) return;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *kernel = catalog_row(i);
        if (!strcmp(kernel->id, "interleaved"))
            add(filling, (MenuRow){MENU_KERNEL, i, kernel->id, kernel->title, kernel->lesson, "start here",
                                   "watch a reduction"});
    }
    add_start(filling, MENU_LECTURE, display->lectures, "banks", "bank conflicts, stop by stop");
    add_start(filling, MENU_EXERCISE, display->exercises, NULL, "write your first kernel");
    if (display->home && display->home->file_count)
        add(filling,
            (MenuRow){MENU_FILE, 0, display->home->files[0], "", NULL, "start here", "your own file"});
}

static void add_action(MenuFilling *filling, KeyAction action) {
    const KeyRow *row = &key_rows[action];
    if (*row->forwards)
        add(filling, (MenuRow){MENU_ACTION, (int)action, row->forwards, row->help, NULL, "actions", NULL});
    if (*row->backwards)
        add(filling, (MenuRow){MENU_BACK, (int)action, row->backwards, row->help, NULL, "actions", NULL});
}

static int by_match(const void *a, const void *b) {
    const Ranked *one = a, *other = b;
    return one->match != other->match ? other->match - one->match : one->place - other->place;
}

static void sort(MenuFilling *filling) {
    MenuList *list = filling->list, *sorted = memory_new(sizeof *sorted);
    qsort(filling->rank, (size_t)list->count, sizeof *filling->rank, by_match);
    for (int i = 0; i < list->count; i++) sorted->rows[i] = list->rows[filling->rank[i].place];
    memcpy(list->rows, sorted->rows, (size_t)list->count * sizeof *list->rows);
    free(sorted);
}

static bool is_number(const char *text) {
    return *text && strspn(text, "0123456789") == strlen(text);
}

void menu_list(const View *view, MenuList *out) {
    const ViewDisplay *display = &view->display;
    MenuScope scope = view->transient.menu;
    MenuFilling filling = {.list = out, .filter = view->transient.filter};
    out->count = 0;
    if (scope == MENU_PALETTE && is_number(filling.filter)) {
        out->rows[out->count++] =
            (MenuRow){MENU_STEP, 0, filling.filter, "go to this step", NULL, "steps", NULL};
        return;
    }
    if (scope == MENU_HOME) {
        add_starts(&filling, display);
        add_home(&filling, display->home, true);
        add_lectures(&filling, display->lectures);
        add_action(&filling, ACT_LADDER);
        add_home(&filling, display->home, false);
    }
    if (scope == MENU_PALETTE)
        for (KeyAction action = 1; action < ACTION_COUNT; action++) add_action(&filling, action);
    for (int i = 0; display->file && i < display->file->count; i++)
        add(&filling, (MenuRow){MENU_ENTRY, i, display->file->entries[i], display->file->name, NULL,
                                "your file", NULL});
    add_kernels(&filling);
    if (scope == MENU_KERNELS || scope == MENU_PALETTE) add_lectures(&filling, display->lectures);
    if (scope != MENU_BESIDE) {
        for (int i = 0; display->exercises && i < display->exercises->count; i++)
            add(&filling,
                (MenuRow){MENU_EXERCISE, i, display->exercises->names[i], display->exercises->titles[i],
                          display->exercises->abouts ? display->exercises->abouts[i] : NULL, "exercises",
                          NULL});
    }
    if (scope == MENU_PALETTE) add_home(&filling, display->home, false);
    if (*filling.filter) sort(&filling);
}

/* ---- the choice ---------------------------------------------------------------------------------------- */

bool menu_choice(const View *view, MenuRow *row) {
    MenuList list;
    menu_list(view, &list);
    int choice = view->transient.choice;
    if (choice < list.count) *row = list.rows[choice];
    return choice < list.count;
}

void menu_open(View *view, MenuScope scope, const char *name) {
    view->transient.overlay = OVERLAY_MENU;
    view->transient.playing = false;
    view->transient.menu = scope;
    view->transient.filter[0] = 0;
    view->transient.choice = 0;
    view->transient.confirms = false;
    MenuList list;
    menu_list(view, &list);
    for (int i = 0; name && i < list.count && !view->transient.choice; i++)
        if (!strcmp(list.rows[i].name, name)) view->transient.choice = i;
}

ViewAnswer menu_choose(View *view) {
    MenuRow row;
    if (!menu_choice(view, &row)) return VIEW_IGNORED;
    if (row.kind == MENU_EXERCISE && *view->transient.filter && !view->transient.confirms) {
        view->transient.confirms = true;
        return VIEW_CHANGED;
    }
    view->transient.overlay = OVERLAY_NONE;
    view->transient.begins = false;
    switch (row.kind) {
    case MENU_LECTURE:
        return VIEW_LECTURE;
    case MENU_EXERCISE:
        return VIEW_EXERCISE;
    case MENU_FILE:
    case MENU_RECENT:
        return VIEW_HOME;
    case MENU_ACTION:
    case MENU_BACK:
    case MENU_STEP:
        return VIEW_ACTION;
    default:
        return VIEW_OPEN;
    }
}

bool menu_key(const MenuRow *row, Key *key) {
    Error error = {0};
    const char *keys = row->name;
    return (row->kind == MENU_ACTION || row->kind == MENU_BACK) && keys_read(&keys, key, &error);
}

int menu_step(const View *view) {
    long step = strtol(view->transient.filter, NULL, 10);
    return step > INT_MAX ? INT_MAX : step > 0 ? (int)step - 1 : 0;
}
