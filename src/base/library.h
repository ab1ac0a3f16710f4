/* Library: other people's libraries, opened at run time. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

/* dlopen() with what is in the library alone; NULL: there is none. A static build (make static) opens none, since they would
 * bring another C library along. */
void *library_open(const char *name);

#endif
