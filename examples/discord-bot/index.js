// The bot: signs in to Discord, registers its commands and answers them, and announces what happens in a channel.
import { Client, Events, MessageFlags, Routes } from "discord.js";
import { Gatehouse } from "gatehouse-client";
import { announce } from "./announce.js";
import { commands, shorten } from "./commands.js";
import { explain } from "./explain.js";

const {
  DISCORD_TOKEN,
  DISCORD_API,
  DISCORD_CHANNEL,
  GATEHOUSE_KEY,
  GATEHOUSE_URL = "http://127.0.0.1:8080",
  CURSOR_FILE = "cursor.txt",
} = process.env;
if (!DISCORD_TOKEN || !GATEHOUSE_KEY) {
  console.error("Set DISCORD_TOKEN and GATEHOUSE_KEY.");
  process.exit(2);
}

const gatehouse = new Gatehouse({ baseUrl: GATEHOUSE_URL, token: GATEHOUSE_KEY, timeoutMs: 10_000 });
const client = new Client({
  intents: [],
  // Players choose their names, and a name must not ping anybody.
  allowedMentions: { parse: [] },
  // Only for tests, which run a fake Discord.
  ...(DISCORD_API && { rest: { api: DISCORD_API } }),
});

client.once(Events.ClientReady, async ({ application, user }) => {
  await application.commands.set(commands.map(({ data }) => data));
  console.log(`signed in as ${user.username}`);
});

client.on(Events.InteractionCreate, async (interaction) => {
  if (!interaction.isChatInputCommand()) return;
  const command = commands.find(({ data }) => data.name === interaction.commandName);
  if (!command) return;
  try {
    // Discord gives up after three seconds without this.
    await interaction.deferReply({ flags: MessageFlags.Ephemeral });
    const answer = await command.run(interaction, gatehouse).catch(explain);
    await interaction.editReply(shorten(answer));
  } catch (error) {
    console.error("could not answer:", error.message);
  }
});

const stopping = new AbortController();
let announcing;
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    stopping.abort();
    await announcing;
    await client.destroy();
    process.exit(0);
  });
}

await client.login(DISCORD_TOKEN);
if (DISCORD_CHANNEL) {
  announcing = announce({
    gatehouse,
    cursorFile: CURSOR_FILE,
    post: (body) => client.rest.post(Routes.channelMessages(DISCORD_CHANNEL), { body }),
    signal: stopping.signal,
    onProblem: (error) => console.error("announcing:", error.message),
  }).catch((error) => console.error("announcing has ended:", error.message));
  await announcing;
}
