// Russian text of the view "operator-blocks".
import type { operatorBlocks as english } from "../en/operator-blocks.ts";
import type { Translation } from "../translation.ts";

export const operatorBlocks: Translation<typeof english> = {
  title: "Блокировки",
  summary: "Ключи, заблокированные за спам.",
  list: "Заблокированные ключи",
  empty: "Никто не заблокирован",
  emptyText:
    "Ключ, с которым приходит намного больше запросов, чем разрешено, блокируется на несколько минут и появляется здесь.",
  left: "осталось {{age}}",
  until: "до {{time}}",
  over: "окончена",
  lift: "Снять",
  liftName: "Снять блокировку: {{label}}",
  lifted: "Блокировка {{label}} снята; лимит отсчитывается заново.",
  gone: "удалённый ключ",
};
