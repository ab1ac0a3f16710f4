/* Streams and events. Everything is executed in the order of the calls, so streams never wait for each other;
 * they matter for the graphs that they capture. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/library/client.h"

enum { EVENT_NO_TIMES = 2 };

static Stream *streams; /* all but the default one */

Stream *stream_find(Stream *stream) {
    static Stream default_stream;
    return (uintptr_t)stream <= 2 ? &default_stream : stream;
}

void order_tell(MessageOrderKind kind, const Stream *stream, uint64_t event) {
    MessageOrder message = {kind, stream != NULL ? stream->number : 0, event};
    if (kind == ORDER_HOST || kind == ORDER_HOST_ALL || kind == ORDER_HOST_EVENT) guards_lift();
    tell(MESSAGE_ORDER, &message, sizeof message, NULL, 0);
}

int device_wait(void) {
    order_tell(ORDER_HOST_ALL, NULL, 0);
    pools_release();
    return device_finish();
}

int stream_create(Stream **stream, unsigned flags, int priority) {
    static unsigned count;
    *stream = calloc(1, sizeof **stream);
    if (*stream == NULL) return cudaErrorMemoryAllocation;
    (*stream)->number = ++count;
    (*stream)->flags = flags;
    (*stream)->priority = priority;
    (*stream)->next = streams;
    streams = *stream;
    if ((flags & 1) != 0) order_tell(ORDER_STREAM, *stream, 0);
    return 0;
}

int stream_destroy(Stream *stream) {
    if (stream_find(stream) != stream) return cudaErrorInvalidResourceHandle;
    order_tell(ORDER_HOST, stream, 0);
    int error = device_finish();
    Stream **link = &streams;
    while (*link != NULL && *link != stream) link = &(*link)->next;
    if (*link != NULL) *link = stream->next;
    free(stream->pending.nodes);
    free(stream);
    return error;
}

void list_add(NodeList *list, struct Node *node) {
    for (size_t i = 0; i < list->count; i++)
        if (list->nodes[i] == node) return;
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 4;
        list->nodes = realloc(list->nodes, list->capacity * sizeof(struct Node *));
        if (list->nodes == NULL) abort();
    }
    list->nodes[list->count++] = node;
}

void list_copy(NodeList *to, const NodeList *from) {
    to->count = 0;
    for (size_t i = 0; i < from->count; i++) list_add(to, from->nodes[i]);
}

void stream_join(Stream *stream, Graph *capture, unsigned long long number) {
    static unsigned long long count;
    if (stream->capture == NULL) stream->pending.count = 0;
    stream->capture = capture;
    stream->capture_number = number != 0 ? number : ++count;
}

void streams_leave(const Graph *capture) {
    for (Stream *stream = streams; stream != NULL; stream = stream->next)
        if (stream->capture == capture) stream->capture = NULL;
}

int stream_finish(Stream *stream) {
    if (stream_find(stream)->capture == NULL) {
        order_tell(ORDER_HOST, stream_find(stream), 0);
        pools_release();
        return device_finish();
    }
    return failed(cudaErrorStreamCaptureUnsupported, 0, 0, "waits for a stream that is captured");
}

/* A wait for an event of a capture brings the stream into it. */
int stream_wait(Stream *stream, Event *event) {
    stream = stream_find(stream);
    if (event == NULL) return cudaErrorInvalidResourceHandle;
    if (event->capture_number == 0 && stream->capture == NULL)
        order_tell(ORDER_WAIT, stream, (uintptr_t)event);
    const Stream *other = event->capture_number != 0 ? streams : NULL;
    while (other != NULL && (other->capture == NULL || other->capture_number != event->capture_number))
        other = other->next;
    if (other == NULL) return 0;
    if (stream->capture != NULL && stream->capture != other->capture) return cudaErrorStreamCaptureMerge;
    stream_join(stream, other->capture, other->capture_number);
    for (size_t i = 0; i < event->nodes.count; i++) list_add(&stream->pending, event->nodes.nodes[i]);
    return 0;
}

int event_create(Event **event, unsigned flags) {
    *event = calloc(1, sizeof **event);
    if (*event == NULL) return cudaErrorMemoryAllocation;
    (*event)->timed = (flags & EVENT_NO_TIMES) == 0;
    return 0;
}

int event_destroy(Event *event) {
    if (event == NULL) return cudaErrorInvalidResourceHandle;
    free(event->nodes.nodes);
    free(event);
    return 0;
}

/* The launches before it have ended, so that times are those of their emulation. */
void event_stamp(Event *event) {
    struct timespec now;
    if (event->timed) device_finish();
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    event->recorded = true;
}

int event_record(Event *event, Stream *stream) {
    stream = stream_find(stream);
    if (event == NULL) return cudaErrorInvalidResourceHandle;
    event->capture_number = stream->capture != NULL ? stream->capture_number : 0;
    if (stream->capture != NULL) {
        list_copy(&event->nodes, &stream->pending);
        return 0;
    }
    order_tell(ORDER_RECORD, stream, (uintptr_t)event);
    event_stamp(event);
    return device_error();
}

int event_finish(const Event *event) {
    order_tell(ORDER_HOST_EVENT, NULL, (uintptr_t)event);
    pools_release();
    return device_finish();
}

int event_elapsed(float *milliseconds, const Event *from, const Event *to) {
    if (from == NULL || to == NULL || !from->recorded || !to->recorded || !from->timed || !to->timed)
        return failed(cudaErrorInvalidResourceHandle, 0, 0,
                      "measures from or to an event that was not recorded");
    *milliseconds = (float)((to->seconds - from->seconds) * 1e3);
    return 0;
}
