/* What is usual where nobody says otherwise: how inputs are filled, and how much shared memory a block
 * gets. */
#include "guess/guess_state.h"

#include <stdlib.h>
#include <string.h>

const char *guess_fill_text(Guess *guess) {
    const GuessRequest *request = &guess->request;
    if (!request->has_fill) return "random";
    if (request->fill != FILL_FILE) return plan_fill_name(request->fill);
    return arena_print(&guess->arena, "file:%s", request->fill_path);
}

/* Triton does not state in PTX how much it is: its cache has NAME.json beside NAME.ptx, and "shared" in
 * it. */
static bool find_shared_beside(const char *ptx_path, uint32_t *bytes) {
    enum { LIMIT_BYTES = 1 << 20 };
    static const char key[] = "\"shared\":";
    const char *dot = strrchr(ptx_path, '.'), *slash = strrchr(ptx_path, '/');
    Text path = {0};
    char *json = NULL;
    size_t length;
    text_add_bytes(&path, ptx_path, dot && dot > slash ? (size_t)(dot - ptx_path) : strlen(ptx_path));
    text_add(&path, ".json");
    bool found = text_read_file(text_string(&path), LIMIT_BYTES, &json, &length, NULL);
    text_done(&path);
    char *at = found ? strstr(json, key) : NULL, *end = at;
    unsigned long long value = at ? strtoull(at + strlen(key), &end, 10) : 0;
    found = at && end > at + strlen(key) && value <= UINT32_MAX && strstr(json, "\"num_warps\"");
    if (found) *bytes = (uint32_t)value;
    free(json);
    return found;
}

uint32_t guess_shared(const Guess *guess, const PtxFunction *entry) {
    enum { USUAL_SHARED = 48 << 10 };
    const PtxModule *module = guess->request.module;
    uint64_t sized = 0;
    bool has_unsized = false;
    uint32_t bytes = 0;
    for (int i = 0; i < module->variable_count; i++) {
        if (module->variables[i]->space != PTX_SPACE_SHARED) continue;
        sized += module->variables[i]->bytes;
        has_unsized |= !module->variables[i]->bytes;
    }
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxVariable *variable = entry->statements[i].variable;
        if (variable && variable->space == PTX_SPACE_SHARED) sized += variable->bytes;
    }
    if (!has_unsized || sized >= USUAL_SHARED) return 0;
    bytes = USUAL_SHARED - (uint32_t)sized;
    if (guess->request.file) find_shared_beside(guess->request.file, &bytes);
    return bytes;
}
