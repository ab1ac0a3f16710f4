/* Cache: what is kept in the user's cache folder, $XDG_CACHE_HOME/redviz, else ~/.cache/redviz: compiled
 * PTX. */
#ifndef COMPILE_CACHE_H
#define COMPILE_CACHE_H

#include "base/text.h"

#include <stdint.h>

/* Finds an earlier result by the text of everything that determines it. */
bool cache_find(const char *key, Text *ptx);
void cache_keep(const char *key, const char *ptx);

/* Makes the folder of this name in the cache folder; the path ends in '/'. False: there is no home. */
bool cache_folder(const char *name, char *path, size_t bytes);
/* The name of a key's file. */
uint64_t cache_hash(const char *key);

#endif
