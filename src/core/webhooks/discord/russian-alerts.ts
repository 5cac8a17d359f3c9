// The sentences of alerts in Russian. They are plain text: a command in them is not escaped yet.
import type { AlertWords } from "../../alerts/recognise-alert.ts";

/** The forms after 1, after 2 and after 5. */
type Forms = readonly [one: string, few: string, many: string];

const PLURALS = new Intl.PluralRules("ru");
const KILLS: Forms = ["убийство", "убийства", "убийств"];
const PLAYERS: Forms = ["игрок", "игрока", "игроков"];
/** In the accusative, as in "за 1 секунду". */
const SECONDS: Forms = ["секунду", "секунды", "секунд"];
const MINUTES: Forms = ["минуту", "минуты", "минут"];
/** In the genitive, as in "меньше 1 игрока". */
const THAN_KILLS: Forms = ["убийства", "убийств", "убийств"];
const THAN_PLAYERS: Forms = ["игрока", "игроков", "игроков"];

/** Whom the alert is about is shown before the sentence. */
export function sayAlertInRussian(alert: AlertWords): string {
  switch (alert.name) {
    case "kills":
      return `${count(alert.count, KILLS)} за ${count(alert.seconds, SECONDS)}.`;
    case "fewerKills":
      return `Уже меньше ${count(alert.count, THAN_KILLS)} за ${count(alert.seconds, SECONDS)}.`;
    case "used":
      return `Пишет ${alert.command}`;
    case "usedNoMore":
      return "Таких команд не было 60 секунд.";
    case "unanswered":
      return `Ждёт модератора уже ${count(alert.minutes, MINUTES)}.`;
    case "answered":
      return "На вызов ответили.";
    case "left":
      return "Уже не на сервере.";
    case "nobodyForADay":
      return "За сутки никто не ответил.";
    case "callerDeleted":
      return "Данные игрока удалены.";
    case "offline":
      return `Сервер не в сети уже ${count(alert.minutes, MINUTES)}.`;
    case "unreachable":
      return `Сервер недоступен уже ${count(alert.minutes, MINUTES)}.`;
    case "isOnline":
      return "Сервер в сети.";
    case "isOffline":
      return "Сервер не в сети.";
    case "isUnreachable":
      return "Сервер недоступен.";
    case "below":
      return `Меньше ${sayCrowd(alert)}`;
    case "above":
      return `Больше ${sayCrowd(alert)}`;
    case "playersNow":
      return `Сейчас ${count(alert.count, PLAYERS)}.`;
    case "ruleChanged":
      return "Правило изменили.";
    case "serverReplaced":
      return "Ключ сервера ведёт на другой игровой сервер.";
    case "tooMany":
      return "Слишком много других оповещений.";
  }
}

function sayCrowd(crowd: Extract<AlertWords, { readonly name: "below" | "above" }>): string {
  const { limit, minutes, count: players } = crowd;
  return `${count(limit, THAN_PLAYERS)} уже ${count(minutes, MINUTES)}, сейчас ${count(players, PLAYERS)}.`;
}

function count(number: number, [one, few, many]: Forms): string {
  const form = PLURALS.select(number);
  return `${number} ${form === "one" ? one : form === "few" ? few : many}`;
}
