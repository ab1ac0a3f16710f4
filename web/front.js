/* The first page: three pictures to start with, then lectures, exercises, kernels, and the reader's own PTX. */
"use strict";

const redvizFront = (function () {
  const LANES = 8, STEP = 26, BOX = 20, { tr, link } = redvizWords;
  const middle = (lane) => lane * STEP + BOX / 2 + 2;

  /* A row of lanes or banks; those that `off` names are idle. */
  function row(y, off = () => false) {
    let boxes = "";
    for (let i = 0; i < LANES; i++)
      boxes += `<rect x="${i * STEP + 2}" y="${y}" width="${BOX}" height="${BOX}" rx="3"${off(i) ? ' class="off"' : ""}/>` +
               `<text x="${middle(i)}" y="${y + 14}"${off(i) ? ' class="off"' : ""}>${i}</text>`;
    return boxes;
  }
  const line = (from, y, to, end, kind = "") => `<line x1="${middle(from)}" y1="${y}" x2="${middle(to)}" y2="${end}"${kind}/>`;
  const words = (y, text) => `<text x="${LANES * STEP + 6}" y="${y}" class="words">${text}</text>`;

  /* Even lanes take one path, odd lanes the other. */
  const divergence = () => row(2) + words(16, "if (lane % 2 == 0)") + row(38, (i) => i % 2) + words(52, tr("taken")) +
    row(74, (i) => i % 2 === 0) + words(88, tr("not taken"));

  /* Lane i wants word 2i: two lanes want different words of each even bank. */
  function banks() {
    let lines = "";
    for (let i = 0; i < LANES; i++) lines += line(i, 22, 2 * i % LANES, 74, i < LANES / 2 ? "" : ' class="second"');
    return lines + row(2) + words(16, tr("lanes")) + row(74, (i) => i % 2) + words(88, tr("banks"));
  }

  /* Lane i adds the register of lane i + 4, then of i + 2. */
  function shuffles() {
    let lines = "";
    for (let i = 0; i < 4; i++) lines += line(i + 4, 22, i, 38);
    for (let i = 0; i < 2; i++) lines += line(i + 2, 58, i, 74);
    return lines + row(2) + words(16, tr("registers")) + row(38, (i) => i >= 4) + words(52, tr("+ lane 4 up")) + row(74, (i) => i >= 2) + words(88, tr("+ lane 2 up"));
  }

  const starts = () => [
    [tr("Divergence"), divergence, "warps", tr("A warp takes both paths of a branch, one after the other.")],
    [tr("Banks"), banks, "banks", tr("Lanes that want different words of one bank wait for each other.")],
    [tr("Shuffles"), shuffles, "shuffles", tr("Lanes read each other's registers, without shared memory.")]
  ];
  const titleOf = (one) => (redvizWords.isChinese() && one.chinese) || one.title;

  function add(parent, tag, text, more) {
    const element = Object.assign(document.createElement(tag), more);
    if (text) element.textContent = text;
    parent.append(element);
    return element;
  }

  function addStarts(front) {
    const cards = add(add(front, "section"), "div", "", { className: "starts" });
    cards.before(Object.assign(document.createElement("h2"), { textContent: tr("Start here") }));
    for (const [title, draw, lecture, sentence] of starts()) {
      const card = add(cards, "a", "", { href: link("lecture=" + lecture) });
      card.innerHTML = `<svg viewBox="0 0 340 96" aria-hidden="true">${draw()}</svg>`;
      add(card, "b", title);
      add(card, "span", sentence);
    }
  }

  function addList(front, title, note) {
    const section = add(front, "section");
    add(section, "h2", title);
    if (note) add(section, "p", note);
    return add(section, "ul");
  }

  function addRow(list, hash, title, about) {
    const item = add(list, "li");
    add(item, "a", title, { href: link(hash) });
    if (about) add(item, "span", about);
    return item;
  }

  function addExercises(front, lists, isSolved) {
    const list = addList(front, tr("Exercises"), tr("In PTX, in this page:"));
    for (const one of lists.exercises.filter((exercise) => exercise.ptx))
      addRow(list, "exercise=" + one.name, titleOf(one), isSolved(one.name) ? tr("solved") : "");
    const section = list.parentElement;
    add(section, "h3", tr("In CUDA C++"));
    add(section, "p", tr("Each needs a compiler: pip install 'redviz[cuda]', or solve it in PTX."));
    const others = add(section, "ul");
    for (const one of lists.exercises.filter((exercise) => !exercise.ptx)) {
      const item = addRow(others, "exercise=" + one.name, titleOf(one), isSolved(one.twin) ? tr("solved in PTX") : "");
      if (one.twin) add(item, "a", tr("in PTX"), { href: link("exercise=" + one.twin), className: "twin", ariaLabel: tr("%1, in PTX", titleOf(one)) });
    }
  }

  /* Below the pictures, a way to each list, and to a file. */
  function addDoors(front, openFile) {
    const doors = document.createElement("p");
    doors.className = "ways";
    for (const heading of [...front.querySelectorAll("h2")].slice(1))
      add(doors, "button", heading.textContent, { type: "button", onclick: () => heading.scrollIntoView() });
    add(doors, "button", tr("Your own PTX"), { id: "own", type: "button", onclick: openFile });
    front.querySelector("section").append(doors);
    const other = redvizWords.isChinese() ? { textContent: "English", href: "#", lang: "en" } : { textContent: "中文", href: "#language=zh", lang: "zh" };
    add(doors, "a", "", { ...other, id: "language" });
    add(front.firstChild, "p", tr("Your own PTX: a file that nvcc -ptx wrote, chosen or dropped onto this page. It stays in this browser."));
  }

  function fill(front, lists, isSolved, openFile) {
    front.textContent = "";
    addStarts(front);
    const lectures = addList(front, tr("Lectures"));
    for (const one of lists.lectures) addRow(lectures, "lecture=" + one.name, titleOf(one), tr("%1 minutes", one.minutes));
    addExercises(front, lists, isSolved);
    const kernels = addList(front, tr("Kernels"));
    for (const one of lists.kernels) addRow(kernels, "kernel=" + one.name, one.name, titleOf(one));
    addDoors(front, openFile);
  }

  /* An exercise in CUDA C++ cannot be solved here. */
  function refuse(front, exercise) {
    front.textContent = "";
    const section = add(front, "section");
    add(section, "h2", titleOf(exercise));
    add(section, "p", exercise.twin ? tr("It needs a compiler: pip install 'redviz[cuda]', then redviz --exercise %1; or solve it in PTX, in this page.", exercise.name) :
                                      tr("It needs a compiler: pip install 'redviz[cuda]', then redviz --exercise %1.", exercise.name));
    const ways = add(section, "p", "", { className: "ways" });
    if (exercise.twin) add(ways, "a", tr("solve it in PTX"), { href: link("exercise=" + exercise.twin), id: "twin" });
    add(ways, "a", tr("all exercises"), { href: link("") });
  }

  return { fill, refuse };
})();
