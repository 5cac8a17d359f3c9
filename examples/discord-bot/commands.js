// The bot's three commands: how Discord shows each, and what each does.
import { escapeMarkdown, PermissionFlagsBits, SlashCommandBuilder } from "discord.js";

const MESSAGE_MAX = 1_900;
const FOLLOW_MS = 60_000;

/** What people read for each final state of a command. */
export const STATES = {
  sent: "The game has taken it.",
  failed: "The game refused it.",
  unknown: "It is unknown whether the game got it. Check before you send it again.",
  expired: "It waited too long and was not sent.",
  cancelled: "It was cancelled.",
};

export const commands = [
  {
    data: new SlashCommandBuilder().setName("status").setDescription("How the game server is doing"),
    async run(_interaction, gatehouse) {
      const { info, ageSeconds } = await gatehouse.server.read({ include: ["Queue"] });
      return [
        `**${escapeMarkdown(info.Name)}**`,
        `${info.CurrentPlayers} of ${info.MaxPlayers} are playing, ${info.Queue.length} in the queue.`,
        `As of ${ageSeconds} s ago.`,
      ].join("\n");
    },
  },
  {
    data: new SlashCommandBuilder().setName("players").setDescription("Who is playing, by team"),
    async run(_interaction, gatehouse) {
      const teams = new Map();
      for (const player of await gatehouse.server.players()) {
        const team = player.Team ?? "No team";
        teams.set(team, [...(teams.get(team) ?? []), nameOf(player)]);
      }
      const lines = [...teams].map(([team, names]) => {
        return `**${escapeMarkdown(team)}** (${names.length}): ${names.join(", ")}`;
      });
      return lines.length === 0 ? "Nobody is playing." : lines.join("\n");
    },
  },
  {
    data: new SlashCommandBuilder()
      .setName("hint")
      .setDescription("Shows a hint to everybody on the server")
      .setDefaultMemberPermissions(PermissionFlagsBits.ManageGuild)
      .addStringOption((option) => {
        return option.setName("text").setDescription("The hint").setRequired(true).setMaxLength(200);
      }),
    async run(interaction, gatehouse) {
      // A line break would end the command, so white space becomes single spaces.
      const text = interaction.options.getString("text", true).replace(/\s+/g, " ");
      const command = await gatehouse.commands.send(`:h ${text}`);
      // When the time is up, people see where it is.
      const state = await command
        .settled({ timeoutMs: FOLLOW_MS })
        .catch(() => command.status())
        .catch(() => undefined);
      if (!state) return "Gatehouse has taken it, but I cannot see its end. Check before you send it again.";
      const { status, position, upstream_message } = state;
      const said = upstream_message ? ` It said: ${escapeMarkdown(upstream_message)}` : "";
      if (STATES[status]) return STATES[status] + said;
      return position ? `It waits in place ${position}.` : "It is on its way.";
    },
  },
];

/** Cuts the text to what Discord accepts. */
export function shorten(text) {
  return text.length <= MESSAGE_MAX ? text : `${text.slice(0, MESSAGE_MAX)} …`;
}

/** The name from `<player_name>:<player_id>`, with the callsign. */
function nameOf({ Player = "somebody", Callsign }) {
  const name = escapeMarkdown(Player.replace(/:\d+$/, ""));
  return Callsign ? `${name} (${escapeMarkdown(Callsign)})` : name;
}
