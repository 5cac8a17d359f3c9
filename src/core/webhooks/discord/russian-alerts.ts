// The sentences of alerts in Russian. They are plain text: a command in them is not escaped yet.
import type { AlertWords } from "../../alerts/alert-words.ts";

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
  switch (alert.code) {
    case "kills":
      return `${count(alert.count, KILLS)} за ${count(alert.seconds, SECONDS)}.`;
    case "fewer_kills":
      return `Уже меньше ${count(alert.count, THAN_KILLS)} за ${count(alert.seconds, SECONDS)}.`;
    case "used":
      return `Пишет ${alert.command}`;
    case "used_no_more":
      return "Таких команд не было 60 секунд.";
    case "unanswered":
      return `Ждёт модератора уже ${count(alert.minutes, MINUTES)}.`;
    case "answered":
      return "На вызов ответили.";
    case "left":
      return "Уже не на сервере.";
    case "claimed":
      return "Модератор уже в пути.";
    case "expired":
      return "За час никто не ответил.";
    case "nobody_for_a_day":
      return "За сутки никто не ответил.";
    case "offline":
      return `Сервер не в сети уже ${count(alert.minutes, MINUTES)}.`;
    case "unreachable":
      return `Сервер недоступен уже ${count(alert.minutes, MINUTES)}.`;
    case "is_online":
      return "Сервер в сети.";
    case "is_offline":
      return "Сервер не в сети.";
    case "is_unreachable":
      return "Сервер недоступен.";
    case "below":
      return `Меньше ${sayCrowd(alert)}`;
    case "above":
      return `Больше ${sayCrowd(alert)}`;
    case "players_now":
      return `Сейчас ${count(alert.count, PLAYERS)}.`;
    case "rule_changed":
      return "Правило изменили.";
    case "server_replaced":
      return "Ключ сервера ведёт на другой игровой сервер.";
    case "too_many":
      return "Слишком много других оповещений.";
  }
}

function sayCrowd(crowd: Extract<AlertWords, { readonly code: "below" | "above" }>): string {
  const { limit, minutes, count: players } = crowd;
  return `${count(limit, THAN_PLAYERS)} уже ${count(minutes, MINUTES)}, сейчас ${count(players, PLAYERS)}.`;
}

function count(number: number, [one, few, many]: Forms): string {
  const form = PLURALS.select(number);
  return `${number} ${form === "one" ? one : form === "few" ? few : many}`;
}
