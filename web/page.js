/* The page: starts the worker, draws what it shows, and sends it keys, the mouse and the size of the window. */
"use strict";
(function () {
  const root = document.documentElement, screen = document.getElementById("frame"), status = document.getElementById("status");
  const printed = document.getElementById("printed"), read = (id) => document.getElementById(id).textContent;
  const show = redvizFrames.screen(screen);
  const CLICK = 2, DRAG = 3, WHEEL = 4, REFUSED = 2;
  const { tr } = redvizWords;
  const front = document.getElementById("front"), lists = JSON.parse(read("lists"));
  const area = screen.parentElement, ruler = document.getElementById("ruler");
  let worker, size, cells = [], shape = [0, 0], ended = false, dropped = null;

  /* #kernel=strided&n=4096&frame becomes --kernel strided --n 4096 --frame. */
  function argumentsOf(hash) {
    const found = [];
    for (const part of hash.replace(/^#/, "").split("&").filter(Boolean)) {
      const at = part.indexOf("="), plain = (text) => decodeURIComponent(text.replace(/\+/g, " "));
      found.push("--" + plain(at < 0 ? part : part.slice(0, at)));
      if (at >= 0) found.push(plain(part.slice(at + 1)));
    }
    return found;
  }

  /* The other way: a word behind an option is its value. */
  function linkOf(words) {
    return words.map((word) => (word.startsWith("--") ? "&" + encodeURIComponent(word.slice(2)) : "=" + encodeURIComponent(word))).join("").slice(1);
  }

  /* The width and the height of a cell. */
  function cellSize() {
    const box = ruler.getBoundingClientRect();
    return [box.width / 100, box.height];
  }

  /* Makes cells of whole pixels, as near to the style's as leaves 60 columns: blocks side by side then have no seams. */
  function fit() {
    ruler.style.cssText = "--fit: 1; --row: 1.19";
    const [width, height] = cellSize().map((length) => length * devicePixelRatio);
    const near = Math.round(width), pixels = area.clientWidth * devicePixelRatio >= 60 * near ? near : Math.floor(width);
    ruler.style.cssText = "";
    area.style.setProperty("--fit", pixels / width);
    area.style.setProperty("--row", Math.round(height * pixels / width) / devicePixelRatio + "px");
  }

  function windowSize() {
    fit();
    const [width, height] = cellSize();
    return [Math.max(20, Math.floor(area.clientWidth / width + 0.01)), Math.max(6, Math.floor(area.clientHeight / height + 0.01))];
  }

  function rowText(row) {
    return cells.slice(row * shape[0], (row + 1) * shape[0]).map((cell) => cell[0]).join("").trim();
  }

  function draw(data) {
    if (!root.dataset.firstFrame) screen.textContent = "";
    if (data.whole) cells = new Array(data.columns * data.rows);
    shape = [data.columns, data.rows];
    redvizFrames.apply(data.frame, cells);
    show(cells, data.columns, data.rows);
    screen.setAttribute("aria-label", (rowText(0) + ". " + rowText(1)).replace(/\s+/g, " "));
    if (!root.dataset.firstFrame) root.dataset.firstFrame = Math.round(performance.now());
    root.dataset.frames = 1 + Number(root.dataset.frames || 0);
  }

  /* ---- the editor ---- */

  const editor = document.getElementById("editor"), source = document.getElementById("source");
  const anew = document.getElementById("anew");
  const lines = redvizLines(source, document.getElementById("numbers"), document.getElementById("bands")), task = redvizTask(document.getElementById("task"));
  let edited = "", runMarks = []; /* lines that the run of a file has something to say about */

  /* "ptx-barrier.ptx" of #exercise=ptx-barrier */
  function exerciseFile() {
    const args = argumentsOf(location.hash), at = args.indexOf("--exercise");
    return at >= 0 && args[at + 1] ? args[at + 1] + ".ptx" : "";
  }

  /* The program has refused a file, which it cannot offer to edit. It has printed "FILE:12: why". */
  function editRefused() {
    const file = dropped ? dropped.name : exerciseFile();
    const text = dropped ? new TextDecoder().decode(dropped.content) : kept.get(file);
    if (text === undefined || !file.endsWith(".ptx")) return;
    const at = printed.textContent.indexOf(file + ":"), found = /^:(\d+):(?:\d+:)? *(.*)/.exec(printed.textContent.slice(at + file.length));
    if (editor.hidden || edited !== file) edit(file, text, found ? Number(found[1]) : 1);
    if (at >= 0 && found) lines.mark([{ line: Number(found[1]), why: found[2] }]);
  }

  const isExercise = () => edited === exerciseFile();

  /* The task stands beside the text of an exercise; below that of another file stands the run. */
  function layOut() {
    editor.classList.toggle("beside", isExercise());
    document.body.classList.toggle("still", !front.hidden || !editor.hidden);
  }

  function takeMarks(marks) {
    runMarks = marks;
    if (!editor.hidden && !isExercise()) lines.mark(marks);
  }

  /* The program tells of the exercise and its goals. */
  function takeExercise(exercise) {
    task.show(exercise);
    if (!editor.hidden && isExercise() && exercise.goals.length) lines.mark(task.marks());
  }

  function edit(file, text, line) {
    edited = file;
    document.getElementById("edited").textContent = file;
    anew.hidden = !isExercise();
    lines.show(text);
    lines.mark(isExercise() ? task.marks() : runMarks);
    editor.hidden = false;
    layOut();
    source.focus();
    const start = text.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    source.setSelectionRange(start, start);
    source.scrollTop = Math.max(0, (line - 5) * source.scrollHeight / Math.max(1, text.split("\n").length));
  }

  function closeEditor() {
    editor.hidden = true;
    layOut();
    screen.focus();
  }

  function save(event) {
    event.preventDefault();
    if (isExercise()) task.wait();
    if (!ended) return worker.postMessage({ save: edited, text: source.value });
    keep(edited, new TextEncoder().encode(source.value));
    start();
  }

  editor.addEventListener("submit", save);
  anew.addEventListener("click", () => {
    keep(edited, null);
    closeEditor();
    start();
  });
  document.getElementById("close").addEventListener("click", closeEditor);
  editor.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") closeEditor();
    else if (event.ctrlKey && /^(Enter|s)$/.test(event.key)) save(event);
  });

  /* ---- what the program writes stays in the browser ---- */

  const KEPT = "redviz:", kept = new Map();
  let storage;
  try {
    storage = localStorage;
    for (const key of Object.keys(storage))
      if (key.startsWith(KEPT)) kept.set(key.slice(KEPT.length), storage.getItem(key));
  } catch (error) { /* a page in an iframe may not */ }

  /* null: it is deleted. */
  function keep(path, content) {
    const text = content && new TextDecoder().decode(content);
    if (dropped && dropped.name === path) dropped.content = content;
    if (content) kept.set(path, text);
    else kept.delete(path);
    try {
      if (content) storage.setItem(KEPT + path, text);
      else storage.removeItem(KEPT + path);
    } catch (error) { /* nor may it, or there is no room: it stays until the page is closed */ }
  }

  function say(text) {
    printed.hidden = false;
    printed.append(text);
  }

  function take({ data }) {
    if (data.frame !== undefined) draw(data);
    else if (data.marks) takeMarks(data.marks);
    else if (data.exercise) takeExercise(data.exercise);
    else if (data.said !== undefined) status.textContent = data.said;
    else if (data.theme === "terminal") delete root.dataset.theme;
    else if (data.theme) root.dataset.theme = data.theme;
    else if (data.style) document.getElementById("colours").textContent = data.style;
    else if (data.written) keep(data.written, data.content);
    else if (data.edit) edit(data.edit, data.text, data.line);
    else if (data.open) location.hash = linkOf(data.open);
    else if (data.printed) say(new TextDecoder().decode(data.printed));
    else {
      ended = true;
      say((data.error || "") + "\n" + tr("redviz has ended. A key starts it again; a PTX file can be dropped here, or opened. The end of the address has the options: #kernel=strided&n=4096 is --kernel strided --n 4096, #exercise lists exercises in PTX.") +
          "\n" + tr("A browser compiles no CUDA C++: .cu files need redviz in a terminal.") + "\n");
      if (data.end === REFUSED) editRefused();
    }
  }

  /* Without options, what there is to start with. */
  function showFront() {
    const solved = (kept.get("data/redviz/solved") || "").split("\n");
    const args = argumentsOf(location.hash), at = args.indexOf("--exercise");
    const refused = at >= 0 && lists.exercises.find((one) => one.name === args[at + 1] && !one.ptx);
    front.hidden = dropped || !(refused || !args.length || (args.length === 2 && args[0] === "--language"));
    layOut();
    if (front.hidden) return false;
    if (worker) worker.terminate();
    worker = null;
    printed.hidden = true;
    if (refused) redvizFront.refuse(front, refused);
    else redvizFront.fill(front, lists, (name) => solved.includes(name), () => chosen.click());
    front.scrollTop = 0;
    front.focus();
    return true;
  }

  function useLanguage() {
    const args = argumentsOf(location.hash), at = args.indexOf("--language");
    redvizWords.use(at >= 0 ? args[at + 1] : "en");
  }

  function start() {
    useLanguage();
    if (showFront()) return;
    if (worker) worker.terminate();
    const code = new Blob([read("worker")], { type: "text/javascript" });
    ended = false;
    runMarks = [];
    printed.hidden = true;
    printed.textContent = "";
    size = windowSize();
    worker = new Worker(URL.createObjectURL(code));
    worker.onmessage = take;
    worker.onerror = (event) => say("the worker has failed: " + event.message + "\n");
    const args = [...(dropped ? ["./" + dropped.name] : []), ...argumentsOf(location.hash)];
    worker.postMessage({ packed: read("packed"), args, kept: [...kept], dropped, columns: size[0], rows: size[1] });
  }

  const names = {
    ArrowRight: "Right", ArrowLeft: "Left", ArrowDown: "Down", ArrowUp: "Up", Home: "Home", End: "End", PageUp: "PageUp",
    PageDown: "PageDown", Tab: "Tab", Enter: "Enter", Escape: "Escape", Backspace: "Backspace", F1: "F1", F10: "F10"
  };
  const controls = { d: "Ctrl-D", l: "Redraw", u: "Erase" };

  function keyOf(event) {
    if (event.altKey || event.metaKey || event.isComposing) return "";
    if (event.ctrlKey) return controls[event.key] || "";
    if (event.key === "Tab" && event.shiftKey) return "BackTab";
    return names[event.key] || ([...event.key].length === 1 ? event.key : "");
  }

  function press(key) {
    if (ended) start();
    else if (worker) worker.postMessage({ key });
  }

  addEventListener("keydown", (event) => {
    const key = keyOf(event);
    if (!worker || !key || (event.target.tagName === "BUTTON" && /^(Enter| )$/.test(event.key))) return;
    event.preventDefault();
    press(key);
  });
  for (const button of document.querySelectorAll("[data-key]"))
    button.addEventListener("click", () => press(keyOf({ key: button.dataset.key })));

  /* ---- what a finger lacks: digits, a keyboard, a file to drop ---- */

  const digit = document.getElementById("digit"), digits = document.getElementById("digits");
  digit.addEventListener("click", () => {
    digits.hidden = !digits.hidden;
    digit.setAttribute("aria-expanded", String(!digits.hidden));
  });

  /* The keyboard of a phone names no keys, but edits the text of an input. */
  const typed = document.getElementById("typed"), BLANK = " ";
  typed.value = BLANK;
  typed.addEventListener("input", (event) => {
    if (event.isComposing) return;
    if (typed.value.length < BLANK.length) press("Backspace");
    for (const character of typed.value.slice(BLANK.length)) press(character);
    typed.value = BLANK;
  });
  typed.addEventListener("compositionend", () => typed.dispatchEvent(new Event("input")));
  document.getElementById("letter").addEventListener("click", () => typed.focus());

  /* The cell at the mouse. */
  function place(event) {
    const [width, height] = cellSize(), box = screen.getBoundingClientRect();
    return { column: Math.floor((event.clientX - box.left) / width), row: Math.floor((event.clientY - box.top) / height) };
  }

  screen.addEventListener("mousedown", (event) => {
    if (event.button === 0) worker.postMessage({ kind: CLICK, ...place(event) });
  });
  screen.addEventListener("mousemove", (event) => {
    if (event.buttons & 1) worker.postMessage({ kind: DRAG, ...place(event) });
  });
  screen.addEventListener("wheel", (event) => {
    event.preventDefault();
    worker.postMessage({ kind: WHEEL, direction: event.deltaY < 0 ? 1 : -1, ...place(event) });
  }, { passive: false });

  /* A kernel's PTX, dropped onto the page. */
  addEventListener("dragover", (event) => event.preventDefault());
  async function openFile(file) {
    if (!file) return;
    dropped = { name: file.name, content: new Uint8Array(await file.arrayBuffer()) };
    history.replaceState(null, "", "#");
    editor.hidden = true;
    start();
  }
  addEventListener("drop", (event) => {
    event.preventDefault();
    openFile(event.dataTransfer.files[0]);
  });
  const chosen = document.getElementById("file");
  document.getElementById("open").addEventListener("click", () => chosen.click());
  document.getElementById("home").addEventListener("click", () => {
    dropped = null;
    const first = redvizWords.link("");
    if (location.hash !== first && (location.hash || first !== "#")) location.hash = first;
    else start();
  });
  chosen.addEventListener("change", () => {
    openFile(chosen.files[0]);
    chosen.value = "";
  });

  /* The window's size, or the text's. */
  function resize() {
    const now = windowSize();
    if (!worker || now[0] === size[0] && now[1] === size[1]) return;
    size = now;
    worker.postMessage({ size });
  }
  /* Not at once: fit() changes what is watched. */
  const watcher = new ResizeObserver(() => requestAnimationFrame(resize));
  addEventListener("hashchange", () => {
    if (!location.hash || /[#&](kernel|lecture|exercise)=/.test(location.hash)) dropped = null;
    editor.hidden = true;
    start();
  });
  ruler.textContent = "0".repeat(100);
  start();
  watcher.observe(area);
  watcher.observe(ruler);
  if (worker) screen.focus();
})();
