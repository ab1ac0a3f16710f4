/* scripts/deps.sh on other machines: PATH is a folder with a few real tools, and with stubs of the compiler,
 * the package managers, id, sudo and uname. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Makes the machine: functions that the `setup` of each case calls. The compiler works once `installed`
 * exists; the installation creates it, and writes the requested packages to `log`. */
static const char MACHINE[] =
    "set -e; root=$(mktemp -d); trap 'rm -rf $root' EXIT; mkdir $root/bin; deps=$PWD/scripts/deps.sh\n"
    "for tool in sh dirname mktemp rm tail env touch grep; do ln -s \"$(command -v $tool)\" $root/bin/; "
    "done\n"
    "fake() { echo '#!/bin/sh' >$root/bin/$1; echo \"$2\" >>$root/bin/$1; chmod +x $root/bin/$1; }\n"
    "installs() { fake $1 \"echo $1 \\$* >>$root/log; touch $root/installed\"; }\n"
    "user() { fake id \"echo $1\"; }\n"
    "system() { fake uname \"echo $1\"; }\n"
    "compiler() { fake cc \"[ -f $root/installed ]\"; }\n"
    "user 0; system Linux; compiler\n"
    "run() { PATH=$root/bin $deps \"$@\" </dev/null; status=$?; cat $root/log 2>/dev/null || :; return "
    "$status; }\n"
    "set +e\n";

typedef struct Case {
    const char *setup, *run;
    int status;
    const char *out; /* standard output, with the log of the package manager */
    const char *err;
} Case;

static char *read_and_remove(const char *path) {
    char *text;
    size_t length;
    Error error = {0};
    if (!text_read_file(path, 1 << 20, &text, &length, &error)) fail_msg("%s: %s", path, error.message);
    remove(path);
    return text;
}

static void check(const Case *machine) {
    char out[] = "/tmp/redviz-deps-out-XXXXXX", err[] = "/tmp/redviz-deps-err-XXXXXX";
    int files[2] = {mkstemp(out), mkstemp(err)};
    assert_true(files[0] >= 0 && files[1] >= 0);
    Text command = {0};
    text_print(&command, "exec >%s 2>%s\n%s%s\nrun %s", out, err, MACHINE, machine->setup, machine->run);
    int status = system(text_string(&command));
    text_done(&command);
    char *said = read_and_remove(out), *complained = read_and_remove(err);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != machine->status || strcmp(said, machine->out) != 0 ||
        strcmp(complained, machine->err) != 0)
        fail_msg("%s; %s: status %d\n%s%s", machine->setup, machine->run, WEXITSTATUS(status), said,
                 complained);
    free(said), free(complained);
}

#define APT "apt-get install -y --no-install-recommends "
#define NEEDED(groups)                                                                                       \
    "redviz: needed for " groups                                                                             \
    " and not found here; install it with this command, then run make again:\n    "

static void test_nothing_is_missing(void **state) {
    (void)state;
    check(&(Case){"installs apt-get; touch $root/installed", "build test", 0, "", ""});
}

static void test_apt_installs(void **state) {
    (void)state;
    static const char log[] =
        "installing gcc libc6-dev libncurses-dev libsqlite3-dev libcmocka-dev libvterm-dev\n"
        "apt-get update -q\n"
        "apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120 gcc "
        "libc6-dev libncurses-dev libsqlite3-dev libcmocka-dev libvterm-dev\n";
    check(&(Case){"installs apt-get", "build test", 0, log, ""});
    /* A user whose sudo needs no password. */
    check(&(Case){"installs apt-get; user 1000; fake sudo '[ $1 = -n ] && exit 0; exec \"$@\"'", "build test",
                  0, log, ""});
}

/* One command to type, if the script cannot run it. */
static void test_apt_cannot(void **state) {
    (void)state;
    check(&(Case){"installs apt-get; user 1000", "build", 1, "",
                  NEEDED("build") "su -c 'apt-get update && " APT
                                  "gcc libc6-dev libncurses-dev libsqlite3-dev'\n"});
    check(&(Case){
        "installs apt-get; user 1000; fake sudo 'exit 1'", "build test", 1, "",
        NEEDED("build test") "sudo apt-get update && sudo " APT
                             "gcc libc6-dev libncurses-dev libsqlite3-dev libcmocka-dev libvterm-dev\n"});
    check(&(Case){"fake apt-get 'echo E: no network; exit 100'", "build", 1,
                  "installing gcc libc6-dev libncurses-dev libsqlite3-dev\n",
                  "E: no network\nE: no network\n" NEEDED(
                      "build") "apt-get update && " APT "gcc libc6-dev libncurses-dev libsqlite3-dev\n"});
    check(&(Case){"fake apt-get :", "build", 1, "installing gcc libc6-dev libncurses-dev libsqlite3-dev\n",
                  "redviz: gcc libc6-dev libncurses-dev libsqlite3-dev installed, but 'cc' still cannot "
                  "build with it; see: "
                  "scripts/deps.sh build\n"});
}

/* Plain make installs nothing: it prints the command that does. */
static void test_check_alone(void **state) {
    (void)state;
    check(&(Case){"installs apt-get", "--check build", 1, "",
                  "redviz: a compiler, curses.h, sqlite3.h or their libraries are not found here; make deps "
                  "installs them\n"});
    check(&(Case){"installs apt-get; touch $root/installed", "--check build", 0, "", ""});
    check(&(Case){"touch $root/installed; fake ccache 'exec \"$@\"'; export CC='ccache cc'", "build", 0, "",
                  ""});
}

static void test_other_systems(void **state) {
    (void)state;
    check(&(Case){"installs dnf", "html", 1, "", NEEDED("html") "sudo dnf install chromium python3\n"});
    check(&(Case){"fake chromium :; fake python3 :", "html", 0, "", ""});
    check(&(Case){"installs dnf", "firefox", 1, "", NEEDED("firefox") "sudo dnf install firefox\n"});
    check(&(Case){"installs apt-get; fake firefox :", "firefox", 0, "", ""});
    check(&(Case){
        "installs dnf", "build test", 1, "",
        NEEDED("build test") "sudo dnf install gcc glibc-devel ncurses-devel sqlite-devel libasan libubsan "
                             "libcmocka-devel libvterm-devel\n"});
    check(&(Case){"installs pacman", "build test", 1, "",
                  NEEDED("build test") "sudo pacman -S --needed gcc ncurses sqlite cmocka libvterm\n"});
    check(&(Case){"installs brew; system Darwin", "build test", 1, "",
                  NEEDED("build test") "xcode-select --install; brew install cmocka libvterm\n"});
    check(
        &(Case){"installs brew; system Darwin", "build", 1, "", NEEDED("build") "xcode-select --install\n"});
    check(&(Case){"system Darwin", "build test", 1, "",
                  NEEDED("build test") "xcode-select --install, and Homebrew's packages cmocka, libvterm\n"});
    check(&(Case){"system FreeBSD", "build", 1, "",
                  NEEDED("build") "your package manager; on Debian the packages are: gcc libc6-dev "
                                  "libncurses-dev libsqlite3-dev\n"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_missing), cmocka_unit_test(test_apt_installs),
        cmocka_unit_test(test_apt_cannot),         cmocka_unit_test(test_check_alone),
        cmocka_unit_test(test_other_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
