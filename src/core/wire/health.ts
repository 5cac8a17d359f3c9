// The bodies of /healthz and /readyz.
import Type from "typebox";
import { NOTICE_CODES, type NoticeCode } from "../notice-codes.ts";
import { type Static, time } from "./values.ts";

export const Liveness = Type.Object({ status: Type.Literal("ok") });
export type Liveness = Static<typeof Liveness>;

const MEANINGS = Object.entries(NOTICE_CODES).map(([code, meaning]) => `\`${code}\` (${meaning})`);

export const Notice = Type.Object({
  code: Type.Enum(Object.keys(NOTICE_CODES) as NoticeCode[], {
    description: `What it is about: ${MEANINGS.join(", ")}. There may be more codes in later versions`,
  }),
  message: Type.String({ description: "What is the matter, as a sentence for people" }),
  remedy: Type.String({ description: "What to do about it, for people" }),
  command: Type.Optional(Type.String({ description: "The command at the end of the remedy" })),
  since: Type.Optional(time("Since when. Absent where the instances would not agree on it")),
  until: Type.Optional(time("Until when: the end of the pause, of the last block, or of the certificate")),
  count: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "How many servers, keys or webhooks it is about, or how many events wait for the archive",
    }),
  ),
  servers: Type.Optional(
    Type.Array(Type.String(), { description: "The names of the first ten servers; only for operators" }),
  ),
  names: Type.Optional(
    Type.Array(Type.String(), { description: "The labels of the first keys or webhooks; only for operators" }),
  ),
  retry_after: Type.Optional(Type.Integer({ minimum: 1, description: "Seconds until it goes on" })),
  reason: Type.Optional(Type.String({ description: "Why the archive cannot be used; only for operators" })),
  address: Type.Optional(Type.String({ description: "The address of the proxy" })),
  simulated: Type.Optional(Type.Boolean({ description: "Whether the parked servers are the simulator's" })),
  free_bytes: Type.Optional(Type.Integer({ minimum: 0, description: "Free space on the disk" })),
  free_share: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "The free part of the disk" })),
  days_left: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "Whole days until the disk is full at this rate, or the certificate expires",
    }),
  ),
  offset_ms: Type.Optional(Type.Integer({ description: "How far the clock of this machine is ahead, roughly" })),
  path: Type.Optional(Type.String({ description: "The file or folder; only for operators" })),
});
export type Notice = Static<typeof Notice>;

export const Readiness = Type.Object({
  status: Type.Literal("ready"),
  notices: Type.Array(Notice, {
    description: "What is not well. Each code comes at most once",
  }),
  callers: Type.Enum(["served", "partly", "refused"], {
    description:
      "Whether callers get what they ask for, as far as the notices tell: `partly` when some servers or some requests are refused, `refused` when no server can be read",
  }),
});
export type Readiness = Static<typeof Readiness>;
