import { expect, test } from "bun:test";
import type { AlertWords } from "../../alerts/recognise-alert.ts";
import { sayAlertInRussian } from "./russian-alerts.ts";

const SENTENCES: readonly (readonly [AlertWords, string])[] = [
  [{ name: "kills", count: 1, seconds: 1 }, "1 убийство за 1 секунду."],
  [{ name: "kills", count: 3, seconds: 32 }, "3 убийства за 32 секунды."],
  [{ name: "kills", count: 11, seconds: 60 }, "11 убийств за 60 секунд."],
  [{ name: "fewerKills", count: 21, seconds: 21 }, "Уже меньше 21 убийства за 21 секунду."],
  [{ name: "fewerKills", count: 2, seconds: 12 }, "Уже меньше 2 убийств за 12 секунд."],
  [{ name: "used", command: ":ban all" }, "Пишет :ban all"],
  [{ name: "usedNoMore" }, "Таких команд не было 60 секунд."],
  [{ name: "unanswered", minutes: 3 }, "Ждёт модератора уже 3 минуты."],
  [{ name: "answered" }, "На вызов ответили."],
  [{ name: "left" }, "Уже не на сервере."],
  [{ name: "nobodyForADay" }, "За сутки никто не ответил."],
  [{ name: "callerDeleted" }, "Данные игрока удалены."],
  [{ name: "offline", minutes: 1 }, "Сервер не в сети уже 1 минуту."],
  [{ name: "unreachable", minutes: 15 }, "Сервер недоступен уже 15 минут."],
  [{ name: "isOnline" }, "Сервер в сети."],
  [{ name: "isOffline" }, "Сервер не в сети."],
  [{ name: "isUnreachable" }, "Сервер недоступен."],
  [{ name: "below", limit: 1, minutes: 2, count: 0 }, "Меньше 1 игрока уже 2 минуты, сейчас 0 игроков."],
  [{ name: "above", limit: 30, minutes: 5, count: 31 }, "Больше 30 игроков уже 5 минут, сейчас 31 игрок."],
  [{ name: "playersNow", count: 22 }, "Сейчас 22 игрока."],
  [{ name: "ruleChanged" }, "Правило изменили."],
  [{ name: "serverReplaced" }, "Ключ сервера ведёт на другой игровой сервер."],
  [{ name: "tooMany" }, "Слишком много других оповещений."],
];

test.each(SENTENCES)("an alert has its Russian sentence, with the right forms: %j", (alert, sentence) => {
  expect(sayAlertInRussian(alert)).toBe(sentence);
});
