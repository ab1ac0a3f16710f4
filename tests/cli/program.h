/* The program as scripts run it: runs $REDVIZ_BIN (build/redviz) and keeps its output and its exit status. */
#ifndef TESTS_CLI_PROGRAM_H
#define TESTS_CLI_PROGRAM_H

#include <stdbool.h>

typedef struct Outcome {
    int status; /* -1: ended by a signal */
    char *out, *err;
} Outcome;

/* Set-up and tear-down of a group: the folder that commands may write to, program_folder(). */
int program_make_folder(void **state);
int program_remove_folder(void **state);
const char *program_folder(void);

/* Runs a shell command in which @ stands for the program, without terminal or input. */
Outcome program_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
void program_outcome_done(Outcome *outcome);

/* The standard output of a command that must exit with `status` and print nothing on stderr. The caller frees
 * it. */
char *program_output(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

int program_line_count(const char *text);
void program_assert_contains(const char *text, const char *part);

/* Which compiler is missing, as the command's error says; NULL: it failed for another reason, or not. The
 * text is static. */
const char *program_missing_compiler(const Outcome *outcome);

/* Writes a file in that folder. */
void program_write_file(const char *name, const char *text);
/* The report of a file with this text, as the first command gives it, contains these words. Without a
 * compiler, the test is skipped. */
void program_expect(const char *text, const char *const *words, int count);
#define EXPECT(text, ...)                                                                                    \
    do {                                                                                                     \
        static const char *const words[] = {__VA_ARGS__};                                                    \
        program_expect(text, words, (int)(sizeof words / sizeof *words));                                    \
    } while (0)

#endif
