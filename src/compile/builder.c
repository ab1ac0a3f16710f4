#include "compile/builder.h"

#include "base/text.h"
#include "compile/compiler_messages.h"
#include "compile/process.h"

enum { SECONDS = 300 };

bool build_run(const ProgramBuild *build, const char *const *arguments, const char *compiler, Error *error) {
    Text said = {0};
    int status = 0;
    bool good = process_run(arguments, build->folder, SECONDS, build->options->cancel, &said, &status, error);
    if (good && status) good = messages_to_error(text_string(&said), compiler, error);
    text_done(&said);
    return good;
}
