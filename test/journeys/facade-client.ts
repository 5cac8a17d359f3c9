// For tests of the façade: a client that calls in the game API's form, and what its answers say.
import { expect } from "bun:test";
import { facadeKeyOf } from "../../src/core/facade/facade-key.ts";
import type { TestGatehouse } from "../start-gatehouse.ts";
import type { Bot } from "./commander.ts";

/** Calls with the façade key of the bot. */
export function createFacadeClient(gatehouse: TestGatehouse, { token, serverId }: Bot) {
  const key = facadeKeyOf(token, serverId);
  return {
    key,
    get(path: string, headers: Record<string, string> = { "Server-Key": key }, method = "GET") {
      return fetch(gatehouse.url + path, { method, headers, redirect: "manual" });
    },
    send(body: unknown, path = "/v2/server/command", serverKey = key): Promise<Response> {
      return fetch(gatehouse.url + path, {
        method: "POST",
        headers: { "server-key": serverKey, "Content-Type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
    },
  };
}

export type FacadeClient = ReturnType<typeof createFacadeClient>;

export async function codeOf(response: Response): Promise<[status: number, code: number]> {
  expect(response.headers.get("content-type")).toBe("application/json");
  const { code, message } = (await response.json()) as { code: number; message: string };
  expect(message).toBeString();
  return [response.status, code];
}

export const limitOf = ({ headers }: Response) =>
  ["limit", "remaining", "reset", "bucket"].map((name) => headers.get(`x-ratelimit-${name}`));
