// The bot's three commands: what Discord is told about each, and what each does.
import { escapeMarkdown, PermissionFlagsBits, SlashCommandBuilder } from "discord.js";

const MESSAGE_MAX = 1_900;

const STATES = {
  sent: "The game has taken it.",
  failed: "The game refused it.",
  unknown: "Nobody can tell whether the game got it. Look before you repeat it.",
  expired: "It waited too long and was not sent.",
  cancelled: "Somebody took it back.",
};

export const commands = [
  {
    data: new SlashCommandBuilder().setName("status").setDescription("How the game server is doing"),
    async run(_interaction, gatehouse) {
      const server = await gatehouse.readServer("Queue");
      return [
        `**${escapeMarkdown(server.Name)}**`,
        `${server.CurrentPlayers} of ${server.MaxPlayers} are playing, ${server.Queue.length} in the queue.`,
        `As of ${server.age} s ago.`,
      ].join("\n");
    },
  },
  {
    data: new SlashCommandBuilder().setName("players").setDescription("Who is playing, by team"),
    async run(_interaction, gatehouse) {
      const { Players } = await gatehouse.readServer("Players");
      const teams = new Map();
      for (const player of Players) {
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
      // One line is one command; whatever else the text holds is only shown.
      const text = interaction.options.getString("text", true).replace(/\s+/g, " ");
      const { command_id } = await gatehouse.sendCommand(`:h ${text}`);
      const { status, position } = await gatehouse.followCommand(command_id);
      return STATES[status] ?? (position ? `It waits in place ${position}.` : "It is on its way.");
    },
  },
];

/** Never longer than Discord takes. */
export function shorten(text) {
  return text.length <= MESSAGE_MAX ? text : `${text.slice(0, MESSAGE_MAX)} …`;
}

/** `<player_name>:<player_id>`, of which people want the name. */
function nameOf({ Player = "somebody", Callsign }) {
  const name = escapeMarkdown(Player.slice(0, Player.lastIndexOf(":")) || Player);
  return Callsign ? `${name} (${escapeMarkdown(Callsign)})` : name;
}
