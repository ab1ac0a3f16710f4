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

function assetPaths(root) {
  const found = FOLDERS.flatMap((folder) => fs.readdirSync(path.join(root, folder)).sort().map((name) => folder + "/" + name));
  return [...found, ...exercisePaths(root), ...FILES];
}

module.exports = { assetPaths };
if (require.main === module) console.log(assetPaths(path.join(__dirname, "..")).join("\n"));
