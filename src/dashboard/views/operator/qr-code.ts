// Encodes a text as a QR code (ISO/IEC 18004): byte mode, error correction level M, versions 1 to 20. Pure: a text in, a square
// of modules out.

/** True is dark. Rows from the top, modules from the left. */
export type QrModules = readonly (readonly boolean[])[];

/** By version: codewords for error correction in each block, and the number of blocks, at level M. */
const CORRECTION = [
  [10, 1],
  [16, 1],
  [26, 1],
  [18, 2],
  [24, 2],
  [16, 4],
  [18, 4],
  [22, 4],
  [22, 5],
  [26, 5],
  [30, 5],
  [22, 8],
  [22, 9],
  [24, 9],
  [24, 10],
  [28, 10],
  [28, 11],
  [26, 13],
  [26, 14],
  [26, 16],
] as const;
const VERSION_MAX = CORRECTION.length;
const BYTE_MODE = 0b0100;
const PADDING = [0xec, 0x11] as const;
/** The bits of level M in the format information. */
const LEVEL_M = 0b00;
const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Throws RangeError for a text that is too long: more than 666 bytes. */
export function encodeQrCode(text: string, mask?: number): QrModules {
  const bytes = new TextEncoder().encode(text);
  const version = findVersion(bytes.length);
  const codewords = interleave(addPadding(bytes, version), version);
  const candidates = (mask === undefined ? MASKS.map((_, index) => index) : [mask]).map((index) =>
    draw(codewords, version, index),
  );
  const [first, ...others] = candidates.map((modules) => ({ modules, penalty: judgePenalty(modules) }));
  const best = others.reduce((found, one) => (found && found.penalty <= one.penalty ? found : one), first);
  return best?.modules ?? [];
}

/** One path of SVG for all dark modules: a rectangle for each run in a row. */
export function toSvgPath(modules: QrModules): string {
  const parts: string[] = [];
  for (const [y, row] of modules.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      let end = x;
      while (row[end]) end++;
      parts.push(`M${x} ${y}h${end - x}v1h${x - end}z`);
      x = end;
    }
  }
  return parts.join("");
}

function findVersion(length: number): number {
  for (let version = 1; version <= VERSION_MAX; version++) {
    if (4 + lengthBits(version) + 8 * length <= 8 * countDataCodewords(version)) return version;
  }
  throw new RangeError("the text is too long for a QR code");
}

function lengthBits(version: number): number {
  return version < 10 ? 8 : 16;
}

/** Everything but the patterns of fixed places, in bytes. */
function countCodewords(version: number): number {
  let modules = (16 * version + 128) * version + 64;
  if (version >= 2) {
    const patterns = Math.floor(version / 7) + 2;
    modules -= (25 * patterns - 10) * patterns - 55;
    if (version >= 7) modules -= 36;
  }
  return Math.floor(modules / 8);
}

function countDataCodewords(version: number): number {
  const [perBlock, blocks] = correctionOf(version);
  return countCodewords(version) - perBlock * blocks;
}

function correctionOf(version: number): readonly [perBlock: number, blocks: number] {
  return CORRECTION[version - 1] ?? [0, 0];
}

/** Mode, length, the bytes, and padding to the capacity of the version. */
function addPadding(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = [];
  const push = (value: number, length: number) => {
    for (let place = length - 1; place >= 0; place--) bits.push((value >>> place) & 1);
  };
  push(BYTE_MODE, 4);
  push(bytes.length, lengthBits(version));
  for (const byte of bytes) push(byte, 8);
  const capacity = 8 * countDataCodewords(version);
  push(0, Math.min(4, capacity - bits.length));
  push(0, (8 - (bits.length % 8)) % 8);
  for (let turn = 0; bits.length < capacity; turn++) push(PADDING[turn % 2] ?? 0, 8);
  return Array.from({ length: capacity / 8 }, (_, index) => {
    return bits.slice(index * 8, index * 8 + 8).reduce((byte, bit) => (byte << 1) | bit, 0);
  });
}

/** Splits the data into blocks, adds the error correction of each, and takes codewords from all blocks in turn. */
function interleave(data: readonly number[], version: number): number[] {
  const [perBlock, blockCount] = correctionOf(version);
  const shortLength = Math.floor(data.length / blockCount);
  const longBlocks = data.length % blockCount;
  const blocks: number[][] = [];
  for (let index = 0, start = 0; index < blockCount; index++) {
    const length = shortLength + (index >= blockCount - longBlocks ? 1 : 0);
    blocks.push(data.slice(start, start + length));
    start += length;
  }
  const corrections = blocks.map((block) => computeCorrection(block, perBlock));
  const take = (lists: readonly (readonly number[])[], length: number) =>
    Array.from({ length }, (_, place) => lists.flatMap((list) => list[place] ?? [])).flat();
  return [...take(blocks, shortLength + 1), ...take(corrections, perBlock)];
}

/** The Reed-Solomon code of a block: the remainder of its division by the generator polynomial. */
export function computeCorrection(data: readonly number[], length: number): number[] {
  const generator = createGenerator(length);
  const remainder = new Array<number>(length).fill(0);
  for (const byte of data) {
    const factor = byte ^ (remainder.shift() ?? 0);
    remainder.push(0);
    for (const [index, coefficient] of generator.entries()) {
      remainder[index] = (remainder[index] ?? 0) ^ multiply(coefficient, factor);
    }
  }
  return remainder;
}

/** Without its leading coefficient, which is 1. */
function createGenerator(degree: number): number[] {
  const generator = new Array<number>(degree).fill(0);
  generator[degree - 1] = 1;
  let root = 1;
  for (let power = 0; power < degree; power++) {
    for (let index = 0; index < degree; index++) {
      generator[index] = multiply(generator[index] ?? 0, root) ^ (generator[index + 1] ?? 0);
    }
    root = multiply(root, 2);
  }
  return generator;
}

/** In the field of 256 elements with the polynomial 0x11d. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let place = 7; place >= 0; place--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((b >>> place) & 1) * a;
  }
  return product;
}

/** The 15 bits of level M and a mask, with their own error correction. */
export function computeFormat(mask: number): number {
  const data = (LEVEL_M << 3) | mask;
  let remainder = data;
  for (let i = 0; i < 10; i++) remainder = (remainder << 1) ^ ((remainder >>> 9) * 0x537);
  return ((data << 10) | remainder) ^ 0x5412;
}

/** The 18 bits of a version from 7 on. */
export function computeVersionBits(version: number): number {
  let remainder = version;
  for (let i = 0; i < 12; i++) remainder = (remainder << 1) ^ ((remainder >>> 11) * 0x1f25);
  return (version << 12) | remainder;
}

function draw(codewords: readonly number[], version: number, mask: number): boolean[][] {
  const size = version * 4 + 17;
  const modules = Array.from({ length: size }, () => new Array<boolean>(size).fill(false));
  const isFixed = Array.from({ length: size }, () => new Array<boolean>(size).fill(false));
  const set = (x: number, y: number, isDark: boolean) => {
    const [row, fixed] = [modules[y], isFixed[y]];
    if (!row || !fixed || x < 0 || x >= size) return;
    row[x] = isDark;
    fixed[x] = true;
  };
  drawPatterns(set, version, size);
  drawFormat(set, mask, size);
  drawData(modules, isFixed, codewords, mask, size);
  return modules;
}

type SetModule = (x: number, y: number, isDark: boolean) => void;

function drawPatterns(set: SetModule, version: number, size: number): void {
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    drawSquare(set, x, y, 4, [0, 1, 3]);
  const places = listAlignments(version, size);
  const last = places.length - 1;
  for (const [i, x] of places.entries()) {
    for (const [j, y] of places.entries()) {
      const isFinder = (i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0);
      if (!isFinder) drawSquare(set, x, y, 2, [0, 2]);
    }
  }
  if (version < 7) return;
  const bits = computeVersionBits(version);
  for (let i = 0; i < 18; i++) {
    const [a, b] = [size - 11 + (i % 3), Math.floor(i / 3)];
    const isDark = ((bits >>> i) & 1) === 1;
    set(a, b, isDark);
    set(b, a, isDark);
  }
}

/** Rings around a centre; those at the `dark` distances are dark. */
function drawSquare(set: SetModule, x: number, y: number, radius: number, dark: readonly number[]): void {
  for (let dy = -radius; dy <= radius; dy++) {
    for (let dx = -radius; dx <= radius; dx++) {
      set(x + dx, y + dy, dark.includes(Math.max(Math.abs(dx), Math.abs(dy))));
    }
  }
}

function listAlignments(version: number, size: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((size - 13) / (count * 2 - 2)) * 2;
  const places = Array.from({ length: count - 1 }, (_, index) => size - 7 - index * step);
  return [6, ...places.reverse()];
}

function drawFormat(set: SetModule, mask: number, size: number): void {
  const bits = computeFormat(mask);
  const isDark = (place: number) => ((bits >>> place) & 1) === 1;
  for (let i = 0; i <= 5; i++) set(8, i, isDark(i));
  set(8, 7, isDark(6));
  set(8, 8, isDark(7));
  set(7, 8, isDark(8));
  for (let i = 9; i < 15; i++) set(14 - i, 8, isDark(i));
  for (let i = 0; i < 8; i++) set(size - 1 - i, 8, isDark(i));
  for (let i = 8; i < 15; i++) set(8, size - 15 + i, isDark(i));
  set(8, size - 8, true);
}

/** In columns of two, upwards and downwards in turn, from the right; the column of the timing pattern is left out. */
function drawData(
  modules: boolean[][],
  isFixed: readonly (readonly boolean[])[],
  codewords: readonly number[],
  mask: number,
  size: number,
): void {
  const isMasked = MASKS[mask] ?? (() => false);
  let place = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const isUpwards = ((right + 1) & 2) === 0;
    for (let step = 0; step < size; step++) {
      const y = isUpwards ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        const row = modules[y];
        if (!row || isFixed[y]?.[x]) continue;
        const bit = ((codewords[place >>> 3] ?? 0) >>> (7 - (place & 7))) & 1;
        row[x] = (bit === 1) !== isMasked(x, y);
        place++;
      }
    }
  }
}

/** How hard the modules are to read: runs, blocks, what looks like a finder pattern, and too much of one colour. */
function judgePenalty(modules: QrModules): number {
  const size = modules.length;
  const columns = Array.from({ length: size }, (_, x) => modules.map((row) => row[x] ?? false));
  let penalty = 0;
  for (const line of [...modules, ...columns]) penalty += judgeLine(line);
  let dark = 0;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const module = modules[y]?.[x];
      if (module) dark++;
      const isBlock =
        x + 1 < size &&
        y + 1 < size &&
        [modules[y]?.[x + 1], modules[y + 1]?.[x], modules[y + 1]?.[x + 1]].every((one) => one === module);
      if (isBlock) penalty += 3;
    }
  }
  const share = (dark * 20) / size ** 2;
  return penalty + Math.floor(Math.abs(share - 10)) * 10;
}

/** 1:1:3:1:1 with four light modules on one side. */
const FINDER_LIKE = [/(?=10111010000)/g, /(?=00001011101)/g];

function judgeLine(line: readonly boolean[]): number {
  const text = line.map((isDark) => (isDark ? "1" : "0")).join("");
  const runs = text.match(/0{5,}|1{5,}/g) ?? [];
  // The margin around the code is light too.
  const finders = FINDER_LIKE.map((pattern) => [...`0000${text}0000`.matchAll(pattern)].length);
  return (
    runs.reduce((sum, run) => sum + run.length - 2, 0) + finders.reduce((sum, count) => sum + count * 40, 0)
  );
}
