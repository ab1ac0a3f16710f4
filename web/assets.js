/* The files that the page carries. Compiling is not possible there, so the exercises stay out; so do recordings
 * that would double its size: the times of blocks and warps, and what an H100 measured. */
"use strict";
const fs = require("fs"), path = require("path");

const FOLDERS = ["kernels", "assets/ptx", "assets/lectures", "assets/h200/sass"];
const FILES = ["assets/h200/timings.tsv"];

function assetPaths(root) {
  const found = FOLDERS.flatMap((folder) => fs.readdirSync(path.join(root, folder)).sort().map((name) => folder + "/" + name));
  return [...found, ...FILES];
}

module.exports = { assetPaths };
if (require.main === module) console.log(assetPaths(path.join(__dirname, "..")).join("\n"));
