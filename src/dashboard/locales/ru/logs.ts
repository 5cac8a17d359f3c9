// Russian text of the view "logs".
import type { logs as english } from "../en/logs.ts";
import type { Translation } from "../translation.ts";

export const logs: Translation<typeof english> = {
  title: "Журналы",
  summary: "Входы, убийства, команды и вызовы на одной ленте времени.",
  empty: "В журналах пока ничего нет",
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
  killed: "убивает игрока",
  noKiller: "Никто из игроков",
  answeredBy: "ответил",
  nobody: "пока никто",
  today: "Сегодня, {{day}}",
  yesterday: "Вчера, {{day}}",
  unknownDay: "Время неизвестно",
};
