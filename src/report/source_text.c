#include "report/source_text.h"

static const PtxModule *module_of(const Trace *trace, const char *file) {
    for (int i = 0; i < trace->launch_count; i++) {
        const PtxModule *module = trace->launches[i]->program->module;
        if (module && module->file && strcmp(module->file, file) == 0) return module;
    }
    return NULL;
}

static const char *ptx_line(SourceText *source, const PtxModule *module, int line) {
    if (source->module != module || line < source->line) {
        source->module = module;
        source->line = 1;
        source->at = 0;
    }
    for (; source->line < line; source->line++) {
        const char *newline = memchr(module->text + source->at, '\n', module->length - source->at);
        if (!newline) return NULL;
        source->at = (size_t)(newline - module->text) + 1;
    }
    const char *begin = module->text + source->at, *end = memchr(begin, '\n', module->length - source->at);
    text_clear(&source->text);
    text_add_bytes(&source->text, begin, end ? (size_t)(end - begin) : module->length - source->at);
    return text_string(&source->text);
}

const char *source_text_of(SourceText *source, const char *file, int line) {
    const ReportInput *input = source->input;
    const char *text = file && input->source_text ? input->source_text(input->context, file, line) : NULL;
    if (!text && file && line > 0) {
        const PtxModule *module = module_of(input->trace, file);
        if (module) text = ptx_line(source, module, line);
    }
    if (!text) return NULL;
    size_t length = strcspn(text, "\r\n"), blank = strspn(text, " \t");
    if (blank > length) blank = length;
    Text copy = {0};
    text_add_bytes(&copy, text + blank, length - blank); /* `text` may be source->text itself */
    text_done(&source->text);
    source->text = copy;
    return text_string(&source->text);
}

void source_text_done(SourceText *source) {
    text_done(&source->text);
}
