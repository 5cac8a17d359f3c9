// The public status page: plain HTML, without scripts. Every text of others goes through escapeMarkup.
import type { StatusFacts } from "../../gateway/status/public-statuses.ts";
import { escapeMarkup } from "./escape-markup.ts";
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
    ...(joinKey === null ? [] : [writeFigure(words.joinKey, `<code><bdi>${escapeMarkup(joinKey)}</bdi></code>`)]),
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

function writeOutages({ outages, builtAt }: StatusFacts, language: StatusLanguage, words: StatusWords): string {
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

const STATUS_STYLE = `
:root{--page:#f4f5f7;--card:#fff;--line:#e1e4ea;--text:#17202e;--quiet:#566074;--link:#1a56c4;
--online:#167a3c;--offline:#566074;--unreachable:#b42318;--unknown:#566074;--bar:#2563eb;--most:#bfd4fb;--grid:#e4e7ec;--gap:#b8bfcc}
@media(prefers-color-scheme:dark){:root{--page:#0e1219;--card:#171d27;--line:#2a3341;--text:#e8ecf2;--quiet:#a3adbd;--link:#8ab4ff;
--online:#4cc97a;--offline:#a3adbd;--unreachable:#ff8a7a;--unknown:#a3adbd;--bar:#6ea2ff;--most:#2c4470;--grid:#2a3341;--gap:#55617a}}
*{box-sizing:border-box}
body{margin:0;padding:clamp(1rem,4vw,3rem) 1rem;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main,footer{max-width:46rem;margin:0 auto}
header,section,.figures{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.25rem clamp(1rem,4vw,1.75rem);margin:0 0 1rem}
.kicker{margin:0;color:var(--quiet);font-size:.8rem;letter-spacing:.06em;text-transform:uppercase}
h1{margin:.1rem 0 .6rem;font-size:clamp(1.5rem,5vw,2.1rem);line-height:1.2;overflow-wrap:anywhere}
h2{margin:0 0 .75rem;font-size:1.05rem}
.state{display:inline-flex;align-items:center;gap:.5rem;margin:0;font-weight:650}
header .state{font-size:1.15rem}
.dot{width:.7em;height:.7em;border-radius:50%;background:currentColor;flex:none}
.online{color:var(--online)}.offline{color:var(--offline)}.unreachable{color:var(--unreachable)}.unknown{color:var(--unknown)}
.hint,.quiet{margin:.4rem 0 0;color:var(--quiet)}
section .quiet{margin:0}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:1rem 1.5rem}
.figures div{min-width:0}
dt{color:var(--quiet);font-size:.85rem}
dd{margin:0;font-size:1.9rem;font-weight:700;line-height:1.25;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
dd small{font-size:1.1rem;font-weight:500;color:var(--quiet)}
dd .text,dd code{font-size:1.1rem;font-weight:600}
.meter{display:block;width:100%;height:6px;margin-top:.35rem;border-radius:3px;overflow:hidden}
.meter .rest{fill:var(--grid)}.meter .full{fill:var(--online)}
.chart{overflow-x:auto;direction:rtl}
.chart:focus-visible{outline:2px solid var(--link)}
.week{direction:ltr;display:block;width:100%;min-width:38rem;height:auto}
.week .average{fill:var(--bar)}.week .most{fill:var(--most)}.week .gap{fill:var(--gap)}
.week .grid{stroke:var(--grid);stroke-width:1}.week .axis{fill:var(--quiet);font-size:12px;font-family:inherit}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:.6rem 0 0;color:var(--quiet);font-size:.85rem}
.legend span{display:inline-flex;align-items:center;gap:.4rem}
.legend i{width:.8rem;height:.8rem;border-radius:3px}
.legend .average{background:var(--bar)}.legend .most{background:var(--most)}.legend .gap{background:var(--gap);height:.25rem}
.outages{list-style:none;margin:0;padding:0}
.outages li{display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:.5rem 0;border-top:1px solid var(--line)}
.outages li:first-child{border-top:0;padding-top:0}.outages li:last-child{padding-bottom:0}
.outages .state{min-width:8.5rem;font-size:.95rem}
.length{margin-left:auto;color:var(--quiet);font-variant-numeric:tabular-nums}
footer{color:var(--quiet);font-size:.85rem}
footer p{margin:0 0 .5rem}
nav{margin-bottom:.5rem;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
a{color:var(--link)}
a[aria-current]{color:inherit;text-decoration:none;font-weight:650}
a:focus-visible{outline:2px solid currentColor;outline-offset:2px;border-radius:3px}
`;
