// Façade keys: an API key's token in the form of a server key of the game API, because clients check that form.
import { SERVER_KEY_SHAPE } from "../game-server.ts";
import { isTokenShaped } from "../keys/token.ts";

const SHAPE = /^gth([0-9A-Za-z]{36})-([0-9A-Za-z]+)$/;

/**
 * What a `server-key` header says. `unknown` has the form of a server key and is no façade key. `home` is the part after the
 * hyphen; null for a plain token.
 */
export type ServerKeyHeader =
  | { readonly kind: "missing" | "malformed" | "unknown" }
  | { readonly kind: "token"; readonly token: string; readonly home: string | null };

export function facadeKeyOf(token: string, serverId: string): string {
  return `${token.replace("_", "")}-${toFacadeHome(serverId)}`;
}

/** The letters and digits of a server's id. */
export function toFacadeHome(serverId: string): string {
  return serverId.replace(/[^0-9A-Za-z]/g, "");
}

export function parseServerKeyHeader(header: string | null): ServerKeyHeader {
  const value = header?.trim() ?? "";
  if (value === "") return { kind: "missing" };
  if (isTokenShaped(value)) return { kind: "token", token: value, home: null };
  const [, secret, home] = SHAPE.exec(value) ?? [];
  if (secret !== undefined && home !== undefined) return { kind: "token", token: `gth_${secret}`, home };
  return { kind: SERVER_KEY_SHAPE.test(value) ? "unknown" : "malformed" };
}
