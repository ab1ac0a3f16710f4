/* Library files: sources of the toolkit, the system and installed libraries. A user includes them, but does
 * not mend them. */
#ifndef PTX_LIBRARY_FILES_H
#define PTX_LIBRARY_FILES_H

#include <stdbool.h>

/* By its path, as a line table or #include spells it. */
bool ptx_is_library_file(const char *path);
/* The shortest end of such a path that still tells it: "targets/x86_64-linux/include/sm_30_intrinsics.hpp";
 * NULL: it is no such path. */
const char *ptx_library_file_end(const char *path);

#endif
