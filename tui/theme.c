/* Theme: roles.def as a table of looks. */
#include "theme.h"

enum { DEFAULT = -1 };
enum { PLAIN = 0, BOLD = 1, UNDERLINE = 2, REVERSE = 4, BOLD_UNDERLINE = 3, BOLD_REVERSE = 5 };

typedef struct RoleLook {
    short of_256, of_16, of_8;
    uint8_t with_colour, without;
} RoleLook;

static const RoleLook looks[ROLE_COUNT] = {
#define ROLE(id, of_256, of_16, of_8, with_colour, without, meaning)                                         \
    [ROLE_##id] = {of_256, of_16, of_8, with_colour, without},
#include "roles.def"
#undef ROLE
};

Look theme_look(Role role, int colours) {
    const RoleLook *look = &looks[role];
    short colour = DEFAULT;
    if (colours >= 256)
        colour = look->of_256;
    else if (colours >= 16)
        colour = look->of_16;
    else if (colours >= 8)
        colour = look->of_8;
    int attributes = colours >= 8 ? look->with_colour : look->without;
    return (Look){.colour = colour,
                  .bold = attributes & BOLD,
                  .underline = attributes & UNDERLINE,
                  .reverse = attributes & REVERSE};
}
