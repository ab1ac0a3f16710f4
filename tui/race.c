/* Race: an order of the threads that loses, beside the run, as two rows of time each. A row is a thread, with
 * its access where it has its turn; before that it is held, or others run. */
#include "tui/race.h"

#include "base/language.h"
#include <stdlib.h>
#include <string.h>

enum { LEAST_DOTS = 8, HEAD_ROW = 0, THREAD_ROW = 1, RESULT_ROW = 3, ACCESS_BYTES = 160 };

/* ---- a row --------------------------------------------------------------------------------------------- */

/* "L31 ■ st sums[16] 119", without the word where it has no room. */
static void print_access(const AskRace *race, AskRaceRun run, int thread, int room, char *out, size_t bytes) {
    const AskRaceAccess *access = &race->access[run][thread];
    char line[16] = "";
    if (race->line[thread]) snprintf(line, sizeof line, "L%d ", race->line[thread]);
    if (!access->is_seen) {
        snprintf(out, bytes, tr("%snot reached"), line);
        return;
    }
    for (int words = 1; words >= 0; words--) {
        const char *word = words ? access->word : "";
        snprintf(out, bytes, "%s%s %s%s%s%s%s", line, race->writes[thread] ? "■" : "□", race->verb[thread],
                 *word ? " " : "", word, *access->value ? " " : "", access->value);
        if (canvas_text_columns(out) <= room) return;
    }
}

/* "·····held·····" from column `from` to before `end` */
static void draw_wait(Canvas *canvas, Rectangle area, int row, int from, int end, bool is_held) {
    const char *held = is_held ? tr("held") : "";
    int columns = canvas_text_columns(held);
    for (int column = from; column < end; column++)
        canvas_glyph(canvas, area, column, row, is_held ? ROLE_WAITING : ROLE_IDLE, 0xB7);
    if (columns < end - from)
        canvas_text(canvas, area, from + (end - from - columns) / 2, row, ROLE_WAITING, held);
}

static void draw_thread(const AskRace *race, AskRaceRun run, int thread, Canvas *canvas, Rectangle area) {
    int row = THREAD_ROW + thread, labels[RACE_THREADS];
    char access[ACCESS_BYTES];
    for (int i = 0; i < RACE_THREADS; i++) labels[i] = canvas_text_columns(race->thread[i]);
    int from = (labels[0] > labels[1] ? labels[0] : labels[1]) + 2, room = area.columns - from;
    bool waits = (run == RACE_RUN) == (thread == 1), is_early = run == RACE_ORDER && thread == 1;
    canvas_text(canvas, area, 0, row, ROLE_TEXT, race->thread[thread]);
    print_access(race, run, thread, waits ? room - LEAST_DOTS - 1 : room, access, sizeof access);
    int at = from;
    if (waits) {
        int end = area.columns - canvas_text_columns(access);
        at = canvas_clamp(from + room / 2, from + LEAST_DOTS, end > from + LEAST_DOTS ? end : area.columns);
        draw_wait(canvas, area, row, from, at - 1, run == RACE_ORDER && race->is_held);
    }
    at += canvas_text(canvas, area, at, row, is_early ? ROLE_WARNING : ROLE_TEXT, access) + 1;
    if (is_early && at + canvas_text_columns(tr("too early")) <= area.columns)
        canvas_text(canvas, area, at, row, ROLE_WARNING, tr("too early"));
}

/* ---- a half -------------------------------------------------------------------------------------------- */

/* "-1.19"; nothing unless both are numbers. */
static void print_difference(const AskRace *race, char *out, size_t bytes) {
    char *end[RACE_RUNS];
    double value[RACE_RUNS];
    for (int run = 0; run < RACE_RUNS; run++) value[run] = strtod(race->result[run], &end[run]);
    bool are_numbers = true;
    for (int run = 0; run < RACE_RUNS; run++)
        are_numbers &= end[run] > race->result[run] && (!*end[run] || *end[run] == ' ');
    double difference = value[RACE_ORDER] - value[RACE_RUN];
    *out = 0;
    if (are_numbers && difference - difference == 0) snprintf(out, bytes, "  %+.6g", difference);
}

static void draw_result(const AskRace *race, AskRaceRun run, Canvas *canvas, Rectangle area) {
    char difference[32] = "";
    bool is_fault = !race->result[RACE_RUN][0];
    Role role = run == RACE_RUN ? ROLE_TEXT : race->is_right ? ROLE_GOOD : ROLE_WARNING;
    if (is_fault) {
        canvas_print(canvas, area, 0, RESULT_ROW, role,
                     run == RACE_RUN ? tr("no fault") : tr("a fault ends the run (%s)"), race->result[run]);
        return;
    }
    if (run == RACE_ORDER) print_difference(race, difference, sizeof difference);
    canvas_print(canvas, area, 0, RESULT_ROW, role, "%s %s%s", *race->where ? race->where : tr("result"),
                 race->result[run], difference);
}

static void draw_half(const AskRace *race, AskRaceRun run, Canvas *canvas, Rectangle area) {
    const char *head = run == RACE_RUN  ? tr("this run")
                       : race->is_right ? tr("an order with the right result")
                                        : tr("an order that loses");
    int at = 2 + canvas_text(canvas, area, 0, HEAD_ROW, ROLE_TITLE, head);
    if (run == RACE_ORDER && race->held_count > 1)
        canvas_print(canvas, area, at, HEAD_ROW, ROLE_DIM, tr("%d accesses are held"), race->held_count);
    else if (run == RACE_ORDER && !race->is_held)
        canvas_text(canvas, area, at, HEAD_ROW, ROLE_DIM, tr("by --schedule"));
    for (int thread = 0; thread < RACE_THREADS; thread++)
        if (*race->thread[thread]) draw_thread(race, run, thread, canvas, area);
    draw_result(race, run, canvas, area);
}

/* ---- the picture --------------------------------------------------------------------------------------- */

static const char *verb_of(const AskRace *race, int thread) {
    return !strcmp(race->verb[thread], "st")   ? tr("stores")
           : !strcmp(race->verb[thread], "ld") ? tr("loads")
                                               : tr("updates");
}

/* "missing between: __syncthreads() after line 6"; of several places the first, where there is no room. */
static void print_missing(const AskRace *race, int room, char *out, size_t bytes) {
    static const char insert[] = "insert ", and[] = " and ";
    *out = 0;
    if (strncmp(race->missing, insert, strlen(insert)) != 0) return;
    const char *what = race->missing + strlen(insert), *more = strstr(what, and);
    snprintf(out, bytes, tr("missing between: %s"), what);
    if (canvas_text_columns(out) > room) snprintf(out, bytes, tr("missing: %s"), what);
    if (more && canvas_text_columns(out) > room)
        snprintf(out, bytes, tr("missing: %.*s ..."), (int)(more - what), what);
}

/* As long as it fits beside the note. */
static void print_title(const AskRace *race, int room, char *out, size_t bytes) {
    int length = snprintf(out, bytes, tr("race on %s"), race->memory);
    if (!race->line[0] || !race->line[1] || length < 0 || (size_t)length >= bytes) return;
    snprintf(out + length, bytes - (size_t)length, tr("   line %d %s, line %d %s"), race->line[0],
             verb_of(race, 0), race->line[1], verb_of(race, 1));
    if (canvas_text_columns(out) > room) out[length] = 0;
}

void race_draw(const AskRace *race, int losing, Canvas *canvas, Rectangle area, bool boxed) {
    enum { FRAME = 9, APART = 3 };
    char title[224], note[200];
    int least = canvas_text_columns(race->memory) + canvas_text_columns(tr("race on %s"));
    print_missing(race, area.columns - least - FRAME, note, sizeof note);
    print_title(race, area.columns - canvas_text_columns(note) - FRAME, title, sizeof title);
    Rectangle inside =
        (boxed ? canvas_box : canvas_rule)(canvas, area, ROLE_TITLE, title, ROLE_WARNING, note);
    Rectangle half[RACE_RUNS] = {inside, inside};
    int columns = (inside.columns - APART) / RACE_RUNS;
    for (int i = 0; i < RACE_RUNS; i++) half[i].columns = columns;
    half[1].column += columns + APART;
    for (int row = 0; row < inside.rows; row++)
        canvas_glyph(canvas, inside, columns + 1, row, ROLE_BORDER, 0x2502);
    draw_half(race, RACE_RUN, canvas, half[!losing]);
    draw_half(race, RACE_ORDER, canvas, half[losing]);
}
