/* Pieces: what records say, cut into what will be events. Private to src/instrument.
 *
 * A record of an access is a piece for each place that its lanes reach (shared, local, each buffer), and for
 * each matrix; other records are one piece. Pieces know interval and occurrence; the iterations of loops that
 * only wait are dropped. */
#ifndef INSTRUMENT_PIECES_H
#define INSTRUMENT_PIECES_H

#include "instrument/locate.h"
#include "instrument/records.h"

typedef struct Piece {
    int record; /* the first of those that it is made of */
    int pc;
    uint32_t mask;
    TraceKind kind;
    uint32_t interval, occurrence, turn;
    int matrix; /* of ldmatrix and stmatrix; else 0 */
    bool is_dropped;
} Piece;

typedef struct Pieces {
    const Records *records;
    const Locator *locator;
    const TraceLaunch *launch;
    uint32_t threads;
    Piece *pieces; /* in the order of the records */
    int count, capacity;
} Pieces;

bool pieces_make(Pieces *pieces, uint32_t block, Error *error);
void pieces_done(Pieces *pieces);

/* The field of an instruction's record; -1: it has none of that kind. */
int field_of(const InstrumentSite *site, InstrumentFieldKind kind, int element);
/* The address that a lane accesses: its own or, of matrices, in a row whose address another lane has. */
uint64_t piece_address(const Pieces *pieces, const Piece *piece, int lane);
/* Where that is. */
Location piece_location(const Pieces *pieces, const Piece *piece, int lane);
uint64_t piece_value(const Pieces *pieces, const Piece *piece, InstrumentFieldKind kind, int element,
                     int lane);

/* turns.c: gives each piece that is left its turn, and sorts by turn and warp. */
void pieces_take_turns(Pieces *pieces);

/* spinning.c: what a warp has done of late, as long as it changed nothing. */
typedef struct Spinning Spinning;
Spinning *spinning_new(int warps);
void spinning_free(Spinning *spinning);
/* The newest piece. True: it repeats what was done before; `*earlier` .. are the pieces of the earlier round,
 * `*later` .. those of this one, `*period` each, and the earlier ones are to be dropped. */
bool spinning_note(Spinning *spinning, const Pieces *pieces, int piece, const int **earlier,
                   const int **later, int *period);
void spinning_forget(Spinning *spinning, int warp, int period); /* after that: the earlier round is gone */

#endif
