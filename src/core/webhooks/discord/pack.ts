// As many events as one message to Discord may have.
import { type DiscordOptions, type ToldEvent, toEventEmbed } from "./event-embed.ts";
import {
  countCharacters,
  DISCORD_LIMITS,
  type DiscordEmbed,
  type DiscordMessage,
  toDiscordMessage,
} from "./message.ts";

/** `count`: how many of the events, from the first on, the message tells of. At least one. */
export type PackedMessage = { readonly message: DiscordMessage; readonly count: number };

/**
 * How many events to put into one message. After a refusal they are sent one by one, so that only the event which Discord
 * does not take is set aside.
 */
export function eventsPerMessage(refusals: number): number {
  return refusals > 0 ? 1 : DISCORD_LIMITS.embeds;
}

/** In their order. `events` must not be empty. */
export function packEvents(
  events: readonly ToldEvent[],
  options: DiscordOptions,
  countMax: number = DISCORD_LIMITS.embeds,
): PackedMessage {
  const embeds: DiscordEmbed[] = [];
  let characters = 0;
  for (const event of events.slice(0, Math.min(countMax, DISCORD_LIMITS.embeds))) {
    const embed = toEventEmbed(event, options);
    characters += countCharacters(embed);
    if (characters > DISCORD_LIMITS.characters) break;
    embeds.push(embed);
  }
  return { message: toDiscordMessage(embeds), count: embeds.length };
}
