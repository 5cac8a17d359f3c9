// The alert rules of a server in the admin API. A field's description completes the error message for a wrong value.
import Type from "typebox";
import type { Static } from "./values.ts";

export const ALERT_MINUTES_MAX = 10_080;

function whole(minimum: number, maximum: number) {
  return Type.Integer({ minimum, maximum, description: `must be a whole number from ${minimum} to ${maximum}` });
}

const minutes = whole(1, ALERT_MINUTES_MAX);
const strict = { additionalProperties: false };
const MINUTES = `minutes, a whole number from 1 to ${ALERT_MINUTES_MAX}`;

function rule(fields: string) {
  return { ...strict, description: `must be an object with ${fields}` };
}

export const AlertRulesResource = Type.Object(
  {
    kills: Type.Optional(
      Type.Object(
        { count: whole(2, 100), seconds: whole(1, 3_600) },
        rule("count, a whole number from 2 to 100, and seconds, from 1 to 3600"),
      ),
    ),
    mass_command: Type.Optional(
      Type.Object(
        {
          patterns: Type.Array(
            Type.String({
              minLength: 1,
              maxLength: 100,
              description: "must be the beginning of a command, of 1 to 100 characters",
            }),
            { minItems: 1, maxItems: 50, description: "must be a list of 1 to 50 beginnings of commands" },
          ),
        },
        rule("patterns, a list of 1 to 50 beginnings of commands, each of 1 to 100 characters"),
      ),
    ),
    unanswered_modcall: Type.Optional(Type.Object({ minutes }, rule(MINUTES))),
    offline: Type.Optional(Type.Object({ minutes }, rule(MINUTES))),
    unreachable: Type.Optional(Type.Object({ minutes }, rule(MINUTES))),
    players: Type.Optional(
      Type.Object(
        { below: Type.Optional(whole(1, 1_000)), above: Type.Optional(whole(0, 1_000)), minutes },
        rule(`below, from 1 to 1000, above, from 0 to 1000, or both, and ${MINUTES}`),
      ),
    ),
  },
  strict,
);
export type AlertRulesResource = Static<typeof AlertRulesResource>;
