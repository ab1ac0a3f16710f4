/* Fuzz target of the messages of a program's CUDA library: hostile bytes take the program's place at the
 * socket.
 *
 * The first byte is 0 for bytes as they come. Otherwise a correct beginning is sent (HELLO, a module, a
 * function, an allocation), and the rest is framed: kind, two bytes of length, the body; addresses below 4 GB
 * are taken as offsets in the window, and most grids are kept small. Whatever comes, the capture must be
 * listed, and each launch be either a plan or one line. */
#define _GNU_SOURCE
#include "base/memory.h"
#include "runtime/launch_list.h"
#include "runtime/program_messages.h"
#include "runtime/serve.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 60000, MOST_MS = 200 };
#define WINDOW       (UINT64_C(1) << 45)
#define WINDOW_BYTES (UINT64_C(64) << 20)

static const char module_text[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".global .align 4 .u32 counter = 7;\n.const .align 4 .b8 weights[64];\n"
    ".visible .entry store(.param .u64 out, .param .u32 value) {\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [value]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4;\n"
    "add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1; ret;\n}\n"
    ".visible .entry load(.param .u64 in, .param .u64 out) {\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<4>; .shared .align 4 .b8 sums[128];\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.global.u32 %r1, [%rd1]; atom.global.add.u32 %r2, "
    "[counter], 1;\n"
    "st.shared.u32 [sums], %r1; bar.sync 0; ld.shared.u32 %r3, [sums]; st.global.u32 [%rd2], %r3; ret;\n}\n";

typedef struct Run {
    Connection connection;
    int other; /* the program's end of the socket */
    pthread_mutex_t lock;
    bool is_over;
} Run;

/* Ends launches that run for long, as redviz does when the time is over. */
static void *watch(void *context) {
    Run *run = context;
    const struct timespec pause = {0, 1000000};
    for (int i = 0;; i++) {
        pthread_mutex_lock(&run->lock);
        bool is_over = run->is_over;
        if (i >= MOST_MS && run->connection.device) run->connection.device->cancel = true;
        pthread_mutex_unlock(&run->lock);
        if (is_over) return NULL;
        nanosleep(&pause, NULL);
    }
}

static void put(Run *run, uint32_t kind, const void *first, size_t first_bytes, const void *rest,
                size_t rest_bytes) {
    MessageHead head = {kind, (uint32_t)(first_bytes + rest_bytes)};
    if (send(run->other, &head, sizeof head, MSG_NOSIGNAL) < 0 ||
        (first_bytes && send(run->other, first, first_bytes, MSG_NOSIGNAL) < 0) ||
        (rest_bytes && send(run->other, rest, rest_bytes, MSG_NOSIGNAL) < 0))
        return;
}

/* One message at the other end, and the answer is thrown away. */
static bool take(Run *run) {
    char answer[65536];
    bool goes_on = serve_message(&run->connection);
    while (recv(run->other, answer, sizeof answer, MSG_DONTWAIT) > 0) continue;
    return goes_on;
}

static void begin(Run *run) {
    MessageHello hello = {MESSAGE_VERSION, 1, WINDOW, WINDOW_BYTES, UINT64_C(1) << 37};
    MessageModule module = {1, FORMAT_PTX};
    MessageName name = {1, 0};
    MessageAllocate allocate = {4096, 0, MEMORY_DEVICE, 0, 0};
    put(run, MESSAGE_HELLO, &hello, sizeof hello, NULL, 0);
    put(run, MESSAGE_MODULE, &module, sizeof module, module_text, sizeof module_text);
    put(run, MESSAGE_FUNCTION, &name, sizeof name, "store", 6);
    put(run, MESSAGE_FUNCTION, &name, sizeof name, "load", 5);
    put(run, MESSAGE_ALLOCATE, &allocate, sizeof allocate, NULL, 0);
    for (int i = 0; i < 5; i++)
        if (!take(run)) abort();
}

static void place(uint8_t *body, size_t bytes, size_t at) {
    uint64_t address;
    if (at + sizeof address > bytes) return;
    memcpy(&address, body + at, sizeof address);
    if (address >> 32) return;
    address += WINDOW;
    memcpy(body + at, &address, sizeof address);
}

static void make_likely(uint32_t kind, uint8_t *body, size_t bytes) {
    if (kind == MESSAGE_FREE || kind == MESSAGE_WRITTEN || kind == MESSAGE_HOST_ACCESS) place(body, bytes, 0);
    if (kind == MESSAGE_WRITTEN) place(body, bytes, offsetof(MessageWrite, from));
    if (kind != MESSAGE_LAUNCH || bytes < sizeof(MessageLaunch)) return;
    MessageLaunch launch;
    memcpy(&launch, body, sizeof launch);
    for (int i = 0; i < 3 && !(launch.graph & 1); i++) {
        launch.grid[i] %= 4, launch.block[i] %= 16, launch.cluster[i] %= 4;
        launch.function %= 4;
    }
    memcpy(body, &launch, sizeof launch);
    place(body, bytes, sizeof launch);
    place(body, bytes, sizeof launch + 8);
}

static void send_framed(Run *run, const uint8_t *data, size_t size) {
    while (size >= 3) {
        uint32_t kind = data[0];
        size_t bytes = data[1] | (size_t)data[2] << 8;
        data += 3, size -= 3;
        if (bytes > size) bytes = size;
        uint8_t *body = malloc(bytes + 1);
        memcpy(body, data, bytes);
        make_likely(kind, body, bytes);
        put(run, kind, body, bytes, NULL, 0);
        free(body);
        data += bytes, size -= bytes;
        if (!take(run)) return;
    }
}

static void list(Captured *capture) {
    Text out = {0};
    Json json = {.out = &out};
    Program program = {.capture = capture};
    launch_list_print(&program, 0, &(LaunchShown){.launch = -1}, &out);
    json_open_object(&json, NULL);
    launch_list_put_json(&program, &json);
    json_close_object(&json);
    if (captured_choose(capture) >= capture->launch_count) abort();
    for (int i = 0; i < capture->launch_count; i++) {
        Plan plan;
        Error error = {0};
        if (captured_plan(capture, i, &plan, &error))
            plan_free(&plan);
        else if (!error.message[0] || strchr(error.message, '\n'))
            abort();
    }
    text_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int ends[2], room = 1 << 20;
    pthread_t watcher;
    if (!size || size > MOST_BYTES || socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 0;
    for (int i = 0; i < 2; i++) setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    Captured *capture = captured_new(1 << 20);
    Run run = {.connection = {.socket = ends[0], .capture = capture, .poisons = data[0] & 1},
               .other = ends[1]};
    pthread_mutex_init(&run.lock, NULL);
    if (pthread_create(&watcher, NULL, watch, &run)) abort();
    if (data[0]) {
        begin(&run);
        send_framed(&run, data + 1, size - 1);
    } else {
        if (send(run.other, data + 1, size - 1, MSG_NOSIGNAL) < 0) abort();
        shutdown(run.other, SHUT_WR);
        while (take(&run)) continue;
    }
    pthread_mutex_lock(&run.lock);
    run.is_over = true;
    pthread_mutex_unlock(&run.lock);
    pthread_join(watcher, NULL);
    list(capture);
    serve_done(&run.connection);
    close(run.other);
    captured_free(capture);
    pthread_mutex_destroy(&run.lock);
    return 0;
}
