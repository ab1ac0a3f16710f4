/* Messages of a program's CUDA library, right and hostile: an answer, an error or the end, never a crash. */
#define _GNU_SOURCE
#include "runtime/program_messages.h"
#include "runtime/serve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WINDOW       (UINT64_C(1) << 45)
#define WINDOW_BYTES (UINT64_C(64) << 20)

static const char module_text[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n.visible .global .align 4 .u32 total = 7;\n"
    ".visible .entry add(.param .u64 out, .param .u32 by) {\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [by]; ld.global.u32 %r2, [%rd1];\n"
    "add.u32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3; ret;\n}\n";

static Connection connection;
static Captured *capture;
static int other; /* the program's end */

static int set_up(void **state) {
    int ends[2];
    (void)state;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return -1;
    capture = captured_new(1 << 20);
    connection = (Connection){.socket = ends[0], .capture = capture};
    other = ends[1];
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    serve_done(&connection);
    close(other);
    captured_free(capture);
    return 0;
}

/* Sends a message with another length than it has, and lets it be served. */
static bool send_as(uint32_t kind, uint32_t said, const void *first, size_t first_bytes, const void *rest,
                    size_t rest_bytes) {
    MessageHead head = {kind, said};
    struct iovec parts[3] = {
        {&head, sizeof head}, {(void *)(uintptr_t)first, first_bytes}, {(void *)(uintptr_t)rest, rest_bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    assert_int_equal(sendmsg(other, &message, 0), sizeof head + first_bytes + rest_bytes);
    return serve_message(&connection);
}

static bool say(uint32_t kind, const void *first, size_t first_bytes, const void *rest, size_t rest_bytes) {
    return send_as(kind, (uint32_t)(first_bytes + rest_bytes), first, first_bytes, rest, rest_bytes);
}
#define SAY(kind, message) say(kind, &(message), sizeof(message), NULL, 0)

/* The answer, which must have been sent already. */
static size_t take(void *answer, size_t bytes) {
    MessageHead head = {0};
    uint8_t more[4096];
    assert_int_equal(recv(other, &head, sizeof head, MSG_DONTWAIT), sizeof head);
    assert_int_equal(head.kind, MESSAGE_ANSWER);
    assert_true(head.bytes >= bytes && head.bytes - bytes <= sizeof more);
    assert_int_equal(recv(other, answer, bytes, MSG_DONTWAIT), bytes);
    size_t left = head.bytes - bytes;
    if (left) assert_int_equal(recv(other, more, left, MSG_DONTWAIT), left);
    return left;
}

static const MessageHello hello = {MESSAGE_VERSION, 1, WINDOW, WINDOW_BYTES, UINT64_C(1) << 37};

static void greet(void) {
    MessageWelcome welcome;
    assert_true(SAY(MESSAGE_HELLO, hello));
    take(&welcome, sizeof welcome);
    assert_int_equal(welcome.version, MESSAGE_VERSION);
    assert_string_equal(welcome.name, "NVIDIA H200, emulated by redviz");
}

static uint64_t allocate(uint64_t bytes) {
    MessageAllocate asked = {bytes, 0, MEMORY_DEVICE, 0, 0};
    MessagePlace place;
    assert_true(SAY(MESSAGE_ALLOCATE, asked));
    take(&place, sizeof place);
    assert_int_equal(place.error, 0);
    return place.address;
}

static MessageFunction find(const char *name) {
    MessageModule module = {1, FORMAT_PTX};
    MessageName asked = {1, 0};
    MessageFunction function;
    if (!capture->module_count)
        assert_true(say(MESSAGE_MODULE, &module, sizeof module, module_text, sizeof module_text));
    assert_true(say(MESSAGE_FUNCTION, &asked, sizeof asked, name, strlen(name) + 1));
    size_t left = take(&function, sizeof function);
    assert_int_equal(left, function.parameter_count * sizeof(MessageParameter));
    return function;
}

typedef struct Parameters {
    uint64_t out;
    uint32_t by, unused;
} Parameters;

static MessageLaunch launch_of(uint32_t function) {
    return (MessageLaunch){
        .function = function, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameter_bytes = 12};
}

static int sync_error(void) {
    MessageDone done;
    assert_true(say(MESSAGE_SYNC, NULL, 0, NULL, 0));
    take(&done, sizeof done);
    return done.error;
}

static uint32_t word_at(uint64_t address) {
    uint32_t word;
    memcpy(&word, connection.device->host + (address - WINDOW), sizeof word);
    return word;
}

static void a_launch(void **state) {
    (void)state;
    greet();
    uint64_t at = allocate(4);
    MessageFunction function = find("add");
    assert_int_equal(function.parameter_count, 2);
    assert_int_equal(function.parameter_bytes, 12);
    MessageLaunch launch = launch_of(function.number);
    Parameters parameters = {at, 5, 0};
    for (int i = 0; i < 3; i++) assert_true(say(MESSAGE_LAUNCH, &launch, sizeof launch, &parameters, 12));
    assert_int_equal(sync_error(), 0);
    assert_int_equal(word_at(at), 15);
    assert_int_equal(capture->launch_count, 3);
    MessageName asked = {1, 0};
    MessagePlace place;
    assert_true(say(MESSAGE_VARIABLE, &asked, sizeof asked, "total", 6));
    take(&place, sizeof place);
    assert_int_equal(place.bytes, 4);
    assert_int_equal(word_at(place.address), 7);
}

/* The window that comes with the welcome is the memory of the device. */
static void the_window_is_a_file(void **state) {
    (void)state;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    uint8_t answer[1024];
    struct iovec part = {answer, sizeof answer};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    assert_true(SAY(MESSAGE_HELLO, hello));
    assert_int_equal(recvmsg(other, &message, 0), sizeof(MessageHead) + sizeof(MessageWelcome));
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    assert_non_null(head);
    assert_int_equal(head->cmsg_type, SCM_RIGHTS);
    int file;
    memcpy(&file, CMSG_DATA(head), sizeof file);
    uint64_t at = allocate(64);
    assert_int_equal(pwrite(file, "redviz", 7, (off_t)(at - WINDOW)), 7);
    assert_memory_equal(connection.device->host + (at - WINDOW), "redviz", 7);
    close(file);
}

static void wrong_beginnings(void **state) {
    (void)state;
    MessageHello wrong[10];
    for (int i = 0; i < 10; i++) wrong[i] = hello;
    wrong[0].version = 2;
    wrong[1].version = 0;
    wrong[2].window = 0;
    wrong[3].window++;
    wrong[4].window = ~UINT64_C(0) << 16;
    wrong[5].window_bytes = 0;
    wrong[6].window_bytes = 4096;
    wrong[7].window_bytes = ~UINT64_C(0);
    wrong[8].window_bytes = UINT64_C(1) << 39;
    wrong[9].window = UINT64_C(1) << 63;
    for (int i = 0; i < 10; i++) {
        assert_false(SAY(MESSAGE_HELLO, wrong[i]));
        assert_null(connection.device);
    }
    assert_false(say(MESSAGE_HELLO, &hello, sizeof hello - 1, NULL, 0));
    assert_false(say(MESSAGE_HELLO, &hello, sizeof hello, "more", 4));
    assert_false(say(MESSAGE_HELLO, NULL, 0, NULL, 0));
    greet();
    assert_false(SAY(MESSAGE_HELLO, hello)); /* a second one */
}

/* Every kind, before HELLO. */
static void before_the_beginning(void **state) {
    (void)state;
    uint8_t body[256] = {0};
    for (uint32_t kind = 0; kind < 40; kind++)
        if (kind != MESSAGE_HELLO) assert_false(say(kind, body, sizeof body, NULL, 0));
    MessageLaunch launch = launch_of(0);
    assert_false(SAY(MESSAGE_LAUNCH, launch));
    assert_int_equal(capture->launch_count, 0);
}

/* Every kind with every length: most have no room for what they need. */
static void sizes_that_do_not_fit(void **state) {
    (void)state;
    uint8_t body[256], answers[65536];
    greet();
    find("add");
    for (uint32_t kind = 0; kind < 20; kind++)
        for (size_t bytes = 0; bytes < sizeof body; bytes++)
            for (int fill = 0; fill < 256; fill += 255) {
                memset(body, fill, sizeof body);
                if (kind == MESSAGE_HELLO) continue;
                say(kind, body, bytes, NULL, 0);
                while (recv(other, answers, sizeof answers, MSG_DONTWAIT) > 0) continue;
            }
}

static void a_length_that_is_too_large(void **state) {
    (void)state;
    greet();
    assert_false(send_as(MESSAGE_SYNC, MESSAGE_MOST_BYTES + 1, NULL, 0, NULL, 0));
    assert_false(send_as(MESSAGE_SYNC, UINT32_MAX, NULL, 0, NULL, 0));
}

static void the_end_within_a_message(void **state) {
    (void)state;
    greet();
    MessageHead head = {MESSAGE_LAUNCH, 100};
    assert_int_equal(send(other, &head, sizeof head, 0), sizeof head);
    assert_int_equal(send(other, "half", 4, 0), 4);
    shutdown(other, SHUT_WR);
    assert_false(serve_message(&connection));
    assert_false(serve_message(&connection));
}

static void names_without_an_end(void **state) {
    (void)state;
    greet();
    MessageName name = {1, 0};
    MessageFailed failed = {.error = 1};
    assert_false(say(MESSAGE_FUNCTION, &name, sizeof name, "add", 3));
    assert_false(say(MESSAGE_VARIABLE, &name, sizeof name, "total", 5));
    MessageAt from = {0};
    assert_false(say(MESSAGE_LACKS, &from, sizeof from, "cudaNothing", 11));
    assert_false(say(MESSAGE_LACKS, NULL, 0, NULL, 0));
    assert_false(say(MESSAGE_FAILED, &failed, sizeof failed, "cudaMalloc", 10));
    assert_false(say(MESSAGE_FAILED, &failed, sizeof failed, "cudaMalloc\0why", 14));
    assert_true(say(MESSAGE_FAILED, &failed, sizeof failed, "cudaMalloc\0why", 15));
    assert_int_equal(capture->fault_count, 1);
}

static void unknown_functions_and_modules(void **state) {
    (void)state;
    greet();
    MessageName asked = {77, 0};
    MessageFunction function;
    MessagePlace place;
    assert_true(say(MESSAGE_FUNCTION, &asked, sizeof asked, "add", 4));
    take(&function, sizeof function);
    assert_int_not_equal(function.error, 0);
    assert_true(say(MESSAGE_VARIABLE, &asked, sizeof asked, "total", 6));
    take(&place, sizeof place);
    assert_int_not_equal(place.error, 0);
    assert_int_not_equal(find("subtract").error, 0);
    static const uint32_t numbers[] = {0, 1, 1000, UINT32_MAX};
    Parameters parameters = {0};
    for (int i = 0; i < 4; i++) {
        MessageLaunch launch = launch_of(numbers[i]);
        assert_true(say(MESSAGE_LAUNCH, &launch, sizeof launch, &parameters, 12));
    }
    assert_int_equal(capture->launch_count, 0);
}

static void modules_that_are_none(void **state) {
    (void)state;
    static const struct {
        uint32_t format;
        const char *bytes;
        int error;
    } modules[] = {{FORMAT_PTX, "", 218},
                   {FORMAT_PTX, "this is no PTX", 218},
                   {FORMAT_FATBIN, "\x50\xED\x55\xBA", 209},
                   {FORMAT_FATBIN, "", 209},
                   {FORMAT_ELF, "\177ELF", 209},
                   {99, "what", 209}};
    greet();
    for (uint32_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        MessageModule module = {i + 10, modules[i].format};
        MessageName asked = {i + 10, 0};
        MessageFunction function;
        assert_true(say(MESSAGE_MODULE, &module, sizeof module, modules[i].bytes, strlen(modules[i].bytes)));
        assert_true(say(MESSAGE_FUNCTION, &asked, sizeof asked, "add", 4));
        take(&function, sizeof function);
        assert_int_equal(function.error, modules[i].error);
    }
    assert_true(capture->fault_count >= 1);
}

static void hostile_launches(void **state) {
    (void)state;
    greet();
    uint64_t at = allocate(4);
    uint32_t add = find("add").number;
    static const uint64_t outside[] = {0,
                                       1,
                                       8,
                                       WINDOW - 4,
                                       WINDOW + WINDOW_BYTES,
                                       WINDOW + WINDOW_BYTES - 4,
                                       UINT64_MAX,
                                       UINT64_MAX - 7,
                                       UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        Parameters parameters = {outside[i], 1, 0};
        MessageLaunch launch = launch_of(add);
        connection.device->error = 0;
        assert_true(say(MESSAGE_LAUNCH, &launch, sizeof launch, &parameters, 12));
        int error = sync_error();
        assert_true(error == 700 || error == 716);
    }
    static const uint32_t sizes[][6] = {{0, 1, 1, 1, 1, 1},
                                        {1, 1, 1, 0, 0, 0},
                                        {1, 1, 1, 2048, 1, 1},
                                        {UINT32_MAX, UINT32_MAX, UINT32_MAX, 1, 1, 1},
                                        {1, 1, 1, UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                        {1, 1, 1, 65536, 65536, 1},
                                        {1, 70000, 1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MessageLaunch launch = launch_of(add);
        Parameters parameters = {at, 1, 0};
        connection.device->error = 0;
        memcpy(launch.grid, sizes[i], sizeof launch.grid);
        memcpy(launch.block, sizes[i] + 3, sizeof launch.block);
        assert_true(say(MESSAGE_LAUNCH, &launch, sizeof launch, &parameters, 12));
        if (!sync_error()) fail_msg("launch with sizes %zu", i);
    }
    MessageLaunch large = launch_of(add), few = launch_of(add), cluster = launch_of(add);
    Parameters parameters = {at, 1, 0};
    large.dynamic_shared_bytes = UINT32_MAX;
    few.parameter_bytes = 4; /* fewer than the kernel has */
    cluster.cluster[0] = cluster.cluster[1] = cluster.cluster[2] = UINT32_MAX;
    connection.device->error = 0;
    assert_true(say(MESSAGE_LAUNCH, &large, sizeof large, &parameters, 12));
    assert_int_not_equal(sync_error(), 0);
    connection.device->error = 0;
    assert_true(say(MESSAGE_LAUNCH, &cluster, sizeof cluster, &parameters, 12));
    assert_int_not_equal(sync_error(), 0);
    assert_true(say(MESSAGE_LAUNCH, &few, sizeof few, &parameters, 12));
    large.parameter_bytes = UINT32_MAX; /* more than came */
    assert_false(say(MESSAGE_LAUNCH, &large, sizeof large, &parameters, 12));
}

static void hostile_memory(void **state) {
    (void)state;
    greet();
    static const uint64_t sizes[] = {WINDOW_BYTES, WINDOW_BYTES + 1, UINT64_C(1) << 40, UINT64_MAX,
                                     UINT64_MAX - 65535};
    MessagePlace place;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MessageAllocate asked = {sizes[i], 0, MEMORY_DEVICE, 0, 0};
        assert_true(SAY(MESSAGE_ALLOCATE, asked));
        take(&place, sizeof place);
        assert_int_equal(place.error, 2);
    }
    MessageAllocate unknown = {4, 0, 9, 0, 0};
    assert_false(SAY(MESSAGE_ALLOCATE, unknown));
    uint64_t at = allocate(100);
    static const uint64_t lengths[] = {0, 1, 100, 101, UINT64_C(1) << 40, UINT64_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (uint32_t kind = 0; kind < 4; kind++)
            for (uint64_t offset = 0; offset < 200; offset += 33) {
                MessageWrite write = {at + offset, lengths[i], at + offset / 2, 0, kind, 0};
                assert_true(SAY(MESSAGE_WRITTEN, write));
            }
    MessageAt places[] = {
        {at + 1, 0}, {0, 0}, {UINT64_MAX, 0}, {at, 0}, {at, 0}}; /* the last one is freed twice */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) assert_true(SAY(MESSAGE_FREE, places[i]));
    MessageAccess access = {.address = at, .caller_count = 17};
    assert_false(SAY(MESSAGE_HOST_ACCESS, access));
    access.caller_count = 16;
    assert_true(SAY(MESSAGE_HOST_ACCESS, access));
    assert_int_equal(capture->faults[0].memory, -1); /* it has been freed */
}

/* Memory of a graph: its place is nobody else's, and is allocated where it was reserved or not at all. */
static void reserved_places(void **state) {
    (void)state;
    greet();
    MessageAllocate asked = {.bytes = 100, .placing = PLACE_RESERVE};
    MessagePlace place;
    assert_true(SAY(MESSAGE_ALLOCATE, asked));
    take(&place, sizeof place);
    assert_int_equal(place.error, 0);
    uint64_t at = place.address;
    assert_true(allocate(100) != at);
    const MessageAllocate wrong[] = {{.bytes = 100, .placing = PLACE_RESERVED, .address = at + 4},
                                     {.bytes = 100, .placing = PLACE_RESERVED},
                                     {.bytes = 100, .placing = PLACE_RESERVED, .address = UINT64_MAX},
                                     {.bytes = WINDOW_BYTES / 2, .placing = PLACE_RESERVED, .address = at}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_true(SAY(MESSAGE_ALLOCATE, wrong[i]));
        take(&place, sizeof place);
        assert_int_equal(place.error, 2);
    }
    asked.placing = PLACE_RESERVED, asked.address = at;
    for (int i = 0; i < 3; i++) {
        assert_true(SAY(MESSAGE_ALLOCATE, asked));
        take(&place, sizeof place);
        assert_true(place.error == 0 && place.address == at);
        MessageAt freed = {at, 0};
        assert_true(SAY(MESSAGE_FREE, freed));
        assert_true(allocate(100) != at);
    }
    asked.placing = PLACE_RESERVED + 1;
    assert_false(SAY(MESSAGE_ALLOCATE, asked));
}

static int linked_error(const MessageLink *asked, const char *text, size_t bytes) {
    MessageLinked linked;
    assert_true(say(MESSAGE_LINK, asked, sizeof *asked, text, bytes));
    assert_true(take(&linked, sizeof linked) > 0);
    return linked.error;
}

static void hostile_links(void **state) {
    (void)state;
    greet();
    MessageLink whole = {0, 0, FORMAT_PTX}, second = {sizeof module_text, 1, FORMAT_PTX},
                fatbin = {0, 0, FORMAT_FATBIN}, longer = {sizeof module_text + 1, 1, FORMAT_PTX};
    char twice[2 * sizeof module_text];
    memcpy(twice, module_text, sizeof module_text);
    memcpy(twice + sizeof module_text, module_text, sizeof module_text);
    assert_int_equal(linked_error(&whole, module_text, sizeof module_text), 0);
    assert_int_equal(linked_error(&whole, module_text, 40), 218);
    assert_int_equal(linked_error(&second, twice, sizeof twice), 218); /* all is defined twice */
    assert_int_equal(linked_error(&second, twice, sizeof module_text), 0);
    assert_int_equal(linked_error(&fatbin, module_text, sizeof module_text), 209);
    assert_false(say(MESSAGE_LINK, &longer, sizeof longer, module_text, sizeof module_text));
    assert_false(say(MESSAGE_LINK, &whole, sizeof whole - 1, NULL, 0));
}

/* A module that grows after its first use, and a variable that is freed. */
static void a_module_that_changes(void **state) {
    (void)state;
    greet();
    MessageModule module = {1, FORMAT_PTX};
    MessageName asked = {1, 0};
    MessagePlace place;
    MessageFunction function = find("add");
    for (int i = 0; i < 50; i++)
        assert_true(say(MESSAGE_MODULE, &module, sizeof module, module_text, sizeof module_text));
    assert_true(say(MESSAGE_VARIABLE, &asked, sizeof asked, "total", 6));
    take(&place, sizeof place);
    MessageAt at = {place.address, 0};
    assert_true(SAY(MESSAGE_FREE, at));
    Parameters parameters = {place.address, 1, 0};
    MessageLaunch launch = launch_of(function.number);
    assert_true(say(MESSAGE_LAUNCH, &launch, sizeof launch, &parameters, 12));
    assert_int_equal(sync_error(), 0);
    assert_int_equal(word_at(place.address), 8);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_launch),
        TEST(the_window_is_a_file),
        TEST(wrong_beginnings),
        TEST(before_the_beginning),
        TEST(sizes_that_do_not_fit),
        TEST(a_length_that_is_too_large),
        TEST(the_end_within_a_message),
        TEST(names_without_an_end),
        TEST(unknown_functions_and_modules),
        TEST(modules_that_are_none),
        TEST(hostile_launches),
        TEST(hostile_memory),
        TEST(reserved_places),
        TEST(hostile_links),
        TEST(a_module_that_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
