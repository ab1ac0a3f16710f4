/* Serve: answers the messages of one program. They come from another process and are checked as any input.
 * Private to src/runtime. */
#ifndef RUNTIME_SERVE_H
#define RUNTIME_SERVE_H

#include "runtime/emulated_device.h"

typedef struct Connection {
    int socket;
    Device *device; /* NULL until HELLO */
    Captured *capture;
    bool poisons, keeps_going;
    int index;     /* of several processes, from 0 */
    uint8_t *body; /* of the message that is read */
    size_t body_bytes, body_capacity;
} Connection;

/* Reads one message and answers it. False: the connection ended, or what came is no message of the
 * library's. */
bool serve_message(Connection *connection);
void serve_done(Connection *connection);

#endif
