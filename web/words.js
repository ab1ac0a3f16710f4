/* The page's own words in the language of the link (#language=zh). The program has its own table: src/base/texts. */
"use strict";

const redvizWords = (function () {
  const CHINESE = {
    "redviz is being unpacked ...": "正在解开 redviz……",
    "editor": "编辑器",
    "Save and run": "保存并运行",
    "Begin anew": "从头开始",
    "Close": "关闭",
    "task, goals and hints": "任务、目标和提示",
    "start": "开始",
    "what redviz printed": "redviz 的输出",
    "typed keys": "键入的内容",
    "keys": "按键",
    "home": "主页",
    "step back, left": "后退一步，向左",
    "step forward, right": "前进一步，向右",
    "up": "向上",
    "down": "向下",
    "play": "播放",
    "level before": "上一层",
    "next level": "下一层",
    "page up": "上一页",
    "page down": "下一页",
    "edit": "编辑",
    "menu": "菜单",
    "the keyboard": "键盘",
    "open": "打开",
    "digits": "数字",
    "delete": "删除",
    "a PTX file": "一个 PTX 文件",
    "redviz has ended. A key starts it again; a PTX file can be dropped here, or opened. The end of the address has the options: #kernel=strided&n=4096 is --kernel strided --n 4096, #exercise lists exercises in PTX.":
      "redviz 已结束。按任意键重新开始；也可以把 PTX 文件拖到这里，或打开一个。地址的末尾是选项：#kernel=strided&n=4096 就是 --kernel strided --n 4096，#exercise 列出 PTX 练习。",
    "A browser compiles no CUDA C++: .cu files need redviz in a terminal.": "浏览器不能编译 CUDA C++：.cu 文件需要终端里的 redviz。",
    "Start here": "从这里开始",
    "Divergence": "分歧",
    "A warp takes both paths of a branch, one after the other.": "一个 warp 先后执行分支的两条路径。",
    "Banks": "bank",
    "Lanes that want different words of one bank wait for each other.": "要同一个 bank 里不同字的 lane 要互相等待。",
    "Shuffles": "shuffle",
    "Lanes read each other's registers, without shared memory.": "lane 直接读取彼此的寄存器，不用共享内存。",
    "taken": "进入",
    "not taken": "不进入",
    "lanes": "lane",
    "banks": "bank",
    "registers": "寄存器",
    "+ lane 4 up": "+ 高 4 的 lane",
    "+ lane 2 up": "+ 高 2 的 lane",
    "Lectures": "讲座",
    "%1 minutes": "%1 分钟",
    "Exercises": "练习",
    "In PTX, in this page:": "用 PTX，就在本页：",
    "In CUDA C++": "用 CUDA C++",
    "Each needs a compiler: pip install 'redviz[cuda]', or solve it in PTX.": "每个都需要编译器：pip install 'redviz[cuda]'；也可以用 PTX 来做。",
    "solved": "已解决",
    "solved in PTX": "已用 PTX 解决",
    "in PTX": "用 PTX",
    "%1, in PTX": "%1，用 PTX",
    "Kernels": "kernel",
    "Your own PTX": "你自己的 PTX",
    "Your own PTX: a file that nvcc -ptx wrote, chosen or dropped onto this page. It stays in this browser.": "你自己的 PTX：nvcc -ptx 写出的文件，可以选择，也可以拖到本页。它只留在这个浏览器里。",
    "It needs a compiler: pip install 'redviz[cuda]', then redviz --exercise %1; or solve it in PTX, in this page.": "它需要编译器：pip install 'redviz[cuda]'，然后 redviz --exercise %1；也可以在本页用 PTX 来做。",
    "It needs a compiler: pip install 'redviz[cuda]', then redviz --exercise %1.": "它需要编译器：pip install 'redviz[cuda]'，然后 redviz --exercise %1。",
    "solve it in PTX": "用 PTX 来做",
    "all exercises": "全部练习",
    "Hint %1 of %2": "第 %1 条提示，共 %2 条",
    "was %1": "原来是 %1",
    "%1 of %2 goals": "已达到 %1 个目标，共 %2 个",
    "%1 of %2 goals, %3 moved": "已达到 %1 个目标，共 %2 个，%3 个有变化",
    "Goals: being graded ...": "目标：正在评分……"
  };
  let isChinese = false;

  /* %1, %2, ... are the values. */
  function tr(text, ...values) {
    return ((isChinese && CHINESE[text]) || text).replace(/%(\d)/g, (all, number) => values[number - 1]);
  }

  /* What the page's own file says, in English at first. */
  function translatePage() {
    const isUnpacking = !document.documentElement.dataset.firstFrame;
    for (const element of document.querySelectorAll("[aria-label]:not(#frame):not(#front *)")) {
      element.english = element.english || element.getAttribute("aria-label");
      element.setAttribute("aria-label", tr(element.english));
    }
    for (const part of document.querySelectorAll("#editor > p, #keys, #digits" + (isUnpacking ? ", #frame" : ""))) {
      const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        node.english = node.english || node.data;
        const words = node.english.trim();
        if (CHINESE[words]) node.data = node.english.replace(words, tr(words));
      }
    }
  }

  return {
    CHINESE,
    tr,
    use(language) {
      isChinese = language === "zh";
      document.documentElement.lang = isChinese ? "zh" : "en";
      translatePage();
    },
    isChinese: () => isChinese,
    /* A link that keeps the language: "#lecture=banks&language=zh". */
    link: (hash) => "#" + [hash, isChinese ? "language=zh" : ""].filter(Boolean).join("&")
  };
})();
