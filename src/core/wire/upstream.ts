// What an operator sees of the calls to the game API: the budget, and the pause after a 429.
import Type from "typebox";
import { Count, EpochMs, orNull, type Static } from "./values.ts";

export const UpstreamResource = Type.Object({
  paused_until: orNull(EpochMs, "Until when the game API is not called for any server; null without a pause"),
  paused_since: orNull(EpochMs, "When the game API last refused a call because of its limit"),
  pause_reason: orNull(
    Type.Enum(["named_by_game_api", "backoff"]),
    "`named_by_game_api`: the game API said how long to wait. `backoff`: it did not, and the wait is Gatehouse's own.",
  ),
  resumed_at: orNull(EpochMs, "When an operator last ended a pause"),
  limit: orNull(Count, "Calls that the game API allows in a window; null while it has not said so"),
  remaining: orNull(Count, "Calls that are left in this window"),
  reset_at: orNull(EpochMs, "When the window ends"),
  global_key_refused: Type.Boolean({ description: "Whether GATEHOUSE_UPSTREAM_GLOBAL_KEY was refused" }),
  failing_servers: Type.Integer({ description: "Servers for which the game API fails again and again" }),
  refused_keys: Type.Integer({ description: "Server keys that the game API has refused" }),
});
export type UpstreamResource = Static<typeof UpstreamResource>;
