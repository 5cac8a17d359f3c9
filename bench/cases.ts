// The cases that every contender is measured with: the request, its tokens, and the expected status.
import { SECTIONS } from "../src/core/sections.ts";

export type Case = {
  readonly id: string;
  readonly title: string;
  readonly path: string;
  /** `used up`: keys that are over their limit when the case begins. */
  readonly tokens: "valid" | "used up" | "invalid";
  readonly hasEtag: boolean;
  readonly status: number;
};

export const READ_PATH = "/v2/game/server";
export const ALL_SECTIONS_PATH = `${READ_PATH}?${SECTIONS.map((name) => `${name}=true`).join("&")}`;

const READ = { path: READ_PATH, tokens: "valid", hasEtag: false, status: 200 } as const;

export const CASES: readonly Case[] = [
  { ...READ, id: "read-base", title: "cached read, base only" },
  { ...READ, id: "read-all", title: "cached read, nine sections", path: ALL_SECTIONS_PATH },
  {
    ...READ,
    id: "unchanged",
    title: "304, nine sections",
    path: ALL_SECTIONS_PATH,
    hasEtag: true,
    status: 304,
  },
  { ...READ, id: "refused", title: "refused, 429", tokens: "used up", status: 429 },
  { ...READ, id: "invalid", title: "invalid key, 401", tokens: "invalid", status: 401 },
  { ...READ, id: "v1", title: "v1, 500 / 5018", path: "/v1/server", status: 500 },
];
