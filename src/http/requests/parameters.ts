// The parameters that several operations share.
import Type from "typebox";
import { SECTIONS } from "../../core/sections.ts";
import type { Parameter } from "../operation.ts";
import { textLike } from "./query-fields.ts";

export const IF_NONE_MATCH: Parameter = {
  name: "If-None-Match",
  in: "header",
  description: "The `ETag` of an earlier answer.",
  schema: Type.String(),
};

export const SECTION_PARAMETERS: readonly Parameter[] = SECTIONS.map((name) => ({
  name,
  in: "query",
  description: `Include \`${name}\`. Anything but exactly \`true\` leaves it out.`,
  schema: Type.Boolean(),
}));

const SERVER_ID = "^srv_[0-9A-Za-z_]{1,76}$";
export const OF_SERVER = textLike(
  "must be an id like srv_…",
  Type.String({ pattern: SERVER_ID }),
  { description: "Only those of this game server." },
  /^srv_[0-9A-Za-z_]{0,76}$/,
);

const PLAYER_ID = "^[0-9]{1,20}$";
/** The id of a player. */
export function playerField(about: {
  readonly description: string;
  readonly example?: string;
  readonly twice: string;
}) {
  return textLike(
    "must be the id of a player, in digits",
    Type.String({ pattern: PLAYER_ID }),
    about,
    new RegExp(PLAYER_ID),
  );
}
