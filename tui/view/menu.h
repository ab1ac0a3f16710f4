/* Menu: what can be opened or done, by name. One list serves four screens: the kernels (key K), a second
 * kernel to compare with (c), the home screen, and the palette (:), which also lists the actions of keys.def.
 * Typed text filters it: a name that begins with the text comes first, then a word that does, then text that
 * holds it, then text that has its letters in order. */
#ifndef TUI_VIEW_MENU_H
#define TUI_VIEW_MENU_H

#include "tui/view/view.h"

typedef enum MenuKind {
    MENU_ENTRY,    /* a kernel of the user's file: index in display.file */
    MENU_KERNEL,   /* of the catalogue */
    MENU_LECTURE,  /* in display.lectures */
    MENU_EXERCISE, /* in display.exercises */
    MENU_FILE,     /* of this folder: in display.home->files */
    MENU_RECENT,   /* a run of an earlier session: in display.home->recent */
    MENU_ACTION,   /* a KeyAction, forwards; its keys are `name` */
    MENU_BACK,     /* the same action backwards */
    MENU_STEP      /* the palette's text is the number of a step */
} MenuKind;

typedef struct MenuRow {
    MenuKind kind;
    int index;
    const char *name, *title;
    const char *about;   /* also searched: the lesson, a lecture's text; NULL: none */
    const char *section; /* "lectures", "kernels: the ladder"; shown where it changes */
    const char *start;   /* "watch a reduction": what to begin with, on the home screen; NULL: a usual row */
} MenuRow;

enum { MENU_MOST = 600 };

typedef struct MenuList {
    int count;
    MenuRow rows[MENU_MOST];
} MenuList;

/* The rows that match the filter, the best first; without a filter in the order of their sections. */
void menu_list(const View *view, MenuList *out);
/* The chosen row; false: no row matches the filter. */
bool menu_choice(const View *view, MenuRow *row);
/* Opens it with an empty filter; the choice is the row with this name (NULL: the first). */
void menu_open(View *view, MenuScope scope, const char *name);
/* Closes the menu and returns what its choice requests. VIEW_IGNORED: nothing is chosen, and the menu stays.
 * An exercise that was searched for must be chosen twice, since opening it writes a file: VIEW_CHANGED. */
ViewAnswer menu_choose(View *view);
/* The key of a chosen MENU_ACTION or MENU_BACK; false: another kind. */
bool menu_key(const MenuRow *row, Key *key);
/* The step that MENU_STEP names, from 0. */
int menu_step(const View *view);
const char *menu_group_title(int group);  /* of CatalogGroup */
const char *menu_tag(const MenuRow *row); /* "kernel", "lab", "bug", "lecture", "exercise", ... */

#endif
