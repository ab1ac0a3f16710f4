#include "plan/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    PtxType type;
} TYPES[] = {{"|i1", PTX_S8},  {"<i2", PTX_S16}, {"<i4", PTX_S32}, {"<i8", PTX_S64},
             {"|u1", PTX_U8},  {"<u2", PTX_U16}, {"<u4", PTX_U32}, {"<u8", PTX_U64},
             {"<f2", PTX_F16}, {"<f4", PTX_F32}, {"<f8", PTX_F64}, {"|b1", PTX_U8}};

/* The value of a key of the head, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }". */
static const char *value_of(const char *head, const char *key) {
    const char *at = strstr(head, key);
    at = at ? strchr(at, ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : "";
}

static bool read_shape(const char *at, uint64_t *count, int *dimensions) {
    *count = 1;
    *dimensions = 0;
    if (*at++ != '(') return false;
    while (*at && *at != ')') {
        char *end;
        uint64_t size = strtoull(at, &end, 10);
        if (end == at || size > (uint64_t)1 << 40 || (size && *count > ((uint64_t)1 << 48) / size))
            return false;
        *count *= size;
        ++*dimensions;
        at = end + strspn(end, ", L");
    }
    return *at == ')';
}

static bool read_head(FILE *from, const char *path, NpyFile *file, Error *error) {
    enum { LONGEST = 1 << 16 };
    unsigned char start[12];
    bool has_start = fread(start, 1, 10, from) == 10 && !memcmp(start, "\x93NUMPY", 6);
    uint64_t length = has_start ? start[8] | (uint64_t)start[9] << 8 : 0, begin = 10;
    if (has_start && start[6] > 1) {
        has_start = fread(start + 10, 1, 2, from) == 2;
        length |= (uint64_t)start[10] << 16 | (uint64_t)start[11] << 24;
        begin = 12;
    }
    if (!has_start || length > LONGEST) return error_set_at(error, path, 0, 0, "this is no .npy file");
    char *head = malloc(length + 1);
    bool good = head && fread(head, 1, length, from) == length;
    if (good) head[length] = 0;
    const char *type = good ? value_of(head, "'descr'") : "";
    int dimensions = 0;
    file->type = PTX_NO_TYPE;
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (*type && !strncmp(type + 1, TYPES[i].text, 3) && type[4] == *type) file->type = TYPES[i].type;
    file->data_bytes = begin + length;
    good = good && read_shape(value_of(head, "'shape'"), &file->count, &dimensions);
    if (!good)
        error_set_at(error, path, 0, 0, "the head of this .npy file is damaged");
    else if (file->type == PTX_NO_TYPE)
        good = error_set_at(error, path, 0, 0, "its elements are %.12s: none of <i4, <f4 and the like", type);
    else if (dimensions > 1 && !strncmp(value_of(head, "'fortran_order'"), "True", 4))
        good =
            error_set_at(error, path, 0, 0, "it is in Fortran's order: save numpy.ascontiguousarray() of it");
    free(head);
    return good;
}

bool npy_read_head(const char *path, NpyFile *file, Error *error) {
    FILE *from = fopen(path, "rb");
    if (!from) return error_set_at(error, path, 0, 0, "cannot open: %s", strerror(errno));
    bool good = read_head(from, path, file, error);
    fclose(from);
    if (good && !file->count) return error_set_at(error, path, 0, 0, "it has no elements");
    return good;
}

bool npy_write(const char *path, PtxType type, const void *bytes, uint64_t count, Error *error) {
    const char *name = type == PTX_BF16 ? "<u2" : NULL; /* NumPy has no bfloat16: its bits */
    char head[128];
    for (size_t i = sizeof TYPES / sizeof *TYPES; i-- > 0;)
        if (TYPES[i].type == type) name = TYPES[i].text;
    if (!name) return error_set(error, "--dump: elements of this type cannot be in a .npy file");
    int length = snprintf(head + 10, sizeof head - 10,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",), }", name, count);
    while ((length + 10) % 64 != 63) head[10 + length++] = ' ';
    head[10 + length++] = '\n';
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)length;
    head[9] = 0;
    FILE *to = fopen(path, "wb");
    if (!to) return error_set_at(error, path, 0, 0, "cannot be written: %s", strerror(errno));
    size_t size = (size_t)ptx_type_bytes(type) * (size_t)count;
    bool good =
        fwrite(head, 1, (size_t)length + 10, to) == (size_t)length + 10 && fwrite(bytes, 1, size, to) == size;
    if (fclose(to) == 0 && good) return true;
    error_set_at(error, path, 0, 0, "cannot be written: %s", strerror(errno));
    remove(path);
    return false;
}
