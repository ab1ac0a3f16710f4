/* Frames as tui/draw/html.h writes them, and rows of cells as elements. */
"use strict";
const redvizFrames = (function () {
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  const value = new Map(Array.from(digits, (digit, i) => [digit, i]));

  /* Changes `cells`; a cell is [text, role, columns], of the right half of a wide character ["", role, 0]. */
  function apply(frame, cells) {
    const characters = Array.from(frame);
    let at = 0, cell = 0;
    function number() {
      let sum = 0, place = 1, digit;
      do {
        digit = value.get(characters[at++]);
        sum += (digit & 31) * place;
        place *= 32;
      } while (digit >= 32);
      return sum;
    }
    function put(text, role, columns) {
      cells[cell++] = [text, role, columns];
      if (columns === 2) cells[cell++] = ["", role, 0];
    }
    while (at < characters.length) {
      cell += number();
      const role = value.get(characters[at++]), head = number(), kind = head & 3;
      const count = head >> 2;
      if (kind === 3) {
        put(characters.slice(at, at + (count >> 1)).join(""), role, 1 + (count & 1));
        at += count >> 1;
      } else if (kind === 1) {
        for (let i = 0; i < count; i++) put(characters[at], role, 1);
        at++;
      } else {
        for (let i = 0; i < count; i++) put(characters[at++], role, kind === 2 ? 2 : 1);
      }
    }
  }

  /* Whether the font draws a text as wide as its cells. */
  const fitting = new Map();
  let ruler;
  function fits(text, columns) {
    if (/^[ -~]$/.test(text)) return true;
    if (!ruler) {
      ruler = document.createElement("canvas").getContext("2d");
      ruler.font = "100px " + getComputedStyle(document.getElementById("frame") || document.body).fontFamily;
    }
    let known = fitting.get(text);
    if (known === undefined) {
      const wanted = columns * ruler.measureText("0").width;
      fitting.set(text, known = Math.abs(ruler.measureText(text).width - wanted) < 0.01);
    }
    return known;
  }

  /* Characters flow, but for those that the font has in another width: they get the width of their cells. */
  function addRun(line, cells, first, end) {
    const span = document.createElement("span"), role = cells[first][1];
    span.className = "r" + (role & 31) + (role & 32 ? " v" : "");
    let plain = "";
    for (let i = first, next; i < end; i = next) {
      const text = cells[i][0];
      for (next = i + 1; next < end && cells[next][0] === text && text !== ""; next++);
      if (fits(text, cells[i][2])) {
        plain += text.repeat(next - i);
        continue;
      }
      if (text === "") continue;
      if (plain) span.append(plain);
      plain = "";
      for (let k = i; k < next; k++) {
        const box = document.createElement("b");
        box.style.width = cells[k][2] + "ch";
        box.textContent = text;
        span.append(box);
      }
    }
    if (plain) span.append(plain);
    line.append(span);
  }

  function lineOf(cells) {
    const line = document.createElement("div");
    for (let i = 0, end; i < cells.length; i = end) {
      for (end = i + 1; end < cells.length && cells[end][1] === cells[i][1]; end++);
      addRun(line, cells, i, end);
    }
    return line;
  }

  /* A function that shows cells in an element, row by row; it keeps rows that stay as they are. */
  function screen(element) {
    const shown = [];
    return function (cells, columns, rows) {
      while (shown.length > rows) shown.pop().line.remove();
      for (let row = 0; row < rows; row++) {
        const of = cells.slice(row * columns, (row + 1) * columns), before = shown[row];
        if (before && before.of.length === columns && of.every((cell, i) => cell === before.of[i])) continue;
        const key = JSON.stringify(of);
        if (before && before.key === key) {
          before.of = of;
          continue;
        }
        const line = lineOf(of);
        if (shown[row]) shown[row].line.replaceWith(line);
        else element.append(line);
        shown[row] = { of: of, key: key, line: line };
      }
    };
  }

  return { apply: apply, screen: screen };
})();
