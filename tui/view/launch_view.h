/* Launch view: the screens of a program's run: the list of its launches, and what it printed. */
#ifndef TUI_VIEW_LAUNCH_VIEW_H
#define TUI_VIEW_LAUNCH_VIEW_H

#include "runtime/launch_list.h"
#include "tui/view/view.h"

/* The launch of the view's program that this run shows, from 0; -1: it shows none. */
int launch_view_shown(const View *view, const Scene *scene);
/* It was executed, and what it read was kept: session_open() can show it. */
bool launch_view_can_show(const Captured *capture, int launch);
/* Opens the list with this launch selected; -1: the one that is shown. */
void launch_view_open(View *view, const Scene *scene, int launch);
void launch_view_open_output(View *view);
/* Asks for the launch of this row of launch_rows(): of repeats, the first one that it repeats. */
ViewAnswer launch_view_choose(View *view, const Scene *scene, int row);
/* Asks for the next launch that can be shown and repeats no other; a message says if there is none. */
ViewAnswer launch_view_go_on(View *view, const Scene *scene, int direction, int times);
/* IGNORED: not a key of the list. */
ViewAnswer launch_view_press(View *view, const Scene *scene, KeyPress press);

/* "launch 3 of 104: reduce6<int,256,true>, reduction_kernel.cu:531" */
void launch_view_print_name(const Captured *capture, int launch, Text *out);
/* "exited 0"; as program_describe_end(), in the language of the interface. */
void launch_view_print_end(const Program *program, Text *out);

#endif
