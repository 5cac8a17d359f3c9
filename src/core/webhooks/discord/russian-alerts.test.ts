import { expect, test } from "bun:test";
import type { AlertWords } from "../../alerts/alert-words.ts";
import { sayAlertInRussian } from "./russian-alerts.ts";

const SENTENCES: readonly (readonly [AlertWords, string])[] = [
  [{ code: "kills", count: 1, seconds: 1 }, "1 убийство за 1 секунду."],
  [{ code: "kills", count: 3, seconds: 32 }, "3 убийства за 32 секунды."],
  [{ code: "kills", count: 11, seconds: 60 }, "11 убийств за 60 секунд."],
  [{ code: "fewer_kills", count: 21, seconds: 21 }, "Уже меньше 21 убийства за 21 секунду."],
  [{ code: "fewer_kills", count: 2, seconds: 12 }, "Уже меньше 2 убийств за 12 секунд."],
  [{ code: "used", command: ":ban all" }, "Пишет :ban all"],
  [{ code: "used_no_more" }, "Таких команд не было 60 секунд."],
  [{ code: "unanswered", minutes: 3 }, "Ждёт модератора уже 3 минуты."],
  [{ code: "answered" }, "На вызов ответили."],
  [{ code: "left" }, "Уже не на сервере."],
  [{ code: "nobody_for_a_day" }, "За сутки никто не ответил."],
  [{ code: "offline", minutes: 1 }, "Сервер не в сети уже 1 минуту."],
  [{ code: "unreachable", minutes: 15 }, "Сервер недоступен уже 15 минут."],
  [{ code: "is_online" }, "Сервер в сети."],
  [{ code: "is_offline" }, "Сервер не в сети."],
  [{ code: "is_unreachable" }, "Сервер недоступен."],
  [{ code: "below", limit: 1, minutes: 2, count: 0 }, "Меньше 1 игрока уже 2 минуты, сейчас 0 игроков."],
  [{ code: "above", limit: 30, minutes: 5, count: 31 }, "Больше 30 игроков уже 5 минут, сейчас 31 игрок."],
  [{ code: "players_now", count: 22 }, "Сейчас 22 игрока."],
  [{ code: "rule_changed" }, "Правило изменили."],
  [{ code: "server_replaced" }, "Ключ сервера ведёт на другой игровой сервер."],
  [{ code: "too_many" }, "Слишком много других оповещений."],
];

test.each(SENTENCES)("an alert has its Russian sentence, with the right forms: %j", (alert, sentence) => {
  expect(sayAlertInRussian(alert)).toBe(sentence);
});
