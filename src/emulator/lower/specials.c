/* Special registers and the lifetime of their values (lower_specials.def). */
#include "emulator/lower/lowered.h"

static const struct {
    const char *name;
    SpecialLifetime lifetime;
} specials[] = {
#define SPECIAL(id, name, lifetime, value) {name, SPECIAL_OF_##lifetime},
#include "emulator/lower/lower_specials.def"
#undef SPECIAL
};

int special_find(const char *name) {
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (!strcmp(specials[i].name, name)) return (int)i;
    return strncmp(name, "%envreg", 7) == 0 ? special_find("%envreg0") : -1;
}

SpecialLifetime special_lifetime(int special) {
    return specials[special].lifetime;
}
