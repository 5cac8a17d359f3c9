// A message to a Discord webhook, and the limits that Discord sets for it.

/** Lengths are counted in UTF-16 units: Discord counts characters, which are never more. */
export const DISCORD_LIMITS = {
  embeds: 10,
  /** Titles, descriptions, field names and values, footers and authors over all embeds of a message. */
  characters: 6_000,
  title: 256,
  description: 4_096,
  fields: 25,
  fieldName: 256,
  fieldValue: 1_024,
  footer: 2_048,
} as const;

export type EmbedField = { readonly name: string; readonly value: string; readonly inline: boolean };

export type DiscordEmbed = {
  readonly title: string;
  readonly description: string;
  readonly color: number;
  readonly fields?: readonly EmbedField[];
  readonly footer?: { readonly text: string };
};

/** Nothing in a message may notify anybody, whatever a player is called. */
export type DiscordMessage = {
  readonly embeds: readonly DiscordEmbed[];
  readonly allowed_mentions: { readonly parse: readonly [] };
};

export function toDiscordMessage(embeds: readonly DiscordEmbed[]): DiscordMessage {
  return { embeds, allowed_mentions: { parse: [] } };
}

/** What an embed takes of the characters of its message. */
export function countCharacters({ title, description, fields = [], footer }: DiscordEmbed): number {
  const inFields = fields.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  return title.length + description.length + inFields + (footer?.text.length ?? 0);
}

/** Whether Discord takes the embed in a message of its own. */
export function isWithinLimits(embed: DiscordEmbed): boolean {
  const { title, description, fields = [], footer } = embed;
  return (
    countCharacters(embed) <= DISCORD_LIMITS.characters &&
    title.length <= DISCORD_LIMITS.title &&
    description.length <= DISCORD_LIMITS.description &&
    (footer?.text.length ?? 0) <= DISCORD_LIMITS.footer &&
    fields.length <= DISCORD_LIMITS.fields &&
    fields.every(
      ({ name, value }) => name.length <= DISCORD_LIMITS.fieldName && value.length <= DISCORD_LIMITS.fieldValue,
    )
  );
}

/** Where a message is posted. Without `wait`, Discord reports no error and no id of the message. */
export function toPostUrl(webhookUrl: URL): URL {
  const url = new URL(webhookUrl);
  url.searchParams.set("wait", "true");
  return url;
}

/** Where a message is edited. The query stays, because it may name a thread. */
export function toEditUrl(webhookUrl: URL, messageId: string): URL {
  const url = new URL(webhookUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/messages/${encodeURIComponent(messageId)}`;
  return url;
}

/** The id of the message that was posted; undefined when the answer has none. */
export function parseMessageId(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const id = typeof value === "object" && value !== null && "id" in value ? value.id : undefined;
    return typeof id === "string" && /^\d{1,32}$/.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
