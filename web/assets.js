/* The files that the page carries. Compiling is not possible there, so of the exercises only those in PTX; without
 * recordings that would double its size: the times of blocks and warps, and what an H100 measured. */
"use strict";
const fs = require("fs"), path = require("path");

const FOLDERS = ["kernels", "assets/ptx", "assets/lectures", "assets/h200/sass"];
const FILES = ["assets/exercises/README.md", "assets/h200/timings.tsv"]; /* the first marks the folder */

/* Both languages of each exercise in PTX. */
function exercisePaths(root) {
  const folder = "assets/exercises/", names = fs.readdirSync(path.join(root, folder)).sort();
  const isPtx = (name) => /^source: ptx$/m.test(fs.readFileSync(path.join(root, folder, name.replace(/\.[a-z]+\.md$/, ".en.md")), "utf8"));
  return names.filter((name) => /\.[a-z]{2}\.md$/.test(name) && isPtx(name)).map((name) => folder + name);
}

const titleOf = (text) => text.match(/^# (.+)$/m)[1];

/* Each English file of a folder: its name, its title in both languages, and what `take` finds in its text. */
function describe(root, folder, take) {
  const names = fs.readdirSync(path.join(root, folder)).filter((name) => name.endsWith(".en.md")).sort();
  return names.map((name) => {
    const text = fs.readFileSync(path.join(root, folder, name), "utf8"), field = (key) => (text.match(new RegExp("^" + key + ": (.+)$", "m")) || [])[1];
    const chinese = fs.readFileSync(path.join(root, folder, name.replace(/\.en\.md$/, ".zh.md")), "utf8");
    return { name: name.replace(/\.en\.md$/, ""), title: titleOf(text), chinese: titleOf(chinese), ...take(field) };
  });
}

/* What the first page lists beside the kernels. */
function documents(root) {
  const exercises = describe(root, "assets/exercises", (field) => ({ order: Number(field("order")), ptx: field("source") === "ptx", twin: field("twin") }));
  return {
    lectures: describe(root, "assets/lectures", (field) => ({ minutes: Number(field("minutes")) })),
    exercises: exercises.sort((a, b) => a.order - b.order)
  };
}

function assetPaths(root) {
  const found = FOLDERS.flatMap((folder) => fs.readdirSync(path.join(root, folder)).sort().map((name) => folder + "/" + name));
  return [...found, ...exercisePaths(root), ...FILES];
}

module.exports = { assetPaths, documents };
if (require.main === module) console.log(assetPaths(path.join(__dirname, "..")).join("\n"));
