/* Theme: roles.def and themes.def as tables of looks. */
#include "tui/draw/theme.h"

#include <string.h>

enum { DEFAULT = -1 };
enum { PLAIN = 0, BOLD = 1, UNDERLINE = 2, REVERSE = 4, BOLD_UNDERLINE = 3, BOLD_REVERSE = 5 };

typedef struct RoleLook {
    short of_256, of_16, of_8, dark, light, contrast;
    uint8_t with_colour, without;
} RoleLook;

static const RoleLook looks[ROLE_COUNT] = {
#define ROLE(id, of_256, of_16, of_8, dark, light, contrast, with_colour, without, meaning)                  \
    [ROLE_##id] = {of_256, of_16, of_8, dark, light, contrast, with_colour, without},
#include "tui/draw/roles.def"
#undef ROLE
};

static const struct {
    const char *name;
    short of_256, of_8, text_of_8;
} themes[THEME_COUNT] = {
#define THEME(id, name, of_256, of_8, text_of_8, meaning) {name, of_256, of_8, text_of_8},
#include "tui/draw/themes.def"
#undef THEME
};

static short colour_of_256(Theme theme, const RoleLook *look) {
    switch (theme) {
    case THEME_DARK:
        return look->dark;
    case THEME_LIGHT:
        return look->light;
    case THEME_CONTRAST:
        return look->contrast;
    default:
        return look->of_256;
    }
}

static short colour_of_few(Theme theme, short colour) {
    return colour == DEFAULT ? themes[theme].text_of_8 : colour;
}

Look theme_look(Theme theme, Role role, int colours) {
    const RoleLook *look = &looks[role];
    short colour = DEFAULT, background = DEFAULT;
    bool coloured = colours >= 8 && theme != THEME_MONO;
    if (coloured) background = colours >= 256 ? themes[theme].of_256 : themes[theme].of_8;
    if (coloured && colours >= 256)
        colour = colour_of_256(theme, look);
    else if (coloured)
        colour = colour_of_few(theme, colours >= 16 ? look->of_16 : look->of_8);
    int attributes = coloured ? look->with_colour : look->without;
    return (Look){.colour = colour,
                  .background = background,
                  .bold = attributes & BOLD,
                  .underline = attributes & UNDERLINE,
                  .reverse = attributes & REVERSE};
}

unsigned theme_rgb(short colour, unsigned otherwise) {
    if (colour < 16) return otherwise;
    if (colour >= 232) return 0x010101U * (unsigned)(8 + 10 * (colour - 232));
    unsigned index = (unsigned)colour - 16, rgb = 0;
    const unsigned parts[] = {index / 36, index / 6 % 6, index % 6};
    for (int i = 0; i < 3; i++) rgb = rgb << 8 | (parts[i] ? 55 + 40 * parts[i] : 0);
    return rgb;
}

const char *theme_name(Theme theme) {
    return themes[theme].name;
}

bool theme_find(const char *name, Theme *out) {
    for (int theme = 0; theme < THEME_COUNT; theme++)
        if (!strcmp(themes[theme].name, name)) {
            *out = (Theme)theme;
            return true;
        }
    return false;
}
