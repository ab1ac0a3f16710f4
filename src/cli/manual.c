/* The manual page: man(7), with plain ASCII only. */
#include "cli/generate.h"

#include "base/version.h"
#include "cli/options.h"
#include "tui/view/key_actions.h"
#include "tui/view/keys.h"
#include <string.h>

static const char BEGIN[] =
    ".TH REDVIZ 1 \"" REDVIZ_VERSION_DATE "\" \"redviz " REDVIZ_VERSION "\" \"User Commands\"\n"
    ".SH NAME\n"
    "redviz \\- see how a CUDA reduction kernel really executes\n"
    ".SH SYNOPSIS\n"
    ".B redviz\n"
    ".br\n"
    ".B redviz\n"
    ".I NAME\n"
    ".RI [ OPTION ...]\n"
    ".br\n"
    ".B redviz \\-\\-kernel\n"
    ".I NAME\n"
    ".RI [ OPTION ...]\n"
    ".br\n"
    ".B redviz\n"
    ".IR FILE.cu | FILE.ptx\n"
    ".RI [ OPTION ...]\n"
    ".br\n"
    ".B redviz\n"
    ".I FILE.redviz\n"
    ".RI [ OPTION ...]\n"
    ".br\n"
    ".B redviz\n"
    ".RI [ OPTION ...]\n"
    ".B \\-\\-\n"
    ".I PROGRAM\n"
    ".RI [ ARGUMENT ...]\n"
    ".SH DESCRIPTION\n"
    "redviz executes a CUDA kernel and shows it step by step, forwards and\n"
    "backwards, in a terminal: which lanes are active, which shared\\-memory banks\n"
    "they access, where a shuffle moves a value, and what each source line costs.\n"
    ".PP\n"
    "It emulates the kernel's PTX and needs no GPU.\n"
    "On a machine with an NVIDIA GPU it can also record the events there, compare\n"
    "them with the emulator's, read hardware counters, and measure times.\n"
    ".PP\n"
    "Without an option that prints something it opens the interface; press\n"
    ".B ?\n"
    "there for help and\n"
    ".B q\n"
    "to quit.\n"
    ".SH OPTIONS\n"
    "Numbers are decimal, hexadecimal (0x1000) or powers (2^20).\n";

static const char KEYS[] = ".SH KEYS\n"
                           "A number typed before a key repeats it, or says which:\n"
                           ".B 10l\n"
                           "moves ten steps,\n"
                           ".B 74g\n"
                           "goes to step 74,\n"
                           ".B 3w\n"
                           "selects warp 3.\n"
                           "The mouse wheel moves by beats. A click selects a step, a source line, a\n"
                           "level, a warp, a lane or a pane, or presses a key of the last row; dragging\n"
                           "on the timeline goes through the steps.\n";

/* The limits of redviz, one paragraph each; every sentence starts a line of at most 80 columns (mandoc -T
 * lint). */
static const char *const LIMITS[] = {
    "Counts are of PTX instructions; --sass has those of recorded or measured\n"
    "machine code; that made by ptxas without a GPU has none.\n"
    "Times are measured, never computed from counts.",
    "--check searches every block for races.\n"
    "Of a word that many threads touch it keeps the last writer and eight readers,\n"
    "so it may miss some of many races; it counts such places.",
    "redviz shows one order of warps, in which a kernel with a race may look right.\n"
    "--check looks for another order that gives a wrong result.",
    "The reduction, its tree and the values of registers are shown for blocks of up\n"
    "to 69,632 events, all else for blocks of any size.",
    "Wavefronts of accesses between the blocks of a cluster are not modelled. Those\n"
    "of atomics that the machine makes a loop (float, 64 bits) are of a warp alone.",
    "tcgen05, multimem, sparse mma, mipmapped textures and interleaved tensor maps\n"
    "are not emulated; with --until-unsupported a run ends at the first of them.",
    "A GPU does not count PTX instructions: counts of the whole grid are the\n"
    "emulator's, also where a GPU recorded the events.",
    "clang without a CUDA toolkit compiles what assets/include/clang.h declares: no\n"
    "exp, no half, no cooperative groups.",
};

static const char END[] =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nSuccess; notes and advice may have been printed.\n"
    ".TP\n.B 1\nThe run failed: a wrong result, a trap, a hang, a difference found by\n.BR \\-\\-verify ,\n"
    "an error found by\n.BR \\-\\-check .\n"
    ".TP\n.B 2\nBad usage or bad input.\n"
    ".TP\n.B 3\nThe kernel needs instructions that are not emulated; they are listed. With\n"
    ".BR \\-\\-until\\-unsupported :\nthe run ended at the first that was reached.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B VISUAL\\fR, \\fBEDITOR\nThe editor that the key\n.B e\nopens; if neither is set, nano or else "
    "vi.\n"
    ".TP\n.B NO_COLOR\nIf set, the interface uses no colours.\n"
    ".TP\n.B CUDA_HOME\\fR, \\fBCUDA_PATH\nWhere to look for nvcc and for NVRTC.\n"
    ".TP\n.B XDG_CACHE_HOME\nCompiled kernels are kept in its folder\n.IR redviz ;\n.I ~/.cache\nif not "
    "set.\n"
    ".TP\n.B XDG_STATE_HOME\nWhat was opened last is kept in its folder\n.IR redviz ;\n.I ~/.local/state\nif "
    "not "
    "set.\n"
    ".TP\n.B XDG_DATA_HOME\nWhich exercises are solved is kept in its folder\n.IR redviz ;\n.I "
    "~/.local/share\nif "
    "not set.\n"
    ".TP\n.B REDVIZ_SHARE\nThe folder that holds\n.I kernels\nand\n.IR assets .\n"
    ".TP\n.B REDVIZ_PTXAS\\fR, \\fBREDVIZ_NVDISASM\nThe assembler and the disassembler of machine code; else "
    "those of the CUDA\ntoolkit, or of the wheels nvidia-cuda-nvcc and nvidia-cuda-nvdisasm.\n"
    ".TP\n.B REDVIZ_CUDA\\fR, \\fBREDVIZ_NVRTC\\fR, \\fBREDVIZ_NVML\\fR, \\fBREDVIZ_CUPTI\\fR, "
    "\\fBREDVIZ_PEERS\n"
    "The library to load as the CUDA driver, NVRTC, NVML, CUPTI, and the peers\nlibrary built by\n.BR \"make "
    "peers\" .\n"
    ".SH FILES\n"
    ".TP\n.I FILE.redviz\nA saved run: an SQLite database, whose schema explains each column.\n"
    ".TP\n.I ~/.local/state/redviz/recent\nWhat was opened last, for the home screen.\n"
    ".TP\n.I ~/.local/share/redviz/solved\nThe names of solved exercises.\n"
    ".SH EXAMPLES\n"
    ".TP\n.B redviz \\-\\-kernel interleaved\nOpen the first kernel.\n"
    ".TP\n.B redviz \\-\\-kernel interleaved \\-\\-compare strided\nShow two kernels side by side.\n"
    ".TP\n.B redviz \\-\\-kernel strided \\-\\-report\nPrint counts by source line, totals and findings.\n"
    ".TP\n.B redviz mine.cu \\-\\-args \\(aqin=float[n]:random, out=float[grid]:zero, n\\(aq\nOpen your own "
    "kernel.\n"
    ".TP\n.B redviz \\-\\-kernel strided \\-\\-source mine.cu \\-\\-watch\nRun your copy of a kernel again "
    "whenever "
    "you save it, before and after side by side.\n"
    ".TP\n.B redviz \\-\\-kernel bug_missing_sync \\-\\-check\nFind a race.\n"
    ".SH SEE ALSO\n"
    ".BR sqlite3 (1)\n";

/* Prints text between macros, and escapes troff's markup. */
static void add_plain(Text *out, const char *text) {
    if (*text == '.' || *text == '\'') text_add(out, "\\&");
    for (; *text; text++) {
        if (*text == '-')
            text_add(out, "\\-");
        else if (*text == '\\')
            text_add(out, "\\e");
        else if (*text == '\'')
            text_add(out, "\\(aq");
        else if (*text == '^')
            text_add(out, "\\(ha");
        else if (*text == '~')
            text_add(out, "\\(ti");
        else if (*text == '`')
            text_add(out, "\\(ga");
        else
            text_add_bytes(out, text, 1);
    }
}

static void add_options(Text *out) {
    const char *title;
    const OptionRow *row;
    for (int i = 0; (row = options_row(FOR_REDVIZ, i, &title)); i++) {
        const char *argument = row->argument ? row->argument : "";
        if (title) {
            text_add(out, ".SS ");
            add_plain(out, title);
            text_add(out, "\n");
        }
        text_add(out, ".TP\n\\fB\\-\\-");
        add_plain(out, row->name);
        text_add(out, "\\fR");
        text_add(out, *argument == '=' ? "[" : *argument ? " " : "");
        if (*argument == '=') text_add(out, "="), argument++;
        if (*argument) {
            text_add(out, "\\fI");
            add_plain(out, argument);
            text_add(out, "\\fR");
        }
        text_add(out, row->argument && *row->argument == '=' ? "]\n" : "\n");
        add_plain(out, row->help);
        text_add(out, row->help[strlen(row->help) - 1] == '.' ? "\n" : ".\n");
    }
}

static void add_keys(Text *out) {
    for (int action = 1; action < ACTION_COUNT; action++) {
        char name[24];
        text_add(out, ".TP\n");
        for (int side = 0; side < 2; side++) {
            const char *list = side ? key_rows[action].backwards : key_rows[action].forwards;
            for (int i = 0; keys_show(list, i, true, name, sizeof name); i++) {
                text_add(out, side && !i ? ", \\fB" : i ? " \\fB" : "\\fB");
                add_plain(out, name);
                text_add(out, "\\fR");
            }
        }
        text_add(out, "\n");
        add_plain(out, key_rows[action].help);
        text_add(out, "\n");
    }
}

static void add_limits(Text *out) {
    text_add(out, ".SH LIMITS\n");
    for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++) {
        text_add(out, i ? ".PP\n" : "");
        add_plain(out, LIMITS[i]);
        text_add(out, "\n");
    }
}

void generate_man(Text *out) {
    text_add(out, BEGIN);
    add_options(out);
    text_add(out, KEYS);
    add_keys(out);
    add_limits(out);
    text_add(out, END);
}
