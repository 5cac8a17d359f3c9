// Russian text of the view "operator-commands".
import type { operatorCommands as english } from "../en/operator-commands.ts";
import type { Translation } from "../translation.ts";

export const operatorCommands: Translation<typeof english> = {
  title: "Команды",
  summary: "Очередь и недавнее прошлое всех серверов.",
};
