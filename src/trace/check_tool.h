/* Check tools: those of NVIDIA's compute-sanitizer, by which its users choose kinds of results (--tool). Each
 * kind says which of them shows it. */
#ifndef TRACE_CHECK_TOOL_H
#define TRACE_CHECK_TOOL_H

#include <stdbool.h>

typedef enum CheckTool { /* bits */
                         TOOL_NONE =
                             0, /* of a kind: no tool shows it; chosen: no tool is, and every kind is shown */
                         TOOL_MEMCHECK = 1,
                         TOOL_RACECHECK = 2,
                         TOOL_INITCHECK = 4,
                         TOOL_SYNCCHECK = 8,
                         TOOL_ANY = 15 /* what ends a run, so that none of them sees the rest */
} CheckTool;

static inline bool check_tool_shows(CheckTool chosen, CheckTool kind) {
    return !chosen || chosen & kind;
}

#endif
