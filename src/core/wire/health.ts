// The bodies of /healthz and /readyz.
import Type from "typebox";
import { NOTICE_CODES, type NoticeCode } from "../notice-codes.ts";
import type { Static } from "./values.ts";

export const Liveness = Type.Object({ status: Type.Literal("ok") });
export type Liveness = Static<typeof Liveness>;

const MEANINGS = Object.entries(NOTICE_CODES).map(([code, meaning]) => `\`${code}\` (${meaning})`);

export const Notice = Type.Object({
  code: Type.Enum(Object.keys(NOTICE_CODES) as NoticeCode[], {
    description: `What it is about: ${MEANINGS.join(", ")}. There may be more codes in later versions`,
  }),
  message: Type.String({ description: "The notice as a sentence, for people" }),
  count: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "How many servers, keys or webhooks it is about, or how many events wait for the archive",
    }),
  ),
  servers: Type.Optional(
    Type.Array(Type.String(), { description: "The names of the first ten servers; only for operators" }),
  ),
  retry_after: Type.Optional(Type.Integer({ minimum: 1, description: "Seconds until it goes on" })),
  reason: Type.Optional(Type.String({ description: "Why the archive cannot be used; only for operators" })),
  address: Type.Optional(Type.String({ description: "The address of the proxy" })),
});
export type Notice = Static<typeof Notice>;

export const Readiness = Type.Object({
  status: Type.Literal("ready"),
  notices: Type.Array(Notice, {
    description: "What is not well but keeps nobody from being served. Each code comes at most once",
  }),
});
export type Readiness = Static<typeof Readiness>;
