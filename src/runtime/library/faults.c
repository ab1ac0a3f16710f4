/* Faults: host code that loads or stores device memory is reported with its stack.
 * So is host code that touches memory of both before it has waited.
 *
 * The library's handler of SIGSEGV comes first, whatever handler the program installs: sigaction() and
 * signal() below keep the program's behind it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "runtime/library/client.h"

typedef int Sigaction(int, const struct sigaction *, struct sigaction *);

static struct sigaction program_handler; /* of SIGSEGV */
static bool is_watching;

/* sigaction() of the C library. */
static int install(int number, const struct sigaction *action, struct sigaction *old) {
    static Sigaction *real;
    if (real == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "sigaction");
        memcpy(&real, &symbol, sizeof symbol);
    }
    return real != NULL ? real(number, action, old) : -1;
}

/* Whole pages, closed to the host until it has waited. The library's own copies go through the alias of the
 * window; a system call that is given these bytes fails with EFAULT: pinned memory, into which files are read
 * while a kernel uses another part of it, is closed for copies alone. The handler runs in any thread. */
enum { MOST_GUARDS = 64 };
static struct Guard {
    uint64_t begin, end;
    MessageGuard kind;
} guards[MOST_GUARDS];
static int guard_count;
static atomic_flag guards_are_used = ATOMIC_FLAG_INIT;

static void take_guards(void) {
    while (atomic_flag_test_and_set(&guards_are_used)) {
    }
}

static void guard(uint64_t begin, uint64_t end, MessageGuard kind) {
    bool is_new = begin < end;
    take_guards();
    for (int i = 0; i < guard_count && is_new; i++) is_new = begin < guards[i].begin || guards[i].end < end;
    if (is_new && guard_count < MOST_GUARDS && mprotect((void *)begin, end - begin, PROT_NONE) == 0)
        guards[guard_count++] = (struct Guard){begin, end, kind};
    atomic_flag_clear(&guards_are_used);
}

/* As far as the copy fills what the allocation has of the pages. */
void guard_copy(uint64_t address, uint64_t bytes) {
    const DeviceAllocation *memory = memory_find(address);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = (address + page - 1) / page * page,
             end = (address + bytes) / page * page;
    if (memory == NULL || memory->freed || memory->memory != MEMORY_PINNED) return;
    if (address == memory->address) begin = address;
    if (address + bytes >= memory->address + memory->bytes) end = (address + bytes + page - 1) / page * page;
    guard(begin, end, GUARD_COPY);
}

static uint64_t end_of_pages(const DeviceAllocation *memory) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (memory->address + memory->bytes + page - 1) / page * page;
}

/* The memory that lies there, or NULL, if the host may touch it. */
static const DeviceAllocation *find_shared(uint64_t address) {
    const DeviceAllocation *memory = window_holds(address) ? memory_find(address) : NULL;
    bool is_there = memory != NULL && !memory->freed && address < end_of_pages(memory);
    return is_there && memory->memory != MEMORY_DEVICE ? memory : NULL;
}

void guard_arguments(const uint8_t *arguments, size_t bytes) {
    for (size_t at = 0; at + 8 <= bytes; at += 8) {
        uint64_t address;
        memcpy(&address, arguments + at, 8);
        const DeviceAllocation *memory = find_shared(address);
        if (memory == NULL || memory->memory != MEMORY_MANAGED || memory->variable != NULL) continue;
        guard(memory->address, end_of_pages(memory), GUARD_LAUNCH);
    }
}

static void open_pages(const struct Guard *of) {
    mprotect((void *)of->begin, of->end - of->begin, PROT_READ | PROT_WRITE);
}

void guards_lift(void) {
    take_guards();
    while (guard_count > 0) open_pages(&guards[--guard_count]);
    atomic_flag_clear(&guards_are_used);
}

/* Lifts the guard of the address; GUARD_NONE: there is none. */
static MessageGuard lift_at(uint64_t address) {
    MessageGuard kind = GUARD_NONE;
    take_guards();
    for (int i = 0; i < guard_count && kind == GUARD_NONE; i++) {
        if (address - guards[i].begin >= guards[i].end - guards[i].begin) continue;
        struct Guard lifted = guards[i];
        guards[i] = guards[--guard_count];
        open_pages(&lifted);
        kind = lifted.kind;
    }
    atomic_flag_clear(&guards_are_used);
    return kind;
}

static void report(uint64_t address, const void *context, MessageGuard guard) {
    MessageAccess access = {.address = address, .guard = (uint16_t)guard};
    void *callers[32];
    int count = backtrace(callers, 32);
    uint64_t begin = 0;
#ifdef __x86_64__
    const ucontext_t *state = context;
    begin = (uint64_t)state->uc_mcontext.gregs[REG_RIP];
    access.is_write = (state->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    (void)context;
#endif
    /* The stack begins with this handler; the program's part with the instruction that failed, whose address
     * is sent as a return address: that of a byte behind its begin. */
    int first = 0;
    for (int i = 0; i < count; i++)
        if ((uint64_t)(uintptr_t)callers[i] == begin) first = i;
    if (first == 0) access.callers[access.caller_count++] = begin + 1;
    for (int i = first == 0 ? 3 : first; i < count && access.caller_count < 16; i++)
        access.callers[access.caller_count++] = (uintptr_t)callers[i] + (i == first);
    tell(MESSAGE_HOST_ACCESS, &access, sizeof access, NULL, 0);
}

static void fault(int number, siginfo_t *info, void *context) {
    uint64_t address = (uintptr_t)info->si_addr;
    bool is_device = info->si_code > 0 && window_holds(address);
    MessageGuard guarded = is_device ? lift_at(address) : GUARD_NONE;
    /* another thread may have lifted it since */
    if (is_device && guarded == GUARD_NONE && find_shared(address) != NULL) return;
    if (is_device) report(address, context, guarded);
    if (guarded != GUARD_NONE) return; /* the instruction runs again */
    if (!is_device && (program_handler.sa_flags & SA_SIGINFO) != 0) {
        program_handler.sa_sigaction(number, info, context);
    } else if (!is_device && program_handler.sa_handler != SIG_DFL && program_handler.sa_handler != SIG_IGN) {
        program_handler.sa_handler(number);
    } else {
        /* The instruction runs again, and ends the program. */
        struct sigaction none = {.sa_handler = SIG_DFL};
        install(SIGSEGV, &none, NULL);
        if (info->si_code <= 0) raise(SIGSEGV);
    }
}

void faults_watch(void) {
    void *callers[4];
    backtrace(callers, 4); /* loads what it needs now: the handler may not */
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER, .sa_sigaction = fault};
    install(SIGSEGV, &action, &program_handler);
    is_watching = true;
}

__attribute__((visibility("default"))) int sigaction(int number, const struct sigaction *action,
                                                     struct sigaction *old) {
    if (number != SIGSEGV || !is_watching) return install(number, action, old);
    if (old != NULL) *old = program_handler;
    if (action != NULL) program_handler = *action;
    return 0;
}

__attribute__((visibility("default"))) sighandler_t signal(int number, sighandler_t handler) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct sigaction old = {.sa_handler = SIG_ERR};
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}
