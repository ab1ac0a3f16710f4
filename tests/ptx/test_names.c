/* Readable names of mangled functions, and finding an entry by what a person types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/ptx/ptx_test.h"
#include <stdlib.h>

static void readable(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"plain", "plain"},
        {"_Z3sumPKiPij", "sum"},
        {"_Z6reduceIfLi256EEvPT_S1_j", "reduce<float,256>"},
        {"_Z6reduceIyLj64ELb1EEvPT_", "reduce<unsigned long long,64,true>"},
        {"_Z1fILin5EEvv", "f<-5>"},
        {"_Z1fILm7ELc65ELb0EEvv", "f<7,65,false>"},
        {"_ZN3ops3sumIPKiEEvT_", "ops::sum<const int*>"},
        {"_ZN2cg7details4syncEv", "cg::details::sync"},
        {"_Z4scanI6float4EvPT_", "scan<float4>"},
        {"_Z4scanI6__halfLi2EEvv", "scan<__half,2>"},
        {"_Z1kIN3ops3AddIfEELi3EEvv", "k<ops::Add<float>,3>"},
        {"_Z1kIJifdEEvDpT_", "k<int,float,double>"},
        {"_Z1kIJEEvDpT_", "k<>"},
        {"_Z1kIKPKfEvT_", "k<const float* const>"},
        {"_Z1kIPViEvT_", "k<int volatile*>"},
        {"_Z1kIRiOfEvv", "k<int&,float&&>"},
        {"_ZN12_GLOBAL__N_13sumEPi", "sum"},
        {"_ZN57_INTERNAL_00000000_4_k_cu_00000000_000003sumEPi", NULL},
        {"_ZL3sumPi", "sum"},
        {"_ZNSt3barIiE3fooEv", "std::bar<int>::foo"},
        {"_ZN3cub10DeviceScanINS_3SumEE3RunEv", "cub::DeviceScan<cub::Sum>::Run"},
        {"_ZN1a1bIS_EEvv", "a::b<a>"},
        {"_Z1kI1AIS0_IiEEEvv", NULL},
        {"_Z1kIDF16_DF16bEvv", "k<_Float16,__bf16>"},
        {"_Z1kIifEvT_1AIT0_EPT0_", "k<int,float>"},
        {"_Z1kIN1AIifE1BIT0_EEEvv", NULL},
        {"_Z1kISt4pairIifEEvv", "k<std::pair<int,float>>"},
        {"_Z1kISaIcESsEvv", "k<std::allocator<char>,std::string>"},
        {"_Z1kIDpiEvv", "k<int>"},
        {"_Z1kIDxEvv", "_Z1kIDxEvv"},
        {"_ZN8__main__3sumB2v1B4cw51E5ArrayIfLi1E1C7mutable7alignedE", "__main__::sum"},
        {"_Z3sumB2v1Pi", "sum"},
        {"_Z3sumBPi", "_Z3sumBPi"},
        {"_Z3sumB9vPi", "_Z3sumB9vPi"},
        /* variables of functions: their own names */
        {"_ZZ7shuffleIf3SumEvPKT_PS1_jE9warp_sums", "warp_sums"},
        {"_ZZ1kPiE4tile_0", "tile"},
        {"_ZZ1kPiE6tile_0", "tile_0"},
        {"_ZZ1kPiE99999999999999999999tile", "_ZZ1kPiE99999999999999999999tile"},
        {"_ZZ1kPiE18446744073709551615tile", "_ZZ1kPiE18446744073709551615tile"},
        {"_ZZ1k", "_ZZ1k"},
        /* what is not understood stays as it is */
        {"_Z", "_Z"},
        {"_Zfoo", "_Zfoo"},
        {"_Z99short", "_Z99short"},
        {"_Z1kIiEE", "k<int>"},
        {"_Z1kIS_Evv", "k<k>"},
        {"_Z1kIS9_Evv", "_Z1kIS9_Evv"},
        {"_Z1kIT_Evv", "_Z1kIT_Evv"},
        {"_Z1kIXadL_Z1fvEEEvv", "_Z1kIXadL_Z1fvEEEvv"},
        {"_Z1kIZ4hostvEUlvE_EvT_", "_Z1kIZ4hostvEUlvE_EvT_"},
        {"_ZplRK1AS1_", "_ZplRK1AS1_"},
        {"_Z1kIFviEEvv", "_Z1kIFviEEvv"},
    };
    PtxModule *module = parse_module(".version 7.0\n.target sm_75\n.entry k() { ret; }");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = ptx_readable_name(module, rows[i][0]);
        if (rows[i][1] && strcmp(name, rows[i][1]) != 0)
            fail_msg("%s is %s, not %s", rows[i][0], name, rows[i][1]);
        assert_ptr_equal(ptx_readable_name(module, rows[i][0]), name); /* kept */
    }
    ptx_module_free(module);
}

/* Substitutions can describe names of exponential length, and types can nest without end. */
static void hostile_names_end(void **state) {
    (void)state;
    PtxModule *module = parse_module(".version 7.0\n.target sm_75\n.entry k() { ret; }");
    Text text = {0};
    text_add(&text, "_Z1kI1AIiiiiiiiiE");
    for (int i = 1; i < 30; i++) {
        text_print(&text, "1AI");
        for (int k = 0; k < 8; k++) text_print(&text, "S%c_", i < 10 ? '0' + i : 'A' + i - 10);
        text_add(&text, "E");
    }
    text_add(&text, "Evv");
    assert_true(strlen(ptx_readable_name(module, text_string(&text))) <= 4096);
    text_clear(&text);
    text_add(&text, "_Z1kI");
    for (int i = 0; i < 100000; i++) text_add(&text, "P");
    text_add(&text, "iEvv");
    assert_string_equal(ptx_readable_name(module, text_string(&text)), text_string(&text));
    text_done(&text);
    ptx_module_free(module);
}

static const char entries[] = ".version 7.0\n.target sm_75\n.func helper() { ret; } .entry declared();\n"
                              ".entry _Z6reduceIfLi256EEvPT_() { ret; }\n"
                              ".entry _Z6reduceIfLi128EEvPT_() { ret; }\n"
                              ".entry _Z6reduceIiLi128EEvPT_() { ret; }\n"
                              ".entry _ZN3ops3sumEPi() { ret; }\n"
                              ".entry _Z3maxPi() { ret; }\n"
                              ".entry _Z3maxPf() { ret; }\n"
                              ".entry plain() { ret; }\n";

static void check_found(PtxModule *module, const char *asked, const char *expected) {
    Error error = {0};
    const PtxFunction *found = ptx_module_find_entry(module, asked, &error);
    if (found ? strcmp(found->name, expected) != 0 : strcmp(error.message, expected) != 0)
        fail_msg("%s\n  gives %s\n  not   %s", asked, found ? found->name : error.message, expected);
}

static void entries_are_found_by_name(void **state) {
    (void)state;
    PtxModule *module = parse_module(entries);
    check_found(module, "plain", "plain");
    check_found(module, "_Z3maxPf", "_Z3maxPf");
    check_found(module, "reduce<float,256>", "_Z6reduceIfLi256EEvPT_");
    check_found(module, " reduce< float, 128 > ", "_Z6reduceIfLi128EEvPT_");
    check_found(module, "reduce<int,128>", "_Z6reduceIiLi128EEvPT_");
    check_found(module, "reduce<int, 128ull>", "_Z6reduceIiLi128EEvPT_");
    check_found(module, "reduce<int>", "_Z6reduceIiLi128EEvPT_");
    check_found(module, "ops::sum", "_ZN3ops3sumEPi");
    check_found(module, "sum", "_ZN3ops3sumEPi");
    check_found(
        module, "reduce",
        "several entries are named 'reduce'; choose one with --entry: reduce<float,256>, reduce<float,128>, "
        "reduce<int,128>");
    check_found(module, "max",
                "several entries are named 'max'; choose one with --entry: _Z3maxPi, _Z3maxPf");
    check_found(module, "nothing",
                "there is no entry 'nothing'; --entry is one of: reduce<float,256>, reduce<float,128>, "
                "reduce<int,128>, ops::sum, _Z3maxPi, "
                "_Z3maxPf, plain");
    check_found(module, "helper",
                "there is no entry 'helper'; --entry is one of: reduce<float,256>, reduce<float,128>, "
                "reduce<int,128>, ops::sum, _Z3maxPi, "
                "_Z3maxPf, plain");
    check_found(
        module, NULL,
        "this file has several entries; choose one with --entry: reduce<float,256>, reduce<float,128>, "
        "reduce<int,128>, ops::sum, _Z3maxPi, "
        "_Z3maxPf, plain");
    ptx_module_free(module);
}

static void the_only_entry_needs_no_name(void **state) {
    (void)state;
    PtxModule *module =
        parse_module(".version 7.0\n.target sm_75\n.func f() { ret; } .entry _Z1kPi() { ret; }");
    check_found(module, NULL, "_Z1kPi");
    check_found(module, "", "there is no entry ''; --entry is one of: k");
    ptx_module_free(module);
}

/* A file may have thousands of entries: the message stays one line of some 500 bytes. */
static void messages_about_many_entries_are_short(void **state) {
    (void)state;
    Text text = {0};
    Error error = {0};
    text_add(&text, ".version 7.0\n.target sm_75\n");
    for (int i = 0; i < 3000; i++) text_print(&text, ".entry entry_number_%d() { ret; }\n", i);
    PtxModule *module = parse_module(text_string(&text));
    assert_null(ptx_module_find_entry(module, "entry", &error));
    size_t length = strlen(error.message);
    assert_true(length < sizeof error.message - 1 && !strcmp(error.message + length - 5, ", ..."));
    ptx_module_free(module);
    text_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(readable), cmocka_unit_test(hostile_names_end),
                                       cmocka_unit_test(entries_are_found_by_name),
                                       cmocka_unit_test(the_only_entry_needs_no_name),
                                       cmocka_unit_test(messages_about_many_entries_are_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
