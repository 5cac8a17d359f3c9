"""Posts who joins, who kills and who calls for a moderator into a channel of Discord, each once."""

import asyncio
import os
from collections import defaultdict
from pathlib import Path

import discord
from gatehouse_client import AsyncGatehouse

TEXTS = {
    "player.joined": "{Player} joined",
    "player.killed": "{Killer} killed {Killed}",
    "modcall.opened": "{Caller} calls for a moderator",
}
KEPT, NEW = Path("cursor.txt"), Path("cursor.new")


async def main():
    bot = discord.Client(intents=discord.Intents.none(), allowed_mentions=discord.AllowedMentions.none())
    async with bot, AsyncGatehouse(os.environ["GATEHOUSE_URL"], os.environ["GATEHOUSE_KEY"]) as gatehouse:
        await bot.login(os.environ["DISCORD_TOKEN"])
        channel = await bot.fetch_channel(int(os.environ["DISCORD_CHANNEL"]))
        async for event in gatehouse.events(KEPT.read_text() if KEPT.exists() else "now", TEXTS, on_outage=print):
            if event["type"] in TEXTS and not event["backfill"]:
                text = TEXTS[event["type"]].format_map(defaultdict(lambda: "Somebody", event["data"]))
                await channel.send(discord.utils.escape_markdown(text), nonce=event["id"])
            NEW.write_text(event["id"])
            NEW.replace(KEPT)


asyncio.run(main())
