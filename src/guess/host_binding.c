#include "guess/host_binding.h"

const HostBinding *host_binding_find(const HostBindings *bindings, const HostText *text, HostSpan name,
                                     size_t place) {
    if (place < bindings->within.begin || place >= bindings->within.end) return NULL;
    for (int i = 0; i < bindings->count; i++)
        if (host_spans_equal(text, bindings->items[i].name, name)) return &bindings->items[i];
    return NULL;
}

bool host_binding_set(HostBindings *bindings, const HostText *text, HostBinding binding) {
    int i = 0;
    while (i < bindings->count && !host_spans_equal(text, bindings->items[i].name, binding.name)) i++;
    if (i == HOST_BINDINGS) return false;
    bindings->items[i] = binding;
    if (i == bindings->count) bindings->count++;
    return true;
}
