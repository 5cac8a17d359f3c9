// The picture behind the map of a server: which files are taken, and what is known of one. Pure.

export const IMAGE_BYTES_MAX = 4 * 1024 * 1024;
export const IMAGE_SIDE_MAX = 8_192;
/** The largest coordinate of a corner. */
export const CORNER_MAX = 100_000;

export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/** The places of the game that the corners of the picture show: x grows to the right, z grows down. */
export type MapCorners = {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
};

export type ImageHeader = { readonly type: ImageType; readonly width: number; readonly height: number };

/** `hash` changes with the bytes. */
export type MapImageFacts = ImageHeader &
  MapCorners & { readonly hash: string; readonly bytes: number; readonly setAt: number };

export type MapImage = MapImageFacts & { readonly content: Uint8Array };

/** What the bytes themselves say they are. Undefined when they are no PNG, JPEG or WebP, or have no size. */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = readPng(view) ?? readJpeg(view) ?? readWebp(view);
  return header && header.width > 0 && header.height > 0 ? header : undefined;
}

function textAt(view: DataView, at: number, length: number): string {
  if (at + length > view.byteLength) return "";
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, length));
}

/** The signature, then the chunk IHDR, which is always the first. */
function readPng(view: DataView): ImageHeader | undefined {
  if (view.byteLength < 33 || textAt(view, 0, 8) !== "\x89PNG\r\n\x1a\n" || textAt(view, 12, 4) !== "IHDR")
    return undefined;
  return { type: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
}

/** Markers that start a frame have its size. 0xc4, 0xc8 and 0xcc are in their range and mean something else. */
function startsFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** Segments, each with its length, up to the one that starts the frame. */
function readJpeg(view: DataView): ImageHeader | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    // Bytes of 0xff may fill the space before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (startsFrame(marker))
      return { type: "image/jpeg", width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    const length = view.getUint16(at + 2);
    if (length < 2) return undefined;
    at += 2 + length;
  }
  return undefined;
}

/** A RIFF file whose first chunk is one of three kinds, each with its own form of the size. */
function readWebp(view: DataView): ImageHeader | undefined {
  if (view.byteLength < 30 || textAt(view, 0, 4) !== "RIFF" || textAt(view, 8, 4) !== "WEBP") return undefined;
  const type = "image/webp";
  switch (textAt(view, 12, 4)) {
    case "VP8X":
      return { type, width: readUint24(view, 24) + 1, height: readUint24(view, 27) + 1 };
    case "VP8L": {
      if (view.getUint8(20) !== 0x2f) return undefined;
      const bits = view.getUint32(21, true);
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      if (readUint24(view, 23) !== 0x2a019d) return undefined;
      return { type, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return undefined;
  }
}

function readUint24(view: DataView, at: number): number {
  return view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16);
}
