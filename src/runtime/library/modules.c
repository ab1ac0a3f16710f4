/* Modules: fat binaries and PTX texts of the program, their kernels and variables.
 *
 * The start-up code of a program registers fat binaries, and under which addresses of the host code their
 * kernels and variables are known. redviz gets a module when the program first uses something of it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/library/client.h"

enum {
    WRAPPER_MAGIC = 0x466243B1,
    WRAPPER_LINKED = 2,        /* its version if -rdc has linked it: the fat binary has machine code alone */
    DEFAULT_SHARED = 48 * 1024 /* static and dynamic, unless cudaFuncSetAttribute allows more */
};
#define FATBIN_MAGIC 0xBA55ED50U

struct Module {
    uint32_t number; /* 0: not sent yet */
    MessageFormat format;
    void *bytes; /* owned, or of the program */
    size_t size;
    const void *linked; /* the wrapper of a linked fat binary */
    KernelFunction *functions;
};

struct KernelFunction {
    Module *module;
    char *name;
    bool is_known;
    MessageFunction facts;
    MessageParameter *parameters;
    bool has_big_clusters;
    unsigned dynamic_limit; /* by cudaFuncSetAttribute; 0: not set */
    KernelFunction *next;
};

typedef struct Variable {
    Module *module;
    char *name;
    size_t bytes;
    void **managed; /* where the host code looks for its address */
    uint64_t address;
    struct Variable *next;
} Variable;

static Variable *variables;

/* Which kernel or variable an address of the host code, or a handle, stands for: a hash table with open
 * addresses. */
typedef struct Symbol {
    const void *host;
    KernelFunction *function;
    Variable *variable;
} Symbol;

static struct {
    Symbol *slots;
    size_t count, capacity; /* a power of 2 */
} symbols;

static void *allocated(void *memory) {
    if (memory == NULL) abort();
    return memory;
}

static Symbol *symbol_slot(const void *host) {
    if (symbols.capacity == 0) return NULL;
    size_t i = ((uintptr_t)host * UINT64_C(0x9E3779B97F4A7C15)) >> 20;
    for (;; i++) {
        Symbol *slot = &symbols.slots[i & (symbols.capacity - 1)];
        if (slot->host == host || slot->host == NULL) return slot;
    }
}

static void symbol_add(const void *host, KernelFunction *function, Variable *variable) {
    if (symbols.count * 2 >= symbols.capacity) {
        Symbol *old = symbols.slots;
        size_t count = symbols.capacity;
        symbols.capacity = count * 2 + (count == 0 ? 256 : 0);
        symbols.slots = allocated(calloc(symbols.capacity, sizeof *symbols.slots));
        for (size_t i = 0; i < count; i++)
            if (old[i].host != NULL) *symbol_slot(old[i].host) = old[i];
        free(old);
    }
    Symbol *slot = symbol_slot(host);
    if (slot->host == NULL) symbols.count++;
    *slot = (Symbol){host, function, variable};
}

static Symbol *symbol_find(const void *host) {
    Symbol *slot = host != NULL ? symbol_slot(host) : NULL;
    return slot != NULL && slot->host != NULL ? slot : NULL;
}

/* Bytes of an ELF file: its table of section headers is the last part. */
static size_t elf_bytes(const unsigned char *image) {
    uint64_t table;
    uint16_t entry[2];
    memcpy(&table, image + 40, sizeof table);
    memcpy(entry, image + 58, sizeof entry);
    return table + (size_t)entry[0] * entry[1];
}

static size_t fatbin_bytes(const unsigned char *image) {
    uint16_t header;
    uint64_t size;
    memcpy(&header, image + 6, sizeof header);
    memcpy(&size, image + 8, sizeof size);
    return header + size;
}

Module *module_new(const void *image) {
    const void *wrapper = image;
    uint32_t head[2];
    bool linked = false;
    if (image == NULL) return NULL;
    memcpy(head, image, sizeof *head);
    if (head[0] == WRAPPER_MAGIC) {
        memcpy(head, image, sizeof head);
        memcpy(&image, (const char *)image + 8, sizeof image);
        linked = head[1] == WRAPPER_LINKED;
        memcpy(head, image, sizeof *head);
    }
    bool is_fatbin = head[0] == FATBIN_MAGIC, is_elf = memcmp(image, "\177ELF", 4) == 0;
    Module *module = allocated(calloc(1, sizeof *module));
    module->format = is_fatbin ? FORMAT_FATBIN : is_elf ? FORMAT_ELF : FORMAT_PTX;
    module->size = is_fatbin ? fatbin_bytes(image) : is_elf ? elf_bytes(image) : strlen(image) + 1;
    module->bytes = (void *)image;
    module->linked = linked ? wrapper : NULL;
    return module;
}

Module *module_of_file(const char *name) {
    FILE *file = fopen(name, "rb");
    if (file == NULL) return NULL;
    char *text = NULL;
    size_t bytes = 0, got = 0, part = 0;
    do {
        bytes += 65536;
        text = allocated(realloc(text, bytes + 1));
        part = fread(text + got, 1, bytes - got, file);
        got += part;
    } while (part > 0);
    fclose(file);
    text[got] = '\0';
    return got < 64 ? NULL : module_new(text);
}

static void send_part(const void *bytes, size_t size, void *data) {
    const Module *module = data;
    MessageModule message = {module->number, module->format};
    tell(MESSAGE_MODULE, &message, sizeof message, bytes, size);
}

int module_send(Module *module) {
    static uint32_t count;
    if (module->number != 0) return 0;
    module->number = ++count;
    /* Fat binaries that -rdc has linked share the number. */
    if (module->linked == NULL || !relocatable_each(module->linked, send_part, module))
        send_part(module->bytes, module->size, module);
    /* A program may free the image once it is loaded, as it could on a GPU. */
    module->bytes = NULL;
    return connection_error();
}

static KernelFunction *function_new(Module *module, const char *name) {
    KernelFunction *function = allocated(calloc(1, sizeof *function));
    *function = (KernelFunction){.module = module, .next = module->functions};
    function->name = allocated(strdup(name));
    module->functions = function;
    symbol_add(function, function, NULL);
    return function;
}

void module_register_function(Module *module, const void *stub, const char *name) {
    if (module != NULL) symbol_add(stub, function_new(module, name), NULL);
}

static Variable *variable_new(Module *module, const char *name, void **managed) {
    Variable *variable = allocated(calloc(1, sizeof *variable));
    *variable = (Variable){module, allocated(strdup(name)), 0, managed, 0, variables};
    variables = variable;
    return variable;
}

void module_register_variable(Module *module, const void *host, const char *name, bool managed) {
    if (module != NULL) symbol_add(host, NULL, variable_new(module, name, managed ? (void **)host : NULL));
}

static int ask_by_name(MessageKind kind, Module *module, const char *name, void *answer, size_t bytes,
                       void **more, size_t *more_bytes) {
    int error = module_send(module);
    MessageName question = {module->number, 0};
    if (error != 0) return error;
    return ask(kind, &question, sizeof question, name, strlen(name) + 1, answer, bytes, more, more_bytes);
}

static int variable_place(Variable *variable) {
    MessagePlace place = {0};
    if (variable->address != 0) return 0;
    int error =
        ask_by_name(MESSAGE_VARIABLE, variable->module, variable->name, &place, sizeof place, NULL, NULL);
    if (error == 0) error = place.error;
    if (error != 0) return error;
    if (variable->managed != NULL) place.memory = MEMORY_MANAGED;
    memory_add(&place, variable->name);
    variable->address = place.address;
    variable->bytes = place.bytes;
    if (variable->managed != NULL) *variable->managed = (void *)place.address;
    return 0;
}

char module_init(Module *module) {
    if (connection_open())
        for (Variable *variable = variables; variable != NULL; variable = variable->next)
            if (variable->module == module && variable->managed != NULL) variable_place(variable);
    return 1;
}

int module_get_variable(uint64_t *address, size_t *bytes, Module *module, const char *name) {
    Variable *variable = variables;
    while (variable != NULL && (variable->module != module || strcmp(variable->name, name) != 0))
        variable = variable->next;
    if (variable == NULL) variable = variable_new(module, name, NULL);
    int error = variable_place(variable);
    if (error != 0) return cudaErrorSymbolNotFound;
    if (address != NULL) *address = variable->address;
    if (bytes != NULL) *bytes = variable->bytes;
    return 0;
}

int symbol_get(uint64_t *address, size_t *bytes, const void *symbol) {
    Symbol *found = symbol_find(symbol);
    if (found == NULL || found->variable == NULL)
        return failed(cudaErrorInvalidSymbol, (uintptr_t)symbol, 0,
                      "names no __device__ or __constant__ variable");
    int error = variable_place(found->variable);
    if (error != 0) return error;
    if (address != NULL) *address = found->variable->address;
    if (bytes != NULL) *bytes = found->variable->bytes;
    return 0;
}

static int function_ask(KernelFunction *function) {
    void *parameters = NULL;
    size_t bytes = 0;
    if (function->is_known) return function->facts.error;
    int error = ask_by_name(MESSAGE_FUNCTION, function->module, function->name, &function->facts,
                            sizeof function->facts, &parameters, &bytes);
    if (error != 0) return error;
    if (bytes < function->facts.parameter_count * sizeof(MessageParameter))
        function->facts.parameter_count = 0;
    function->parameters = parameters;
    function->is_known = true;
    return function->facts.error;
}

int function_get(KernelFunction **function, const void *stub) {
    Symbol *found = symbol_find(stub);
    if (stub == NULL) return cudaErrorInvalidDeviceFunction;
    if (found == NULL || found->function == NULL) {
        failed(cudaErrorInvalidResourceHandle, (uintptr_t)stub, 0, "names no kernel of the program");
        return cudaErrorInvalidResourceHandle;
    }
    *function = found->function;
    return function_ask(found->function);
}

int module_get_function(void *function, Module *module, const char *name) {
    KernelFunction *found = module->functions;
    while (found != NULL && strcmp(found->name, name) != 0) found = found->next;
    if (found == NULL) found = function_new(module, name);
    int error = function_ask(found);
    memcpy(function, &found, sizeof found);
    return error == cudaErrorInvalidDeviceFunction ? cudaErrorSymbolNotFound : error;
}

const MessageFunction *function_facts(const KernelFunction *function) {
    return &function->facts;
}

const char *function_name(const KernelFunction *function) {
    return function->name;
}

Module *function_module(const KernelFunction *function) {
    return function->module;
}

size_t function_parameter_bytes(const KernelFunction *function) {
    return function->facts.parameter_bytes;
}

int function_parameter(const void *stub, size_t index, size_t *offset, size_t *bytes) {
    KernelFunction *function = NULL;
    int error = function_get(&function, stub);
    if (error != 0) return error;
    if (index >= function->facts.parameter_count) return cudaErrorInvalidValue;
    if (offset != NULL) *offset = function->parameters[index].offset;
    if (bytes != NULL) *bytes = function->parameters[index].bytes;
    return 0;
}

/* `extra` is a list of pairs: 1 and the packed bytes, 2 and a pointer to their number; 0 ends it. */
int function_pack(const KernelFunction *function, void **parameters, void **extra, void *bytes) {
    const MessageFunction *facts = &function->facts;
    if (parameters != NULL) {
        for (uint32_t i = 0; i < facts->parameter_count; i++) {
            const MessageParameter *parameter = &function->parameters[i];
            memcpy((char *)bytes + parameter->offset, parameters[i], parameter->bytes);
        }
        return 0;
    }
    const void *packed = NULL;
    size_t size = 0;
    for (; extra != NULL && *extra != NULL; extra += 2) {
        if (extra[0] == (void *)1) packed = extra[1];
        if (extra[0] == (void *)2) memcpy(&size, extra[1], sizeof size);
    }
    if (size > facts->parameter_bytes) size = facts->parameter_bytes;
    if (packed != NULL) memcpy(bytes, packed, size);
    return packed != NULL || facts->parameter_count == 0
               ? 0
               : failed(cudaErrorInvalidValue, 0, 0, "launches a kernel without its parameters");
}

bool function_has_big_clusters(const KernelFunction *function) {
    return function->has_big_clusters;
}

unsigned function_dynamic_limit(const KernelFunction *function) {
    unsigned shared = function->facts.static_shared_bytes;
    unsigned by_default = shared < DEFAULT_SHARED ? DEFAULT_SHARED - shared : 0;
    return function->dynamic_limit > by_default ? function->dynamic_limit : by_default;
}

static int dynamic_shown(const KernelFunction *function) {
    return (int)(function->dynamic_limit != 0 ? function->dynamic_limit : DEFAULT_SHARED);
}

static unsigned dynamic_most(const KernelFunction *function) {
    return machine()->shared_per_block_optin - function->facts.static_shared_bytes;
}

/* cudaFuncAttributes; CUDA 11 ends before the fields of clusters. */
int function_attributes(void *attributes, const void *stub, bool long_form) {
    struct {
        size_t shared, constant, local;
        int threads, registers, ptx, binary, cache, dynamic, carveout;
        int needs_cluster, cluster[3], cluster_policy, big_clusters, reserved[16];
    } result;
    KernelFunction *function = NULL;
    int error = function_get(&function, stub);
    if (error != 0) return error;
    const MessageFunction *facts = &function->facts;
    memset(&result, 0, sizeof result);
    result.shared = facts->static_shared_bytes;
    result.constant = facts->constant_bytes;
    result.local = facts->local_bytes;
    result.threads = (int)facts->max_threads;
    result.registers = (int)facts->registers;
    result.ptx = (int)facts->ptx_version;
    result.binary = (int)(machine()->major * 10 + machine()->minor);
    result.dynamic = dynamic_shown(function);
    result.carveout = -1;
    result.needs_cluster = facts->required_cluster[0] != 0;
    for (int i = 0; i < 3; i++) result.cluster[i] = (int)facts->required_cluster[i];
    memcpy(attributes, &result, long_form ? 144 : 56);
    return 0;
}

/* CUfunction_attribute */
int function_attribute(int *value, int attribute, const void *stub) {
    KernelFunction *function = NULL;
    int error = function_get(&function, stub);
    if (error != 0) return error;
    const MessageFunction *facts = &function->facts;
    const uint32_t values[] = {facts->max_threads,
                               facts->static_shared_bytes,
                               facts->constant_bytes,
                               facts->local_bytes,
                               facts->registers,
                               facts->ptx_version,
                               machine()->major * 10 + machine()->minor,
                               0,
                               (uint32_t)dynamic_shown(function),
                               (uint32_t)-1,
                               facts->required_cluster[0] != 0,
                               facts->required_cluster[0],
                               facts->required_cluster[1],
                               facts->required_cluster[2],
                               0,
                               0};
    if (attribute < 0 || (size_t)attribute >= sizeof values / sizeof *values) return cudaErrorInvalidValue;
    *value = (int)values[attribute];
    return 0;
}

int function_set_attribute(const void *stub, int attribute, int value) {
    enum { DYNAMIC = 8, BIG_CLUSTERS = 14 };
    KernelFunction *function = NULL;
    int error = function_get(&function, stub);
    if (error == 0 && attribute == BIG_CLUSTERS) function->has_big_clusters = value != 0;
    if (error != 0 || attribute != DYNAMIC) return error;
    if (value < 0 || (unsigned)value > dynamic_most(function))
        return failed(cudaErrorInvalidValue, 0, 0,
                      "asks for %d bytes of dynamic shared memory; %u are possible", value,
                      dynamic_most(function));
    function->dynamic_limit = (unsigned)value;
    return 0;
}
