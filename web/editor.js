/* What stands beside the text in the editor: numbers of lines, those with a finding, and the exercise with its goals. */
"use strict";

/* redvizLines(source, numbers, bands): marks are [{line, why}]; a band lies behind each of their lines. */
function redvizLines(source, numbers, bands) {
  let marks = [], count = 0;
  const linesOf = (text) => text.split("\n").length;

  function draw() {
    numbers.textContent = "";
    for (let line = 1; line <= count; line++) {
      const number = document.createElement("span"), mark = marks.find((one) => one.line === line);
      number.textContent = (mark ? "▶" : "") + line;
      if (mark) Object.assign(number, { className: "found", title: mark.why });
      numbers.append(number);
    }
    bands.textContent = "";
    for (const one of marks) bands.append(Object.assign(document.createElement("div"), { style: "--line: " + one.line }));
    scroll();
  }

  function scroll() {
    numbers.scrollTop = source.scrollTop;
    bands.style.transform = "translateY(" + -source.scrollTop + "px)";
  }

  /* Marks below the line that is edited move with their lines. */
  function edited() {
    const now = linesOf(source.value), more = now - count, at = linesOf(source.value.slice(0, source.selectionStart));
    if (!more) return;
    marks = marks.map((one) => (one.line > at - Math.max(0, more) ? { ...one, line: one.line + more } : one));
    count = now;
    draw();
  }

  source.addEventListener("scroll", scroll);
  source.addEventListener("input", edited);
  return {
    show(text) {
      source.value = text;
      count = linesOf(text);
      marks = [];
      draw();
    },
    mark(found) {
      marks = found;
      draw();
    }
  };
}

/* redvizTask(panel): the exercise as grade_print_exercise() has it. */
function redvizTask(panel) {
  const { tr } = redvizWords;
  const SIGNS = { met: "✓", missed: "✗", "not tried": "–" };
  let shown = null, goals = null, list = null, head = null;

  function add(parent, tag, text, kind) {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    if (kind) element.className = kind;
    parent.append(element);
    return element;
  }

  /* Paragraphs with `code` and **strong** words. */
  function addProse(parent, markdown) {
    for (const paragraph of markdown.split(/\n\s*\n/)) {
      const block = add(parent, "p");
      for (const [, code, strong, plain] of paragraph.matchAll(/`([^`]+)`|\*\*([^*]+)\*\*|([^`*]+|[`*])/g))
        if (code || strong) add(block, code ? "code" : "strong", code || strong);
        else block.append(plain);
    }
  }

  function begin(exercise) {
    panel.textContent = "";
    add(panel, "h2", exercise.title);
    addProse(panel, exercise.task);
    head = add(panel, "h3");
    list = add(panel, "ul");
    exercise.hints.forEach((hint, i) => {
      const details = add(panel, "details");
      add(details, "summary", tr("Hint %1 of %2", i + 1, exercise.hints.length));
      addProse(details, hint);
    });
    goals = null;
  }

  const valueOf = (goal) => (goal.value === null ? "" : goal.value.toLocaleString("en-US"));

  /* What it was, if it is not that any more: "was ✗ 16,384". */
  function movedFrom(goal) {
    const old = goals && goals.find((one) => one.goal === goal.goal);
    if (!old || (old.state === goal.state && old.value === goal.value)) return "";
    return tr("was %1", SIGNS[old.state] + (old.value === null ? "" : " " + valueOf(old)));
  }

  function addGoal(goal) {
    const moved = movedFrom(goal), row = add(list, "li", "", goal.state.replace(" ", "-") + (moved ? " moved" : ""));
    add(row, "b", SIGNS[goal.state] + " ");
    row.append(goal.words + (goal.value === null ? "" : " (" + valueOf(goal) + ")"));
    if (moved) add(row, "i", " " + moved);
    if (goal.why) add(row, "div", goal.why);
    return moved;
  }

  function showGoals(now) {
    list.textContent = "";
    const moved = now.filter(addGoal).length;
    const met = now.filter((goal) => goal.state === "met").length;
    head.textContent = moved ? tr("%1 of %2 goals, %3 moved", met, now.length, moved) : tr("%1 of %2 goals", met, now.length);
    if (met === now.length) head.append(": " + tr("solved"));
    goals = now;
    const first = list.querySelector(".moved");
    if (first) first.scrollIntoView({ block: "nearest" });
  }

  return {
    show(exercise) {
      if (shown !== exercise.title) begin(exercise);
      shown = exercise.title;
      if (exercise.goals.length) showGoals(exercise.goals);
      else this.wait();
    },
    wait() {
      if (head) head.textContent = tr("Goals: being graded ...");
    },
    /* The lines that its missed goals are about. */
    marks: () => (goals || []).filter((goal) => goal.line && goal.state === "missed").map((goal) => ({ line: goal.line, why: goal.why }))
  };
}
