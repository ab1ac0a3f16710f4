#define _POSIX_C_SOURCE 200809L
#include "bench/cpu_team.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_MEMBERS = 256 };

typedef struct Member {
    CpuTeam *team;
    int number;
    pthread_t thread;
} Member;

struct CpuTeam {
    Member members[MOST_MEMBERS]; /* [0] is the calling thread */
    int size;
    pthread_mutex_t mutex;
    pthread_cond_t begin, done;
    unsigned turn; /* number of the latest task */
    int busy;      /* members that have not finished it */
    bool over;
    void (*work)(void *context, int member);
    void *context;
};

static void *live(void *argument) {
    const Member *member = argument;
    CpuTeam *team = member->team;
    unsigned turn = 0;
    pthread_mutex_lock(&team->mutex);
    for (;;) {
        while (team->turn == turn && !team->over) pthread_cond_wait(&team->begin, &team->mutex);
        if (team->over) break;
        turn = team->turn;
        pthread_mutex_unlock(&team->mutex);
        team->work(team->context, member->number);
        pthread_mutex_lock(&team->mutex);
        if (!--team->busy) pthread_cond_signal(&team->done);
    }
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

CpuTeam *cpu_team_new(int size) {
    CpuTeam *team = memory_new(sizeof *team);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (!size) size = processors > 0 ? (int)processors : 1;
    if (size > MOST_MEMBERS) size = MOST_MEMBERS;
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->begin, NULL);
    pthread_cond_init(&team->done, NULL);
    for (team->size = 1; team->size < size; team->size++) {
        Member *member = &team->members[team->size];
        *member = (Member){.team = team, .number = team->size};
        if (pthread_create(&member->thread, NULL, live, member)) break;
    }
    return team;
}

void cpu_team_free(CpuTeam *team) {
    if (!team) return;
    pthread_mutex_lock(&team->mutex);
    team->over = true;
    pthread_cond_broadcast(&team->begin);
    pthread_mutex_unlock(&team->mutex);
    for (int i = 1; i < team->size; i++) pthread_join(team->members[i].thread, NULL);
    pthread_mutex_destroy(&team->mutex);
    pthread_cond_destroy(&team->begin);
    pthread_cond_destroy(&team->done);
    free(team);
}

int cpu_team_size(const CpuTeam *team) {
    return team->size;
}

void cpu_team_do(CpuTeam *team, void (*work)(void *context, int member), void *context) {
    pthread_mutex_lock(&team->mutex);
    team->work = work;
    team->context = context;
    team->busy = team->size - 1;
    team->turn++;
    pthread_cond_broadcast(&team->begin);
    pthread_mutex_unlock(&team->mutex);
    work(context, 0);
    pthread_mutex_lock(&team->mutex);
    while (team->busy) pthread_cond_wait(&team->done, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
}
