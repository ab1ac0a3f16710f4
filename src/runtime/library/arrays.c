/* CUDA arrays, and the textures and surfaces that are made of them or of plain memory.
 *
 * An array is an allocation whose rows lie one behind another, without gaps. A texture or surface object is
 * another one, which holds a TextureObject (base/texture_object.h): its address is the handle. */
#include <stdlib.h>
#include <string.h>
#include "runtime/library/client.h"

enum { /* cudaArrayLayered, ... */
       ARRAY_LAYERED = 1,
       ARRAY_CUBEMAP = 4,
       CUBE_FACES = 6
};

enum { /* CUDA_TEXTURE_DESC.flags */
       DRIVER_READS_INTEGERS = 1,
       DRIVER_NORMALIZED = 2,
       DRIVER_SRGB = 16
};

struct Array {
    TextureObject texels;
    size_t extent[3]; /* as the program gave it */
    unsigned flags;
};

typedef struct TextureRow { /* what a program may ask of an object */
    uint64_t handle;
    uint8_t resource[RESOURCE_BYTES], texture[TEXTURE_BYTES];
} TextureRow;

static struct {
    TextureRow *rows;
    size_t count, capacity;
} table;

/* ---- formats ------------------------------------------------------------------------------------------ */

/* cudaChannelFormatDesc: one, two or four channels of the same number of bits. */
static int set_channels(TextureObject *texels, const ChannelFormat *format) {
    int count = 0;
    while (count < 4 && format->bits[count] != 0) count++;
    for (int i = 0; i < 4; i++)
        if (format->bits[i] != (i < count ? format->bits[0] : 0)) count = 0;
    texels->channels = (uint8_t)count;
    texels->channel_bytes = (uint8_t)(format->bits[0] / 8);
    texels->kind = (uint8_t)format->kind;
    bool is_size = format->bits[0] == 8 || format->bits[0] == 16 || format->bits[0] == 32;
    bool is_known = format->kind >= TEXEL_SIGNED && format->kind <= TEXEL_FLOAT && is_size &&
                    (format->kind != TEXEL_FLOAT || format->bits[0] > 8);
    if (count != 0 && count != 3 && is_known) return 0;
    return failed(cudaErrorInvalidChannelDescriptor, 0, 0,
                  "has channels of %d, %d, %d and %d bits, which are no format of an array", format->bits[0],
                  format->bits[1], format->bits[2], format->bits[3]);
}

static void get_channels(ChannelFormat *format, const TextureObject *texels) {
    *format = (ChannelFormat){.kind = texels->kind};
    for (int i = 0; i < texels->channels; i++) format->bits[i] = texels->channel_bytes * 8;
}

/* CUarray_format; 0 bits: another one. */
static ChannelFormat driver_format(unsigned format, unsigned channels) {
    static const struct {
        unsigned format;
        int bits, kind;
    } formats[] = {{0x01, 8, TEXEL_UNSIGNED}, {0x02, 16, TEXEL_UNSIGNED}, {0x03, 32, TEXEL_UNSIGNED},
                   {0x08, 8, TEXEL_SIGNED},   {0x09, 16, TEXEL_SIGNED},   {0x0a, 32, TEXEL_SIGNED},
                   {0x10, 16, TEXEL_FLOAT},   {0x20, 32, TEXEL_FLOAT}};
    ChannelFormat result = {{0}, 0};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        if (formats[f].format != format) continue;
        result.kind = formats[f].kind;
        for (unsigned i = 0; i < channels && i < 4; i++) result.bits[i] = formats[f].bits;
    }
    return result;
}

/* ---- arrays ------------------------------------------------------------------------------------------- */

int array_create(Array **array, const ChannelFormat *format, Extent extent, unsigned flags) {
    TextureObject texels = {.magic = TEXTURE_OBJECT_MAGIC};
    if (array == NULL || format == NULL)
        return failed(cudaErrorInvalidValue, 0, 0, "has NULL for the array or its format");
    *array = NULL;
    bool is_cube = flags & ARRAY_CUBEMAP, is_layered = flags & ARRAY_LAYERED;
    const size_t most = 1 << 20;
    int error = set_channels(&texels, format);
    if (error != 0) return error;
    if (extent.width == 0 || extent.width > most || extent.height > most || extent.depth > most)
        return failed(cudaErrorInvalidValue, 0, 0, "makes an array of %zu x %zu x %zu texels", extent.width,
                      extent.height, extent.depth);
    if (is_cube && (extent.width != extent.height || extent.depth % CUBE_FACES != 0 || extent.depth == 0 ||
                    (!is_layered && extent.depth != CUBE_FACES)))
        return failed(cudaErrorInvalidValue, 0, 0,
                      "makes a cubemap whose faces are not square, or are not 6 in each layer");
    texels.width = (uint32_t)extent.width;
    texels.height = extent.height > 0 ? (uint32_t)extent.height : 1;
    texels.depth = extent.depth > 0 ? (uint32_t)extent.depth : 1;
    texels.dimensions = extent.height == 0 ? 1 : extent.depth > 0 && !is_cube && !is_layered ? 3 : 2;
    texels.flags = (is_layered ? TEXTURE_IS_LAYERED : 0u) | (is_cube ? TEXTURE_IS_CUBE : 0u);
    texels.pitch = (uint64_t)texels.width * texture_texel_bytes(&texels);
    texels.slice = texels.pitch * texels.height;
    error = memory_allocate(&texels.address, texels.slice * texels.depth, MEMORY_DEVICE);
    if (error != 0) return error;
    Array *made = malloc(sizeof *made);
    if (made == NULL) {
        memory_free(texels.address, false, library_caller());
        return cudaErrorMemoryAllocation;
    }
    *made = (Array){texels, {extent.width, extent.height, extent.depth}, flags};
    *array = made;
    return 0;
}

int array_create_by_driver(Array **array, const void *descriptor, bool has_depth) {
    DriverArray given = {.depth = 0};
    if (array == NULL || descriptor == NULL)
        return failed(cudaErrorInvalidValue, 0, 0, "has NULL for the array or its descriptor");
    if (has_depth) {
        memcpy(&given, descriptor, sizeof given);
    } else {
        memcpy(&given, descriptor, 2 * sizeof(size_t));
        memcpy(&given.format, (const char *)descriptor + 2 * sizeof(size_t), 2 * sizeof(unsigned));
    }
    ChannelFormat format = driver_format(given.format, given.channels);
    return array_create(array, &format, (Extent){given.width, given.height, given.depth}, given.flags);
}

int array_free(Array *array) {
    if (array == NULL) return 0;
    int error = memory_free(array->texels.address, false, library_caller());
    if (error == 0) free(array);
    return error;
}

int array_info(ChannelFormat *format, Extent *extent, unsigned *flags, const Array *array) {
    if (array == NULL) return failed(cudaErrorInvalidValue, 0, 0, "has NULL for the array");
    if (format != NULL) get_channels(format, &array->texels);
    if (extent != NULL) *extent = (Extent){array->extent[0], array->extent[1], array->extent[2]};
    if (flags != NULL) *flags = array->flags;
    return 0;
}

ArrayPlace array_place(const Array *array) {
    const TextureObject *texels = &array->texels;
    return (ArrayPlace){texels->address, (size_t)texels->pitch, (size_t)texels->slice,
                        texture_texel_bytes(texels)};
}

/* A copy of rows: within each row it stays in the array. */
static int check_rows(const Array *array, size_t x, size_t y, size_t width, size_t height) {
    if (array == NULL) return failed(cudaErrorInvalidValue, 0, 0, "has NULL for the array");
    size_t rows = (size_t)array->texels.height * array->texels.depth;
    if (x + width <= array->texels.pitch && y + height <= rows) return 0;
    return failed(
        cudaErrorInvalidValue, array->texels.address, 0,
        "copies %zu bytes from byte %zu of %zu rows from row %zu of an array of %u rows of %zu bytes", width,
        x, height, y, (unsigned)rows, (size_t)array->texels.pitch);
}

static uint64_t address_in(const Array *array, size_t x, size_t y) {
    return array->texels.address + y * array->texels.pitch + x;
}

int copy_to_array(Array *to, size_t x, size_t y, uint64_t from, size_t pitch, size_t width, size_t height,
                  int kind, Stream *stream) {
    int error = check_rows(to, x, y, width, height);
    if (error != 0) return error;
    return copy_rows(address_in(to, x, y), (size_t)to->texels.pitch, from, pitch, width, height, kind,
                     stream);
}

int copy_from_array(uint64_t to, size_t pitch, const Array *from, size_t x, size_t y, size_t width,
                    size_t height, int kind, Stream *stream) {
    int error = check_rows(from, x, y, width, height);
    if (error != 0) return error;
    return copy_rows(to, pitch, address_in(from, x, y), (size_t)from->texels.pitch, width, height, kind,
                     stream);
}

int copy_between_arrays(Array *to, size_t x, size_t y, const Array *from, size_t from_x, size_t from_y,
                        size_t width, size_t height, int kind) {
    int error = check_rows(from, from_x, from_y, width, height);
    if (error != 0) return error;
    return copy_to_array(to, x, y, address_in(from, from_x, from_y), (size_t)from->texels.pitch, width,
                         height, kind, NULL);
}

/* Bytes one after another, from row to row. */
int copy_flat_to_array(Array *to, size_t x, size_t y, uint64_t from, size_t bytes, int kind, Stream *stream) {
    int error = check_rows(to, x, y, 0, 1);
    return error != 0 ? error : copy_flat(address_in(to, x, y), from, bytes, kind, stream);
}

int copy_flat_from_array(uint64_t to, const Array *from, size_t x, size_t y, size_t bytes, int kind,
                         Stream *stream) {
    int error = check_rows(from, x, y, 0, 1);
    return error != 0 ? error : copy_flat(to, address_in(from, x, y), bytes, kind, stream);
}

/* ---- objects ------------------------------------------------------------------------------------------ */

enum { RESOURCE_ARRAY, RESOURCE_MIPMAPPED, RESOURCE_LINEAR, RESOURCE_PITCHED };

/* cudaResourceDesc, CUDA_RESOURCE_DESC: what the texels are. */
static int read_resource(TextureObject *object, const void *resource, bool of_driver) {
    int kind;
    const char *fields = (const char *)resource + 8;
    uint64_t first;
    ChannelFormat format;
    size_t size[3] = {0};
    memcpy(&kind, resource, sizeof kind);
    memcpy(&first, fields, sizeof first);
    if (kind == RESOURCE_MIPMAPPED) return lacks("cudaMallocMipmappedArray");
    if (kind < RESOURCE_ARRAY || kind > RESOURCE_PITCHED || first == 0)
        return failed(cudaErrorInvalidValue, 0, 0, "has a resource that is neither an array nor memory");
    if (kind == RESOURCE_ARRAY) {
        *object = ((const Array *)(uintptr_t)first)->texels;
        return 0;
    }
    if (of_driver) {
        unsigned given[2];
        memcpy(given, fields + 8, sizeof given);
        format = driver_format(given[0], given[1]);
        memcpy(size, fields + 16, (kind == RESOURCE_LINEAR ? 1 : 3) * sizeof *size);
    } else {
        memcpy(&format, fields + 8, sizeof format);
        memcpy(size, fields + 32, (kind == RESOURCE_LINEAR ? 1 : 3) * sizeof *size);
    }
    *object = (TextureObject){.magic = TEXTURE_OBJECT_MAGIC, .address = first, .height = 1, .depth = 1};
    int error = set_channels(object, &format);
    if (error != 0) return error;
    size_t texel = texture_texel_bytes(object), width = kind == RESOURCE_LINEAR ? size[0] / texel : size[0];
    if (width == 0 || width > INT32_MAX ||
        (kind == RESOURCE_PITCHED && (size[1] == 0 || size[1] > INT32_MAX)))
        return failed(cudaErrorInvalidValue, first, 0, "has a resource of no texels, or of too many");
    object->width = (uint32_t)width;
    object->dimensions = kind == RESOURCE_LINEAR ? 1 : 2;
    object->flags = kind == RESOURCE_LINEAR ? TEXTURE_IS_LINEAR_MEMORY : 0;
    object->pitch = width * texel;
    if (kind == RESOURCE_PITCHED) {
        if (size[2] < width * texel)
            return failed(cudaErrorInvalidPitchValue, first, 0, "has rows that are wider than the pitch");
        object->height = (uint32_t)size[1];
        object->pitch = size[2];
    }
    object->slice = object->pitch * object->height;
    return memory_check(first, object->pitch * (object->height - 1) + width * texel, "reads", "of");
}

/* cudaTextureDesc */
static void read_texture(TextureObject *object, const void *texture) {
    struct {
        int addressing[3], filter, read_mode, srgb;
        float border[4];
        int normalized;
    } t;
    memcpy(&t, texture, sizeof t);
    for (int d = 0; d < 3; d++) object->addressing[d] = (uint32_t)t.addressing[d];
    memcpy(object->border, t.border, sizeof t.border);
    object->flags |= (t.filter == 1 ? TEXTURE_FILTERS : 0u) | (t.normalized ? TEXTURE_IS_NORMALIZED : 0u) |
                     (t.read_mode == 1 ? TEXTURE_READS_FRACTIONS : 0u) | (t.srgb ? TEXTURE_IS_SRGB : 0u);
}

/* CUDA_TEXTURE_DESC: integers of 8 and 16 bits are read as fractions unless it says otherwise. */
static void read_driver_texture(TextureObject *object, const void *texture) {
    struct {
        int addressing[3], filter;
        unsigned flags, anisotropy;
        int mipmap_filter;
        float bias, least, most, border[4];
    } t;
    memcpy(&t, texture, sizeof t);
    for (int d = 0; d < 3; d++) object->addressing[d] = (uint32_t)t.addressing[d];
    memcpy(object->border, t.border, sizeof t.border);
    bool reads_fractions =
        !(t.flags & DRIVER_READS_INTEGERS) && object->kind != TEXEL_FLOAT && object->channel_bytes < 4;
    object->flags |=
        (t.filter == 1 ? TEXTURE_FILTERS : 0u) | (t.flags & DRIVER_NORMALIZED ? TEXTURE_IS_NORMALIZED : 0u) |
        (reads_fractions ? TEXTURE_READS_FRACTIONS : 0u) | (t.flags & DRIVER_SRGB ? TEXTURE_IS_SRGB : 0u);
}

static int check_texture(const TextureObject *object) {
    bool is_fraction = object->flags & TEXTURE_READS_FRACTIONS;
    for (int d = 0; d < 3; d++)
        if (object->addressing[d] > TEXTURE_BORDER)
            return failed(cudaErrorInvalidValue, 0, 0, "has no address mode: %u", object->addressing[d]);
    if (is_fraction && object->kind != TEXEL_FLOAT && object->channel_bytes == 4)
        return failed(cudaErrorInvalidNormSetting, 0, 0, "reads integers of 32 bits as fractions");
    if (object->flags & TEXTURE_FILTERS && object->kind != TEXEL_FLOAT && !is_fraction)
        return failed(cudaErrorInvalidFilterSetting, 0, 0, "filters integers that are not read as fractions");
    /* An H200 adds them in a way that its results do not tell (tests/device/texture_rules.cu). */
    if (object->flags & TEXTURE_FILTERS && object->flags & TEXTURE_IS_SRGB && object->channel_bytes == 1)
        return failed(cudaErrorNotSupported, 0, 0, "filters sRGB texels, which is not emulated");
    return 0;
}

/* Puts the object into device memory. */
static int keep_object(uint64_t *handle, const TextureObject *object, const void *resource,
                       const void *texture, size_t texture_bytes) {
    int error = memory_allocate(handle, sizeof *object, MEMORY_DEVICE);
    if (error != 0) return error;
    error = copy_flat(*handle, (uint64_t)(uintptr_t)object, sizeof *object, ANY_COPY, NULL);
    if (error != 0) return error;
    if (table.count == table.capacity) {
        size_t capacity = table.capacity * 2 + 16;
        TextureRow *rows = realloc(table.rows, capacity * sizeof *rows);
        if (rows == NULL) return cudaErrorMemoryAllocation;
        table.rows = rows;
        table.capacity = capacity;
    }
    TextureRow *row = &table.rows[table.count++];
    *row = (TextureRow){.handle = *handle};
    memcpy(row->resource, resource, sizeof row->resource);
    if (texture != NULL) memcpy(row->texture, texture, texture_bytes);
    return 0;
}

int texture_create(uint64_t *handle, const void *resource, const void *texture, const void *view,
                   bool of_driver) {
    TextureObject object = {0};
    if (handle == NULL || resource == NULL || texture == NULL)
        return failed(cudaErrorInvalidValue, 0, 0, "has NULL for the handle or a description");
    if (view != NULL) return lacks("cudaResourceViewDesc");
    int error = read_resource(&object, resource, of_driver);
    if (error != 0) return error;
    (of_driver ? read_driver_texture : read_texture)(&object, texture);
    error = check_texture(&object);
    return error != 0 ? error : keep_object(handle, &object, resource, texture, TEXTURE_BYTES);
}

int surface_create(uint64_t *handle, const void *resource) {
    TextureObject object = {0};
    int kind;
    if (handle == NULL || resource == NULL)
        return failed(cudaErrorInvalidValue, 0, 0, "has NULL for the handle or the resource");
    memcpy(&kind, resource, sizeof kind);
    if (kind != RESOURCE_ARRAY)
        return failed(cudaErrorInvalidValue, 0, 0, "makes a surface of what is not an array");
    int error = read_resource(&object, resource, false);
    object.flags |= TEXTURE_IS_SURFACE;
    return error != 0 ? error : keep_object(handle, &object, resource, NULL, 0);
}

static TextureRow *find_row(uint64_t handle) {
    for (size_t i = 0; i < table.count; i++)
        if (table.rows[i].handle == handle) return &table.rows[i];
    return NULL;
}

static int no_object(uint64_t handle) {
    return failed(cudaErrorInvalidValue, handle, 0, "has 0x%llx, which is no texture or surface object",
                  (unsigned long long)handle);
}

int texture_destroy(uint64_t handle) {
    TextureRow *row = find_row(handle);
    if (handle == 0) return 0;
    if (row == NULL) return no_object(handle);
    *row = table.rows[--table.count];
    return memory_free(handle, false, library_caller());
}

int texture_resource(void *resource, uint64_t handle) {
    const TextureRow *row = find_row(handle);
    if (row == NULL) return no_object(handle);
    memcpy(resource, row->resource, sizeof row->resource);
    return 0;
}

int texture_description(void *texture, uint64_t handle) {
    const TextureRow *row = find_row(handle);
    if (row == NULL) return no_object(handle);
    memcpy(texture, row->texture, sizeof row->texture);
    return 0;
}
