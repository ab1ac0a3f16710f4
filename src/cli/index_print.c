#include "cli/index_print.h"

#include "base/json.h"
#include "bench/bench.h"
#include "index/index_text.h"
#include "ladder/latency.h"
#include <math.h>
#include <string.h>

static const IndexOf of = {.bytes = 4, .mask = 0xffffffff, .s = 1, .n = 1024};

static void print_text(const char *text, const IndexAccess *access, const WavefrontCycles *cycles,
                       Text *out) {
    text_print(out, "array[%s]\n", text);
    text_print(out, "  shared   %d wavefront%s, ideal %d; ", access->shared.wavefronts,
               access->shared.wavefronts == 1 ? "" : "s", access->shared.ideal);
    if (isnan(cycles->alone))
        text_add(out, "cycles not measured\n");
    else
        text_print(out, "%.0f cycles (%s, recorded %.10s)\n", cycles->alone, cycles->machine,
                   cycles->measured);
    text_add(out, "  words    ");
    for (int bank = 0; bank < BANK_COUNT; bank++)
        text_print(out, "%s%d", bank ? " " : "", access->words[bank]);
    text_print(out, " of banks 0 to 31\n  global   %d sector%s, ideal %d; %d line%s of 128 bytes\n",
               access->global.sectors, access->global.sectors == 1 ? "" : "s", access->global.ideal,
               access->lines, access->lines == 1 ? "" : "s");
}

static void print_json(const char *text, const IndexAccess *access, const WavefrontCycles *cycles,
                       Json *json) {
    json_open_object(json, NULL);
    json_string(json, "expression", text);
    json_integer(json, "bytes", of.bytes);
    json_integer(json, "shared_wavefronts", access->shared.wavefronts);
    json_integer(json, "shared_wavefronts_ideal", access->shared.ideal);
    json_number(json, "cycles", cycles->alone);
    json_number(json, "cycles_in_flight", cycles->in_flight);
    json_string(json, "machine", cycles->machine);
    json_string(json, "measured", cycles->measured);
    json_open_array(json, "words_of_banks");
    for (int bank = 0; bank < BANK_COUNT; bank++) json_integer(json, NULL, access->words[bank]);
    json_close_array(json);
    json_integer(json, "global_sectors", access->global.sectors);
    json_integer(json, "global_sectors_ideal", access->global.ideal);
    json_integer(json, "global_lines", access->lines);
    json_close_object(json);
}

static bool print_each(const char *const text[2], const Measurements *recorded, bool as_json, Text *out,
                       Error *error) {
    Json json = {.out = out};
    if (as_json) json_open_array(&json, NULL);
    for (int i = 0; i < 2; i++) {
        const char *one = text[i] ? text[i] : i == 0 ? index_presets[0].text : NULL;
        IndexAccess access;
        Error why = {0};
        if (!one) continue;
        if (!index_access(one, &of, &access, &why))
            return why.column ? error_set(error, "--index: '%s', column %d: %s", one, why.column, why.message)
                              : error_set(error, "--index: '%s': %s", one, why.message);
        WavefrontCycles cycles = latency_of_wavefronts(recorded, access.shared.wavefronts);
        if (as_json)
            print_json(one, &access, &cycles, &json);
        else
            print_text(one, &access, &cycles, out);
    }
    if (as_json) json_close_array(&json);
    if (as_json) text_add(out, "\n");
    return true;
}

bool cli_index_print(const char *const text[2], const char *machine, bool json, Text *out, Error *error) {
    Measurements recorded = {0};
    Text printed = {0}; /* nothing is printed before an error */
    bool good =
        bench_recorded(machine, &recorded, error) && print_each(text, &recorded, json, &printed, error);
    if (good) text_add(out, text_string(&printed));
    text_done(&printed);
    measured_done(&recorded);
    return good;
}
