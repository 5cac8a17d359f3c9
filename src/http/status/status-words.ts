// The words of the public status page, in each of its languages.
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/durations.ts";
import type { PublicState } from "../../core/wire/status.ts";

export const STATUS_LANGUAGES = ["en", "ru"] as const;
export type StatusLanguage = (typeof STATUS_LANGUAGES)[number];

const SECOND_MS = 1_000;

type States = Readonly<Record<PublicState, string>>;

export type StatusWords = Readonly<typeof EN>;

const EN = {
  page: "Server status",
  states: { online: "Online", offline: "Offline", unreachable: "Unreachable", unknown: "Unknown" } satisfies States,
  /** A sentence below the state, when it needs one. */
  hints: {
    offline: "The server is not running at the moment.",
    unreachable: "The state of the server cannot be read at the moment.",
    unknown: "There is no recent reading of the server.",
  } as Partial<States>,
  players: "Players",
  queue: "In the queue",
  lastReading: "Last reading",
  never: "none yet",
  joinKey: "Join key",
  week: "Players in the last 7 days",
  average: "average of the hour",
  most: "most in the hour",
  noReadings: "no readings",
  noHistory: "The history cannot be shown at the moment.",
  emptyHistory: "There are no readings of these days yet.",
  outages: "Outages in the last 7 days",
  noOutages: "None.",
  noOutageList: "The outages cannot be shown at the moment.",
  moreOutages: (count: number) => `and ${count} more`,
  lasting: "now",
  utc: "Times are in UTC.",
  badge: "Badge",
  feed: "Feed of outages",
  language: "Language",
  formats: "For programs",
  reloads: "This page reloads every minute.",
  stopReloading: "Stop reloading",
  startReloading: "Reload every minute",
  ago: (duration: string) => `${duration} ago`,
  playersOf: (players: number, max: number | null) =>
    max === null ? `${players} players` : `${players} of ${max} players`,
  /** Seconds, minutes, hours, days. */
  units: ["s", "min", "h", "d"] as readonly [string, string, string, string],
};

const RU: StatusWords = {
  page: "Состояние сервера",
  states: { online: "Работает", offline: "Выключен", unreachable: "Недоступен", unknown: "Неизвестно" },
  hints: {
    offline: "Сервер сейчас не запущен.",
    unreachable: "Состояние сервера сейчас не удаётся прочитать.",
    unknown: "Свежих данных о сервере нет.",
  },
  players: "Игроки",
  queue: "В очереди",
  lastReading: "Последние данные",
  never: "ещё не было",
  joinKey: "Ключ входа",
  week: "Игроки за последние 7 дней",
  average: "в среднем за час",
  most: "больше всего за час",
  noReadings: "нет данных",
  noHistory: "Историю сейчас показать нельзя.",
  emptyHistory: "Данных за эти дни пока нет.",
  outages: "Перебои за последние 7 дней",
  noOutages: "Не было.",
  noOutageList: "Перебои сейчас показать нельзя.",
  moreOutages: (count) => `и ещё ${count}`,
  lasting: "сейчас",
  utc: "Время указано по UTC.",
  badge: "Значок",
  feed: "Лента перебоев",
  language: "Язык",
  formats: "Для программ",
  reloads: "Страница обновляется каждую минуту.",
  stopReloading: "Не обновлять",
  startReloading: "Обновлять каждую минуту",
  ago: (duration) => `${duration} назад`,
  playersOf: (players, max) => (max === null ? `игроков: ${players}` : `игроков: ${players} из ${max}`),
  units: ["с", "мин", "ч", "д"],
};

export const STATUS_WORDS: Readonly<Record<StatusLanguage, StatusWords>> = { en: EN, ru: RU };

/** Its two largest units: 45 s, 12 min, 3 h 5 min, 2 d 4 h. */
export function formatDuration(ms: number, { units }: Pick<StatusWords, "units">): string {
  const [second, minute, hour, day] = units;
  const length = Math.max(0, ms);
  const pair = (large: number, unit: string, small: number, rest: string) => {
    const count = Math.floor((length % large) / small);
    return `${Math.floor(length / large)} ${unit}${count > 0 ? ` ${count} ${rest}` : ""}`;
  };
  if (length < MINUTE_MS) return `${Math.floor(length / SECOND_MS)} ${second}`;
  if (length < HOUR_MS) return `${Math.floor(length / MINUTE_MS)} ${minute}`;
  return length < DAY_MS ? pair(HOUR_MS, hour, MINUTE_MS, minute) : pair(DAY_MS, day, HOUR_MS, hour);
}

/** Longer headers are not parsed. */
export const ACCEPT_LANGUAGE_LENGTH_MAX = 256;

/** The wanted language, or that of Accept-Language with the highest weight. */
export function chooseLanguage(wanted: string | null, accepted: string | null): StatusLanguage {
  const named = STATUS_LANGUAGES.find((language) => language === wanted);
  if (named || accepted === null || accepted.length > ACCEPT_LANGUAGE_LENGTH_MAX) return named ?? "en";
  let best: { readonly language: StatusLanguage; readonly weight: number } = { language: "en", weight: 0 };
  for (const entry of accepted.split(",")) {
    const [, name, weight = "1"] = /^\s*([A-Za-z]+)[\w-]*\s*(?:;\s*q\s*=\s*([\d.]+)\s*)?$/.exec(entry) ?? [];
    const language = STATUS_LANGUAGES.find((known) => known === name?.toLowerCase());
    if (language && Number(weight) > best.weight) best = { language, weight: Number(weight) };
  }
  return best.language;
}
