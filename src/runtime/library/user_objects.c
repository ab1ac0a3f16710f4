/* User objects: what a program wants freed once the graphs that use it are gone (Runtime API, Graph
 * Management). */
#include <stdlib.h>
#include "runtime/library/client.h"

struct UserObject {
    void (*destroy)(void *);
    void *data;
    unsigned references; /* of the program and of graphs */
};

struct HeldObject {
    UserObject *object;
    unsigned references;
    HeldObject *next;
};

int user_object_create(UserObject **object, void *data, void (*destroy)(void *), unsigned references,
                       unsigned flags) {
    enum { NO_DESTRUCTOR_SYNC = 1, MOST_REFERENCES = 0x7fffffff };
    if (object == NULL || destroy == NULL || references == 0 || references > MOST_REFERENCES ||
        flags != NO_DESTRUCTOR_SYNC)
        return cudaErrorInvalidValue;
    *object = malloc(sizeof **object);
    if (*object == NULL) return cudaErrorMemoryAllocation;
    **object = (UserObject){destroy, data, references};
    return 0;
}

int user_object_retain(UserObject *object, unsigned references) {
    if (object == NULL || references == 0) return cudaErrorInvalidValue;
    object->references += references;
    return 0;
}

int user_object_release(UserObject *object, unsigned references) {
    if (object == NULL || references == 0 || references > object->references) return cudaErrorInvalidValue;
    object->references -= references;
    if (object->references > 0) return 0;
    StreamOperation operation = {.kind = OPERATION_HOST, .u.host = {object->destroy, object->data}};
    free(object);
    return operation_run(&operation, 0, 0);
}

int held_objects_add(HeldObject **held, UserObject *object, unsigned references, bool moves) {
    HeldObject *added = malloc(sizeof *added);
    if (added == NULL) return cudaErrorMemoryAllocation;
    int error = object == NULL || references == 0 ? cudaErrorInvalidValue : 0;
    if (error == 0 && !moves) error = user_object_retain(object, references);
    if (error != 0) {
        free(added);
        return error;
    }
    *added = (HeldObject){object, references, *held};
    *held = added;
    return 0;
}

int held_objects_remove(HeldObject **held, UserObject *object, unsigned references) {
    HeldObject **at = held;
    while (*at != NULL && ((*at)->object != object || (*at)->references < references)) at = &(*at)->next;
    HeldObject *found = *at;
    if (found == NULL || references == 0) return cudaErrorInvalidValue;
    found->references -= references;
    if (found->references == 0) {
        *at = found->next;
        free(found);
    }
    return user_object_release(object, references);
}

int held_objects_copy(HeldObject **to, const HeldObject *from) {
    int error = 0;
    for (; error == 0 && from != NULL; from = from->next)
        error = held_objects_add(to, from->object, from->references, false);
    return error;
}

void held_objects_free(HeldObject **held) {
    while (*held != NULL) {
        HeldObject *next = (*held)->next;
        user_object_release((*held)->object, (*held)->references);
        free(*held);
        *held = next;
    }
}
