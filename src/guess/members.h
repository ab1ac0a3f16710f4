/* Members: structures of an entry taken apart, so that each loaded member is a parameter. What is known of
 * parameters is then known of members, too. Private to the catalogue. */
#ifndef GUESS_MEMBERS_H
#define GUESS_MEMBERS_H

#include "ptx/ptx.h"

enum { MEMBERS_PARAMETERS = 64 };

typedef struct Members {
    Arena arena;
    PtxFunction
        flat; /* shares all but its parameters, and the instructions that load members, with the entry */
    int owner[MEMBERS_PARAMETERS];    /* [flat parameter] the entry's parameter that it is, or is a part of */
    bool is_part[MEMBERS_PARAMETERS]; /* it is a member: */
    uint64_t at[MEMBERS_PARAMETERS];  /* so many bytes from the structure's begin */
    uint64_t bytes[MEMBERS_PARAMETERS]; /* [parameter] of the whole structure */
} Members;

bool members_is_structure(const PtxVariable *parameter);
/* Of a parsed entry; members_done() in any case. False: nothing is taken apart, as there is no structure, or one is read in
 * another way than by loads from known places. */
bool members_open(const PtxFunction *entry, Members *members);
void members_done(Members *members);

#endif
