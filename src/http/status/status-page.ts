// The public status page: plain HTML, without scripts. Every text of others goes through escapeMarkup.
import type { StatusFacts } from "../../gateway/status/public-statuses.ts";
import { escapeMarkup } from "./escape-markup.ts";
import { STATUS_STYLE } from "./status-style.ts";
import {
  formatDuration,
  STATUS_LANGUAGES,
  STATUS_WORDS,
  type StatusLanguage,
  type StatusWords,
} from "./status-words.ts";
import { drawWeek } from "./week-chart.ts";

const RELOAD_SECONDS = 60;
/** A server that flaps for a week would make a page of its own. */
const OUTAGES_SHOWN_MAX = 20;
const LANGUAGE_NAMES: Readonly<Record<StatusLanguage, string>> = { en: "English", ru: "Русский" };

export type PageChoice = { readonly language: StatusLanguage; readonly isReloading: boolean };

export function writeStatusPage(facts: StatusFacts, choice: PageChoice): string {
  const { language, isReloading } = choice;
  const words = STATUS_WORDS[language];
  const name = escapeMarkup(facts.name);
  const summary = escapeMarkup(describe(facts, words));
  const base = `/status/${facts.slug}`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${isReloading ? `<meta http-equiv="refresh" content="${RELOAD_SECONDS}">\n` : ""}<title>${name}: ${words.states[facts.state]}</title>
<meta name="description" content="${summary}">
<meta property="og:type" content="website">
<meta property="og:title" content="${name}">
<meta property="og:description" content="${summary}">
<meta property="og:site_name" content="${words.page}">
<link rel="alternate" type="application/atom+xml" title="${words.feed}" href="${base}/feed.atom">
<link rel="icon" href="data:,">
<style>${STATUS_STYLE}</style>
</head>
<body>
<main>
<header>
<p class="kicker">${words.page}</p>
<h1><bdi>${name}</bdi></h1>
<p class="state ${facts.state}"><span class="dot"></span>${words.states[facts.state]}</p>
${words.hints[facts.state] === undefined ? "" : `<p class="hint">${words.hints[facts.state]}</p>\n`}</header>
${writeNumbers(facts, words)}
<section aria-labelledby="week">
<h2 id="week">${words.week}</h2>
${writeWeek(facts, choice, words)}
</section>
<section aria-labelledby="outages">
<h2 id="outages">${words.outages}</h2>
${writeOutages(facts, language, words)}
</section>
</main>
<footer>
<p>${words.utc}${isReloading ? ` ${words.reloads}` : ""} <a href="${hrefOf({ language, isReloading: !isReloading })}">${isReloading ? words.stopReloading : words.startReloading}</a></p>
<nav aria-label="${words.language}">
${STATUS_LANGUAGES.map((other) => writeLanguage(other, choice)).join("\n")}
</nav>
<nav aria-label="${words.formats}">
<a href="${base}.json">JSON</a>
<a href="${base}/badge.svg">${words.badge}</a>
<a href="${base}/feed.atom">${words.feed}</a>
</nav>
</footer>
</body>
</html>
`;
}

/** One line, for search engines and previews. */
function describe({ state, players, playersMax }: StatusFacts, words: StatusWords): string {
  const known = words.states[state];
  return state === "online" && players !== null ? `${known}, ${words.playersOf(players, playersMax)}` : known;
}

function writeNumbers(facts: StatusFacts, words: StatusWords): string {
  const { players, playersMax, queue, readAt, builtAt, joinKey } = facts;
  const ratio = players !== null && playersMax ? Math.min(1, players / playersMax) : null;
  const meter =
    ratio === null
      ? ""
      : `<svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="4"/><rect class="full" width="${Math.round(ratio * 100)}" height="4"/></svg>`;
  const of = playersMax === null ? "" : `<small> / ${playersMax}</small>`;
  const age = readAt === null ? words.never : words.ago(formatDuration(builtAt - readAt, words));
  const figures = [
    writeFigure(words.players, players === null ? "–" : `${players}${of}`, meter),
    writeFigure(words.queue, queue === null ? "–" : String(queue)),
    writeFigure(words.lastReading, `<span class="text">${age}</span>`),
    ...(joinKey === null
      ? []
      : [writeFigure(words.joinKey, `<code><bdi>${escapeMarkup(joinKey)}</bdi></code>`)]),
  ];
  return `<dl class="figures">${figures.join("")}</dl>`;
}

function writeFigure(label: string, value: string, below = ""): string {
  return `<div><dt>${label}</dt><dd>${value}${below}</dd></div>`;
}

function writeWeek({ hours }: StatusFacts, { language }: PageChoice, words: StatusWords): string {
  if (!hours) return `<p class="quiet">${words.noHistory}</p>`;
  const chart = drawWeek(hours, language, words);
  if (!chart) return `<p class="quiet">${words.emptyHistory}</p>`;
  const legend = ["average", "most"] as const;
  return `<div class="chart" tabindex="0" role="group" aria-labelledby="week">${chart}</div>
<p class="legend">${legend.map((name) => `<span><i class="${name}"></i>${words[name]}</span>`).join("")}<span><i class="gap"></i>${words.noReadings}</span></p>`;
}

function writeOutages(
  { outages, builtAt }: StatusFacts,
  language: StatusLanguage,
  words: StatusWords,
): string {
  if (!outages) return `<p class="quiet">${words.noOutageList}</p>`;
  if (outages.length === 0) return `<p class="quiet">${words.noOutages}</p>`;
  const format = new Intl.DateTimeFormat(language, {
    ...{ month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
    timeZone: "UTC",
  });
  const items = outages.slice(0, OUTAGES_SHOWN_MAX).map(({ state, from, to }) => {
    const length = formatDuration((to ?? builtAt) - from, words);
    const period = to === null ? `${format.format(from)} – ${words.lasting}` : format.formatRange(from, to);
    return `<li><span class="state ${state}"><span class="dot"></span>${words.states[state]}</span><span>${escapeMarkup(period)}</span><span class="length">${length}</span></li>`;
  });
  const rest = outages.length - items.length;
  const more = rest > 0 ? `<p class="quiet">${words.moreOutages(rest)}</p>` : "";
  return `<ul class="outages">${items.join("")}</ul>${more}`;
}

function writeLanguage(language: StatusLanguage, choice: PageChoice): string {
  const isCurrent = language === choice.language ? ' aria-current="true"' : "";
  const href = hrefOf({ ...choice, language });
  return `<a href="${href}" lang="${language}" hreflang="${language}"${isCurrent}>${LANGUAGE_NAMES[language]}</a>`;
}

function hrefOf({ language, isReloading }: PageChoice): string {
  return `?lang=${language}${isReloading ? "" : "&amp;reload=off"}`;
}
