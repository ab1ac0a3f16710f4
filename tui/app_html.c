/* The page that --html writes, with everything in it. assets/html holds the page; each {{name}} in it is
 * replaced here. */
#include "tui/app_walk.h"

#include "base/language.h"
#include "base/version.h"
#include "tui/draw/html.h"
#include "tui/lecture_text.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES_OF_RUN = 1200, MOST_FRAMES_OF_STOP = 120, PATH_BYTES = 1024, PART_BYTES = 1 << 20 };

typedef struct HtmlPage {
    App *app;
    WalkSize size;
    Text data, body; /* JSON; elements */
    Json json;
} HtmlPage;

/* ---- the run or the stops ------------------------------------------------------------------------------ */

static void add_heading(HtmlPage *page, const char *title, const char *attributes) {
    text_print(&page->body, "<h1%s>", attributes);
    html_add_text(&page->body, title, strlen(title));
    text_add(&page->body, "</h1>\n");
}

static void add_question(HtmlPage *page, const LectureQuestion *question) {
    json_open_object(&page->json, NULL);
    json_string(&page->json, "topic", question->topic);
    json_string(&page->json, "value", question->value);
    json_boolean(&page->json, "points", question->pointing != LECTURE_TYPED);
    json_open_array(&page->json, "choices");
    for (int i = 0; i < question->choice_count; i++) json_string(&page->json, NULL, question->choices[i]);
    json_close_array(&page->json);
    json_close_object(&page->json);
}

static bool add_stop(HtmlPage *page, int index, Error *error) {
    App *app = page->app;
    const LectureStop *stop = &app->lecture.run->lecture->stops[index];
    Walk walk;
    if (!app_stand_at_stop(app, index, error)) return false;
    text_print(&page->body, "<section class=\"stop\" id=\"stop-%d\">\n<h2>", index + 1);
    tui_lecture_text_add_html(&page->body, stop->title);
    text_add(&page->body, "</h2>\n");
    tui_lecture_blocks_add_html(&page->body, stop);
    if (stop->question) tui_lecture_question_add_html(&page->body, stop->question);
    text_add(&page->body, "</section>\n");
    walk_stop(&walk, app, page->size);
    walk_add_json(&walk, &page->json);
    walk_done(&walk);
    return true;
}

static bool add_lecture(HtmlPage *page, const LectureRun *run, Error *error) {
    const Lecture *lecture = run->lecture;
    bool good = true;
    app_begin_lecture(page->app, run, 0);
    add_heading(page, lecture->title, "");
    json_boolean(&page->json, "asks", run->asks);
    json_open_array(&page->json, "questions");
    for (int i = 0; i < lecture->stop_count; i++)
        if (lecture->stops[i].question)
            add_question(page, lecture->stops[i].question);
        else
            json_null(&page->json, NULL);
    json_close_array(&page->json);
    json_open_array(&page->json, "tracks");
    for (int i = 0; good && i < lecture->stop_count; i++) good = add_stop(page, i, error);
    json_close_array(&page->json);
    return good;
}

static const char *language_of(const AppStart *start) {
    return start->lecture ? start->lecture->lecture->language : language();
}

static bool add_content(HtmlPage *page, const AppStart *start, Error *error) {
    bool quit, good;
    page->json.out = &page->data;
    json_open_object(&page->json, NULL);
    json_string(&page->json, "language", language_of(start));
    json_integer(&page->json, "columns", page->size.columns);
    json_integer(&page->json, "rows", page->size.rows);
    if (start->lecture) {
        good = add_lecture(page, start->lecture, error);
    } else {
        good = app_start(page->app, start, 0, 0, &quit, error);
        if (good) {
            Walk walk;
            walk_run(&walk, page->app, page->size);
            json_open_array(&page->json, "tracks");
            walk_add_json(&walk, &page->json);
            json_close_array(&page->json);
            walk_done(&walk);
            add_heading(page, comparison_scene(&page->app->comparison)->identity.kernel, " class=\"unseen\"");
        }
    }
    json_close_object(&page->json);
    return good;
}

/* ---- the page ------------------------------------------------------------------------------------------ */

static bool read_part(const char *name, char **text, Error *error) {
    char path[PATH_BYTES];
    size_t length;
    return catalog_path("assets/html", name, path, sizeof path, error) &&
           text_read_file(path, PART_BYTES, text, &length, error);
}

static void add_title(Text *out, const HtmlPage *page, const AppStart *start) {
    const char *title = start->lecture ? start->lecture->lecture->title
                                       : comparison_scene(&page->app->comparison)->identity.kernel;
    html_add_text(out, title, strlen(title));
    text_add(out, " - redviz");
}

/* Writes the replacement of {{name}}; false: unknown name. */
static bool add_part(Text *out, const char *name, const HtmlPage *page, const AppStart *start, Error *error) {
    char *text = NULL;
    bool is_chinese = !strcmp(language_of(start), "zh");
    if (!strcmp(name, "title")) {
        add_title(out, page, start);
    } else if (!strcmp(name, "language")) {
        html_add_text(out, language_of(start), strlen(language_of(start)));
    } else if (!strcmp(name, "no_script")) {
        text_add(out,
                 is_chinese
                     ? "本页由脚本逐帧显示，而 JavaScript 已关闭。"
                     : "The frames of this page are stepped through by a script, and JavaScript is off.");
    } else if (!strcmp(name, "link")) {
        if (start->interface) {
            text_add(out, "<p id=\"open\"><a href=\"");
            html_add_text(out, start->interface, strlen(start->interface));
            text_print(out, "\">%s</a></p>\n", is_chinese ? "在 redviz 中打开" : "open in redviz");
        }
    } else if (!strcmp(name, "colours")) {
        html_add_colours(out);
    } else if (!strcmp(name, "body")) {
        text_add(out, text_string(&page->body));
    } else if (!strcmp(name, "data")) {
        html_add_script_data(out, text_string(&page->data));
    } else if (!strcmp(name, "version")) {
        text_add(out, REDVIZ_VERSION);
    } else if (read_part(name, &text, error)) {
        text_add(out, text);
        free(text);
    } else {
        return false;
    }
    return true;
}

static bool fill_in(const HtmlPage *page, const AppStart *start, Text *out, Error *error) {
    char *text, name[32];
    if (!read_part("page.html", &text, error)) return false;
    const char *at = text;
    bool good = true;
    for (const char *open; good && (open = strstr(at, "{{")); at = strstr(open, "}}") + 2) {
        text_add_bytes(out, at, (size_t)(open - at));
        snprintf(name, sizeof name, "%.*s", (int)strcspn(open + 2, "}"), open + 2);
        good = add_part(out, name, page, start, error);
    }
    if (good) text_add(out, at);
    free(text);
    return good;
}

bool app_html(Session *session, int columns, int rows, const AppStart *start, Text *out, Error *error) {
    App app;
    app_init(&app, session, start);
    HtmlPage page = {.app = &app,
                     .size = {columns, rows, start->lecture ? MOST_FRAMES_OF_STOP : MOST_FRAMES_OF_RUN}};
    bool good = add_content(&page, start, error) && fill_in(&page, start, out, error);
    text_done(&page.data);
    text_done(&page.body);
    app_done(&app);
    return good;
}
