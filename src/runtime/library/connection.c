/* The connection to redviz: a Unix socket, and device memory as a file that both processes map.
 *
 * It is made at the first CUDA call, so that programs started by this one, and copies of it by fork(), make
 * their own. A copy made later can use no CUDA, as on a GPU. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/uio.h>
#include <unistd.h>
#include "runtime/library/client.h"

#define WINDOW_BYTES   (UINT64_C(64) << 30)
#define ALIAS_DISTANCE (UINT64_C(128) << 30)
#define LEAST_BYTES    (UINT64_C(64) << 20)

static struct {
    int socket; /* -1: none */
    uint64_t address, bytes;
    MessageWelcome machine;
    bool is_pending; /* launches have been sent since the last answer to SYNC */
    int error;       /* of a kernel: for good */
    bool is_copy;    /* of a process that had a connection, by fork() */
    pthread_mutex_t lock;
} connection = {.socket = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/* Reserves the window and its alias at `address`; returns 0 or errno. */
static int reserve(uint64_t address, uint64_t bytes) {
    uint64_t at[2] = {address, address + ALIAS_DISTANCE};
    for (int i = 0; i < 2; i++) {
        void *place = mmap((void *)at[i], bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (place == (void *)at[i]) continue;
        int error = place == MAP_FAILED ? errno : EEXIST;
        if (place != MAP_FAILED) munmap(place, bytes);
        if (i == 1) munmap((void *)at[0], bytes);
        return error;
    }
    return 0;
}

/* Prints the mapping that overlaps the range. */
static void say_what_is_in_the_way(uint64_t address, uint64_t bytes) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    fprintf(stderr, "redviz: no room for device memory at 0x%" PRIx64 "\n", address);
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        uint64_t begin = strtoull(line, NULL, 16);
        const char *dash = strchr(line, '-');
        uint64_t end = dash != NULL ? strtoull(dash + 1, NULL, 16) : 0;
        if (begin >= address + ALIAS_DISTANCE + bytes || end <= address) continue;
        fprintf(stderr, "redviz: in the way: %s", line);
        break;
    }
    if (maps != NULL) fclose(maps);
}

/* `ulimit -v` may forbid a large one. */
static bool window_reserve(void) {
    static const uint64_t PLACES[] = {UINT64_C(0x200000000000), UINT64_C(0x700000000)};
    for (uint64_t bytes = WINDOW_BYTES; bytes >= LEAST_BYTES; bytes /= 2) {
        for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
            int error = reserve(PLACES[i], bytes);
            if (error == ENOMEM) break;
            if (error != 0) continue;
            connection.address = PLACES[i];
            connection.bytes = bytes;
            return true;
        }
    }
    say_what_is_in_the_way(PLACES[1], LEAST_BYTES);
    return false;
}

/* Takes `bytes`, and a file descriptor if one comes with them. */
static bool receive(void *data, size_t bytes, int *file) {
    char *next = data;
    while (bytes > 0) {
        union {
            char bytes[CMSG_SPACE(sizeof(int))];
            struct cmsghdr head;
        } control;
        struct iovec part = {next, bytes};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = control.bytes,
                                 .msg_controllen = sizeof control};
        ssize_t got = recvmsg(connection.socket, &message, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        if (head != NULL && head->cmsg_type == SCM_RIGHTS && file != NULL)
            memcpy(file, CMSG_DATA(head), sizeof *file);
        next += got;
        bytes -= (size_t)got;
    }
    return true;
}

static bool send_all(struct iovec *parts, int count) {
    while (count > 0) {
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
        ssize_t sent = sendmsg(connection.socket, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return false;
        while (count > 0 && (size_t)sent >= parts->iov_len) {
            sent -= (ssize_t)parts->iov_len;
            parts++;
            count--;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + sent;
            parts->iov_len -= (size_t)sent;
        }
    }
    return true;
}

static void connection_close(void) {
    if (connection.socket >= 0) close(connection.socket);
    connection.socket = -1;
}

void tell(MessageKind kind, const void *message, size_t bytes, const void *rest, size_t rest_bytes) {
    MessageHead head = {kind, (uint32_t)(bytes + rest_bytes)};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)message, bytes}, {(void *)rest, rest_bytes}};
    pthread_mutex_lock(&connection.lock); /* the handler of faults tells beside a call of another thread */
    if (connection.socket >= 0 && !send_all(parts, 3)) connection_close();
    pthread_mutex_unlock(&connection.lock);
}

/* ask() that may also bring a file. */
static int ask_with_file(MessageKind kind, const void *message, size_t bytes, const void *rest,
                         size_t rest_bytes, void *answer, size_t answer_bytes, void **more,
                         size_t *more_bytes, int *file) {
    MessageHead head = {0};
    tell(kind, message, bytes, rest, rest_bytes);
    if (connection.socket < 0 || !receive(&head, sizeof head, file) || head.kind != MESSAGE_ANSWER ||
        head.bytes < answer_bytes || !receive(answer, answer_bytes, file)) {
        connection_close();
        return cudaErrorDevicesUnavailable;
    }
    size_t left = head.bytes - answer_bytes;
    char *text = left > 0 ? malloc(left) : NULL;
    bool is_whole = left == 0 || (text != NULL && receive(text, left, NULL));
    if (!is_whole) connection_close();
    if (more != NULL) {
        *more = text;
        *more_bytes = is_whole ? left : 0;
    } else {
        free(text);
    }
    return is_whole ? 0 : cudaErrorDevicesUnavailable;
}

int ask(MessageKind kind, const void *message, size_t bytes, const void *rest, size_t rest_bytes,
        void *answer, size_t answer_bytes, void **more, size_t *more_bytes) {
    return ask_with_file(kind, message, bytes, rest, rest_bytes, answer, answer_bytes, more, more_bytes,
                         NULL);
}

/* The socket is in Linux's abstract namespace: its name begins with a 0 byte. */
static bool dial(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length + 1 > sizeof address.sun_path) return false;
    memcpy(address.sun_path + 1, name, length);
    connection.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connection.socket >= 0 &&
           connect(connection.socket, (struct sockaddr *)&address,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0;
}

static bool map_file(int file, uint64_t address, int protection) {
    return mmap((void *)address, connection.bytes, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file,
                0) != MAP_FAILED &&
           madvise((void *)address, connection.bytes, MADV_DONTFORK) == 0;
}

static bool greet(void) {
    MessageHello hello = {MESSAGE_VERSION, getpid(), connection.address, connection.bytes, ALIAS_DISTANCE};
    int file = -1;
    if (ask_with_file(MESSAGE_HELLO, &hello, sizeof hello, NULL, 0, &connection.machine,
                      sizeof connection.machine, NULL, NULL, &file) != 0)
        return false;
    bool is_mapped = file >= 0 && connection.machine.version == MESSAGE_VERSION &&
                     map_file(file, connection.address, PROT_NONE) &&
                     map_file(file, connection.address + ALIAS_DISTANCE, PROT_READ | PROT_WRITE);
    if (file >= 0) close(file);
    return is_mapped;
}

static void close_in_child(void) {
    library_unlock();
    pthread_mutex_init(&connection.lock, NULL);
    connection_close();
    connection.is_copy = true;
}

static void connection_make(void) {
    const char *name = getenv(RUNTIME_SOCKET_VARIABLE);
    if (name == NULL || *name == '\0') return;
    if (!window_reserve() || !dial(name) || !greet()) {
        connection_close();
        fprintf(stderr, "redviz: the program cannot use the emulated GPU\n");
        return;
    }
    pthread_atfork(NULL, NULL, close_in_child);
    faults_watch();
}

static void buffer_lines(void) {
    if (getenv(RUNTIME_SOCKET_VARIABLE) != NULL) setvbuf(stdout, NULL, _IOLBF, 0);
}

void lines_flush(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, buffer_lines);
}

bool connection_open(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, connection_make);
    return connection.socket >= 0;
}

int connection_error(void) {
    if (connection_open()) return 0;
    return connection.is_copy ? cudaErrorInitializationError : cudaErrorNoDevice;
}

const MessageWelcome *machine(void) {
    return &connection.machine;
}

bool window_holds(uint64_t address) {
    return connection.bytes > 0 && address - connection.address < connection.bytes;
}

void *window_alias(uint64_t address) {
    return (void *)(address + ALIAS_DISTANCE);
}

void *reachable(uint64_t address) {
    return window_holds(address) ? window_alias(address) : (void *)address;
}

void window_open(uint64_t address, uint64_t bytes, bool accessible) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = address & ~(page - 1);
    mprotect((void *)begin, address + bytes - begin, accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void device_is_pending(void) {
    connection.is_pending = true;
}

int device_error(void) {
    return connection.error;
}

int device_finish(void) {
    if (!connection.is_pending) return connection.error;
    MessageDone done = {0};
    void *printed = NULL;
    size_t bytes = 0;
    int error = ask(MESSAGE_SYNC, NULL, 0, NULL, 0, &done, sizeof done, &printed, &bytes);
    if (error != 0) done.error = error;
    connection.is_pending = false;
    if (bytes > 0) fwrite(printed, 1, bytes, stdout);
    free(printed);
    if (connection.error == 0) connection.error = done.error;
    return connection.error;
}
