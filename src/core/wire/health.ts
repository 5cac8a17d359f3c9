// The bodies of /healthz and /readyz.
import Type from "typebox";
import type { Static } from "./static.ts";

export const Liveness = Type.Object({ status: Type.Literal("ok") });
export type Liveness = Static<typeof Liveness>;

export const Readiness = Type.Object({
  status: Type.Literal("ready"),
  notices: Type.Array(Type.String(), {
    description:
      "What is not well but keeps nobody from being served, in sentences. Operators are told which servers they are about",
  }),
});
export type Readiness = Static<typeof Readiness>;
