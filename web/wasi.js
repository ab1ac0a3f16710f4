/* The part of WASI (preview 1) that redviz needs: arguments, the environment, clocks, files in memory, and the two
 * streams of output. */
"use strict";

/* files: Map of path without a leading slash to Uint8Array; those below `fixed` are only read. write(descriptor, bytes);
 * written(path, content) follows each change of a file. */
function makeWasi({ args, environment, files, fixed, write, written }) {
  const BADF = 8, EXIST = 20, INVAL = 28, NOENT = 44, NOSYS = 52, NOTDIR = 54, ISDIR = 31, ROFS = 69, SPIPE = 70;
  const DIRECTORY = 3, REGULAR = 4, ROOT = 3, CREATES = 1, IS_FOLDER = 2, IS_NEW = 4, EMPTIES = 8, APPENDS = 1;
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  const folders = new Map([["", new Set()]]), changes = new Map();
  function place(path) {
    let folder = "";
    for (const name of path.split("/")) {
      const whole = folder ? folder + "/" + name : name;
      folders.get(folder).add(name);
      if (!files.has(whole) && !folders.has(whole)) folders.set(whole, new Set());
      folder = whole;
    }
  }
  for (const path of files.keys()) place(path);

  function put(path, content) {
    files.set(path, content);
    place(path);
    changes.set(path, 1 + (changes.get(path) || 0));
    if (written) written(path, content);
  }
  const open = new Map([[ROOT, { folder: "" }]]);
  let next = ROOT + 1, memory, view;

  function data() {
    if (!view || view.buffer !== memory.buffer) view = new DataView(memory.buffer);
    return view;
  }
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
  const set32 = (at, value) => data().setUint32(at, value, true);
  const set64 = (at, value) => data().setBigUint64(at, BigInt(value), true);

  function pathOf(descriptor, at, length) {
    const parts = open.get(descriptor).folder.split("/").filter(Boolean);
    for (const part of decoder.decode(bytes(at, length)).split("/"))
      if (part === "..") parts.pop();
      else if (part && part !== ".") parts.push(part);
    return parts.join("/");
  }

  /* The parts of memory that a list of buffers names. */
  function* buffers(at, count) {
    for (let i = 0; i < count; i++) yield bytes(data().getUint32(at + 8 * i, true), data().getUint32(at + 8 * i + 4, true));
  }

  function putStatus(at, path) {
    bytes(at, 64).fill(0);
    data().setUint8(at + 16, files.has(path) ? REGULAR : DIRECTORY);
    set64(at + 24, 1);
    set64(at + 32, files.has(path) ? files.get(path).length : 0);
    for (const time of [40, 48, 56]) set64(at + time, 1000000000 * (changes.get(path) || 0)); /* a second for each change */
  }

  function putList(list, places, start) {
    for (const text of list) {
      const coded = encoder.encode(text + "\0");
      set32(places, start);
      bytes(start, coded.length).set(coded);
      places += 4;
      start += coded.length;
    }
    return 0;
  }

  function putSizes(list, count, length) {
    set32(count, list.length);
    set32(length, list.reduce((sum, text) => sum + encoder.encode(text).length + 1, 0));
    return 0;
  }

  function read(descriptor, list, count, got, from) {
    const file = open.get(descriptor);
    if (!file) return descriptor === 0 ? (set32(got, 0), 0) : BADF;
    if (file.folder !== undefined) return ISDIR;
    let sum = 0, at = from === undefined ? file.at : from;
    const content = files.get(file.path);
    for (const buffer of buffers(list, count)) {
      const part = content.subarray(at, at + buffer.length);
      buffer.set(part);
      at += part.length;
      sum += part.length;
    }
    if (from === undefined) file.at = at;
    set32(got, sum);
    return 0;
  }

  const canWrite = (path) => !path.startsWith(fixed + "/") && folders.has(path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");

  function writeAt(file, part) {
    const before = files.get(file.path);
    if (file.appends) file.at = before.length;
    const content = new Uint8Array(Math.max(before.length, file.at + part.length));
    content.set(before);
    content.set(part, file.at);
    file.at += part.length;
    put(file.path, content);
  }

  const calls = {
    args_get: (places, start) => putList(args, places, start),
    args_sizes_get: (count, length) => putSizes(args, count, length),
    environ_get: (places, start) => putList(environment, places, start),
    environ_sizes_get: (count, length) => putSizes(environment, count, length),
    clock_time_get(clock, precision, at) {
      const now = clock === 0 ? Date.now() : performance.now();
      data().setBigUint64(at, BigInt(Math.round(now * 1e6)), true);
      return 0;
    },
    clock_res_get: (clock, at) => (set64(at, 1000), 0),
    random_get: (at, length) => (crypto.getRandomValues(bytes(at, length)), 0),
    sched_yield: () => 0,
    proc_exit(status) {
      throw { exit: status };
    },
    fd_prestat_get(descriptor, at) {
      if (descriptor !== ROOT) return BADF;
      set32(at, 0);
      set32(at + 4, 1);
      return 0;
    },
    fd_prestat_dir_name: (descriptor, at) => (bytes(at, 1)[0] = 47, 0),
    fd_fdstat_get(descriptor, at) {
      const file = open.get(descriptor);
      if (!file && descriptor > 2) return BADF;
      bytes(at, 24).fill(0);
      data().setUint8(at, !file ? 0 : file.folder !== undefined ? DIRECTORY : REGULAR);
      data().setBigUint64(at + 8, ~0n & 0x1fffffffn, true);
      data().setBigUint64(at + 16, 0x1fffffffn, true);
      return 0;
    },
    fd_fdstat_set_flags: () => 0,
    fd_filestat_get(descriptor, at) {
      const file = open.get(descriptor);
      if (!file) return descriptor > 2 ? BADF : (bytes(at, 64).fill(0), 0);
      putStatus(at, file.folder !== undefined ? file.folder : file.path);
      return 0;
    },
    path_filestat_get(descriptor, flags, path, length, at) {
      const name = pathOf(descriptor, path, length);
      if (!files.has(name) && !folders.has(name)) return NOENT;
      putStatus(at, name);
      return 0;
    },
    path_open(descriptor, flags, path, length, options, rights, inherited, more, result) {
      const name = pathOf(descriptor, path, length), isThere = files.has(name) || folders.has(name);
      if (options & CREATES && options & IS_NEW && isThere) return EXIST;
      if ((options & CREATES && !isThere) || options & EMPTIES) {
        if (!canWrite(name)) return ROFS;
        put(name, new Uint8Array(0));
      } else if (!isThere) return NOENT;
      if (options & IS_FOLDER && files.has(name)) return NOTDIR;
      open.set(next, files.has(name) ? { path: name, at: 0, appends: more & APPENDS } : { folder: name });
      set32(result, next++);
      return 0;
    },
    path_create_directory(descriptor, path, length) {
      const name = pathOf(descriptor, path, length);
      if (files.has(name) || folders.has(name)) return EXIST;
      if (!canWrite(name)) return ROFS;
      place(name);
      return 0;
    },
    fd_close: (descriptor) => (open.delete(descriptor) ? 0 : BADF),
    fd_read: (descriptor, list, count, got) => read(descriptor, list, count, got),
    fd_pread: (descriptor, list, count, from, got) => read(descriptor, list, count, got, Number(from)),
    fd_seek(descriptor, offset, whence, result) {
      const file = open.get(descriptor);
      if (!file || file.folder !== undefined) return SPIPE;
      const at = Number(offset) + (whence === 0 ? 0 : whence === 1 ? file.at : files.get(file.path).length);
      if (at < 0) return INVAL;
      file.at = at;
      set64(result, at);
      return 0;
    },
    fd_write(descriptor, list, count, written) {
      const file = open.get(descriptor);
      if (descriptor !== 1 && descriptor !== 2 && !(file && file.path)) return BADF;
      if (file && !canWrite(file.path)) return ROFS;
      let sum = 0;
      for (const buffer of buffers(list, count)) {
        if (file) writeAt(file, buffer);
        else write(descriptor, buffer.slice());
        sum += buffer.length;
      }
      set32(written, sum);
      return 0;
    },
    fd_readdir(descriptor, at, room, cookie, used) {
      const file = open.get(descriptor);
      if (!file || file.folder === undefined) return NOTDIR;
      const names = [...folders.get(file.folder)];
      let sum = 0;
      for (let i = Number(cookie); i < names.length && sum < room; i++) {
        const name = encoder.encode(names[i]), entry = new Uint8Array(24 + name.length), fields = new DataView(entry.buffer);
        fields.setBigUint64(0, BigInt(i + 1), true);
        fields.setUint32(16, name.length, true);
        fields.setUint8(20, files.has(file.folder ? file.folder + "/" + names[i] : names[i]) ? REGULAR : DIRECTORY);
        entry.set(name, 24);
        const part = entry.subarray(0, room - sum);
        bytes(at + sum, part.length).set(part);
        sum += part.length;
      }
      set32(used, sum);
      return 0;
    }
  };
  return {
    /* What the program imports: each call that is not above fails. */
    imports: new Proxy(calls, { get: (known, name) => known[name] || (() => NOSYS) }),
    put,
    use(exported) {
      memory = exported;
    }
  };
}

if (typeof module !== "undefined") module.exports = { makeWasi };
