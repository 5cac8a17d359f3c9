// Russian text of the view "plots".
import type { plots as english } from "../en/plots.ts";
import type { Translation } from "../translation.ts";

export const plots: Translation<typeof english> = {
  title: "Графики",
  summary: "Что происходило, пока страница открыта.",
  waiting: "Данных пока мало",
  waitingText: "Первые линии появятся через несколько секунд, если не закрывать страницу.",
  presence: "Игроки и очередь",
  moves: "Входы и выходы в минуту",
  players: "Игроки",
  queue: "Очередь",
  joins: "Входы в минуту",
  leaves: "Выходы в минуту",
  now: "сейчас",
  at: "в {{time}}",
  noValue: "–",
  span: "Наблюдение с {{time}}, замеров: {{readings}}.",
  described: "{{name}}: сейчас {{now}}, наименьшее {{low}}, наибольшее {{high}}",
  hide: "Скрыть: {{name}}",
  show: "Показать: {{name}}",
  table: "Таблица с числами",
  tableCaption: "Строка на минуту, новые сверху",
  time: "Время",
  joinsCount: "Входы",
  leavesCount: "Выходы",
};
