#define _GNU_SOURCE
#include "runtime/fence.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

enum { MOST_STEPS = 128 };

#ifndef SYS_pidfd_send_signal /* before glibc 2.30; the same on every architecture */
#define SYS_pidfd_send_signal 424
#endif

#if defined __x86_64__
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define THIS_ARCHITECTURE 0
#endif

typedef struct FenceRule {
    long call;
    bool always;       /* whatever its first argument is */
    uint32_t argument; /* the first one */
} FenceRule;

typedef struct FenceFilter {
    struct sock_filter steps[MOST_STEPS];
    unsigned short count;
} FenceFilter;

static void add(FenceFilter *filter, unsigned code, uint32_t value, uint8_t if_true, uint8_t if_false) {
    filter->steps[filter->count++] = (struct sock_filter){(uint16_t)code, if_true, if_false, value};
}

static void load(FenceFilter *filter, size_t offset) {
    add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void refuse(FenceFilter *filter) {
    add(filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
}

/* The number of the call is loaded before and after it. */
static void add_rule(FenceFilter *filter, const FenceRule *rule) {
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rule->call, 0, rule->always ? 1 : 4);
    if (!rule->always) {
        load(filter, offsetof(struct seccomp_data, args[0])); /* a pid is its low half */
        add(filter, BPF_JMP | BPF_JEQ | BPF_K, rule->argument, 0, 1);
    }
    refuse(filter);
    if (!rule->always) load(filter, offsetof(struct seccomp_data, nr));
}

/* Calls by the numbers of another architecture would pass unseen. */
static void begin(FenceFilter *filter) {
    load(filter, offsetof(struct seccomp_data, arch));
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0);
    refuse(filter);
    load(filter, offsetof(struct seccomp_data, nr));
    add(filter, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32 */
    refuse(filter);
}

void fence_put_up(pid_t runner, pid_t group) {
    const uint32_t pid = (uint32_t)runner, all = (uint32_t)-1;
    const FenceRule rules[] = {{SYS_ptrace, false, PTRACE_ATTACH},
                               {SYS_ptrace, false, PTRACE_SEIZE},
                               {SYS_kill, false, pid},
                               {SYS_kill, false, 0},
                               {SYS_kill, false, all},
                               {SYS_kill, false, (uint32_t)-group},
                               {SYS_tgkill, false, pid},
                               {SYS_rt_sigqueueinfo, false, pid},
                               {SYS_rt_tgsigqueueinfo, false, pid},
                               {SYS_process_vm_writev, false, pid},
                               {SYS_prlimit64, false, pid},
                               {SYS_tkill, true, 0}, /* of any thread */
                               {SYS_pidfd_send_signal, true, 0}};
    FenceFilter filter = {.count = 0};
    if (!THIS_ARCHITECTURE) return;
    begin(&filter);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) add_rule(&filter, &rules[i]);
    add(&filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    const struct sock_fprog program = {filter.count, filter.steps};
    if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
