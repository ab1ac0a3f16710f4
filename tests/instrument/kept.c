#include "kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

RunSpec kept_options(const Kept *kept) {
    RunSpec options = {.kernel = kept->kernel,
                       .catalog = {.n = kept->n, .block = kept->block, .grid = kept->grid},
                       .keep_inputs = true};
    plan_type_parse(kept->dtype, &options.catalog.dtype);
    return options;
}

void kept_add(Kept *kept, int launch, const InstrumentSettings *settings, const InstrumentMemory *memory,
              uint32_t block, const uint8_t *bytes) {
    KeptRegion region = {.launch = launch, .block = block, .settings = *settings, .memory = *memory};
    InstrumentBuffer *buffers =
        arena_new(&kept->arena, ((size_t)memory->count + 1) * sizeof *memory->buffers);
    for (int i = 0; i < memory->count; i++) {
        buffers[i] = memory->buffers[i];
        const char *name = memory->buffers[i].variable;
        if (name) buffers[i].variable = arena_copy_string(&kept->arena, name);
    }
    region.memory.buffers = buffers;
    region.bytes = memory_new(settings->region_bytes);
    memcpy(region.bytes, bytes, settings->region_bytes);
    array_push(kept->regions, kept->region_count, kept->region_capacity, region);
}

/* ---- files: lines of text, and after each region's line its bytes, without the zeros at the end -------- */

static size_t bytes_until_zeros(const KeptRegion *region) {
    size_t bytes = region->settings.region_bytes;
    while (bytes && !region->bytes[bytes - 1]) bytes--;
    return bytes;
}

bool kept_write(const Kept *kept, const char *path, Error *error) {
    FILE *file = fopen(path, "wb");
    if (!file) return error_set(error, "%s cannot be written", path);
    fprintf(file, "redviz records of %s\n", kept->device);
    fprintf(file, "kernel %s dtype %s n %" PRIu64 " block %" PRIu32 " grid %" PRIu32 " approximate %d\n",
            kept->kernel, kept->dtype, kept->n, kept->block, kept->grid, kept->approximate);
    for (int i = 0; i < kept->region_count; i++) {
        const KeptRegion *region = &kept->regions[i];
        const InstrumentSettings *settings = &region->settings;
        size_t bytes = bytes_until_zeros(region);
        fprintf(file,
                "region launch %d block %" PRIu32 " at %" PRIu64 " bytes %" PRIu64 " blocks %" PRIu64
                " %" PRIu64 " threads %" PRIu32 " other %d buffers %d kept %zu\n",
                region->launch, region->block, settings->buffer, settings->region_bytes, settings->first,
                settings->last, settings->block_threads, region->memory.other, region->memory.count, bytes);
        for (int b = 0; b < region->memory.count; b++) {
            const InstrumentBuffer *buffer = &region->memory.buffers[b];
            fprintf(file, "buffer %d at %" PRIu64 " bytes %" PRIu64 " variable %s\n", buffer->buffer,
                    buffer->base, buffer->bytes, buffer->variable ? buffer->variable : "-");
        }
        fwrite(region->bytes, 1, bytes, file);
        fputc('\n', file);
    }
    bool good = !ferror(file);
    good &= fclose(file) == 0;
    return good || error_set(error, "%s cannot be written", path);
}

static bool read_region(Kept *kept, FILE *file, KeptRegion *region) {
    InstrumentSettings *settings = &region->settings;
    size_t bytes;
    if (fscanf(file,
               "region launch %d block %" SCNu32 " at %" SCNu64 " bytes %" SCNu64 " blocks %" SCNu64
               " %" SCNu64 " threads %" SCNu32 " other %d buffers %d kept %zu\n",
               &region->launch, &region->block, &settings->buffer, &settings->region_bytes, &settings->first,
               &settings->last, &settings->block_threads, &region->memory.other, &region->memory.count,
               &bytes) != 10)
        return false;
    if (settings->region_bytes > 1 << 26 || bytes > settings->region_bytes || region->memory.count > 64)
        return false;
    InstrumentBuffer *buffers = arena_new(&kept->arena, ((size_t)region->memory.count + 1) * sizeof *buffers);
    for (int b = 0; b < region->memory.count; b++) {
        char name[512]; /* mangled */
        if (fscanf(file, "buffer %d at %" SCNu64 " bytes %" SCNu64 " variable %511s", &buffers[b].buffer,
                   &buffers[b].base, &buffers[b].bytes, name) != 4 ||
            fgetc(file) != '\n')
            return false;
        if (strcmp(name, "-") != 0) buffers[b].variable = arena_copy_string(&kept->arena, name);
    }
    region->memory.buffers = buffers;
    region->bytes = memory_new(settings->region_bytes);
    return fread(region->bytes, 1, bytes, file) == bytes && fgetc(file) == '\n';
}

bool kept_read(Kept *kept, const char *path, Error *error) {
    *kept = (Kept){0};
    FILE *file = fopen(path, "rb");
    if (!file) return error_set(error, "%s cannot be read", path);
    int approximate = 0;
    bool good =
        fscanf(file, "redviz records of %127[^\n]\n", kept->device) == 1 &&
        fscanf(file, "kernel %63s dtype %15s n %" SCNu64 " block %" SCNu32 " grid %" SCNu32 " approximate %d",
               kept->kernel, kept->dtype, &kept->n, &kept->block, &kept->grid, &approximate) == 6 &&
        fgetc(file) == '\n';
    kept->approximate = approximate;
    for (int next; good && (next = fgetc(file)) != EOF;) {
        KeptRegion region = {0};
        ungetc(next, file);
        good = read_region(kept, file, &region);
        array_push(kept->regions, kept->region_count, kept->region_capacity, region);
    }
    fclose(file);
    return good || error_set(error, "%s holds no records", path);
}

void kept_done(Kept *kept) {
    for (int i = 0; i < kept->region_count; i++) free(kept->regions[i].bytes);
    free(kept->regions);
    arena_done(&kept->arena);
    *kept = (Kept){0};
}
