/* Unpacks what xz --format=lzma packs ("LZMA specification", 7-zip.org): browsers have gzip, but its window of
 * 32 KB is too short for kernels that repeat each other, and the page would be a third larger. */
"use strict";
function unpackLzma(input) {
  const parameter = input[0], lc = parameter % 9, lp = Math.floor(parameter / 9) % 5, pb = Math.floor(parameter / 45);
  const out = new Uint8Array(new DataView(input.buffer, input.byteOffset).getUint32(5, true));
  /* Numbers of 32 bits: in variables they would be doubles, and unpacking would take a third longer. */
  const coder = new Uint32Array([0xffffffff, new DataView(input.buffer, input.byteOffset).getUint32(14)]), RANGE = 0, CODE = 1;
  let at = 18, end = 0;

  /* Where the probabilities of each question start. */
  const IS_MATCH = 0, IS_REPEAT = 192, IS_OTHER = 204, IS_THIRD = 216, IS_FOURTH = 228, IS_LONG = 240, SLOT = 432, SPECIAL = 688;
  const ALIGN = 816, LENGTH = 832, REPEAT_LENGTH = LENGTH + 514, LITERAL = REPEAT_LENGTH + 514;
  const probability = new Uint16Array(LITERAL + (0x300 << (lc + lp))).fill(1024);

  function normalize() {
    if (coder[RANGE] >= 0x1000000) return;
    coder[RANGE] <<= 8;
    coder[CODE] = (coder[CODE] << 8) | input[at++];
  }
  function bit(index) {
    const chance = probability[index], bound = Math.imul(coder[RANGE] >>> 11, chance) >>> 0, is = coder[CODE] >= bound;
    if (is) {
      coder[RANGE] -= bound;
      coder[CODE] -= bound;
      probability[index] = chance - (chance >>> 5);
    } else {
      coder[RANGE] = bound;
      probability[index] = chance + ((2048 - chance) >>> 5);
    }
    normalize();
    return is ? 1 : 0;
  }
  function tree(first, bits) {
    let node = 1;
    for (let i = 0; i < bits; i++) node = (node << 1) | bit(first + node);
    return node - (1 << bits);
  }
  function reverseTree(first, bits) {
    let node = 1, value = 0;
    for (let i = 0; i < bits; i++) {
      const is = bit(first + node);
      node = (node << 1) | is;
      value |= is << i;
    }
    return value;
  }
  function directBits(bits) {
    let value = 0;
    for (let i = 0; i < bits; i++) {
      coder[RANGE] >>>= 1;
      const is = coder[CODE] >= coder[RANGE] ? 1 : 0;
      if (is) coder[CODE] -= coder[RANGE];
      value = (value << 1) | is;
      normalize();
    }
    return value;
  }
  function matchLength(first, place) {
    if (!bit(first)) return 2 + tree(first + 2 + (place << 3), 3);
    if (!bit(first + 1)) return 10 + tree(first + 130 + (place << 3), 3);
    return 18 + tree(first + 258, 8);
  }
  function matchDistance(length) {
    const slot = tree(SLOT + (Math.min(length - 2, 3) << 6), 6), bits = (slot >> 1) - 1;
    if (slot < 4) return slot;
    const first = (2 | (slot & 1)) << bits;
    if (slot < 14) return first + reverseTree(SPECIAL + first - slot, bits);
    return first + (directBits(bits - 4) << 4) + reverseTree(ALIGN, 4);
  }
  function literal(afterMatch, distance) {
    const before = end ? out[end - 1] : 0;
    const first = LITERAL + 0x300 * (((end & ((1 << lp) - 1)) << lc) + (before >> (8 - lc)));
    let symbol = 1;
    for (let other = afterMatch ? out[end - distance - 1] : -1; other >= 0 && symbol < 0x100; other = (other << 1) & 0xff) {
      const expected = other >> 7, is = bit(first + ((1 + expected) << 8) + symbol);
      symbol = (symbol << 1) | is;
      if (is !== expected) break;
    }
    while (symbol < 0x100) symbol = (symbol << 1) | bit(first + symbol);
    out[end++] = symbol;
  }

  let state = 0, recent = [0, 0, 0, 0];
  while (end < out.length) {
    const place = end & ((1 << pb) - 1);
    if (!bit(IS_MATCH + (state << 4) + place)) {
      literal(state >= 7, recent[0]);
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    const isNear = state < 7;
    let length = 1;
    if (!bit(IS_REPEAT + state)) {
      length = matchLength(LENGTH, place);
      recent = [matchDistance(length), recent[0], recent[1], recent[2]];
      state = isNear ? 7 : 10;
    } else {
      const which = !bit(IS_OTHER + state) ? 0 : !bit(IS_THIRD + state) ? 1 : 2 + bit(IS_FOURTH + state);
      const isShort = which === 0 && !bit(IS_LONG + (state << 4) + place);
      recent.unshift(recent.splice(which, 1)[0]);
      if (!isShort) length = matchLength(REPEAT_LENGTH, place);
      state = isShort ? (isNear ? 9 : 11) : isNear ? 8 : 11;
    }
    for (const back = recent[0] + 1; length > 0; length--, end++) out[end] = out[end - back];
  }
  return out;
}
