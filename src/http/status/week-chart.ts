// A week of players as an SVG: a bar for each hour, and nothing where there were no readings.
import { DAY_MS } from "../../core/durations.ts";
import type { StatusHour } from "../../core/wire/status.ts";
import { escapeMarkup } from "./escape-markup.ts";
import type { StatusLanguage, StatusWords } from "./status-words.ts";

const BAR = 4;
const LEFT = 28;
const TOP = 8;
const HEIGHT = 120;
const BELOW = 20;

/** Undefined when nothing of the week is known. Colours come from the style of the page. */
export function drawWeek(
  hours: readonly StatusHour[],
  language: StatusLanguage,
  words: StatusWords,
): string | undefined {
  const peak = hours.reduce((most, { max }) => Math.max(most, max ?? 0), 0);
  if (hours.every(({ avg }) => avg === null)) return undefined;
  const top = Math.max(peak, 1);
  const width = hours.length * BAR;
  const y = (players: number) => round(TOP + HEIGHT - (players / top) * HEIGHT);
  const label = `${words.week}: ${words.most} ${peak}`;
  const inner = [
    drawGrid(top, width, y),
    ...hours.map((hour, index) => drawHour(hour, LEFT + index * BAR, y, language, words)),
    drawDays(hours, language),
  ].join("");
  const box = `0 0 ${LEFT + width} ${TOP + HEIGHT + BELOW}`;
  return `<svg class="week" viewBox="${box}" role="img" aria-label="${escapeMarkup(label)}">${inner}</svg>`;
}

function drawGrid(top: number, width: number, y: (players: number) => number): string {
  const lines = top > 1 ? [0, Math.round(top / 2), top] : [0, top];
  return lines
    .map((players) => {
      const height = y(players);
      return `<line class="grid" x1="${LEFT}" x2="${LEFT + width}" y1="${height}" y2="${height}"/><text class="axis" x="${LEFT - 6}" y="${height + 3}" text-anchor="end">${players}</text>`;
    })
    .join("");
}

function drawHour(
  { at, avg, max }: StatusHour,
  x: number,
  y: (players: number) => number,
  language: StatusLanguage,
  words: StatusWords,
): string {
  const time = formatHour(at, language);
  if (avg === null || max === null) {
    return `<rect class="gap" x="${x}" y="${TOP + HEIGHT - 2}" width="${BAR}" height="2"><title>${time}: ${words.noReadings}</title></rect>`;
  }
  const bar = (name: string, players: number) =>
    `<rect class="${name}" x="${x}" y="${y(players)}" width="${BAR - 1}" height="${round(y(0) - y(players))}"/>`;
  const title = `${time}: ${words.average} ${Math.round(avg * 10) / 10}, ${words.most} ${max}`;
  return `<g><title>${title}</title>${bar("most", max)}${bar("average", avg)}</g>`;
}

/** The names of the days, each at its midnight. */
function drawDays(hours: readonly StatusHour[], language: StatusLanguage): string {
  const format = new Intl.DateTimeFormat(language, { weekday: "short", day: "numeric", timeZone: "UTC" });
  return hours
    .map(({ at }, index) => {
      // The last day has no room for its name when it has just begun.
      if (at % DAY_MS !== 0 || index > hours.length - 10) return "";
      const x = LEFT + index * BAR;
      return `<line class="grid" x1="${x}" x2="${x}" y1="${TOP}" y2="${TOP + HEIGHT + 4}"/><text class="axis" x="${x + 4}" y="${TOP + HEIGHT + 14}">${format.format(at)}</text>`;
    })
    .join("");
}

function formatHour(at: number, language: StatusLanguage): string {
  const day = new Intl.DateTimeFormat(language, { weekday: "short", day: "numeric", timeZone: "UTC" });
  return `${day.format(at)}, ${new Date(at).toISOString().slice(11, 16)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
