/* Compares what the program for web pages prints with what the native program prints: node check_programs.js
 * build/web/redviz.wasm build/redviz. Each kernel of the catalogue: its report, one frame, and --check of those
 * that are wrong on purpose. */
"use strict";
const fs = require("fs"), path = require("path");
const { spawnSync } = require("child_process");
const { readAssets, runProgram } = require("../../web/run.js");

const root = path.join(__dirname, "../..");
const [wasm, native] = process.argv.slice(2).map((name) => path.resolve(name));
const module_ = new WebAssembly.Module(fs.readFileSync(wasm));
const files = readAssets(root);
const environment = { ...process.env, LC_ALL: "C.UTF-8", REDVIZ_SHARE: root, REDVIZ_CUDA: "/nowhere/libcuda.so.1",
                      XDG_CONFIG_HOME: "/dev/null", XDG_STATE_HOME: "/dev/null" };

function runNative(args) {
  const result = spawnSync(native, args, { env: environment, cwd: "/", maxBuffer: 1 << 28 });
  return { status: result.status, output: result.stdout.toString(), error: result.stderr.toString() };
}

function runWeb(args) {
  const parts = [[], []];
  const status = runProgram(module_, files, args, (descriptor, bytes) => parts[descriptor - 1].push(Buffer.from(bytes)));
  return { status, output: Buffer.concat(parts[0]).toString(), error: Buffer.concat(parts[1]).toString() };
}

let passed = 0, failed = 0;

function check(args) {
  const want = runNative(args), got = runWeb(args);
  if (want.status === got.status && want.output === got.output) {
    passed++;
    return;
  }
  failed++;
  const wanted = want.output.split("\n"), lines = got.output.split("\n");
  const line = wanted.findIndex((text, i) => text !== lines[i]);
  console.log("  FAILED   " + args.join(" ") + ": status " + got.status + ", native " + want.status + "; line " + (line + 1) +
              "\n    native: " + wanted[line] + "\n    web:    " + lines[line] + "\n    " + (got.error || want.error).trim());
}

const kernels = JSON.parse(runNative(["--list=json"]).output || "null");
for (const kernel of kernels || []) {
  const name = kernel.id;
  check(["--kernel", name, "--report"]);
  check(["--kernel", name, "--frame=120x40"]);
  if (name.startsWith("bug_")) check(["--kernel", name, "--check"]);
}
console.log("web: " + passed + " passed, " + failed + " failed");
process.exitCode = failed || !passed ? 1 : 0;
