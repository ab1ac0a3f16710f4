/* Terminal: ncurses behind a canvas.
 *
 * Signals write their number into a pipe that terminal_wait() polls together with the keyboard, so that
 * everything happens in the event loop and nothing in a handler. Only after a crash does a handler restore
 * the terminal itself, with async-signal-safe functions: tcsetattr() and write() of strings prepared at the
 * start.
 *
 * Curses blocks until the terminal has accepted everything. So it writes to a descriptor of its own, which
 * leads to a temporary file while it draws; tty_output.c sends the contents. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "tui/draw/terminal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "tui/draw/status_report.h"
#include "tui/draw/terminal_text.h"
#include "tui/draw/tty_output.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef columns /* term.h defines it as a macro */

enum { ESCAPE_MILLISECONDS = 25, MOST_MOUSE_EVENTS = 8, MOST_TYPED = STATUS_MOST_HELD + 1 };
enum { KEY_STATUS_ANSWER = KEY_MAX - 1 }; /* not a real key */

typedef struct Typed {
    int got; /* what get_wch() returned */
    wint_t code;
} Typed;

/* All that would end or stop the process. */
static const int handled_signals[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGTERM,   SIGHUP,   SIGINT,
                                      SIGQUIT,  SIGUSR1, SIGUSR2, SIGALRM,   SIGXCPU,  SIGPIPE,
                                      SIGPOLL,  SIGPROF, SIGPWR,  SIGVTALRM, SIGSTKFLT};
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
enum {
    HANDLED_COUNT = sizeof handled_signals / sizeof *handled_signals,
    CRASH_COUNT = sizeof crash_signals / sizeof *crash_signals
};

static struct {
    bool is_open;
    SCREEN *screen;
    FILE *curses;  /* what curses writes to: the terminal, */
    FILE *capture; /* or this file while it draws; NULL: the terminal */
    int colours;
    bool mouse;
    TerminalEvent mouse_events[MOST_MOUSE_EVENTS]; /* pending, the last first */
    int mouse_count;
    bool can_ask; /* it understands the control sequences of ECMA-48 */
    StatusReport report;
    bool is_answered;        /* since the last check */
    Typed typed[MOST_TYPED]; /* pending, the first first */
    int typed_count;
    bool has_default; /* the terminal's own colours are available */
    Theme theme;
    int pipe[2];
    bool has_pipe;
    struct termios modes; /* before we changed them */
    struct sigaction old_handled[HANDLED_COUNT], old_crash[CRASH_COUNT];
    Cell *shown;        /* what the terminal shows; NULL: unknown */
    int columns, rows;  /* of `shown` */
    char farewell[256]; /* leaves the alternate screen, shows the cursor, ... */
    size_t farewell_bytes;
} terminal;

/* ---- signals ------------------------------------------------------------------------------------------- */

static void on_signal(int number) {
    int kept = errno;
    unsigned char byte = (unsigned char)number;
    if (write(terminal.pipe[1], &byte, 1) < 0) { /* the pipe is full: the loop will wake anyway */
    }
    errno = kept;
}

static void on_crash(int number) {
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal.modes);
    if (write(STDOUT_FILENO, terminal.farewell, terminal.farewell_bytes) < 0) { /* nothing left to do */
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void) {
    static char crash_stack[64 * 1024]; /* a stack overflow leaves no other stack */
    stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < HANDLED_COUNT; i++) sigaction(handled_signals[i], &action, &terminal.old_handled[i]);
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK | (int)SA_RESETHAND;
    for (int i = 0; i < CRASH_COUNT; i++) sigaction(crash_signals[i], &action, &terminal.old_crash[i]);
}

static void release_signals(void) {
    for (int i = 0; i < HANDLED_COUNT; i++) sigaction(handled_signals[i], &terminal.old_handled[i], NULL);
    for (int i = 0; i < CRASH_COUNT; i++) sigaction(crash_signals[i], &terminal.old_crash[i], NULL);
}

/* ---- opening and closing ------------------------------------------------------------------------------- */

/* Appends a terminfo string without its $<padding>. */
static void add_farewell(const char *text) {
    if (!text || text == (char *)-1) return;
    while (*text && terminal.farewell_bytes + 1 < sizeof terminal.farewell) {
        const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;
        if (end)
            text = end + 1;
        else
            terminal.farewell[terminal.farewell_bytes++] = *text++;
    }
}

static void prepare_farewell(void) {
    terminal.farewell_bytes = 0;
    if (terminal.mouse) add_farewell("\033[?1006l\033[?1002l\033[?1000l");
    add_farewell(tigetstr("sgr0"));
    add_farewell(tigetstr("op"));
    add_farewell(tigetstr("rmkx"));
    add_farewell(tigetstr("cnorm"));
    add_farewell(tigetstr("rmcup"));
}

/* The terminal's value of a colour: its number, or red, green and blue if there is no palette. */
static int terminal_colour(short colour, short otherwise) {
    if (colour < 0) return terminal.has_default ? -1 : otherwise;
    return terminal.colours > 256 ? (int)theme_rgb(colour, (unsigned)colour) : colour;
}

static void set_pair(int comparison, int colour, int background) {
#if NCURSES_EXT_COLORS >= 20170401
    init_extended_pair(comparison, colour, background);
#else
    init_pair((short)comparison, (short)colour, (short)background);
#endif
}

/* Sets the colour pairs of a theme's roles. */
static void prepare_pairs(Theme theme) {
    terminal.theme = theme;
    for (int role = 0; role < ROLE_COUNT && terminal.colours; role++) {
        Look look = theme_look(theme, (Role)role, terminal.colours);
        set_pair(role + 1, terminal_colour(look.colour, COLOR_WHITE),
                 terminal_colour(look.background, COLOR_BLACK));
    }
}

static void prepare_colours(void) {
    const char *none = getenv("NO_COLOR");
    terminal.colours = 0;
    if (!(none && *none) && has_colors() && start_color() != ERR) {
        terminal.has_default = use_default_colors() == OK;
        terminal.colours = COLORS;
    }
    prepare_pairs(THEME_TERMINAL);
}

void terminal_set_theme(Theme theme) {
    if (theme == terminal.theme) return;
    prepare_pairs(theme);
    terminal_forget();
}

/* Curses asks for presses only, also when it takes the screen back; this asks for motion while a button is
 * pressed. */
static void report_dragging(bool on) {
    const char *mode = on ? "\033[?1002h" : "\033[?1002l";
    if (terminal.mouse) tty_output_send(mode, strlen(mode));
}

/* Makes read() return at once when there is no input. Ctrl-Z discards pending input, also between poll(),
 * which saw it, and read(), which would then block until the next key and keep us from stopping. */
static void never_wait_in_read(void) {
    struct termios modes;
    if (tcgetattr(STDIN_FILENO, &modes)) return;
    modes.c_cc[VMIN] = modes.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &modes) == 0) def_prog_mode(); /* refresh() restores these */
}

/* Threads may wake the loop until the program ends: the pipe is made once and never closed. */
static bool make_pipe(void) {
    char late[64];
    if (!terminal.has_pipe && pipe(terminal.pipe)) return false;
    terminal.has_pipe = true;
    for (int end = 0; end < 2; end++) {
        fcntl(terminal.pipe[end], F_SETFL, O_NONBLOCK);
        fcntl(terminal.pipe[end], F_SETFD, FD_CLOEXEC);
    }
    while (read(terminal.pipe[0], late, sizeof late) > 0) continue;
    return true;
}

bool terminal_open(Error *error) {
    static const char instead[] = "--report prints the metrics and --frame one screen without one";
    int status;
    if (terminal.is_open) return true;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return error_set(error, "the interface needs a terminal; %s", instead);
    const char *name = getenv("TERM");
    if (setupterm(NULL, STDOUT_FILENO, &status) != OK)
        return error_set(error, "the terminal type TERM=%.60s is not known; %s", name ? name : "", instead);
    const char *move = tigetstr("cup");
    bool can_move = move && move != (char *)-1;
    terminal.can_ask = can_move && !strncmp(move, "\033[", 2);
    del_curterm(cur_term); /* it was for the query; newterm() makes its own */
    if (!can_move)
        return error_set(error, "a terminal of type TERM=%.60s cannot place its cursor; %s", name ? name : "",
                         instead);
    if (tcgetattr(STDIN_FILENO, &terminal.modes) || !make_pipe())
        return error_set(error, "the terminal cannot be set up; %s", instead);
    /* Before curses does: it keeps handlers that it finds, but with its own handler it ignores Ctrl-Z while
     * it draws. */
    catch_signals();
    terminal.curses = fdopen(dup(STDOUT_FILENO), "w");
    terminal.screen = terminal.curses ? newterm(NULL, terminal.curses, stdin) : NULL;
    if (!terminal.screen) {
        release_signals();
        return error_set(error, "the terminal cannot be set up; %s", instead);
    }
    cbreak();
    noecho();
    nonl();
    never_wait_in_read();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MILLISECONDS);
    define_key(STATUS_ANSWER, KEY_STATUS_ANSWER);
    terminal.report = (StatusReport){0};
    terminal.typed_count = 0;
    curs_set(0);
    prepare_colours();
    mouseinterval(0);
    terminal.mouse =
        mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED | REPORT_MOUSE_POSITION, NULL) != 0;
    prepare_farewell();
    static bool registered;
    if (!registered) atexit(terminal_close);
    registered = true;
    terminal.capture = tmpfile();
    tty_output_open();
    terminal.is_open = true;
    terminal_forget();
    return true;
}

static void push_typed(int got, wint_t code) {
    terminal.typed[terminal.typed_count++] = (Typed){got, code};
}

/* What curses has read, without answers of the terminal. False: nothing. */
static bool next_typed(Typed *typed) {
    while (!terminal.typed_count) {
        wint_t code;
        unsigned keys[STATUS_MOST_HELD];
        double now = clock_seconds();
        int got = get_wch(&code), count;
        if (got == KEY_CODE_YES && code == KEY_STATUS_ANSWER) {
            status_report_answered(&terminal.report, now);
            terminal.is_answered = true;
            continue;
        }
        bool was_open = terminal.report.is_open;
        count = got == OK ? status_report_take(&terminal.report, code, now, keys)
                          : status_report_release(&terminal.report, got != ERR, now, keys);
        terminal.is_answered |= was_open && !terminal.report.is_open;
        for (int i = 0; i < count; i++) push_typed(OK, keys[i]);
        if (got == KEY_CODE_YES) push_typed(got, code);
        if (got == ERR && !terminal.typed_count) return false;
    }
    *typed = terminal.typed[0];
    memmove(terminal.typed, terminal.typed + 1, (size_t)--terminal.typed_count * sizeof *typed);
    return true;
}

/* Curses writes to the terminal itself: pending output goes first. */
static void leave_screen(void) {
    report_dragging(false);
    tty_output_finish();
    /* Discards the answer so that the next reader of the terminal does not get it. What is typed meanwhile is
     * lost. */
    double now = clock_seconds(), end = now + status_report_farewell(&terminal.report, now);
    struct pollfd file = {.fd = STDIN_FILENO, .events = POLLIN};
    Typed typed;
    for (; terminal.report.is_open && now < end; now = clock_seconds()) {
        int ready = poll(&file, 1, (int)ceil((end - now) * 1000));
        if (ready > 0 && file.revents & ~POLLIN) break;
        while (next_typed(&typed)) {
        }
    }
    terminal.report.is_open = false;
    status_report_release(&terminal.report, true, now, (unsigned[STATUS_MOST_HELD]){0});
    endwin();
}

const char *terminal_library(void) {
    return curses_version();
}

void terminal_close(void) {
    if (!terminal.is_open) return;
    terminal.is_open = false;
    leave_screen();
    tty_output_close();
    release_signals();
    delscreen(terminal.screen);
    fclose(terminal.curses);
    if (terminal.capture) fclose(terminal.capture);
    terminal.curses = terminal.capture = NULL;
    free(terminal.shown);
    terminal.shown = NULL;
}

void terminal_end(int number) {
    terminal_close();
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number); /* the signal is blocked or ignored */
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

void terminal_size(int *columns, int *rows) {
    *columns = COLS;
    *rows = LINES;
}

void terminal_forget(void) {
    free(terminal.shown);
    terminal.shown = NULL;
}

/* Converts a character with its marks for curses. False: '?' is sent in each of its columns. */
static bool convert(const Cell *cell, wchar_t out[1 + CHARACTER_MARKS + 1]) {
    int count = 0;
    out[count++] = (wchar_t)cell->glyph;
    for (int i = 0; i < CHARACTER_MARKS && cell->marks[i]; i++)
        if (terminal_knows(cell->marks[i], 0)) out[count++] = (wchar_t)cell->marks[i];
    out[count] = 0;
    return terminal_knows(cell->glyph, canvas_cell_columns(cell));
}

static void put_cell(int row, int column, Cell cell) {
    Look look = theme_look(terminal.theme, (Role)cell.role, terminal.colours);
    attr_t attributes = A_NORMAL;
    if (look.bold) attributes |= A_BOLD;
    if (look.underline) attributes |= A_UNDERLINE;
    if (look.reverse != (cell.reverse != 0)) attributes |= A_REVERSE;
    wchar_t glyph[1 + CHARACTER_MARKS + 1];
    cchar_t character;
    int repeat = 1, columns = canvas_cell_columns(&cell);
    if (!convert(&cell, glyph)) {
        glyph[0] = '?', glyph[1] = 0;
        repeat = columns;
    }
    setcchar(&character, glyph, attributes, terminal.colours ? (short)(cell.role + 1) : 0, NULL);
    for (int i = 0; i < repeat; i++) mvadd_wch(row, column + i, &character);
}

/* Makes curses draw into the temporary file. After endwin() it first sets the terminal's modes, for which it
 * needs the terminal. */
static void refresh_captured(void) {
    int curses = fileno(terminal.curses), capture = terminal.capture ? fileno(terminal.capture) : -1;
    bool is_captured = !isendwin() && capture >= 0 && dup2(capture, curses) >= 0;
    if (!is_captured) tty_output_finish();
    refresh();
    if (!is_captured) return;
    dup2(STDOUT_FILENO, curses);
    char bytes[8192];
    ssize_t count;
    if (lseek(capture, 0, SEEK_SET) < 0) return;
    while ((count = read(capture, bytes, sizeof bytes)) > 0) {
        tty_output_send(bytes, (size_t)count);
        status_report_sent(&terminal.report, (size_t)count);
    }
    if (lseek(capture, 0, SEEK_SET) < 0 || ftruncate(capture, 0)) return;
}

int terminal_busy_milliseconds(void) {
    int output = tty_output_milliseconds();
    int answer = (int)ceil(status_report_seconds(&terminal.report, clock_seconds()) * 1000);
    return output > answer ? output : answer;
}

void terminal_show(const Canvas *canvas) {
    size_t count = (size_t)canvas->columns * (size_t)canvas->rows;
    if (terminal.shown && (terminal.columns != canvas->columns || terminal.rows != canvas->rows))
        terminal_forget();
    bool everything = !terminal.shown;
    if (everything) {
        terminal.shown = memory_new(count * sizeof *terminal.shown);
        terminal.columns = canvas->columns;
        terminal.rows = canvas->rows;
        clearok(curscr, TRUE);
        erase();
    }
    for (size_t i = 0; i < count; i++) {
        Cell cell = canvas->cells[i], *shown = &terminal.shown[i];
        if (!everything && canvas_same_cell(&cell, shown)) continue;
        if (cell.glyph != CELL_RIGHT_HALF) put_cell((int)i / canvas->columns, (int)i % canvas->columns, cell);
        *shown = cell;
    }
    refresh_captured();
    if (everything) report_dragging(true);
    if (terminal.can_ask && status_report_asks(&terminal.report, clock_seconds()))
        tty_output_send(STATUS_QUESTION, strlen(STATUS_QUESTION));
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* If several reports arrive at once, curses returns one key for them, and the last of them first. */
static void fetch_mouse(void) {
    MEVENT mouse;
    while (terminal.mouse_count < MOST_MOUSE_EVENTS && getmouse(&mouse) == OK) {
        mmask_t state = mouse.bstate;
        TerminalEvent *event = &terminal.mouse_events[terminal.mouse_count];
        *event =
            (TerminalEvent){.column = mouse.x, .row = mouse.y, .direction = state & BUTTON4_PRESSED ? 1 : -1};
        if (state & BUTTON1_PRESSED)
            event->kind = TERMINAL_CLICK;
        else if (state & REPORT_MOUSE_POSITION)
            event->kind = TERMINAL_DRAG;
        else if (state & (BUTTON4_PRESSED | BUTTON5_PRESSED))
            event->kind = TERMINAL_WHEEL;
        else
            continue;
        terminal.mouse_count++;
    }
}

static bool read_mouse(TerminalEvent *event) {
    if (!terminal.mouse_count) return false;
    *event = terminal.mouse_events[--terminal.mouse_count];
    return true;
}

static bool read_key(TerminalEvent *event) {
    static const struct {
        wint_t code;
        Key key;
    } codes[] = {
        {KEY_RIGHT, SPECIAL_RIGHT},   {KEY_LEFT, SPECIAL_LEFT},           {KEY_DOWN, SPECIAL_DOWN},
        {KEY_UP, SPECIAL_UP},         {KEY_HOME, SPECIAL_HOME},           {KEY_END, SPECIAL_END},
        {KEY_PPAGE, SPECIAL_PAGE_UP}, {KEY_NPAGE, SPECIAL_PAGE_DOWN},     {KEY_BTAB, SPECIAL_BACK_TAB},
        {KEY_ENTER, SPECIAL_ENTER},   {KEY_BACKSPACE, SPECIAL_BACKSPACE}, {KEY_F(1), SPECIAL_F1},
        {KEY_F(10), SPECIAL_F10}};
    static const struct {
        wint_t character;
        Key key;
    } controls[] = {{'\r', SPECIAL_ENTER}, {'\n', SPECIAL_ENTER},    {'\t', SPECIAL_TAB},
                    {27, SPECIAL_ESCAPE},  {127, SPECIAL_BACKSPACE}, {8, SPECIAL_BACKSPACE},
                    {12, SPECIAL_REDRAW},  {21, SPECIAL_ERASE},      {4, SPECIAL_CONTROL_D}};
    Typed typed;
    if (read_mouse(event)) return true;
    while (next_typed(&typed)) {
        wint_t code = typed.code;
        *event = (TerminalEvent){.kind = TERMINAL_KEY};
        if (typed.got == KEY_CODE_YES) {
            if (code == KEY_MOUSE) fetch_mouse();
            if (read_mouse(event)) return true;
            for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
                if (codes[i].code == code) event->key = codes[i].key;
            if (event->key) return true;
            continue; /* KEY_RESIZE, and keys without a meaning here */
        }
        event->key = (Key)code;
        for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
            if (controls[i].character == code) event->key = controls[i].key;
        return true;
    }
    return false;
}

static void suspend(void) {
    struct sigaction action = {.sa_handler = SIG_DFL}, ours;
    leave_screen();
    sigemptyset(&action.sa_mask);
    sigaction(SIGTSTP, &action, &ours);
    raise(SIGTSTP); /* stops here; SIGCONT resumes */
    sigaction(SIGTSTP, &ours, NULL);
}

/* The terminal may have another size and other modes than before. */
static void follow_size(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
        resizeterm(size.ws_row, size.ws_col);
    terminal_forget();
}

/* Keys are for the other program alone: the user may interrupt and stop it, and we stop with it. */
static pid_t start(char *const command[]) {
    static const int ours[] = {SIGINT, SIGQUIT}, both[] = {SIGTSTP, SIGCONT, SIGWINCH};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) signal(ours[i], SIG_IGN);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) signal(both[i], SIG_DFL);
    pid_t child = fork();
    if (child) return child;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) signal(ours[i], SIG_DFL);
    execvp(command[0], command);
    _exit(127);
}

int terminal_run(char *const command[]) {
    struct sigaction kept[HANDLED_COUNT];
    int status = 0;
    leave_screen();
    for (int i = 0; i < HANDLED_COUNT; i++) sigaction(handled_signals[i], NULL, &kept[i]);
    pid_t child = start(command);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    for (int i = 0; i < HANDLED_COUNT; i++) sigaction(handled_signals[i], &kept[i], NULL);
    follow_size();
    if (child < 0) return 127;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool terminal_has_programs(void) {
    return true;
}

/* Reads what the handlers wrote; false: nothing that the program must handle. */
static bool read_signals(TerminalEvent *event) {
    unsigned char numbers[256];
    bool resized = false, woken = false;
    ssize_t count;
    while ((count = read(terminal.pipe[0], numbers, sizeof numbers)) > 0)
        for (ssize_t i = 0; i < count; i++) switch (numbers[i]) {
            case 0:
                woken = true;
                break;
            case SIGWINCH:
                resized = true;
                break;
            case SIGTSTP:
                suspend();
                resized = true;
                break;
            case SIGCONT:
                /* The process that stopped us left the terminal's modes to the shell; refresh() takes them
                 * back. */
                leave_screen();
                resized = true;
                break;
            default:
                *event = (TerminalEvent){.kind = TERMINAL_END, .signal = numbers[i]};
                return true;
            }
    if (resized) follow_size();
    *event = (TerminalEvent){.kind = resized ? TERMINAL_RESIZE : TERMINAL_TIMEOUT};
    return resized || woken;
}

/* Keys that are held back also become due. */
static int patience(int milliseconds) {
    double held = status_report_held_seconds(&terminal.report, clock_seconds());
    int due = (int)ceil(held * 1000);
    return held < 0 || (milliseconds >= 0 && milliseconds < due) ? milliseconds : due;
}

static bool take_answered(void) {
    bool is_answered = terminal.is_answered;
    terminal.is_answered = false;
    return is_answered;
}

TerminalEvent terminal_wait(int milliseconds) {
    TerminalEvent event = {.kind = TERMINAL_TIMEOUT};
    if (read_signals(&event) || read_key(&event)) return event;
    if (take_answered()) return (TerminalEvent){.kind = TERMINAL_TIMEOUT};
    struct pollfd files[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = terminal.pipe[0], .events = POLLIN},
                             {.fd = tty_output_waits_for(), .events = POLLOUT}};
    int ready = poll(files, 3, patience(milliseconds)), bytes = 0;
    if (ready > 0 && files[2].revents) tty_output_go_on();
    if (ready > 0 && files[1].revents && read_signals(&event)) return event;
    if (ready > 0 && files[0].revents) {
        bool gone =
            ioctl(STDIN_FILENO, FIONREAD, &bytes) || (bytes == 0 && files[0].revents & (POLLHUP | POLLERR));
        if (gone || files[0].revents & POLLNVAL)
            return (TerminalEvent){.kind = TERMINAL_END, .signal = SIGHUP};
        if (read_key(&event)) return event;
    }
    return (TerminalEvent){.kind = TERMINAL_TIMEOUT};
}

void terminal_serve(TerminalTurn *turn, void *context) {
    int wait = turn(context, NULL);
    while (wait != TERMINAL_DONE) {
        TerminalEvent event = terminal_wait(wait);
        wait = turn(context, &event);
    }
}

void terminal_say(const char *text) {
    (void)text;
}

void terminal_tell_exercise(const char *json) {
    (void)json;
}

void terminal_mark(int line, const char *why) {
    (void)line, (void)why;
}

void terminal_wake(void) {
    unsigned char byte = 0;
    if (write(terminal.pipe[1], &byte, 1) < 0) { /* full: the loop is awake */
    }
}
