/* A lecture for printing: its text, the frames of its stops, and the answers at the end. */
#include "tui/app_state.h"

#include "tui/draw/html.h"
#include "tui/lecture_text.h"
#include <string.h>

typedef struct Handout {
    App *app;
    int columns, rows;
    bool html;
    Text *out;
    Text answers;
} Handout;

static void add_frame(const Handout *handout, Text *out) {
    Canvas *canvas = app_page_canvas(handout->app, handout->columns, handout->rows);
    text_add(out, handout->html ? "<figure>\n" : "```text\n");
    if (handout->html)
        canvas_to_svg(canvas, THEME_LIGHT, out);
    else
        canvas_to_text(canvas, out);
    text_add(out, handout->html ? "</figure>\n" : "```\n\n");
    canvas_free(canvas);
}

static void add_heading(const Handout *handout, Text *out, int level, const char *text) {
    if (handout->html) {
        text_print(out, "<h%d>", level);
        tui_lecture_text_add_html(out, text);
        text_print(out, "</h%d>\n", level);
    } else {
        text_print(out, "%.*s %s\n\n", level, "######", text);
    }
}

/* The screen after the question's keys, and the answer above it. */
static void add_answer(Handout *handout, const LectureStop *stop) {
    App *app = handout->app;
    char title[256];
    app_show_answer(app);
    snprintf(title, sizeof title, "%d. %.200s", app->lecture.stop + 1, stop->title);
    add_heading(handout, &handout->answers, 3, title);
    if (handout->html) {
        text_add(&handout->answers, "<p><strong>");
        html_add_text(&handout->answers, stop->question->value, strlen(stop->question->value));
        text_add(&handout->answers, "</strong></p>\n");
    } else {
        text_print(&handout->answers, "**%s**\n\n", stop->question->value);
    }
    add_frame(handout, &handout->answers);
}

static bool add_stop(Handout *handout, int index, Error *error) {
    const LectureStop *stop = &handout->app->lecture.run->lecture->stops[index];
    const LectureScreen *screen = &handout->app->lecture.run->screens[index];
    char title[256];
    if (!app_stand_at_stop(handout->app, index, error)) return false;
    snprintf(title, sizeof title, "%d. %.200s", index + 1, stop->title);
    add_heading(handout, handout->out, 2, title);
    bool hides = view_lecture_hides(&handout->app->lecture);
    if (screen->is_set || hides) add_frame(handout, handout->out);
    (handout->html ? tui_lecture_blocks_add_html : tui_lecture_blocks_add_markdown)(handout->out, stop);
    if (stop->question)
        (handout->html ? tui_lecture_question_add_html : tui_lecture_question_add_markdown)(handout->out,
                                                                                            stop->question);
    if (hides && stop->question) add_answer(handout, stop);
    return true;
}

static void add_head(const Handout *handout, const Lecture *lecture) {
    if (handout->html) {
        text_print(handout->out, "<!doctype html>\n<html lang=\"");
        html_add_text(handout->out, lecture->language, strlen(lecture->language));
        text_add(handout->out, "\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
        html_add_text(handout->out, lecture->title, strlen(lecture->title));
        text_add(handout->out,
                 "</title>\n<style>\n"
                 "body { max-width: 60rem; margin: 0 auto; padding: 1rem; font: 11pt/1.4 Georgia, serif; }\n"
                 "code, pre { font-family: \"DejaVu Sans Mono\", Menlo, Consolas, monospace; font-size: "
                 "0.85em; }\n"
                 "figure { margin: 0.8rem 0; break-inside: avoid; border: 1px solid #999; }\n"
                 "svg { display: block; width: 100%; height: auto; }\n"
                 "h2, h3 { break-after: avoid; margin: 1.2rem 0 0.4rem; }\n"
                 ".question { border-left: 3px solid #555; padding-left: 0.8rem; }\n"
                 "@page { margin: 14mm; }\n"
                 "</style>\n</head>\n<body>\n");
    }
    add_heading(handout, handout->out, 1, lecture->title);
}

bool app_handout(Session *session, int columns, int rows, const AppStart *start, bool html, Text *out,
                 Error *error) {
    App app;
    const Lecture *lecture = start->lecture->lecture;
    bool good = true;
    app_init(&app, session, start);
    app_begin_lecture(&app, start->lecture, 0);
    Handout handout = {.app = &app, .columns = columns, .rows = rows, .html = html, .out = out};
    add_head(&handout, lecture);
    for (int i = 0; good && i < lecture->stop_count; i++) good = add_stop(&handout, i, error);
    if (handout.answers.length) {
        add_heading(&handout, out, 2, strcmp(lecture->language, "zh") != 0 ? "Answers" : "答案");
        text_add(out, text_string(&handout.answers));
    }
    if (html) text_add(out, "</body>\n</html>\n");
    text_done(&handout.answers);
    app_done(&app);
    return good;
}
