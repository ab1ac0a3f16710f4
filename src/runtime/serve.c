#define _GNU_SOURCE
#include "runtime/serve.h"

#include "emulator/emulator.h"
#include "runtime/launch_order.h"
#include "runtime/linking.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_WINDOW = 38 }; /* log2 of its bytes */

static bool read_all(int file, void *to, size_t bytes) {
    uint8_t *at = to;
    while (bytes) {
        ssize_t got = read(file, at, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got, bytes -= (size_t)got;
    }
    return true;
}

/* `file`: a descriptor that goes along; -1: none. */
static bool send_parts(int to, struct iovec *parts, int count, int file) {
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    if (file >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof file);
        memcpy(CMSG_DATA(head), &file, sizeof file);
    }
    while (message.msg_iovlen) {
        ssize_t sent = sendmsg(to, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return false;
        message.msg_control = NULL, message.msg_controllen = 0;
        while (message.msg_iovlen && (size_t)sent >= message.msg_iov->iov_len) {
            sent -= (ssize_t)message.msg_iov->iov_len;
            message.msg_iov++, message.msg_iovlen--;
        }
        if (!message.msg_iovlen) break;
        message.msg_iov->iov_base = (uint8_t *)message.msg_iov->iov_base + sent;
        message.msg_iov->iov_len -= (size_t)sent;
    }
    return true;
}

static bool answer(Connection *connection, const void *first, size_t first_bytes, const void *second,
                   size_t second_bytes, int file) {
    MessageHead head = {MESSAGE_ANSWER, (uint32_t)(first_bytes + second_bytes)};
    struct iovec parts[3] = {{&head, sizeof head},
                             {(void *)(uintptr_t)first, first_bytes},
                             {(void *)(uintptr_t)second, second_bytes}};
    return send_parts(connection->socket, parts, second_bytes ? 3 : 2, file);
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

static MessageWelcome welcome_of(const Device *device) {
    MessageWelcome welcome = {.version = MESSAGE_VERSION,
                              .multiprocessors = 132,
                              .major = 9,
                              .clock_khz = 1980000,
                              .memory_clock_khz = 3201000,
                              .bus_bits = 6144,
                              .l2_bytes = 60 << 20,
                              .shared_per_block = 48 << 10,
                              .shared_per_block_optin = 227 << 10,
                              .shared_per_multiprocessor = 228 << 10,
                              .threads_per_multiprocessor = 2048,
                              .blocks_per_multiprocessor = 32,
                              .registers_per_multiprocessor = 65536,
                              .name = "NVIDIA H200, emulated by redviz"};
    welcome.memory_bytes = memory_of_machine() / 2;
    if (welcome.memory_bytes > device->window_bytes) welcome.memory_bytes = device->window_bytes;
    return welcome;
}

static bool take_hello(Connection *connection, const MessageHello *hello) {
    if (hello->version != MESSAGE_VERSION || connection->device || hello->window % (1 << 16) ||
        !hello->window || hello->window_bytes < 1 << 20 || hello->window_bytes > UINT64_C(1) << MOST_WINDOW ||
        hello->window > UINT64_C(1) << 47)
        return false;
    int file = memfd_create("redviz", MFD_CLOEXEC);
    Error error = {0};
    if (file >= 0 && !ftruncate(file, (off_t)hello->window_bytes))
        connection->device =
            device_new(connection->capture, file, hello->window, hello->window_bytes, &error);
    bool good = connection->device != NULL;
    if (good) {
        connection->device->index = connection->index;
        connection->device->poisons = connection->poisons;
        if (connection->keeps_going) emulator_keep_going(connection->device->emulator);
        MessageWelcome welcome = welcome_of(connection->device);
        good = answer(connection, &welcome, sizeof welcome, NULL, 0, file);
    }
    if (file >= 0) close(file);
    return good;
}

/* ---- the others ---------------------------------------------------------------------------------------- */

/* The terminated text behind `bytes` bytes of the message; NULL: it is not terminated. */
static const char *text_behind(const Connection *connection, size_t bytes) {
    const char *text = (const char *)connection->body + bytes;
    if (connection->body_bytes <= bytes) return NULL;
    return memchr(text, 0, connection->body_bytes - bytes) ? text : NULL;
}

static bool take_module(Connection *connection) {
    if (connection->body_bytes < sizeof(MessageModule)) return false;
    const MessageModule *head = (const MessageModule *)connection->body;
    device_add_module(connection->device, head, connection->body + sizeof *head,
                      connection->body_bytes - sizeof *head);
    return true;
}

static bool answer_link(Connection *connection) {
    const MessageLink *asked = (const MessageLink *)connection->body;
    const uint8_t *bytes = connection->body + sizeof *asked;
    size_t left = connection->body_bytes - sizeof *asked;
    if (asked->module_bytes > left) return false;
    Text text = {0};
    text_add_bytes(&text, (const char *)bytes, strnlen((const char *)bytes, asked->module_bytes));
    MessageLinked linked = {
        .error = linking_add(&text, asked, bytes + asked->module_bytes, left - asked->module_bytes)};
    bool good = answer(connection, &linked, sizeof linked, text_string(&text), text.length + 1, -1);
    text_done(&text);
    return good;
}

static bool answer_function(Connection *connection) {
    const MessageName *asked = (const MessageName *)connection->body;
    const char *name = text_behind(connection, sizeof *asked);
    MessageFunction function;
    MessageParameter *parameters;
    if (!name) return false;
    device_find_function(connection->device, asked->module, name, &function, &parameters);
    bool good = answer(connection, &function, sizeof function, parameters,
                       function.parameter_count * sizeof *parameters, -1);
    free(parameters);
    return good;
}

static bool answer_variable(Connection *connection) {
    const MessageName *asked = (const MessageName *)connection->body;
    const char *name = text_behind(connection, sizeof *asked);
    MessagePlace place;
    if (!name) return false;
    device_find_variable(connection->device, asked->module, name, &place);
    return answer(connection, &place, sizeof place, NULL, 0, -1);
}

static bool answer_allocate(Connection *connection) {
    const MessageAllocate *asked = (const MessageAllocate *)connection->body;
    MessagePlace place;
    if (connection->body_bytes != sizeof *asked || asked->memory > MEMORY_PINNED ||
        asked->placing > PLACE_RESERVED)
        return false;
    device_allocate(connection->device, asked, &place);
    return answer(connection, &place, sizeof place, NULL, 0, -1);
}

static bool answer_sync(Connection *connection) {
    Device *device = connection->device;
    MessageDone done = {device->error, (uint32_t)device->printed.length};
    bool good =
        answer(connection, &done, sizeof done, text_string(&device->printed), device->printed.length, -1);
    text_clear(&device->printed);
    return good;
}

static bool take_launch(Connection *connection) {
    const MessageLaunch *asked = (const MessageLaunch *)connection->body;
    if (connection->body_bytes < sizeof *asked ||
        connection->body_bytes - sizeof *asked < asked->parameter_bytes)
        return false;
    device_launch(connection->device, asked, connection->body + sizeof *asked);
    return true;
}

static void add_fault(Connection *connection, const CapturedFault *fault) {
    enum { MOST_FAULTS = 1000 };
    Captured *capture = connection->capture;
    CapturedFault added = *fault;
    added.device = connection->index;
    added.after = capture->launch_count;
    if (capture->fault_count < MOST_FAULTS)
        array_push(capture->faults, capture->fault_count, capture->fault_capacity, added);
}

static bool take_failed(Connection *connection) {
    const MessageFailed *failed = (const MessageFailed *)connection->body;
    const char *call = text_behind(connection, sizeof *failed),
               *what = call ? text_behind(connection, sizeof *failed + strlen(call) + 1) : NULL;
    if (!what) return false;
    Arena *arena = &connection->capture->arena;
    add_fault(connection, &(CapturedFault){.kind = CAPTURED_CALL_FAILED,
                                           .error = failed->error,
                                           .call = arena_copy_string(arena, call),
                                           .what = arena_copy_string(arena, what),
                                           .callers = {failed->caller},
                                           .caller_count = failed->caller != 0});
    return true;
}

static void take_order(const Device *device, const MessageOrder *order) {
    int memory = order->kind == ORDER_HOST_READ ? device_find_memory(device, order->event) : -1;
    launch_order_take(device->order, order, memory, device->capture->launch_count);
}

static bool take_lacks(Connection *connection) {
    const MessageAt *from = (const MessageAt *)connection->body;
    const char *name = text_behind(connection, sizeof *from);
    if (!name) return false;
    add_fault(connection, &(CapturedFault){.kind = CAPTURED_LACKS,
                                           .callers = {from->caller},
                                           .caller_count = from->caller != 0,
                                           .call = arena_copy_string(&connection->capture->arena, name)});
    return true;
}

/* The host has touched the memory too early at this place before. */
static bool is_known(const Captured *capture, int memory, uint64_t caller) {
    for (int i = 0; i < capture->fault_count; i++) {
        const CapturedFault *fault = &capture->faults[i];
        if (fault->kind == CAPTURED_EARLY && fault->memory == memory && fault->callers[0] == caller)
            return true;
    }
    return false;
}

static bool take_access(Connection *connection) {
    const MessageAccess *access = (const MessageAccess *)connection->body;
    if (connection->body_bytes != sizeof *access || access->caller_count > 16) return false;
    Device *device = connection->device;
    int memory = device_find_memory(device, access->address);
    uint32_t launch = 0;
    if (access->guard == GUARD_LAUNCH) {
        uint64_t word =
            memory < 0 ? 0 : (access->address - connection->capture->memories[memory].address) / 4;
        launch =
            launch_order_host_touches(device->order, connection->capture, memory, word, access->is_write);
        if (!launch || is_known(connection->capture, memory, access->callers[0])) return true;
    }
    CapturedFault fault = {.kind = access->guard != GUARD_NONE ? CAPTURED_EARLY : CAPTURED_HOST_ACCESS,
                           .error = (int32_t)launch,
                           .call = access->is_write ? "write" : "read",
                           .caller_count = (int)access->caller_count,
                           .memory = memory};
    memcpy(fault.callers, access->callers, sizeof fault.callers);
    add_fault(connection, &fault);
    return true;
}

static void take_checked(const Connection *connection) {
    Captured *capture = connection->capture;
    for (int i = 0; i < capture->fault_count; i++) capture->faults[i].is_checked = true;
    for (int i = 0; i < capture->launch_count; i++) capture->launches[i].is_checked = true;
}

/* The smallest body of each kind that needs a device. */
static size_t least_bytes(uint32_t kind) {
    switch (kind) {
    case MESSAGE_FREE:
    case MESSAGE_HEAP:
        return sizeof(MessageAt);
    case MESSAGE_WRITTEN:
        return sizeof(MessageWrite);
    case MESSAGE_ORDER:
        return sizeof(MessageOrder);
    case MESSAGE_FUNCTION:
    case MESSAGE_VARIABLE:
        return sizeof(MessageName) + 1;
    case MESSAGE_LINK:
        return sizeof(MessageLink);
    default:
        return 0;
    }
}

static bool take(Connection *connection, uint32_t kind) {
    if (kind == MESSAGE_HELLO)
        return connection->body_bytes == sizeof(MessageHello) &&
               take_hello(connection, (const MessageHello *)connection->body);
    if (!connection->device || connection->body_bytes < least_bytes(kind)) return false;
    switch (kind) {
    case MESSAGE_ALLOCATE:
        return answer_allocate(connection);
    case MESSAGE_FREE:
        device_release(connection->device, (const MessageAt *)connection->body);
        return true;
    case MESSAGE_MODULE:
        return take_module(connection);
    case MESSAGE_LINK:
        return answer_link(connection);
    case MESSAGE_FUNCTION:
        return answer_function(connection);
    case MESSAGE_VARIABLE:
        return answer_variable(connection);
    case MESSAGE_LAUNCH:
        return take_launch(connection);
    case MESSAGE_SYNC:
        return answer_sync(connection);
    case MESSAGE_WRITTEN:
        device_note_write(connection->device, (const MessageWrite *)connection->body);
        return true;
    case MESSAGE_ORDER:
        take_order(connection->device, (const MessageOrder *)connection->body);
        return true;
    case MESSAGE_FAILED:
        return take_failed(connection);
    case MESSAGE_CHECKED:
        take_checked(connection);
        return true;
    case MESSAGE_LACKS:
        return take_lacks(connection);
    case MESSAGE_HOST_ACCESS:
        return take_access(connection);
    case MESSAGE_HEAP:
        device_set_heap(connection->device, (const MessageAt *)connection->body);
        return true;
    default:
        return false;
    }
}

bool serve_message(Connection *connection) {
    MessageHead head;
    if (!read_all(connection->socket, &head, sizeof head) || head.bytes > MESSAGE_MOST_BYTES) return false;
    array_reserve(connection->body, (size_t)head.bytes + 16, connection->body_capacity);
    connection->body_bytes = head.bytes;
    return read_all(connection->socket, connection->body, head.bytes) && take(connection, head.kind);
}

void serve_done(Connection *connection) {
    close(connection->socket);
    device_free(connection->device);
    free(connection->body);
    *connection = (Connection){.socket = -1};
}
