/* The page of redviz --html: steps through frames. tui/draw/html.h says how a frame is written. */
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = {
    en: { beat: "beat", level: "level", play: "play", pause: "pause", wavefront: "wavefront", conflict: "conflict",
          divergence: "divergence", hazard: "hazard", picture: "picture", colours: "colours", fit: "fit", space: "Space",
          beatBack: "beat before", levelBack: "level before", frame: "the screen of redviz",
          notes: "notes", text: "text", larger: "larger text", smaller: "smaller text", restart: "restart the clock",
          elapsed: "since the start", time: "time of day", follows: "Next:", last: "This is the last stop.",
          blocked: "the browser opened no second window",
          stop: "stop", next: "next stop", back: "back", of: "of", end: "the last frame",
          cut: "this page ends here; redviz shows the rest", answer: "Answer", show: "Show it", number: "your answer",
          right: "Right:", wrong: "No, it is", yours: "your answer:", shown: "The answer:",
          waits: "figures are hidden until the question is answered", none: "type a number",
          score: "Your answers:", rightOf: "right" },
    zh: { beat: "拍", level: "层", play: "播放", pause: "暂停", wavefront: "wavefront", conflict: "冲突",
          divergence: "分歧", hazard: "hazard", picture: "图", colours: "配色", fit: "适应宽度", space: "空格",
          beatBack: "上一拍", levelBack: "上一层", frame: "redviz 的画面",
          notes: "备注", text: "文字", larger: "放大文字", smaller: "缩小文字", restart: "重新计时",
          elapsed: "已用时间", time: "当前时间", follows: "下一节：", last: "这是最后一节。",
          blocked: "浏览器没有打开第二个窗口",
          stop: "第", next: "下一节", back: "上一节", of: "/", end: "最后一帧",
          cut: "本页到此为止；其余部分请在 redviz 中查看", answer: "回答", show: "显示答案", number: "你的答案",
          right: "正确：", wrong: "不对，是", yours: "你的答案：", shown: "答案：",
          waits: "回答之前，数字都被隐藏", none: "请输入一个数字",
          score: "你的成绩：", rightOf: "正确" }
  };
  const say = words[data.language] || words.en;
  const root = document.documentElement;
  const isLecture = !!data.questions;
  const size = data.columns * data.rows;
  const frameElement = document.getElementById("frame"), note = document.getElementById("note");
  const seek = document.getElementById("seek"), buttonBar = document.getElementById("buttons");

  /* ---- frames */

  /* Frames follow from the one before; the last one that was made is kept. */
  let made = { list: null, index: -1, cells: [] };
  function cellsOf(list, index) {
    if (made.list !== list || made.index > index) made = { list: list, index: -1, cells: new Array(size) };
    while (made.index < index) redvizFrames.apply(list[++made.index], made.cells);
    return made.cells;
  }

  const showCells = redvizFrames.screen(frameElement);
  function draw(cells) {
    showCells(cells, data.columns, data.rows);
  }

  /* ---- where we are */

  const states = data.tracks.map((track, i) => ({
    frame: track.start, picture: 0, waits: isLecture && data.asks && !!data.questions[i], right: null
  }));
  let stop = 0, timer = 0, speed = 1;
  const track = () => data.tracks[stop], state = () => states[stop];
  const frames = () => track().pictures[state().picture];
  const firstFrame = () => track().revealed ? 1 : 0;
  const lastFrame = () => state().waits ? state().frame : track().way[track().way.length - 1];
  /* Of a frame: its step; and which frames are beats, which are on the way. A landing is where only a jump leads. */
  for (const one of data.tracks) {
    const frames = Array.from(one.kinds, (kind, i) => i);
    one.beats = frames.filter((i) => one.kinds[i] === "b");
    one.way = frames.filter((i) => one.kinds[i] !== "x");
  }
  const stepOf = (frame) => track().steps[frame];
  /* Frames of a question's keys are beats one after the other, at whichever step. */
  const isReveal = (frame) => frame < track().revealed;
  /* The number of the beat that a frame belongs to, from 0; -1: it lies before the first. */
  function beatOf(frame) {
    let found = -1;
    track().beats.forEach((beat, i) => {
      if (beat <= frame || (!isReveal(beat) && !isReveal(frame) && stepOf(beat) <= stepOf(frame))) found = i;
    });
    return found;
  }

  function show() {
    draw(cellsOf(frames(), state().frame));
    const beats = track().beats, beat = Math.max(0, beatOf(state().frame)), atEnd = !state().waits && state().frame >= lastFrame();
    seek.max = beats.length - 1;
    seek.value = beat;
    seek.disabled = state().waits || beats.length < 2;
    seek.setAttribute("aria-label", say.beat);
    let text = isLecture ? (say === words.zh ? "第 " + (stop + 1) + " / " + states.length + " 节"
                                             : say.stop + " " + (stop + 1) + " " + say.of + " " + states.length) + "   " : "";
    if (state().waits) text += say.waits;
    else if (atEnd && track().way.length > 1) text += track().cut ? say.cut : say.end;
    note.textContent = text;
    for (const button of buttonBar.children) button.update();
    showNotes();
    if (!isLecture && state().frame !== track().start) remember("#beat-" + (beat + 1));
    root.dataset.stop = stop + 1;
    root.dataset.frame = state().frame;
  }

  function remember(hash) {
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  function goTo(frame) {
    if (state().waits) return;
    state().frame = Math.max(firstFrame(), Math.min(frame, frames().length - 1));
    show();
  }

  function byBeats(count) {
    const beats = track().beats, from = state().frame, beat = beatOf(from);
    /* From behind a beat without being at its step, the first way back is to it. */
    const between = beat >= 0 && !isReveal(from) && stepOf(beats[beat]) !== stepOf(from) && count < 0 ? 1 : 0;
    const to = beats[Math.max(0, Math.min(beats.length - 1, beat + count + between))];
    if (to !== undefined && (count > 0) === (to > from)) goTo(to);
  }

  function byWavefronts(count) {
    const way = track().way, to = way.indexOf(state().frame) + count;
    if (way.includes(state().frame) && to >= 0 && to < way.length && track().kinds[count > 0 ? way[to] : state().frame] === "w")
      goTo(way[to]);
  }

  /* From one of the key's places to the next; from elsewhere to the nearest. */
  function byJump(key, count) {
    const to = (track().jumps[key] || []).filter((frame) => frame >= firstFrame()), from = state().frame;
    const at = to.indexOf(from), begin = firstFrame();
    let next;
    if (at >= 0) next = to[at + count];
    else if (count > 0) next = to.find((frame) => frame > from && stepOf(frame) >= stepOf(from));
    else next = to.filter((frame) => frame < from).pop();
    if (next !== undefined) goTo(next);
    else if (count < 0 && from > begin && (key === "]" || key === "j")) goTo(begin);
  }

  function play(on) {
    clearTimeout(timer);
    timer = 0;
    if (on && state().frame < lastFrame()) timer = setTimeout(tick, 250 / speed);
  }

  function tick() {
    goTo(track().way.find((frame) => frame > state().frame));
    play(true);
    for (const button of buttonBar.children) button.update();
  }

  /* ---- stops and questions */

  const sections = Array.from(document.querySelectorAll(".stop"));
  const texts = sections.map((section) => section.cloneNode(true)); /* without what is added for the reader */

  function goToStop(index) {
    if (!isLecture) return;
    play(false);
    stop = Math.max(0, Math.min(states.length - 1, index));
    if (!state().waits) state().frame = track().revealed || track().start;
    sections.forEach((section, i) => section.classList.toggle("now", i === stop));
    remember("#stop-" + (stop + 1));
    showScore();
    show();
    scrollTo(0, 0);
    if (track().plays && !state().waits) play(true);
  }

  function showScore() {
    const last = sections[sections.length - 1];
    const asked = data.questions.map((question, i) => [question, states[i].right]).filter((pair) => pair[0] && pair[1] !== null);
    const old = last.querySelector(".score");
    if (old) old.remove();
    if (!asked.length || stop !== states.length - 1) return;
    const topics = new Map();
    for (const [question, right] of asked) {
      const counts = topics.get(question.topic) || [0, 0];
      topics.set(question.topic, [counts[0] + (right ? 1 : 0), counts[1] + 1]);
    }
    const list = Array.from(topics, ([topic, counts]) => topic + " " + counts[0] + " " + say.of + " " + counts[1]);
    const score = document.createElement("p");
    score.className = "score";
    score.textContent = say.score + " " + asked.filter((pair) => pair[1]).length + " " + say.of + " " + asked.length + " " +
      say.rightOf + ": " + list.join(", ");
    last.append(score);
  }

  function isRight(question, typed) {
    if (question.choices.length) return question.choices[Number(typed) - 1] === question.value;
    const wanted = Number(question.value);
    return Math.abs(Number(typed) - wanted) <= 1e-9 * Math.abs(wanted);
  }

  /* `typed` null: it is shown without an answer. */
  function answer(index, typed) {
    const question = data.questions[index], verdict = sections[index].querySelector(".verdict");
    if (!states[index].waits) return;
    const isChoice = question.choices.length > 0;
    const isNumber = typed !== null && String(typed).trim() !== "" && isFinite(Number(typed));
    if (typed !== null && (!isNumber || (isChoice && !question.choices[Number(typed) - 1]))) {
      verdict.textContent = say.none;
      return;
    }
    const right = typed !== null && isRight(question, typed);
    if (states[index].right === null) states[index].right = right;
    states[index].waits = false;
    verdict.className = "verdict " + (right ? "right" : typed === null ? "" : "wrong");
    const given = isChoice && typed !== null ? question.choices[Number(typed) - 1] : typed;
    verdict.textContent = right ? say.right + " " + question.value
      : typed === null ? say.shown + " " + question.value
      : say.wrong + " " + question.value + " (" + say.yours + " " + given + ")";
    for (const control of sections[index].querySelectorAll(".question button, .question input")) control.disabled = true;
    goTo(firstFrame());
    reveal(index);
  }

  /* What was asked for happens, frame by frame. */
  function reveal(index) {
    clearTimeout(timer);
    timer = 0;
    if (stop !== index || state().frame >= track().revealed) return;
    timer = setTimeout(() => { goTo(state().frame + 1); reveal(index); }, 500);
  }

  function make(tag, parent, text) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  function addMarks(box, input) {
    const grid = make("div", box);
    grid.className = "marks";
    for (let bit = 0; bit < 32; bit++) {
      const button = make("button", grid, String(bit));
      button.type = "button";
      button.setAttribute("aria-pressed", "false");
      button.onclick = () => {
        button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") === "false");
        let mask = 0;
        Array.from(grid.children).forEach((one, i) => { if (one.getAttribute("aria-pressed") === "true") mask += 2 ** i; });
        input.value = mask ? "0x" + mask.toString(16) : "";
      };
    }
  }

  function addControls(question, index) {
    const box = sections[index].querySelector(".question");
    if (question.choices.length) {
      Array.from(box.querySelectorAll(".choices li")).forEach((item, i) => {
        const button = document.createElement("button");
        button.type = "button";
        make("kbd", button, String(i + 1));
        button.append(...item.childNodes);
        button.onclick = () => answer(index, i + 1);
        item.append(button);
      });
    } else {
      const input = document.createElement("input");
      input.inputMode = question.points ? "text" : "decimal";
      input.setAttribute("aria-label", say.number);
      input.placeholder = say.number;
      input.onkeydown = (event) => { if (event.key === "Enter") { event.stopPropagation(); answer(index, input.value); input.blur(); } };
      if (question.points) addMarks(box, input);
      box.append(input);
      make("button", box, say.answer).onclick = () => answer(index, input.value);
    }
    make("button", box, say.show).onclick = () => answer(index, null);
    const verdict = make("p", box);
    verdict.className = "verdict";
    verdict.setAttribute("role", "status");
  }

  /* ---- keys and buttons */

  function toggleColours() {
    const dark = (root.dataset.theme || (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark")) === "dark";
    root.dataset.theme = dark ? "light" : "dark";
    if (notes) notes.document.documentElement.dataset.theme = root.dataset.theme;
  }

  /* The frame fills the width where that leaves it readable; else it scrolls, or is fitted on demand. */
  const SMALLEST = 9, READABLE = 11, LARGEST = 24, DEFAULT_CELL = 0.602;
  const stage = document.getElementById("stage");
  let fitted = false, larger = 1;
  function resize() {
    const main = document.querySelector("main").clientWidth - 26, isWide = innerWidth >= 900;
    const beside = isLecture && innerWidth >= 1200 && !root.classList.contains("alone") ? Math.max(350, main * 0.27) : 0;
    const width = (main - beside) / (data.columns * DEFAULT_CELL);
    const set = (size) => { frameElement.style.fontSize = size + "px"; };
    if (fitted || !isWide) return set(fitted ? Math.min(width, LARGEST) : Math.max(SMALLEST, Math.min(width, 16)));
    /* A larger frame is wider, and then the buttons take fewer rows. */
    set(Math.max(SMALLEST, Math.min(width, READABLE)));
    for (let i = 0; i < 2; i++) {
      const others = stage.offsetHeight - frameElement.offsetHeight + 28;
      set(Math.max(SMALLEST, Math.min(width, LARGEST, Math.max((innerHeight - others) / (data.rows * 1.19), READABLE))));
    }
  }

  /* ---- a lecture on a projector: the text, and notes in a second window */

  function toggleText() {
    root.classList.toggle("alone");
    resize();
  }

  function resizeText(count) {
    larger = Math.max(0.6, Math.min(3, larger * 1.15 ** count));
    root.style.setProperty("--larger", larger);
  }

  const two = (number) => String(number).padStart(2, "0");
  let notes = null, began = 0, largerNotes = 1;

  /* The second window has no script: this one writes it, and takes its keys. */
  function openNotes() {
    if (!notes || notes.closed) {
      notes = window.open("", "redviz-notes", "popup,width=1000,height=720");
      if (!notes) {
        note.textContent = say.blocked;
        return;
      }
      writeNotes(notes.document);
    }
    notes.focus();
  }

  function writeNotes(page) {
    page.open();
    page.write("<!doctype html><html><head></head><body><main></main></body></html>");
    page.close();
    page.title = say.notes + " - " + document.title;
    page.documentElement.lang = document.documentElement.lang;
    page.documentElement.className = "notes";
    if (root.dataset.theme) page.documentElement.dataset.theme = root.dataset.theme;
    page.head.append(page.importNode(document.querySelector("style"), true));
    const main = page.querySelector("main"), clocks = make("p", main);
    clocks.id = "clocks";
    for (const clock of ["elapsed", "time"]) {
      make("span", clocks, say[clock] + " ");
      make("strong", clocks).id = clock;
    }
    make("h1", main).id = "where";
    make("article", main).id = "now";
    make("p", main).id = "follows";
    const bar = make("nav", main);
    bar.id = "buttons";
    const orders = [
      ["PgUp", "back", () => goToStop(stop - 1)], ["PgDn", "next", onward], ["←", "beatBack", () => byBeats(-1)],
      ["→", "beat", () => byBeats(1)], ["t", "text", toggleText], ["-", "smaller", () => resizeNotes(-1)],
      ["+", "larger", () => resizeNotes(1)], ["0", "restart", restartClock]
    ];
    for (const [key, word, act] of orders) {
      const button = make("button", bar);
      button.type = "button";
      make("kbd", button, key);
      make("span", button, say[word]);
      button.onclick = () => { play(false); act(); };
    }
    notes.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "0") restartClock();
      else if (event.key === "+" || event.key === "-") resizeNotes(event.key === "+" ? 1 : -1);
      else if (event.key !== "n") takeKey(event);
    });
    notes.addEventListener("pagehide", () => notes.close()); /* reloaded, it would be a lecture of its own */
    resizeNotes(0);
    notes.setInterval(showClocks, 1000);
    restartClock();
    showNotes();
  }

  function resizeNotes(count) {
    largerNotes = Math.max(0.6, Math.min(3, largerNotes * 1.15 ** count));
    notes.document.documentElement.style.setProperty("--larger", largerNotes);
  }

  function restartClock() {
    began = Date.now();
    showClocks();
  }

  function showClocks() {
    const now = new Date(), seconds = Math.floor((now - began) / 1000), of = (id) => notes.document.getElementById(id);
    of("elapsed").textContent = Math.floor(seconds / 60) + ":" + two(seconds % 60);
    of("time").textContent = two(now.getHours()) + ":" + two(now.getMinutes());
  }

  function showNotes() {
    if (!notes || notes.closed) return;
    const of = (id) => notes.document.getElementById(id), isLast = stop + 1 === texts.length;
    const where = note.textContent + " " + state().waits; /* the rest depends on the stop alone */
    if (of("where").dataset.is === where) return;
    of("where").dataset.is = where;
    of("where").textContent = note.textContent;
    of("now").replaceChildren(...texts[stop].cloneNode(true).childNodes);
    const question = data.questions[stop];
    if (question) make("p", of("now"), say.shown + " " + question.value).className = "right";
    of("follows").textContent = isLast ? say.last : say.follows + " " + texts[stop + 1].querySelector("h2").textContent;
    notes.scrollTo(0, 0);
  }

  function otherPicture(count) {
    if (state().waits) return;
    const many = track().pictures.length;
    state().picture = (state().picture + count + many) % many;
    show();
  }

  const canBeWavefront = () => { const way = track().way; return track().kinds[way[way.indexOf(state().frame) + 1]] === "w"; };
  const goesBack = () => state().frame > firstFrame() && !state().waits, goesOn = () => state().frame < lastFrame();
  const has = (key) => () => (track().jumps[key] || []).length > 0 && !state().waits;
  const hasLevels = () => has("]")();
  const CONFLICT = isLecture ? "c" : "n"; /* n: the notes of a lecture */
  /* key, word, what it does, whether it can, whether the run has it at all */
  const always = () => true;
  const hasAny = (key) => () => data.tracks.some((one) => one.jumps[key] && one.jumps[key].length);
  const actions = [
    ["PgUp", "back", () => goToStop(stop - 1), () => stop > 0, () => isLecture],
    ["PgDn", "next", () => onward(), () => stop + 1 < states.length || state().waits, () => isLecture],
    ["←", "beatBack", () => byBeats(-1), goesBack, always],
    ["→", "beat", () => byBeats(1), goesOn, always],
    ["[", "levelBack", () => byJump("]", -1), () => hasLevels() && goesBack(), hasAny("]")],
    ["]", "level", () => byJump("]", 1), hasLevels, hasAny("]")],
    [say.space, "play", () => play(!timer), goesOn, always],
    [".", "wavefront", () => byWavefronts(1), () => goesOn() && canBeWavefront(),
     () => data.tracks.some((one) => one.kinds.includes("w"))],
    [CONFLICT, "conflict", () => byJump("n", 1), has("n"), hasAny("n")],
    ["d", "divergence", () => byJump("d", 1), has("d"), hasAny("d")],
    ["f", "hazard", () => byJump("f", 1), has("f"), hasAny("f")],
    ["r", "picture", () => otherPicture(1), () => track().pictures.length > 1,
     () => data.tracks.some((one) => one.pictures.length > 1)],
    ["t", "text", toggleText, always, () => isLecture],
    ["n", "notes", openNotes, always, () => isLecture],
    ["C", "colours", toggleColours, always, always],
    ["↔", "fit", () => { fitted = !fitted; resize(); }, always, () => innerWidth < 900]
  ];

  for (const [key, word, act, can, exists] of actions) {
    if (!exists()) continue;
    const button = make("button", buttonBar);
    button.type = "button";
    make("kbd", button, key);
    const label = make("span", button, /Back$/.test(word) ? "" : say[word]);
    button.setAttribute("aria-label", say[word] + " " + key);
    button.update = () => {
      button.disabled = !can();
      if (word === "play") label.textContent = timer ? say.pause : say.play;
      if (word === "play") button.setAttribute("aria-label", label.textContent + " " + key);
      if (word === "fit") button.setAttribute("aria-pressed", fitted);
      if (word === "text") button.setAttribute("aria-pressed", !root.classList.contains("alone"));
    };
    const looks = ["play", "colours", "fit", "text", "notes"].includes(word); /* the run may play on */
    button.onclick = () => { if (!looks) play(false); act(); button.update(); };
  }

  const toEnd = () => goTo(lastFrame());
  const keys = {
    ArrowRight: () => byBeats(1), l: () => byBeats(1), ArrowLeft: () => byBeats(-1), h: () => byBeats(-1),
    "]": () => byJump("]", 1), "[": () => byJump("]", -1), ".": () => byWavefronts(1), ",": () => byWavefronts(-1),
    ArrowDown: () => byJump("j", 1), j: () => byJump("j", 1), ArrowUp: () => byJump("j", -1), k: () => byJump("j", -1),
    [CONFLICT]: () => byJump("n", 1), N: () => byJump("n", -1), d: () => byJump("d", 1), D: () => byJump("d", -1),
    f: () => byJump("f", 1), F: () => byJump("f", -1), b: () => byJump("b", 1), ")": () => byJump("b", 1),
    "(": () => byJump("b", -1), g: () => goTo(firstFrame()), G: toEnd, End: toEnd,
    r: () => otherPicture(1), R: () => otherPicture(-1), C: toggleColours,
    Home: () => isLecture ? goToStop(0) : goTo(0),
    PageDown: () => isLecture ? onward() : byBeats(10), PageUp: () => isLecture ? goToStop(stop - 1) : byBeats(-10),
    Enter: () => isLecture ? onward() : byJump("j", 1),
    ">": () => { speed = Math.min(64, speed * 2); }, "<": () => { speed = Math.max(0.25, speed / 2); }
  };
  Object.assign(keys, isLecture ? { n: openNotes, t: toggleText, "+": () => resizeText(1), "-": () => resizeText(-1) }
                                : { "+": keys[">"], "-": keys["<"] });

  function onward() {
    if (state().waits) answer(stop, null);
    else if (stop + 1 < states.length) goToStop(stop + 1);
  }

  /* A digit while a question waits is the begin of an answer, or the number of a choice. */
  function typeAnswer(key) {
    const question = isLecture && state().waits && data.questions[stop];
    if (!question || !/^[0-9]$/.test(key)) return false;
    const input = sections[stop].querySelector(".question input");
    if (question.choices.length) answer(stop, Number(key));
    else if (input) input.focus(); /* the digit goes there */
    return true;
  }

  function takeKey(event) {
    const target = event.target.tagName;
    if (event.ctrlKey || event.altKey || event.metaKey || (target === "INPUT" && event.target !== seek)) return;
    if (typeAnswer(event.key)) return;
    if (event.key === " ") {
      if (target === "BUTTON") return;
      event.preventDefault();
      play(!timer);
      show();
      return;
    }
    const act = keys[event.key];
    if (!act || (event.key === "Enter" && (target === "BUTTON" || target === "A"))) return;
    event.preventDefault();
    if (act !== openNotes && act !== toggleText && !"+-<>".includes(event.key)) play(false);
    act();
    for (const button of buttonBar.children) button.update();
  }

  addEventListener("keydown", takeKey);
  addEventListener("pagehide", () => { if (notes) notes.close(); });

  seek.addEventListener("input", () => { play(false); goTo(track().beats[Number(seek.value)]); });

  /* A swipe over a frame that does not scroll. */
  let touch = null;
  frameElement.addEventListener("touchstart", (event) => { touch = event.touches.length === 1 ? event.touches[0] : null; }, { passive: true });
  frameElement.addEventListener("touchend", (event) => {
    if (!touch || frameElement.scrollWidth > frameElement.clientWidth + 1) return;
    const end = event.changedTouches[0], x = end.clientX - touch.clientX, y = end.clientY - touch.clientY;
    if (Math.abs(x) > 40 && Math.abs(x) > 2 * Math.abs(y)) { play(false); byBeats(x < 0 ? 1 : -1); }
  }, { passive: true });

  /* ---- the beginning */

  function followLink() {
    const found = /^#(stop|beat)-([0-9]+)$/.exec(location.hash);
    if (found && found[1] === "stop" && isLecture) goToStop(Number(found[2]) - 1);
    else if (found && found[1] === "beat" && !isLecture) goTo(track().beats[Math.min(found[2], track().beats.length) - 1] || 0);
    else if (isLecture) goToStop(stop);
    else show();
  }

  if (isLecture && data.asks) data.questions.forEach((question, i) => { if (question) addControls(question, i); });
  root.classList.add("js");
  root.classList.toggle("lecture", isLecture);
  stage.hidden = false;
  frameElement.setAttribute("aria-label", say.frame);
  followLink();
  resize();
  addEventListener("resize", resize);
  addEventListener("hashchange", followLink);
  if (!isLecture && track().plays) play(true);
})();
