/* The frames of a page. First the places are collected: beat by beat, wavefront by wavefront, and the targets
 * of jumps. Then they are drawn in the order of their steps, so that each differs little from the one
 * before. */
#include "tui/app_walk.h"

#include "tui/draw/html.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_WAVEFRONTS = 32, MOST_JUMPS = 400 };

static const char jump_keys[WALK_JUMPS] = {']', 'n', 'd', 'f', 'b', 'j'};

/* ---- frames -------------------------------------------------------------------------------------------- */

/* Takes ownership of the canvas. */
static void list_add(FrameList *list, Canvas *canvas) {
    array_push(list->frames, list->count, list->capacity, (Text){0});
    html_add_frame(&list->frames[list->count - 1], canvas, list->last);
    canvas_free(list->last);
    list->last = canvas;
}

static void list_done(FrameList *list) {
    for (int i = 0; i < list->count; i++) text_done(&list->frames[i]);
    free(list->frames);
    canvas_free(list->last);
    *list = (FrameList){0};
}

static bool same_canvas(const Canvas *a, const Canvas *b) {
    for (int i = 0; i < a->columns * a->rows; i++)
        if (!canvas_same_cell(&a->cells[i], &b->cells[i])) return false;
    return true;
}

/* Adds a frame of the first picture, with its place. */
static void add_frame(Walk *walk, Canvas *canvas, int step, StationKind kind) {
    static const char *const letters[] = {"b", "w", "x"};
    array_reserve(walk->steps, walk->pictures[0].count + 1, walk->step_capacity);
    walk->steps[walk->pictures[0].count] = step;
    text_add(&walk->kinds, letters[kind]);
    list_add(&walk->pictures[0], canvas);
}

/* ---- places -------------------------------------------------------------------------------------------- */

static const ViewPlace *place_of(const Comparison *state) {
    return &state->view[state->active].place;
}

static void add_station(Walk *walk, const App *app, StationKind kind) {
    const Station station = {app->comparison, kind, walk->station_count, -1};
    array_push(walk->stations, walk->station_count, walk->station_capacity, station);
}

static bool is_beat(App *app) {
    const View *view = app_view(app);
    return beats_is_beat(scene_beats(comparison_scene(&app->comparison), view->place.block),
                         view->place.step);
}

/* Moves by a key; false: there is no further place in this block. */
static bool moves(App *app, char key) {
    const ViewPlace before = app_view(app)->place;
    comparison_press(&app->comparison, keys_decode((Key)key));
    const ViewPlace *after = &app_view(app)->place;
    return after->block == before.block &&
           (after->step != before.step || after->wavefront != before.wavefront);
}

static bool can_walk(App *app) {
    const View *view = app_view(app);
    return view->transient.overlay == OVERLAY_NONE && view->transient.input == INPUT_COMMANDS &&
           view_steps(view, comparison_scene(&app->comparison)) != NULL;
}

static void gather_wavefronts(Walk *walk, App *app) {
    View *view = app_view(app);
    int count = view_wavefronts(view, comparison_scene(&app->comparison));
    for (int i = view->place.wavefront + 1; i < count && i < MOST_WAVEFRONTS; i++)
        if (moves(app, '.')) add_station(walk, app, STATION_WAVEFRONT);
}

/* Adds this place and those that follow it. */
static void gather_beats(Walk *walk, App *app, int most) {
    add_station(walk, app, is_beat(app) ? STATION_BEAT : STATION_LANDING);
    gather_wavefronts(walk, app);
    while (moves(app, 'l')) {
        if (walk->station_count >= most) {
            walk->is_cut = true;
            return;
        }
        add_station(walk, app, STATION_BEAT);
        gather_wavefronts(walk, app);
    }
}

/* Presses the key until it leads nowhere new, or past the last frame. Adds the stations to `jump`. */
static void gather_jumps(Walk *walk, WalkJump *jump, App *app, int last_step) {
    int begin = walk->station_count;
    if (jump->key == 'f') app_show_hazards(app, app->comparison.active, true);
    for (int i = 0; i < MOST_JUMPS && moves(app, jump->key); i++) {
        const ViewPlace *place = app_view(app)->place.step <= last_step ? &app_view(app)->place : NULL;
        if (!place) break;
        bool is_known = false;
        for (int k = begin; k < walk->station_count && !is_known; k++)
            is_known = !memcmp(place_of(&walk->stations[k].state), place, sizeof *place) &&
                       walk->stations[k].state.view[app->comparison.active].selection.hazard ==
                           app_view(app)->selection.hazard;
        if (is_known) break; /* back at the start */
        add_station(walk, app, STATION_LANDING);
        array_push(jump->frames, jump->count, jump->capacity, walk->station_count - 1);
    }
}

static void gather_all_jumps(Walk *walk, App *app) {
    const Comparison first = app->comparison;
    int last_step = walk->is_cut ? place_of(&walk->stations[walk->station_count - 1].state)->step : 1 << 30;
    for (int i = 0; i < WALK_JUMPS; i++) {
        walk->jumps[i].key = jump_keys[i];
        gather_jumps(walk, &walk->jumps[i], app, last_step);
        app->comparison = first;
    }
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    const Station *one = a, *other = b;
    const ViewPlace *here = place_of(&one->state), *there = place_of(&other->state);
    if (here->step != there->step) return here->step < there->step ? -1 : 1;
    if (here->wavefront != there->wavefront) return here->wavefront < there->wavefront ? -1 : 1;
    if (one->kind != other->kind) return one->kind < other->kind ? -1 : 1;
    return one->order < other->order ? -1 : 1;
}

static bool same_place(const Station *a, const Station *b) {
    const ViewPlace *here = place_of(&a->state), *there = place_of(&b->state);
    return here->step == there->step && here->wavefront == there->wavefront;
}

static Canvas *draw(App *app, const Station *station, WalkSize size, int picture) {
    app->comparison = station->state;
    for (int i = 0; i < picture; i++) comparison_press(&app->comparison, keys_decode('r'));
    return app_page_canvas(app, size.columns, size.rows);
}

/* The earlier station at the same place that looks the same; NULL: none. */
static const Station *look_alike(const Walk *walk, App *app, int index, const Canvas *canvas, WalkSize size) {
    const Station *station = &walk->stations[index];
    for (int i = index - 1; i >= 0 && same_place(&walk->stations[i], station); i--) {
        Canvas *other = draw(app, &walk->stations[i], size, 0);
        bool same = same_canvas(canvas, other);
        canvas_free(other);
        if (same) return &walk->stations[i];
    }
    return NULL;
}

static void draw_stations(Walk *walk, App *app, WalkSize size) {
    qsort(walk->stations, (size_t)walk->station_count, sizeof *walk->stations, by_place);
    for (int i = 0; i < walk->station_count; i++) {
        Station *station = &walk->stations[i];
        Canvas *canvas = draw(app, station, size, 0);
        const Station *same =
            station->kind == STATION_LANDING ? look_alike(walk, app, i, canvas, size) : NULL;
        station->frame = same ? same->frame : walk->pictures[0].count;
        if (same)
            canvas_free(canvas);
        else
            add_frame(walk, canvas, place_of(&station->state)->step, station->kind);
    }
    walk->picture_count = 1;
}

/* Draws the stations that have a frame of their own, in the picture that this many presses of r select. */
static void draw_picture(Walk *walk, App *app, WalkSize size, int picture, int first_frame) {
    FrameList *list = &walk->pictures[walk->picture_count++];
    int frame = first_frame;
    for (int i = 0; i < walk->station_count; i++)
        if (walk->stations[i].frame == frame) {
            list_add(list, draw(app, &walk->stations[i], size, picture));
            frame++;
        }
}

static int frame_of(const Walk *walk, int order) {
    for (int i = 0; i < walk->station_count; i++)
        if (walk->stations[i].order == order) return walk->stations[i].frame;
    return 0;
}

/* Replaces stations by their frames, each frame once. */
static void number_jumps(Walk *walk) {
    for (int i = 0; i < WALK_JUMPS; i++) {
        WalkJump *jump = &walk->jumps[i];
        int count = 0;
        for (int k = 0; k < jump->count; k++) {
            int frame = frame_of(walk, jump->frames[k]);
            if (!count || jump->frames[count - 1] != frame) jump->frames[count++] = frame;
        }
        jump->count = count;
    }
}

/* ---- a run, a stop ------------------------------------------------------------------------------------- */

static void begin(Walk *walk, App *app) {
    *walk = (Walk){.plays = app_view(app)->transient.playing};
    app_view(app)->transient.playing = false;
}

static void draw_alone(Walk *walk, App *app, WalkSize size) {
    add_frame(walk, app_page_canvas(app, size.columns, size.rows), app_view(app)->place.step, STATION_BEAT);
    walk->picture_count = 1;
}

void walk_run(Walk *walk, App *app, WalkSize size) {
    begin(walk, app);
    const Comparison opened = app->comparison;
    if (!can_walk(app)) {
        draw_alone(walk, app, size);
        return;
    }
    comparison_go_to_step(&app->comparison, 0);
    const Comparison first = app->comparison;
    gather_beats(walk, app, size.most_frames);
    app->comparison = first;
    gather_all_jumps(walk, app);
    app->comparison = opened;
    add_station(walk, app, STATION_LANDING);
    int start = walk->station_count - 1;
    draw_stations(walk, app, size);
    walk->start = frame_of(walk, start);
    number_jumps(walk);
    ShownPicture shown = opened.view[opened.active].display.picture;
    for (int i = 1; i < SHOWN_PICTURE_COUNT && shown < SHOWN_PICTURE_COUNT; i++)
        draw_picture(walk, app, size, i, 0);
    app->comparison = opened;
}

/* The question is answered: shows the answer, key by key. */
static void reveal(Walk *walk, App *app, WalkSize size) {
    draw_alone(walk, app, size);
    view_lecture_skip(&app->lecture);
    draw_alone(walk, app, size);
    for (const char *keys = NULL; app_press_answer(app, &keys);) {
        Canvas *canvas = app_page_canvas(app, size.columns, size.rows);
        if (same_canvas(canvas, walk->pictures[0].last))
            canvas_free(canvas);
        else
            add_frame(walk, canvas, app_view(app)->place.step, STATION_BEAT);
    }
    walk->revealed = walk->pictures[0].count - 1;
}

void walk_stop(Walk *walk, App *app, WalkSize size) {
    begin(walk, app);
    bool asks = view_lecture_hides(&app->lecture);
    if (asks) reveal(walk, app, size);
    const Comparison there = app->comparison;
    if (can_walk(app)) {
        gather_beats(walk, app, size.most_frames);
        app->comparison = there;
        gather_all_jumps(walk, app);
        draw_stations(walk, app, size);
        number_jumps(walk);
        if (!asks) walk->start = frame_of(walk, 0);
        if (asks) walk->revealed = frame_of(walk, 0);
    } else if (!asks) {
        draw_alone(walk, app, size);
    }
    app->comparison = there;
}

void walk_done(Walk *walk) {
    for (int i = 0; i < walk->picture_count; i++) list_done(&walk->pictures[i]);
    for (int i = 0; i < WALK_JUMPS; i++) free(walk->jumps[i].frames);
    free(walk->stations);
    free(walk->steps);
    text_done(&walk->kinds);
    *walk = (Walk){0};
}

/* ---- data ---------------------------------------------------------------------------------------------- */

static void add_numbers(Json *json, const char *key, const int *numbers, int count) {
    json_open_array(json, key);
    for (int i = 0; i < count; i++) json_integer(json, NULL, numbers[i]);
    json_close_array(json);
}

void walk_add_json(const Walk *walk, Json *json) {
    json_open_object(json, NULL);
    json_integer(json, "start", walk->start);
    json_integer(json, "revealed", walk->revealed);
    json_boolean(json, "plays", walk->plays);
    json_boolean(json, "cut", walk->is_cut);
    json_string(json, "kinds", text_string(&walk->kinds));
    add_numbers(json, "steps", walk->steps, walk->pictures[0].count);
    json_open_object(json, "jumps");
    for (int i = 0; i < WALK_JUMPS; i++) {
        char key[2] = {walk->jumps[i].key, 0};
        if (walk->jumps[i].count) add_numbers(json, key, walk->jumps[i].frames, walk->jumps[i].count);
    }
    json_close_object(json);
    json_open_array(json, "pictures");
    for (int i = 0; i < walk->picture_count; i++) {
        const FrameList *list = &walk->pictures[i];
        json_open_array(json, NULL);
        for (int frame = 0; frame < list->count; frame++)
            json_string(json, NULL, text_string(&list->frames[frame]));
        json_close_array(json);
    }
    json_close_array(json);
    json_close_object(json);
}
