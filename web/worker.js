/* The worker of the page: unpacks the program and its files, runs it, and calls it for each event. */
"use strict";

function unpack(packed) {
  const letters = atob(packed), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i); /* Uint8Array.from() takes 0.2 s longer */
  const all = unpackLzma(bytes);
  const end = all.indexOf(10), files = new Map();
  let at = end + 1;
  for (const [name, length] of JSON.parse(new TextDecoder().decode(all.subarray(0, end)))) {
    files.set(name, all.subarray(at, at + length));
    at += length;
  }
  return files;
}

let program, wasi, timer;

/* An event's answer is the time until the next call: -1: for ever, -2: the program has ended. */
function answer(call) {
  clearTimeout(timer);
  try {
    const wait = call();
    if (wait === -2) end(0);
    else if (wait >= 0) timer = setTimeout(() => answer(program.tick), wait);
  } catch (error) {
    if (error.exit === undefined) fail(error);
    else end(error.exit);
  }
}

function end(status) {
  program = null;
  postMessage({ end: status });
}

function fail(error) {
  program = null;
  postMessage({ error: "redviz: " + error });
}

function keyNumber(name) {
  if ([...name].length === 1) return name.codePointAt(0);
  const bytes = new TextEncoder().encode(name + "\0"), at = program.allocate(bytes.length);
  new Uint8Array(program.memory.buffer, at, bytes.length).set(bytes);
  return program.key_named(at);
}

/* What needs more than a browser has. */
const cannot = {
  "--source": "compile CUDA C++", "--call": "compile CUDA C++", "--run": "run other programs",
  "--save": "write session files"
};

async function start({ packed, args, kept, dropped, columns, rows }) {
  const option = args.find((argument) => cannot[argument]);
  if (option) return fail(option + ": a browser cannot " + cannot[option]);
  if (dropped && !/\.(ptx|redviz)$/.test(dropped.name)) return fail(dropped.name + ": a browser opens PTX, in a file FILE.ptx");
  const files = unpack(packed), code = files.get("redviz.wasm");
  files.delete("redviz.wasm");
  for (const [path, content] of kept) files.set(path, new TextEncoder().encode(content));
  if (dropped) files.set(dropped.name, dropped.content);
  wasi = makeWasi({
    args: ["redviz", ...args], environment: ["REDVIZ_SHARE=/redviz", "XDG_DATA_HOME=/data"], files, fixed: "redviz",
    write: (descriptor, bytes) => postMessage({ printed: bytes }),
    written: (path, content) => postMessage({ written: path, content })
  });
  const text = (at, length) => new TextDecoder().decode(new Uint8Array(program.memory.buffer, at, length));
  const page = {
    show: (at, length, width, height, whole) => postMessage({ frame: text(at, length), columns: width, rows: height, whole }),
    say: (at, length) => postMessage({ said: text(at, length) }),
    exercise: (at, length) => postMessage({ exercise: JSON.parse(text(at, length)) }),
    mark: (line, at, length) => postMessage({ marks: line ? [{ line, why: text(at, length) }] : [] }),
    set_theme: (at, length) => postMessage({ theme: text(at, length) }),
    set_style: (at, length) => postMessage({ style: text(at, length) }),
    /* redviz itself, with other options; or an editor, "+12 FILE". */
    run(at, length) {
      const words = text(at, length).split("\0"), file = words[words.length - 1].replace(/^(\.?\/)+/, "");
      const line = words.find((word) => /^\+[0-9]+$/.test(word));
      if (words[0] === "redviz") postMessage({ open: words.slice(1) });
      else if (files.has(file)) postMessage({ edit: file, text: new TextDecoder().decode(files.get(file)), line: Number(line || 1) });
    },
    leave() {
      throw { leaves: true };
    }
  };
  const { instance } = await WebAssembly.instantiate(code, { wasi_snapshot_preview1: wasi.imports, page });
  program = instance.exports;
  wasi.use(program.memory);
  program.resize(columns, rows);
  try {
    program._start();
    end(0);
  } catch (error) {
    if (error.leaves) answer(program.begin);
    else if (error.exit !== undefined) end(error.exit);
    else fail(error);
  }
}

onmessage = ({ data }) => {
  if (data.packed) start(data).catch(fail);
  else if (!program) return;
  else if (data.save) {
    wasi.put(data.save, new TextEncoder().encode(data.text));
    answer(program.tick);
  } else if (data.key) answer(() => program.event(1, keyNumber(data.key), 0, 0));
  else if (data.size) {
    program.resize(data.size[0], data.size[1]);
    answer(() => program.event(5, 0, 0, 0));
  } else answer(() => program.event(data.kind, data.direction || 0, data.column, data.row));
};
