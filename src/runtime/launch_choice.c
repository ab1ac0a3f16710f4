/* Choosing launches (launch_choice.h). */
#define _POSIX_C_SOURCE 200809L
#include "runtime/launch_choice.h"

#include <regex.h>
#include <string.h>

typedef enum NameMatch { MATCH_NAME, MATCH_SUBSTRING, MATCH_REGEX } NameMatch;

static NameMatch read_match(const char **kernel) {
    static const struct {
        const char *word;
        NameMatch match;
    } words[] = {{"kernel_name=", MATCH_NAME},           {"kne=", MATCH_NAME},
                 {"kernel_substring=", MATCH_SUBSTRING}, {"kns=", MATCH_SUBSTRING},
                 {"kernel_regex=", MATCH_REGEX},         {"kre=", MATCH_REGEX}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(*kernel, words[i].word, length) != 0) continue;
        *kernel += length;
        return words[i].match;
    }
    return MATCH_NAME;
}

bool launch_choice_check(const char *kernel, Error *error) {
    regex_t regex;
    const char *text = kernel;
    char why[128];
    NameMatch match = read_match(&text);
    if (!*text) return error_set(error, "'%s' names no kernel", kernel);
    if (match != MATCH_REGEX) return true;
    int status = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    if (!status) {
        regfree(&regex);
        return true;
    }
    regerror(status, &regex, why, sizeof why);
    return error_set(error, "'%s': %s", text, why);
}

static bool has_name(const char *launched, const char *name) {
    size_t length = strlen(name);
    bool is_bare = strcspn(launched, "<(") == length;
    return !strcmp(launched, name) || (is_bare && !strncmp(launched, name, length));
}

int launch_choice_apply(const LaunchChoice *choice, const Captured *capture, bool *is_chosen) {
    const char *text = choice->kernel;
    NameMatch match = text ? read_match(&text) : MATCH_NAME;
    regex_t regex;
    bool has_regex = match == MATCH_REGEX && !regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    int seen = 0, chosen = 0;
    for (int i = 0; i < capture->launch_count; i++) {
        const CapturedLaunch *launch = &capture->launches[i];
        bool matches = !text                      ? true
                       : has_regex                ? !regexec(&regex, launch->name, 0, NULL, 0)
                       : match == MATCH_SUBSTRING ? strstr(launch->name, text) != NULL
                                                  : has_name(launch->name, text);
        if (!matches || seen++ < choice->skip || (choice->count && chosen == choice->count)) continue;
        is_chosen[launch->repeats >= 0 ? launch->repeats : i] = true;
        chosen++;
    }
    if (has_regex) regfree(&regex);
    return chosen;
}
