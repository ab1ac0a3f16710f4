#include "tui/quiz_words.h"

#include <string.h>

static const QuizWords english = {
    .language = "en",
    .topics = {[ASK_LEVELS] = "levels",
               [ASK_LANES] = "lanes",
               [ASK_WAVEFRONTS] = "wavefronts",
               [ASK_SECTORS] = "sectors",
               [ASK_DIVERGENCE] = "divergence",
               [ASK_VALUES] = "values"},
    .lanes = "How many of the %d lanes of warp %d %s?",
    .loads_shared = "load from shared memory",
    .stores_shared = "store to shared memory",
    .loads_global = "load from global memory",
    .stores_global = "store to global memory",
    .executes_atomic = "execute the atomic",
    .executes_shuffle = "execute the shuffle",
    .evaluates_branch = "evaluate the branch",
    .load_wavefronts = "How many wavefronts does the shared load of warp %d take?",
    .store_wavefronts = "How many wavefronts does the shared store of warp %d take?",
    .load_sectors = "How many sectors of 32 bytes does the global load of warp %d touch?",
    .store_sectors = "How many sectors of 32 bytes does the global store of warp %d touch?",
    .divergence =
        "%d warps evaluate this branch. How many of them diverge, so that some of their lanes take it "
        "and others do not?",
    .word_holds = "word %lld holds %.0f",
    .lane_holds = "lane %lld holds %.0f",
    .between_values = ", ",
    .stored = "Now %s. What does lane %d of warp %d store into word %lld?",
    .held = "In warp %d, %s. What does lane %d hold after this shuffle and %s?",
    .addition = "the addition",
    .levels = "In how many levels do the threads of this block combine their values?",
    .line_title = "Line %d: %s",
    .ptx_title = "PTX %d: %s",
    .next_line = "Next comes line %d",
    .next_ptx = "Next comes PTX %d",
    .interval = ", in barrier interval %d",
    .level = ", level %d of the reduction (distance %d)",
    .full_stop = ".",
    .title = "Questions about %s",
    .one = "%d question about a block of this run. Type a number, then Enter; PgDn shows the answer, then "
           "goes on.",
    .many = "%d questions about a block of this run, in the order in which it executes. Type a number, then "
            "Enter; "
            "PgDn shows the answer, then goes on.",
    .levels_title = "Levels",
    .end_title = "The end",
    .end = "PgUp goes back, Home begins again; the first answers count. K opens another kernel, q quits."};

static const QuizWords chinese = {
    .language = "zh",
    .topics = {[ASK_LEVELS] = "level",
               [ASK_LANES] = "lane",
               [ASK_WAVEFRONTS] = "wavefront",
               [ASK_SECTORS] = "sector",
               [ASK_DIVERGENCE] = "发散",
               [ASK_VALUES] = "值"},
    .lanes = "%d 个 lane（warp %d）中，有几个会%s？",
    .loads_shared = "从共享内存读取",
    .stores_shared = "向共享内存写入",
    .loads_global = "从全局内存读取",
    .stores_global = "向全局内存写入",
    .executes_atomic = "执行这次原子操作",
    .executes_shuffle = "执行这条 shuffle",
    .evaluates_branch = "判断这条分支",
    .load_wavefronts = "warp %d 的这次共享内存 load 需要几个 wavefront？",
    .store_wavefronts = "warp %d 的这次共享内存 store 需要几个 wavefront？",
    .load_sectors = "warp %d 的这次全局内存 load 触及几个 32 字节的 sector？",
    .store_sectors = "warp %d 的这次全局内存 store 触及几个 32 字节的 sector？",
    .divergence = "%d 个 warp 判断这条分支。其中几个会发散，也就是一部分 lane 跳转，另一部分不跳？",
    .word_holds = "word %lld 是 %.0f",
    .lane_holds = "lane %lld 是 %.0f",
    .between_values = "，",
    .stored = "现在 %s。lane %d（warp %d）向 word %lld 写入的值是多少？",
    .held = "在 warp %d 中，%s。lane %d 在这条 shuffle 和%s之后的值是多少？",
    .addition = "加法",
    .levels = "这个 block 的线程分几个 level 合并它们的值？",
    .line_title = "第 %d 行：%s",
    .ptx_title = "PTX %d：%s",
    .next_line = "接下来是第 %d 行",
    .next_ptx = "接下来是 PTX %d",
    .interval = "，在 barrier interval %d",
    .level = "，归约的 level %d（距离 %d）",
    .full_stop = "。",
    .title = "关于 %s 的问题",
    .one = "%d 个问题，关于这次运行中的一个 block。输入数字后按 Enter；PgDn 先显示答案，再到下一题。",
    .many = "%d 个问题，关于这次运行中的一个 block，按执行顺序排列。输入数字后按 Enter；PgDn "
            "先显示答案，再到下一题。",
    .levels_title = "level 的个数",
    .end_title = "结束",
    .end = "PgUp 返回，Home 从头开始；只计第一次的回答。按 K 打开别的 kernel，按 q 退出。"};

const QuizWords *quiz_words(const char *language) {
    return language && !strncmp(language, "zh", 2) ? &chinese : &english;
}
