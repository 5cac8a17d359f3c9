// The npm package of Scalar, the program that shows the reference, and the one file of it that is used. Hashes pin both, and
// scripts/fetch-reference.ts accepts nothing else.

export const SCALAR = {
  name: "@scalar/api-reference",
  version: "1.72.1",
  /** The hash of the package's archive, as npm publishes it. */
  integrity: "sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==",
  path: "dist/browser/standalone.js",
  /** The hash of the file at `path`. */
  fileIntegrity: "sha512-tU3J4euEo5lXIMy42HF4KUTdundzAMuHoOw2Z0WquNAbdigLVdAyOGPJJoCmhiSNVRnSgfNqbB1VdiIfNATEMg==",
} as const;

/** The version is part of the name, so that browsers may cache the file for ever. */
export const SCALAR_FILE = `scalar-${SCALAR.version}.js`;
