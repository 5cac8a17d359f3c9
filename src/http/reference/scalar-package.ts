// Scalar, the program that shows the reference: the npm package it comes in, and the one file of it that is used. The
// hashes pin both; scripts/fetch-reference.ts takes nothing else.

export const SCALAR = {
  name: "@scalar/api-reference",
  version: "1.72.1",
  /** Of the package's archive, as npm publishes it. */
  integrity:
    "sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==",
  path: "dist/browser/standalone.js",
  /** Of that file. */
  fileIntegrity:
    "sha512-tU3J4euEo5lXIMy42HF4KUTdundzAMuHoOw2Z0WquNAbdigLVdAyOGPJJoCmhiSNVRnSgfNqbB1VdiIfNATEMg==",
} as const;

/** The version is part of the name, so that browsers may keep a copy for ever. */
export const SCALAR_FILE = `scalar-${SCALAR.version}.js`;
