/* Readable names of mangled functions, and finding an entry by the name that is typed. */
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
        {"_ZN8__main__3sumB2v1B4cw51E5ArrayIfLi1E1C7mutable7alignedE", "sum"},
        {"_ZN9reduction8_factoryB3v12B4cw51E5ArrayIfLi1E1C7mutable7alignedE", "_factory"},
        {"_Z3sumB2v1Pi", "sum"},
        {"_Z3sumBPi", "_Z3sumBPi"},
        {"_Z3sumB9vPi", "_Z3sumB9vPi"},
        {"_Z3redIiL2Op0EEvPKT_PS1_i", "red<int,(Op)0>"},
        {"_Z3algIL9Algorithm1ELj128EEvPKfPf", "alg<(Algorithm)1,128>"},
        {"_Z1kIXadL_Z1fvEEEvv", "k<&f>"},
        {"_Z1kIFviEEvv", "k<void (int)>"},
        {"_Z1kIPFiiiES1_Evv", "k<int (*)(int,int),int (*)(int,int)>"},
        {"_Z1kIZ4hostvEUlvE_EvT_", "k<host::{lambda()#1}>"},
        {"_Z1kIZ4mainEUlfE0_EvPKfPfT_", "k<main::{lambda(float)#2}>"},
        {"_Z1kIZ4mainEUlT_S0_E_EvPKfPfT_", "k<main::{lambda(auto:1,auto:1)#1}>"},
        {"_Z1kIZ3runIiEvPT_E3AddEvS0_", "k<run<int>::Add>"},
        /* Variables of functions: their own names. */
        {"_ZZ7shuffleIf3SumEvPKT_PS1_jE9warp_sums", "warp_sums"},
        {"_ZZ1kPiE4tile_0", "tile"},
        {"_ZZ1kPiE6tile_0", "tile_0"},
        {"_ZZ1kPiE99999999999999999999tile", "_ZZ1kPiE99999999999999999999tile"},
        {"_ZZ1kPiE18446744073709551615tile", "_ZZ1kPiE18446744073709551615tile"},
        {"_ZZ1k", "_ZZ1k"},
        /* Names that are not understood stay unchanged. */
        {"_Z", "_Z"},
        {"_Zfoo", "_Zfoo"},
        {"_Z99short", "_Z99short"},
        {"_Z1kIiEE", "k<int>"},
        {"_Z1kIS_Evv", "k<k>"},
        {"_Z1kIS9_Evv", "_Z1kIS9_Evv"},
        {"_Z1kIT_Evv", "_Z1kIT_Evv"},
        {"_ZplRK1AS1_", "_ZplRK1AS1_"},
        {"_Z1kIXplLi1ELi2EEEvv", "_Z1kIXplLi1ELi2EEEvv"},
        {"_Z1kIXadL_Z1fvEEvv", "_Z1kIXadL_Z1fvEEvv"},
        {"_Z1kIZ4mainEUlfEvT_", "_Z1kIZ4mainEUlfEvT_"},
        {"_Z1kIZ4mainEUlf", "_Z1kIZ4mainEUlf"},
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

/* Substitutions can describe names of exponential length, and types can nest without limit. */
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

/* As CUDA C++, c++filt (after "void") and redviz spell them. */
static void entries_are_found_in_any_spelling(void **state) {
    (void)state;
    static const char *const names[] = {"_Z3redIiL2Op0EEvPKT_PS1_i",
                                        "_Z3redIiL2Op1EEvPKT_PS1_i",
                                        "_Z3algIL9Algorithm0ELj64EEvPKfPf",
                                        "_Z3algIL9Algorithm1ELj128EEvPKfPf",
                                        "_Z1kIZ4mainEUlfE_EvPKfPfT_",
                                        "_Z1kIZ4mainEUlfE0_EvPKfPfT_",
                                        "_Z3funIiN3ops4PlusELb1EEvPKT_PS2_T0_",
                                        "_Z3litILxn5ELc97EEvPi",
                                        "_Z5packkIJijlEEvPiDpT_",
                                        "_Z2fpIXadL_Z5twiceiEEEvPi",
                                        "_ZN3ops4scanIfLNS_4KindE1EEEvPKT_PS2_",
                                        "_ZN36_GLOBAL__N__d5fbf7f1_4_e_cu_8e4507143hidEPi",
                                        "_Z3maxPi",
                                        "_Z3maxPKf",
                                        "_ZN1SIiE1kIfEEvPT_"};
    static const struct {
        const char *asked;
        int found; /* of `names` */
    } rows[] = {
        {"red<int,(Op)0>", 0},
        {"red< int , (Op) 1 >", 1},
        {"red<int, Op(1)>", 1},
        {"red<int, Op{1}>", 1},
        {"red<int, static_cast<Op>(1)>", 1},
        {"red<int, 1>", 1},
        {"&red<int, 0x1>", 1},
        {"void red<int, (Op)0>(int const*, int*, int)", 0},
        {"red<int, (Op)1>(int const *, int *, int)", 1},
        {"alg<(Algorithm)0>", 2},
        {"alg<(Algorithm)1,128u>", 3},
        {"alg<SHUFFLE, 128>", 3}, /* PTX does not say which it is: 128 decides */
        {"alg<Algorithm::TREE, 64>", 2},
        {"k<main::{lambda(float)#1}>", 4},
        {"void k<main::{lambda(float)#2}>(float const*, float*, main::{lambda(float)#2})", 5},
        {"k<(lambda #2)>", 5},
        {"fun<int, ops::Plus, true>", 6},
        {"fun<int, Plus, (bool)1>", 6},
        {"fun<signed, ::ops::Plus, 1>", 6},
        {"fun<int, Plus>", 6},
        {"lit<-5ll, 'a'>", 7},
        {"lit<(long long)-5, (char)97>", 7},
        {"packk<int, unsigned, int64_t>", 8},
        {"packk<int, uint32_t, long int>", 8},
        {"fp<twice>", 9},
        {"fp<&twice>", 9},
        {"void fp<&(twice(int))>(int*)", 9},
        {"void ops::scan<float, (ops::Kind)1>(float const*, float*)", 10},
        {"scan<float, ops::B>", 10},
        {"ops::scan<float, ops::Kind::B>", 10},
        {"(anonymous namespace)::hid(int*)", 11},
        {"hid", 11},
        {"max(int*)", 12},
        {"max(float const*)", 13},
        {"void max(const float *)", 13},
        {"S<int>::k<float>", 14},
    };
    Text text = {0};
    text_add(&text, ".version 7.0\n.target sm_75\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        text_print(&text, ".entry %s() { ret; }\n", names[i]);
    PtxModule *module = parse_module(text_string(&text));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_found(module, rows[i].asked, names[rows[i].found]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_found(module, names[i], names[i]);
    check_found(
        module, "k<(lambda)>",
        "several entries are named 'k<(lambda)>'; choose one with --entry: k<main::{lambda(float)#1}>, "
        "k<main::{lambda(float)#2}>");
    check_found(module, "red<int, Op::kSum>",
                "several entries are named 'red<int, Op::kSum>'; choose one with --entry: red<int,(Op)0>, "
                "red<int,(Op)1>");
    static const char *const others[] = {"red<int,(Op)2>",
                                         "red<int,(Kind)0>",
                                         "red<int,Kind::kSum>",
                                         "red<float>",
                                         "red<int,0,1>",
                                         "fun<int, Minus>",
                                         "lit<5>",
                                         "fp<once>",
                                         "other::scan",
                                         "k<double>",
                                         "S<float>::k<float>",
                                         "red<int*>",
                                         "red<const int>",
                                         "<",
                                         "(",
                                         ">",
                                         "red<(int)",
                                         "::",
                                         "void ",
                                         "red<int,-1>"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        Error error = {0};
        if (ptx_module_find_entry(module, others[i], &error)) fail_msg("%s is found", others[i]);
        assert_true(strstr(error.message, "there is no entry") != NULL);
    }
    ptx_module_free(module);
    text_done(&text);
}

static void the_only_entry_needs_no_name(void **state) {
    (void)state;
    PtxModule *module =
        parse_module(".version 7.0\n.target sm_75\n.func f() { ret; } .entry _Z1kPi() { ret; }");
    check_found(module, NULL, "_Z1kPi");
    check_found(module, "", "there is no entry ''; --entry is one of: k");
    ptx_module_free(module);
}

/* A file may have thousands of entries: the message stays one line of some 500 bytes, with the nearest
 * names. */
static void messages_about_many_entries_are_short(void **state) {
    (void)state;
    Text text = {0};
    Error error = {0};
    text_add(&text, ".version 7.0\n.target sm_75\n");
    for (int i = 0; i < 3000; i++) text_print(&text, ".entry entry_number_%d() { ret; }\n", i);
    PtxModule *module = parse_module(text_string(&text));
    assert_null(ptx_module_find_entry(module, "number_271", &error));
    assert_string_equal(
        error.message,
        "there is no entry 'number_271'; --entry is one of: entry_number_271, entry_number_2710, "
        "entry_number_2711, entry_number_2712, entry_number_2713, entry_number_2714, "
        "entry_number_2715, entry_number_2716, entry_number_2717, entry_number_2718, ... (3000 in "
        "all: redviz --list FILE)");
    assert_null(ptx_module_find_entry(module, "ENTRY_NUMBR_7", &error));
    assert_true(strstr(error.message, "one of: entry_number_") != NULL);
    ptx_module_free(module);
    text_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(readable),
                                       cmocka_unit_test(hostile_names_end),
                                       cmocka_unit_test(entries_are_found_by_name),
                                       cmocka_unit_test(entries_are_found_in_any_spelling),
                                       cmocka_unit_test(the_only_entry_needs_no_name),
                                       cmocka_unit_test(messages_about_many_entries_are_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
