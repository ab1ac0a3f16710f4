/* Runs the program in node: node web/run.js BUILD/redviz.wasm ARGUMENT... prints what it prints. The files are
 * those of the working tree that the page has. With the word "lists" it prints what the first page lists, as JSON. */
"use strict";
const fs = require("fs"), path = require("path");
const { makeWasi } = require("./wasi.js");
const { assetPaths, documents } = require("./assets.js");

function readAssets(root) {
  return new Map(assetPaths(root).map((name) => ["redviz/" + name, new Uint8Array(fs.readFileSync(path.join(root, name)))]));
}

/* Returns the exit status; `write` gets what is printed. */
function runProgram(module, files, args, write) {
  const wasi = makeWasi({ args: ["redviz", ...args], environment: ["REDVIZ_SHARE=/redviz"], files: new Map(files), fixed: "redviz", write });
  const page = { show() {}, say() {}, exercise() {}, mark() {}, set_theme() {}, set_style() {}, run() {}, leave() { throw { exit: 0 }; } };
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi.imports, page });
  wasi.use(instance.exports.memory);
  try {
    instance.exports._start();
  } catch (end) {
    if (end.exit === undefined) throw end;
    return end.exit;
  }
  return 0;
}

/* The catalogue's texts: English to Chinese. */
function chineseTitles(root) {
  const table = fs.readFileSync(path.join(root, "src/base/texts/catalog_texts.def"), "utf8");
  return new Map([...table.matchAll(/^TEXT\(("(?:[^"\\]|\\.)*"), ("(?:[^"\\]|\\.)*")\)/gm)].map(([, ...both]) => both.map((text) => JSON.parse(text))));
}

/* What the first page lists. */
function lists(module, root) {
  const printed = [], chinese = chineseTitles(root);
  runProgram(module, readAssets(root), ["--list=json"], (descriptor, bytes) => printed.push(Buffer.from(bytes)));
  const kernels = JSON.parse(Buffer.concat(printed).toString()).map(({ id, title }) => ({ name: id, title, chinese: chinese.get(title) }));
  return { ...documents(root), kernels };
}

module.exports = { readAssets, runProgram };
if (require.main === module) {
  const module = new WebAssembly.Module(fs.readFileSync(process.argv[2]));
  const root = path.join(__dirname, ".."), args = process.argv.slice(3);
  if (args[0] === "lists") console.log(JSON.stringify(lists(module, root)));
  else process.exitCode = runProgram(module, readAssets(root), args, (descriptor, bytes) => fs.writeSync(descriptor, bytes));
}
