// Russian text of the view "calls".
import type { calls as english } from "../en/calls.ts";
import type { Translation } from "../translation.ts";

export const calls: Translation<typeof english> = {
  title: "Вызовы",
  summary: "Экстренные вызовы и вызовы модератора.",
  emergency: { title: "Экстренные вызовы", empty: "Экстренных вызовов нет" },
  moderator: {
    title: "Вызовы модератора",
    empty: "Модератора никто не вызывал",
    nobody: "Пока никто",
    state: "Состояние",
    open: "Пока никто",
    answered: "Принят",
  },
  column: {
    number: "Номер",
    team: "Команда",
    description: "Что случилось",
    place: "Где",
    caller: "Кто вызвал",
    players: "Участники",
    started: "Начало",
    moderator: "Модератор",
    time: "Время",
  },
  number: "№ {{n}}",
  notHere: "Не на сервере",
  andMore: "и ещё {{n}}",
};
