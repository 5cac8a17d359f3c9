// Russian text of the view "operator-commands". The states of a command are in "commands".
import type { operatorCommands as english } from "../en/operator-commands.ts";
import type { Translation } from "../translation.ts";

export const operatorCommands: Translation<typeof english> = {
  title: "Команды",
  summary: "Что ждёт отправки на серверы и что уже отправлено.",
  list: "Команды",
  server: "Сервер",
  everyServer: "Все серверы",
  status: "Состояние",
  everyStatus: "Любое",
  empty: "Команд нет",
  emptyText: "С таким фильтром ничего не найдено.",
  key: "Ключ",
  cancelTitle: "Отменить эту команду?",
  cancelText: "Она ждёт отправки на {{server}}. Отправивший увидит, что её отменили.",
  cancelAction: "Отменить команду",
  keepAction: "Оставить",
};
