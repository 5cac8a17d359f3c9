// Russian text of the view "logs".
import type { logs as english } from "../en/logs.ts";
import type { Translation } from "../translation.ts";

export const logs: Translation<typeof english> = {
  title: "Логи",
  summary: "Входы, убийства, команды и вызовы одной лентой.",
  soFar_one: "Пока {{count}} запись; более старые можно загрузить",
  soFar_few: "Пока {{count}} записи; более старые можно загрузить",
  soFar_many: "Пока {{count}} записей; более старые можно загрузить",
  soFar_other: "Пока {{count}} записи; более старые можно загрузить",
  off: "Gatehouse не записывает события, поэтому здесь только самые новые записи, которые показывает игра. Оператор может это изменить с помощью GATEHOUSE_ARCHIVE.",
  away: "Архив недоступен, поэтому здесь только самые новые записи, которые показывает игра. Более старые вернутся сами.",
  empty: "В логах пока пусто",
  kinds: "Что показывать",
  kind: {
    join: "Входы",
    leave: "Выходы",
    kill: "Убийства",
    command: "Команды",
    modCall: "Вызовы модератора",
  },
  chip: "{{kind}} ({{n}})",
  label: { join: "Вход", leave: "Выход", kill: "Убийство", command: "Команда", modCall: "Вызов модератора" },
  column: { time: "Время", kind: "Что", player: "Игрок", details: "Подробности" },
  killed: "убивает игрока",
  noKiller: "Неизвестно кто",
  answeredBy: "принял",
  nobody: "пока никто",
  today: "Сегодня, {{day}}",
  yesterday: "Вчера, {{day}}",
  unknownDay: "Время неизвестно",
};
