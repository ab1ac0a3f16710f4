/* Calls answer() of answer.cu: of a library that it is linked with, or with an argument, of one that it
 * loads, unloads and loads again. */
#include <dlfcn.h>
#include <stdio.h>

int answer(void) __attribute__((weak));

int main(int count, char **arguments) {
    for (int i = 1; i < 3 && count > 1; i++) {
        void *library = dlopen(arguments[1], RTLD_NOW);
        if (!library) return puts(dlerror()), 1;
        int (*loaded)(void);
        *(void **)&loaded = dlsym(library, "answer");
        printf("loaded: %d\n", loaded());
        dlclose(library);
    }
    if (answer) printf("linked: %d\n", answer());
    return 0;
}
