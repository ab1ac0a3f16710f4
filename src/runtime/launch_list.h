/* Launch list: a program's launches as rows, and what its host code did wrong. The report and the interface
 * show it. */
#ifndef RUNTIME_LAUNCH_LIST_H
#define RUNTIME_LAUNCH_LIST_H

#include "base/json.h"
#include "findings/findings.h"
#include "runtime/user_program.h"

typedef struct LaunchRow { /* one launch, or several in succession that repeat earlier ones */
    int first, last;       /* indices, inclusive */
    bool is_repeat;
} LaunchRow;

/* The rows, the caller's; *count of them. */
LaunchRow *launch_rows(const Captured *capture, int *count);
int launch_count_distinct(const Captured *capture);

/* The columns of a row: "3", "3-102"; the kernel; grid and block, "64 x 64" or "256"; bytes; "d_odata 64,
 * count 1", the elements that hold another value; "1.2 M"; what stands out: "out of bounds", "bank conflicts
 * 480", "refused", or "-". `out` gets one of them. */
typedef enum LaunchColumn {
    LAUNCH_NUMBER,
    LAUNCH_KERNEL,
    LAUNCH_GRID,
    LAUNCH_BLOCK,
    LAUNCH_SHARED,
    LAUNCH_CHANGED,
    LAUNCH_INSTRUCTIONS,
    LAUNCH_FINDING,
    LAUNCH_COLUMNS
} LaunchColumn;
const char *launch_column_title(LaunchColumn column);

/* The launch that is shown, and the findings of its run, which may know more than the program's run. */
typedef struct LaunchShown {
    int launch; /* -1: none */
    const Findings *findings;
} LaunchShown;
void launch_column_print(const Captured *capture, const LaunchRow *row, LaunchColumn column,
                         const LaunchShown *shown, Text *out);

/* How a launch ended, else the title of its first problem and, of a slow place, its cost beyond the ideal; 0:
 * nothing is counted. */
const char *launch_finding(const Captured *capture, int launch, const LaunchShown *shown, uint64_t *count);

/* The table, and what the host did wrong. At most `most` rows; 0: all. */
void launch_list_print(const Program *program, int most, const LaunchShown *shown, Text *out);
void launch_list_put_json(const Program *program, Json *json);

#define HOST_PROGRAM_END "program_end" /* the kind of an end with a status that nothing explains */

/* What the host did wrong. */
typedef struct HostFinding {
    const char *kind; /* "failed_call", stable */
    CheckTool tool;
    bool is_error; /* else a note */
    const char *file;
    int line;   /* 0: not known */
    int launch; /* that was refused; -1: none */
    const char *text;
} HostFinding;
/* The list of what `tool` shows, the caller's; texts are in `arena`. */
HostFinding *host_findings(const Program *program, CheckTool tool, Arena *arena, int *count);
void host_findings_print(const Program *program, CheckTool tool, Text *out);
int host_findings_count_errors(const Program *program, CheckTool tool);

#endif
