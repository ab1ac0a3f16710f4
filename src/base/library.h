/* Library: opens third-party libraries at run time. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

/* dlopen() that keeps the library's symbols local; NULL: not found. A static build (make static) opens none,
 * since they would load a second C library. */
void *library_open(const char *name);

#endif
