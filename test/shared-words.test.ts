// One thing has one name: Discord and the status page call it what the dashboard calls it.
import { expect, test } from "bun:test";
import { wordsOf } from "../src/core/webhooks/discord/words.ts";
import { alertEvents as alertsEn } from "../src/dashboard/locales/en/alert-events.ts";
import { activity as activityEn } from "../src/dashboard/locales/en/events.ts";
import { status as statusEn } from "../src/dashboard/locales/en/frame.ts";
import { live as liveEn } from "../src/dashboard/locales/en/server.ts";
import { alertEvents as alertsRu } from "../src/dashboard/locales/ru/alert-events.ts";
import { activity as activityRu } from "../src/dashboard/locales/ru/events.ts";
import { status as statusRu } from "../src/dashboard/locales/ru/frame.ts";
import { live as liveRu } from "../src/dashboard/locales/ru/server.ts";
import { STATUS_WORDS } from "../src/http/status/status-words.ts";

const PAGES = {
  en: { activity: activityEn, alerts: alertsEn, live: liveEn, status: statusEn },
  ru: { activity: activityRu, alerts: alertsRu, live: liveRu, status: statusRu },
};

test.each(["en", "ru"] as const)("the words for one thing are the same everywhere: %s", (language) => {
  const { activity, alerts, live, status } = PAGES[language];
  const discord = wordsOf(language);
  expect(discord.rule.mass_command).toBe(alerts.rule.mass_command);
  expect(discord.title["custom.command"]).toEndWith(` ${activity.type.custom_command}`);
  expect(discord.title["staff.added"]).toEndWith(` ${activity.type.staff_added}`);
  expect(discord.title["staff.removed"]).toEndWith(` ${activity.type.staff_removed}`);
  expect(discord.section.Staff).toBe(status.sections.Staff);
  expect(discord.section["*"]).toBe(activity.gap.all);
  expect(discord.status.staff).toStartWith(activity.group.staff);
  const joinKeys = [discord.field.JoinKey, discord.status.joinKey, STATUS_WORDS[language].joinKey];
  expect(new Set(joinKeys)).toEqual(new Set([live.card.joinKey]));
});
