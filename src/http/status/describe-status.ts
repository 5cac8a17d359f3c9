// The public status as JSON.
import type { StatusResource } from "../../core/wire/status.ts";
import type { StatusFacts } from "../../gateway/status/public-statuses.ts";

export function describeStatus(facts: StatusFacts): StatusResource {
  const { readAt, builtAt } = facts;
  return {
    name: facts.name,
    state: facts.state,
    players: facts.players,
    max_players: facts.playersMax,
    queue: facts.queue,
    join_key: facts.joinKey,
    read_at: readAt,
    age_seconds: readAt === null ? null : Math.max(0, Math.round((builtAt - readAt) / 1000)),
    history: facts.hours && [...facts.hours],
    outages: facts.outages && [...facts.outages],
  };
}
